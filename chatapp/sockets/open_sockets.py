"""All open sockets of this process: one task keeps them alive, and closes those whose session has ended."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Protocol

from django.db import DatabaseError
from redis.exceptions import RedisError

from chatapp.sockets.outbox import Outbox
from chatapp.turns.adapters import DatabaseRecords
from chatapp.turns.commands import Person
from chatapp.turns.stream_hub import StreamHub

logger = logging.getLogger(__name__)

# Browser code cannot see WebSocket pings, so silence is filled with a frame; a browser gives up after 40 s of it.
HEARTBEAT_AFTER_S = 15.0
HEARTBEAT = '{"type":"heartbeat"}'
# A socket closes within 2 s of its session's end: two queries for all of them, this often.
SESSION_CHECK_S = 1.5
CLOSE_SIGNED_OUT = 4401


class OpenSocket(Protocol):
    person: Person
    outbox: Outbox


class OpenSockets:
    def __init__(self, records: DatabaseRecords, hub: StreamHub) -> None:
        self._records = records
        self._hub = hub
        self._sockets: set[OpenSocket] = set()
        self._keeper: asyncio.Task[None] | None = None

    def add(self, socket: OpenSocket) -> None:
        self._sockets.add(socket)
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep(), name="open-sockets")

    def discard(self, socket: OpenSocket) -> None:
        self._sockets.discard(socket)

    async def _keep(self) -> None:
        while self._sockets:
            await asyncio.sleep(SESSION_CHECK_S)
            self.send_heartbeats()
            await self.close_ended()
            await self.end_lost()

    def send_heartbeats(self) -> None:
        silent_since = time.monotonic() - HEARTBEAT_AFTER_S
        for socket in self._sockets:
            if socket.outbox.last_put_at < silent_since:
                socket.outbox.put(HEARTBEAT)

    async def close_ended(self) -> None:
        """Close the sockets of people who logged out, changed their password or were switched off."""
        sockets = tuple(self._sockets)
        if not sockets:
            return
        try:
            ended = await self._records.find_ended_sessions({socket.person for socket in sockets})
        except DatabaseError as error:
            # Unknown is not ended; each question checks the session again before it costs anything.
            logger.warning("sessions not checked (%s)", type(error).__name__)
            return
        for socket in sockets:
            if socket.person in ended:
                socket.outbox.close(CLOSE_SIGNED_OUT)

    async def end_lost(self) -> None:
        """End the watched turns whose process has died: somebody is waiting for them."""
        for turn_id in self._hub.followed_elsewhere():
            try:
                await self._records.end_if_lost(turn_id)
            except (DatabaseError, RedisError) as error:
                logger.warning("turn %s not looked after (%s)", turn_id, type(error).__name__)
