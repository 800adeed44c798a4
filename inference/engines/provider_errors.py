"""The errors of the `openai` and `anthropic` clients, told in our words. Both clients have the same tree."""

from __future__ import annotations

import anthropic
import httpx2
import openai

from inference.errors import (
    EngineBroke,
    EngineError,
    EngineOverloaded,
    EngineSpokeNonsense,
)
from inference.http_errors import TRANSPORT_ERRORS, TransportError, error_of_status, error_of_transport

# What Anthropic names an error event inside a stream that has begun with status 200.
_OVERLOADED_EVENTS = frozenset({"overloaded_error", "rate_limit_error"})


def error_of_provider(error: openai.OpenAIError | anthropic.AnthropicError, *, began: bool) -> EngineError:
    """`began`: whether a byte of the answer had come. The client's own text is dropped: it may quote prompt or key."""
    name = type(error).__name__
    if isinstance(error, openai.APIConnectionError | anthropic.APIConnectionError):
        return error_of_transport(_cause_of(error), began=began)
    if isinstance(error, openai.APIStatusError | anthropic.APIStatusError):
        return _error_of_answer(error)
    if isinstance(error, openai.APIResponseValidationError | anthropic.APIResponseValidationError):
        return EngineSpokeNonsense(f"the answer has another shape ({name})")
    if isinstance(error, openai.APIError | anthropic.APIError):
        return EngineBroke(f"the engine reported an error inside its stream ({name})")
    return EngineSpokeNonsense(f"the client could not read the answer ({name})")


def _cause_of(error: openai.APIConnectionError | anthropic.APIConnectionError) -> TransportError:
    """The transport's error that the client wrapped; it is the one that says in which phase the line failed."""
    if isinstance(error.__cause__, TRANSPORT_ERRORS):
        return error.__cause__
    name = type(error).__name__
    if isinstance(error, openai.APITimeoutError | anthropic.APITimeoutError):
        return httpx2.ReadTimeout(name)
    return httpx2.ConnectError(name)


def _error_of_answer(error: openai.APIStatusError | anthropic.APIStatusError) -> EngineError:
    if error.status_code < 400:
        return _error_of_event(error.body)
    return error_of_status(error.status_code, error.response.headers)


def _error_of_event(body: object) -> EngineError:
    """An error event after status 200."""
    told = body.get("error") if isinstance(body, dict) else None
    kind = told.get("type") if isinstance(told, dict) else None
    if kind in _OVERLOADED_EVENTS:
        return EngineOverloaded("the engine reported inside its stream that it is overloaded")
    return EngineBroke("the engine reported an error inside its stream")
