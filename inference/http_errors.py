"""HTTP's ways to fail, told in our words; shared by every engine, since every provider speaks HTTP."""

from __future__ import annotations

import math
from collections.abc import Mapping

import httpx
import httpx2

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

# Our own engine speaks over httpx; the providers' clients over its successor, whose errors have the same names.
TransportError = httpx.TransportError | httpx2.TransportError
TRANSPORT_ERRORS = (httpx.TransportError, httpx2.TransportError)

_CONNECT_TIMEOUTS = (httpx.ConnectTimeout, httpx.PoolTimeout, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_TIMEOUTS = (httpx.TimeoutException, httpx2.TimeoutException)
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


def error_of_transport(error: TransportError, *, began: bool) -> EngineError:
    """`began`: whether a byte of the answer had come; a line that breaks then has broken off an answer."""
    name = type(error).__name__
    if isinstance(error, _CONNECT_TIMEOUTS):
        return EngineTimedOut(f"no connection in time ({name})", phase="connect")
    if isinstance(error, _TIMEOUTS):
        return EngineTimedOut(f"no answer in time ({name})", phase="between_tokens" if began else "first_token")
    if began:
        return EngineSpokeNonsense(f"the stream broke off ({name})")
    return EngineUnreachable(f"no connection ({name})")


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; the form with a date is left aside."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
