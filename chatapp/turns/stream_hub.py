"""Shows turns to sockets: replays a turn's log after a number, then follows it, with no window in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from redis.asyncio import Redis
from redis.exceptions import RedisError

from chatapp.turns.stream_log import StreamLog, entry_id, is_terminal_record, seq_of, stream_key

logger = logging.getLogger(__name__)

# A blocked read is renewed this often, so that a half-dead connection is noticed. Milliseconds.
BLOCK_MS = 5_000

Deliver = Callable[[str], None]


@dataclass(slots=True, eq=False)
class Subscription:
    """One socket's view of one turn. Records reach `deliver` in order, without a gap or a double."""

    turn_id: UUID
    deliver: Deliver
    next_seq: int
    early: dict[int, str] = field(default_factory=dict)
    has_ended: bool = False

    def take(self, seq: int, text: str) -> None:
        if seq >= self.next_seq:
            self.early[seq] = text
        while (record := self.early.pop(self.next_seq, None)) is not None:
            self.deliver(record)
            self.next_seq += 1
            self.has_ended = is_terminal_record(record)


class StreamHub:
    """All subscriptions of this process. Turns of this process come from the log, others by one blocking read."""

    def __init__(self, log: StreamLog, redis: Redis, *, blocking_redis: Redis) -> None:
        """`blocking_redis` must wait for an answer longer than BLOCK_MS."""
        self._log = log
        self._redis = redis
        self._blocking_redis = blocking_redis
        self._subscriptions: dict[UUID, list[Subscription]] = {}
        # Turns that run in another process, with the last seq read from their log.
        self._remote: dict[UUID, int] = {}
        self._wake_key = f"chatapp:wake:{uuid4()}"
        self._wake_id = "0-0"
        self._reader: asyncio.Task[None] | None = None
        log.add_listener(self._on_record)

    def followed_elsewhere(self) -> list[UUID]:
        """Turns that are watched here and run in another process, or did until it died."""
        return list(self._remote)

    def follow_new(self, turn_id: UUID, deliver: Deliver) -> Subscription:
        """For a turn that has just begun here and has said nothing yet: there is nothing to replay."""
        subscription = Subscription(turn_id, deliver, next_seq=0)
        self._subscriptions.setdefault(turn_id, []).append(subscription)
        return subscription

    async def subscribe(self, turn_id: UUID, deliver: Deliver, *, after: int, is_local: bool) -> Subscription:
        """Replays what is above `after`, then follows. Registered before the replay, so nothing falls between:
        what arrives meanwhile is held, and what arrives twice is dropped by its number."""
        subscription = Subscription(turn_id, deliver, next_seq=after + 1)
        self._subscriptions.setdefault(turn_id, []).append(subscription)
        for seq, text in await self._log.read_after(turn_id, after):
            subscription.take(seq, text)
        if subscription.has_ended:
            self.unsubscribe(subscription)
        elif not is_local:
            await self._follow(turn_id, subscription.next_seq - 1)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        rest = [other for other in self._subscriptions.get(subscription.turn_id, []) if other is not subscription]
        if rest:
            self._subscriptions[subscription.turn_id] = rest
        else:
            self._subscriptions.pop(subscription.turn_id, None)
            self._remote.pop(subscription.turn_id, None)

    async def aclose(self) -> None:
        if self._reader is not None:
            self._reader.cancel()

    def _on_record(self, turn_id: UUID, seq: int, text: str) -> None:
        for subscription in tuple(self._subscriptions.get(turn_id, ())):
            subscription.take(seq, text)
            if subscription.has_ended:
                self.unsubscribe(subscription)

    async def _follow(self, turn_id: UUID, last_seq: int) -> None:
        self._remote[turn_id] = min(last_seq, self._remote.get(turn_id, last_seq))
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read(), name="stream-hub-reader")
        # The reader may be blocked on the turns it knew before: an entry in its own stream wakes it.
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.xadd(self._wake_key, {"w": "1"}, maxlen=1, approximate=False)
            pipeline.expire(self._wake_key, 3600)
            await pipeline.execute()

    async def _read(self) -> None:
        while True:
            streams: dict[Any, Any] = {stream_key(turn_id): entry_id(seq) for turn_id, seq in self._remote.items()}
            streams[self._wake_key] = self._wake_id
            try:
                rows: Any = await self._blocking_redis.xread(streams, block=BLOCK_MS)
            except (RedisError, OSError) as error:
                logger.warning("stream log not read (%s), trying again", type(error).__name__)
                await asyncio.sleep(0.5)
                continue
            for key, entries in _as_pairs(rows):
                self._take_entries(key, entries)

    def _take_entries(self, key: str, entries: list[Any]) -> None:
        if key == self._wake_key:
            self._wake_id = entries[-1][0].decode()
            return
        turn_id = UUID(key.rsplit(":", 1)[1])
        for entry, fields in entries:
            seq = seq_of(entry)
            if turn_id in self._remote:
                self._remote[turn_id] = max(self._remote[turn_id], seq)
            self._on_record(turn_id, seq, fields[b"f"].decode())


def _as_pairs(rows: Any) -> list[tuple[str, list[Any]]]:
    """XREAD's answer is a list of pairs in RESP2 and a mapping of lists of lists in RESP3."""
    if isinstance(rows, dict):
        return [(key.decode(), [entry for part in parts for entry in part]) for key, parts in rows.items()]
    return [(key.decode(), entries) for key, entries in rows or []]
