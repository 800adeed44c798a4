"""Holds a stream to its timeouts: first token, between tokens, total."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from inference.engines.base import Timeouts
from inference.errors import EngineTimedOut, TimeoutPhase
from inference.events import EngineEvent, TextDelta


async def keep_deadlines(
    stream: AsyncGenerator[EngineEvent, None], timeouts: Timeouts
) -> AsyncGenerator[EngineEvent, None]:
    """The stream's events; raises EngineTimedOut, and closes the stream in any case."""
    ends_at = time.monotonic() + timeouts.total_s
    phase: TimeoutPhase = "first_token"
    limit_s = timeouts.first_token_s
    async with aclosing(stream) as events:
        while True:
            left_s = ends_at - time.monotonic()
            try:
                async with asyncio.timeout(min(limit_s, left_s)):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                over = "total" if left_s < limit_s else phase
                raise EngineTimedOut(f"the engine was silent too long ({over})", phase=over) from None
            if isinstance(event, TextDelta):
                phase, limit_s = "between_tokens", timeouts.between_tokens_s
            yield event
