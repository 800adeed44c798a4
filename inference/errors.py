"""Why an engine gave no (whole) answer.

EngineError
├── EngineUnreachable      no connection: refused, DNS, TLS, reset before the first byte
├── EngineTimedOut         connect, first token, between tokens or total (see `phase`)
├── EngineOverloaded       429 and 503; `retry_after_s` when the provider says so
├── EngineRefusedKey       401 and 403
├── EngineRejectedRequest  400, 404, 413, 422: asking again the same way will not help
├── EngineBroke            500 and an error event inside a stream
└── EngineSpokeNonsense    bytes that are not the protocol, or a stream that ends without its end

Client libraries' errors are mapped to these where they enter (`engines/`), so that two providers have one
set of messages. Errors never carry a key, a prompt or an answer in their text.
"""

from __future__ import annotations

from typing import Literal

TimeoutPhase = Literal["connect", "first_token", "between_tokens", "total"]


class EngineError(Exception):
    """`code` is stable: the browser's sentence and the dashboard's cause are chosen by it."""

    code = "engine_failed"
    # Whether the same request may succeed if sent again a little later.
    retryable = False


class EngineUnreachable(EngineError):
    code = "engine_unreachable"
    retryable = True


class EngineTimedOut(EngineError):
    code = "engine_timed_out"
    retryable = True

    def __init__(self, message: str, *, phase: TimeoutPhase) -> None:
        super().__init__(message)
        self.phase = phase


class EngineOverloaded(EngineError):
    code = "engine_overloaded"
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EngineRefusedKey(EngineError):
    code = "engine_refused_key"


class EngineRejectedRequest(EngineError):
    code = "engine_rejected_request"


class EngineBroke(EngineError):
    code = "engine_broke"
    retryable = True


class EngineSpokeNonsense(EngineError):
    code = "engine_spoke_nonsense"
    retryable = True
