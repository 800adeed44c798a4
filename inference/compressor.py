"""Fits a prompt into a token budget. The oldest history is dropped; the system prompt and the question never are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inference.messages import ChatMessage

# History is dropped in steps of this share of its room, not just enough: the cut then stays where it is for several
# turns, and what is left stays a prefix that the engine's cache knows.
STEP_SHARE = 0.25


class PromptTooLongError(Exception):
    """The system prompt and the question alone are over the budget."""


@dataclass(frozen=True, slots=True)
class CompressedPrompt:
    """Tokens are estimates by the `count_tokens` that was given."""

    messages: tuple[ChatMessage, ...]
    tokens_before: int
    tokens_after: int
    dropped_messages: int


def fit_history(
    messages: Sequence[ChatMessage], *, budget_tokens: int, count_tokens: Callable[[str], int]
) -> CompressedPrompt:
    """`messages` are an optional system prompt, the history oldest first, and the question last.

    Whole exchanges go, oldest first. Raises PromptTooLongError, and ValueError for no messages.
    """
    if not messages:
        raise ValueError("a prompt has at least its question")
    head = [message for message in messages[:-1] if message.role == "system"]
    history = [message for message in messages[:-1] if message.role != "system"]
    question = messages[-1]
    fixed = sum(count_tokens(message.text) for message in (*head, question))
    if fixed > budget_tokens:
        raise PromptTooLongError
    sizes = [count_tokens(message.text) for message in history]
    before = fixed + sum(sizes)
    kept = 0
    if before > budget_tokens:
        step = max(1, math.ceil((budget_tokens - fixed) * STEP_SHARE))
        kept = _first_kept(history, sizes, drop_tokens=math.ceil((before - budget_tokens) / step) * step)
    return CompressedPrompt(
        messages=(*head, *history[kept:], question),
        tokens_before=before,
        tokens_after=fixed + sum(sizes[kept:]),
        dropped_messages=kept,
    )


def _first_kept(history: Sequence[ChatMessage], sizes: Sequence[int], *, drop_tokens: int) -> int:
    """Index of the oldest message that stays: a question, with at least `drop_tokens` before it."""
    dropped = 0
    for index, message in enumerate(history):
        if dropped >= drop_tokens and message.role == "user":
            return index
        dropped += sizes[index]
    return len(history)
