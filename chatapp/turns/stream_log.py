"""The durable log of each running turn, in Redis Streams: what every socket shows is a view of it.

An entry's id is made of its `seq` (`{seq + 1}-0`), so a replay after a number is exact, and of two producers that
both believe a turn is theirs, only one can write a given number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from chatapp.turns.frames import Frame, encode_frame

logger = logging.getLogger(__name__)

TERMINAL_TYPES = frozenset({"finished", "stopped", "failed"})
# A producer that dies leaves its log behind for the sweeper; then it must not stay for ever.
RUNNING_KEEP_SECONDS = 6 * 3600
# How long to wait before writing again after Redis did not answer: first and longest, in seconds.
FIRST_RETRY_S, LONGEST_RETRY_S = 0.05, 2.0


def stream_key(turn_id: UUID) -> str:
    return f"chatapp:turn:{turn_id}"


def entry_id(seq: int) -> str:
    return f"{seq + 1}-0"


def seq_of(entry: bytes | str) -> int:
    text = entry.decode() if isinstance(entry, bytes) else entry
    return int(text.split("-", 1)[0]) - 1


def is_terminal_record(text: str) -> bool:
    """Whether the record ends its turn. Deltas, nearly all of them, are told by their first bytes."""
    return not text.startswith('{"type":"delta"') and orjson.loads(text)["type"] in TERMINAL_TYPES


# Called with (turn id, seq, frame as text) once the entry is in the log, in order.
Listener = Callable[[UUID, int, str], None]


class StreamLog:
    """Appends records for all turns of this process through one writer, and reads them back.

    `append` returns at once; entries that arrive while a write is on its way go together with the next. If Redis
    does not answer, the writer keeps them and tries again: an entry written twice has one id and is refused once.
    """

    def __init__(self, redis: Redis, *, keep_seconds: int) -> None:
        self._redis = redis
        self._keep_seconds = keep_seconds
        self._pending: list[tuple[UUID, int, str, bool]] = []
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._listeners: list[Listener] = []

    def add_listener(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def append(self, turn_id: UUID, seq: int, frame: Frame) -> None:
        """Queue one record; its order among this turn's records is kept."""
        text = encode_frame({**frame, "seq": seq})
        self._pending.append((turn_id, seq, text, frame["type"] in TERMINAL_TYPES))
        self._wake.set()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="stream-log-writer")

    async def read_after(self, turn_id: UUID, after: int) -> list[tuple[int, str]]:
        """Every record with a seq above `after`, in order; empty if there is none or the log is gone."""
        rows: Any = await self._redis.xrange(stream_key(turn_id), min=f"({entry_id(after)}" if after >= 0 else "-")
        return [(seq_of(entry), fields[b"f"].decode()) for entry, fields in rows]

    async def exists(self, turn_id: UUID) -> bool:
        return bool(await self._redis.exists(stream_key(turn_id)))

    async def aclose(self) -> None:
        """Write what is pending, within a bound, and end."""
        while self._pending and self._writer is not None and not self._writer.done():
            await asyncio.wait([self._writer], timeout=0.05)
        if self._writer is not None:
            self._writer.cancel()

    async def _write(self) -> None:
        retry_s = FIRST_RETRY_S
        while True:
            await self._wake.wait()
            self._wake.clear()
            while batch := self._pending:
                try:
                    await self._write_batch(batch[:])
                    retry_s = FIRST_RETRY_S
                except (RedisError, OSError) as error:
                    logger.warning("stream log not written (%s), trying again in %.2f s", type(error).__name__, retry_s)
                    await asyncio.sleep(retry_s)
                    retry_s = min(retry_s * 2, LONGEST_RETRY_S)

    async def _write_batch(self, batch: list[tuple[UUID, int, str, bool]]) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for turn_id, seq, text, is_terminal in batch:
            pipeline.xadd(stream_key(turn_id), {"f": text}, id=entry_id(seq))
            if seq == 0 or is_terminal:
                pipeline.expire(stream_key(turn_id), self._keep_seconds if is_terminal else RUNNING_KEEP_SECONDS)
        replies = await pipeline.execute(raise_on_error=False)
        for reply in replies:
            # An id that is not above the last: this very entry was written by an attempt whose answer was lost.
            if isinstance(reply, ResponseError) and "equal or smaller" in str(reply):
                continue
            if isinstance(reply, Exception):
                raise reply if isinstance(reply, RedisError | OSError) else RedisConnectionError(str(reply))
        del self._pending[: len(batch)]
        for turn_id, seq, text, _ in batch:
            for listener in self._listeners:
                listener(turn_id, seq, text)
