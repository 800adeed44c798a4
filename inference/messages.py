"""What is asked of an engine: a provider-neutral prompt and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt; `text` is plain text, never provider markup."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One generation. `messages`: the stable part first (system, then history, oldest first), the question last."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    # None leaves it to the engine: some models take no other than their own.
    temperature: float | None = None
    seed: int | None = None
    # vLLM's priority scheduling: lower runs first. Other engines ignore it.
    priority: int = 0
    # Appears in the engine's own log, so that a slow turn can be followed into it.
    request_id: str = ""
