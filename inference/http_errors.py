"""HTTP's ways to fail, told in our words; shared by every engine, since every provider speaks HTTP."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from inference.errors import (
    EngineBroke,
    EngineError,
    EngineOverloaded,
    EngineRefusedKey,
    EngineRejectedRequest,
    EngineSpokeNonsense,
    EngineTimedOut,
    EngineUnreachable,
)

_OVERLOADED = frozenset({429, 503, 529})
_REFUSED = frozenset({401, 403})


def error_of_status(status: int, headers: Mapping[str, str]) -> EngineError:
    """What an answer that is no success means. Its body is not read: it may quote the prompt."""
    told = f"the engine answered with status {status}"
    if status in _OVERLOADED:
        return EngineOverloaded(told, retry_after_s=_read_retry_after(headers))
    if status in _REFUSED:
        return EngineRefusedKey(told)
    if 400 <= status < 500 and status != 408:
        return EngineRejectedRequest(told)
    return EngineBroke(told)


def error_of_transport(error: httpx.TransportError, *, began: bool) -> EngineError:
    """`began`: whether a byte of the answer had come; a line that breaks then has broken off an answer."""
    name = type(error).__name__
    if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
        return EngineTimedOut(f"no connection in time ({name})", phase="connect")
    if isinstance(error, httpx.TimeoutException):
        return EngineTimedOut(f"no answer in time ({name})", phase="between_tokens" if began else "first_token")
    if began:
        return EngineSpokeNonsense(f"the stream broke off ({name})")
    return EngineUnreachable(f"no connection ({name})")


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; the form with a date is left aside."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None
