"""Leases and stop flags in Redis: which turns a living process still runs, and which of them a person wants ended."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from redis.asyncio import Redis

# A lease outlives a few missed renewals; a turn without one is lost.
LEASE_SECONDS = 8
# A stop flag outlives any turn.
STOP_KEEP_SECONDS = 3_600


def lease_key(turn_id: UUID) -> str:
    return f"chatapp:lease:{turn_id}"


def stop_key(turn_id: UUID) -> str:
    return f"chatapp:stop:{turn_id}"


class Leases:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def renew(self, turn_ids: Iterable[UUID]) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for turn_id in turn_ids:
            pipeline.set(lease_key(turn_id), "1", ex=LEASE_SECONDS)
        await pipeline.execute()

    async def end(self, turn_id: UUID) -> None:
        await self._redis.delete(lease_key(turn_id), stop_key(turn_id))

    async def ask_to_stop(self, turn_id: UUID) -> None:
        await self._redis.set(stop_key(turn_id), "1", ex=STOP_KEEP_SECONDS)

    async def find_stopped(self, turn_ids: Iterable[UUID]) -> list[UUID]:
        """Those of the turns that were asked to stop."""
        ids = list(turn_ids)
        if not ids:
            return []
        flags = await self._redis.mget([stop_key(turn_id) for turn_id in ids])
        return [turn_id for turn_id, flag in zip(ids, flags, strict=True) if flag]
