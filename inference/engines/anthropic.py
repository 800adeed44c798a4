"""Anthropic, through the provider's own client."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from json import JSONDecodeError
from typing import Any

import anthropic
import httpx2

from inference.deadlines import keep_deadlines
from inference.engines.base import EngineAddress
from inference.engines.openai_protocol import as_text
from inference.engines.provider_errors import error_of_provider
from inference.errors import EngineSpokeNonsense
from inference.events import Completed, EngineEvent, FinishReason, TextDelta, Usage
from inference.http_errors import TRANSPORT_ERRORS, error_of_transport
from inference.messages import GenerationRequest

_FINISH_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_CACHE_MARK = {"cache_control": {"type": "ephemeral"}}


class AnthropicEngine:
    """`address.base_url` has no /v1: the client adds it."""

    def __init__(self, address: EngineAddress) -> None:
        self._address = address
        self._client = anthropic.AsyncAnthropic(
            base_url=address.base_url.rstrip("/").removesuffix("/v1"),
            api_key=address.api_key or "none",
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=address.timeouts.connect_s),
        )

    def stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        return keep_deadlines(self._stream(request), self._address.timeouts)

    async def aclose(self) -> None:
        await self._client.close()

    async def _stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        reader = EventReader()
        began = False
        try:
            async with await self._client.messages.create(**request_arguments(request, self._address.model)) as events:
                async for event in events:
                    began = True
                    text = reader.read(event)
                    if text:
                        yield TextDelta(text)
        except anthropic.AnthropicError as error:
            raise error_of_provider(error, began=began) from None
        except TRANSPORT_ERRORS as error:
            raise error_of_transport(error, began=began) from None
        except (JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError):
            raise EngineSpokeNonsense("the stream holds something that is no event") from None
        yield reader.complete()


def request_arguments(request: GenerationRequest, model: str) -> dict[str, Any]:
    """Cache marks end the two stable parts: the system prompt, and the history up to the question."""
    system = [message.text for message in request.messages if message.role == "system"]
    messages: list[dict[str, Any]] = [
        {"role": message.role, "content": [{"type": "text", "text": message.text}]}
        for message in request.messages
        if message.role != "system"
    ]
    if len(messages) > 1:
        messages[-2]["content"][-1] |= _CACHE_MARK
    arguments: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": messages,
        "stream": True,
    }
    if system:
        arguments["system"] = [{"type": "text", "text": "\n\n".join(system), **_CACHE_MARK}]
    if request.temperature is not None:
        arguments["temperature"] = request.temperature
    return arguments


class EventReader:
    """Reads the events of one answer: text in the middle, usage at both ends."""

    def __init__(self) -> None:
        self._finish_reason: FinishReason | None = None
        self._prompt_tokens: int | None = None
        self._cached_tokens: int | None = None
        self._completion_tokens: int | None = None

    def read(self, event: Any) -> str:
        """The text that the event adds, mostly none."""
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            return as_text(event.delta.text)
        if event.type == "message_start":
            self._read_prompt_usage(event.message.usage)
        elif event.type == "message_delta":
            self._completion_tokens = event.usage.output_tokens
            if event.delta.stop_reason:
                self._finish_reason = _FINISH_REASONS.get(event.delta.stop_reason, "stop")
        return ""

    def _read_prompt_usage(self, usage: Any) -> None:
        # Anthropic counts the tokens that were read from or written to its cache beside `input_tokens`, not in it.
        self._cached_tokens = usage.cache_read_input_tokens or 0
        written = usage.cache_creation_input_tokens or 0
        self._prompt_tokens = usage.input_tokens + self._cached_tokens + written

    def complete(self) -> Completed:
        """Raises EngineSpokeNonsense when the stream ended without saying why."""
        if self._finish_reason is None:
            raise EngineSpokeNonsense("the stream ended without its end")
        return Completed(self._finish_reason, Usage(self._prompt_tokens, self._cached_tokens, self._completion_tokens))
