"""What one socket still has to send: filled from anywhere on the loop, emptied by one task, in order."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

# A browser that takes nothing in is let go at this many waiting bytes; it comes back and resumes from the log.
MAX_WAITING_BYTES = 1_048_576
CLOSE_STALLED = 4408

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Outbox:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[str] = deque()
        self._waiting_bytes = 0
        self._wake = asyncio.Event()
        self._close_code: int | None = None
        self.last_put_at = time.monotonic()

    def put(self, text: str) -> None:
        """Never waits, never fails; after `close` it does nothing."""
        if self._close_code is not None:
            return
        self._waiting.append(text)
        self._waiting_bytes += len(text)
        self.last_put_at = time.monotonic()
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._waiting.clear()
            self._close_code = CLOSE_STALLED
        self._wake.set()

    def close(self, code: int) -> None:
        """Close the socket after what is waiting has gone out; the first code counts."""
        if self._close_code is None:
            self._close_code = code
        self._wake.set()

    async def run(self) -> None:
        """Sends until closed; ends by itself after the close frame."""
        while True:
            while self._waiting:
                text = self._waiting.popleft()
                self._waiting_bytes -= len(text)
                await self._send({"type": "websocket.send", "text": text})
            if self._close_code is not None:
                await self._send({"type": "websocket.close", "code": self._close_code})
                return
            self._wake.clear()
            await self._wake.wait()
