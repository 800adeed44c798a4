"""The two streaming protocols as bytes, after the providers' references: one class each, with the same methods."""

from __future__ import annotations

from typing import Any, Protocol

import orjson

PROMPT_TOKENS = 12


class Dialect(Protocol):
    def begin(self) -> bytes: ...

    def delta(self, text: str) -> bytes: ...

    def noise(self) -> bytes:
        """What carries no text, and must not disturb."""
        ...

    def malformed(self) -> bytes: ...

    def error(self) -> bytes: ...

    def end(self, finish_reason: str | None, *, sent: int, cached_tokens: int) -> bytes: ...


class OpenAIDialect:
    def __init__(self, model: str) -> None:
        self._model = model
        # A delta differs from another in its text only.
        head, _, self._tail = self._chunk({"content": "@"}).partition(b'"@"')
        self._head = head

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def delta(self, text: str) -> bytes:
        return self._head + orjson.dumps(text) + self._tail

    def noise(self) -> bytes:
        return b": keep-alive\n\n" + self._chunk({"content": ""}) + self._chunk({})

    def malformed(self) -> bytes:
        return b"data: {this is no JSON\n\n"

    def error(self) -> bytes:
        return _data({"error": {"message": "the prompt was: secret", "type": "server_error", "code": 500}})

    def end(self, finish_reason: str | None, *, sent: int, cached_tokens: int) -> bytes:
        usage = {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": sent,
            "total_tokens": PROMPT_TOKENS + sent,
            "prompt_tokens_details": {"cached_tokens": cached_tokens},
        }
        last = self._chunk({}, finish_reason=finish_reason or "stop")
        return last + _data(self._envelope() | {"choices": [], "usage": usage}) + b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _data(self._envelope() | {"choices": [choice]})

    def _envelope(self) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": self._model}


class AnthropicDialect:
    def __init__(self, model: str, *, cached_tokens: int) -> None:
        self._model = model
        self._cached_tokens = cached_tokens

    def begin(self) -> bytes:
        usage = {
            "input_tokens": PROMPT_TOKENS - self._cached_tokens,
            "cache_read_input_tokens": self._cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        }
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        return _event({"type": "message_start", "message": message}) + _event(block)

    def delta(self, text: str) -> bytes:
        return _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})

    def noise(self) -> bytes:
        return _event({"type": "ping"}) + self.delta("")

    def malformed(self) -> bytes:
        return b"event: content_block_delta\ndata: {this is no JSON\n\n"

    def error(self) -> bytes:
        told = {"type": "overloaded_error", "message": "the prompt was: secret"}
        return _event({"type": "error", "error": told})

    def end(self, finish_reason: str | None, *, sent: int, cached_tokens: int) -> bytes:
        ending = {"stop_reason": finish_reason or "end_turn", "stop_sequence": None}
        return (
            _event({"type": "content_block_stop", "index": 0})
            + _event({"type": "message_delta", "delta": ending, "usage": {"output_tokens": sent}})
            + _event({"type": "message_stop"})
        )


def _data(content: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(content) + b"\n\n"


def _event(content: dict[str, Any]) -> bytes:
    return b"event: " + content["type"].encode() + b"\n" + _data(content)
