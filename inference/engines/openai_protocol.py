"""The chat-completions protocol as values: the body of a request, and what the chunks of its answer say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inference.errors import EngineBroke, EngineSpokeNonsense
from inference.events import Completed, EngineEvent, FinishReason, TextDelta, Usage
from inference.messages import GenerationRequest

# Reasons that OpenAI's reference and vLLM's list; tools and functions are never offered, so an end by them is a stop.
_FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_calls": "stop",
    "function_call": "stop",
}


def request_body(request: GenerationRequest, model: str) -> dict[str, Any]:
    """For `POST /chat/completions`; the last chunk is asked to carry the usage."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.seed is not None:
        body["seed"] = request.seed
    return body


class ChunkReader:
    """Reads the chunks of one answer. The usage comes last, in a chunk without choices, after the finish reason."""

    def __init__(self) -> None:
        self._finish_reason: FinishReason | None = None
        self._usage = Usage()

    def read(self, chunk: dict[str, Any]) -> Iterator[EngineEvent]:
        """Raises EngineBroke for an error inside the stream, EngineSpokeNonsense for what is no chunk."""
        try:
            if chunk.get("error") is not None:
                raise EngineBroke("the engine reported an error inside its stream")
            if chunk.get("usage"):
                self._usage = _read_usage(chunk["usage"])
            for choice in chunk["choices"]:
                if text := as_text((choice.get("delta") or {}).get("content") or ""):
                    yield TextDelta(text)
                if choice.get("finish_reason"):
                    self._finish_reason = _FINISH_REASONS.get(choice["finish_reason"], "stop")
        except (AttributeError, KeyError, TypeError):
            raise EngineSpokeNonsense("a chunk of the stream has another shape") from None

    def complete(self) -> Completed:
        """Raises EngineSpokeNonsense when the stream ended without saying why."""
        if self._finish_reason is None:
            raise EngineSpokeNonsense("the stream ended without its end")
        return Completed(self._finish_reason, self._usage)


def as_text(value: object) -> str:
    """Raises TypeError for what is no text."""
    if isinstance(value, list):
        # Mistral's models that think send parts; only those of type text are the answer.
        return "".join(as_text(part["text"]) for part in value if part["type"] == "text")
    if not isinstance(value, str):
        raise TypeError
    # Half of an escaped surrogate pair is no text: it could be neither sent nor stored.
    return value if value.isascii() else value.encode(errors="replace").decode()


def _read_usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt_tokens=usage.get("prompt_tokens"),
        cached_tokens=details.get("cached_tokens"),
        completion_tokens=usage.get("completion_tokens"),
    )
