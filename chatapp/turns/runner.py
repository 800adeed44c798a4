"""Owns the turns that run in this process. A socket only watches: its end does not end a turn, Stop does."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from redis.exceptions import RedisError

from chatapp.turns.commands import Ask, BegunTurn, KnownTurn, Person
from chatapp.turns.endings import EndedTurn
from chatapp.turns.events import Ending, Failed, Finished, Stopped, TurnEvent
from chatapp.turns.leases import Leases
from chatapp.turns.pipeline import run_turn
from chatapp.turns.ports import TurnPorts, TurnRequest
from chatapp.turns.stop_signal import StopSignal
from chatapp.turns.stopwatch import Stopwatch
from chatapp.turns.stream_log import StreamLog
from chatapp.turns.stream_writer import StreamWriter
from chatapp.turns.trace import TurnTrace

logger = logging.getLogger(__name__)

# How often a running turn looks whether another process asked it to stop, and how often leases are renewed.
STOP_CHECK_SECONDS = 0.25
RENEW_SECONDS = 2.0


class TurnRecords(Protocol):
    """The crossings into Postgres that the runner needs; `adapters.DatabaseRecords` is the real one."""

    async def begin_turn(self, person: Person, ask: Ask) -> BegunTurn: ...
    async def end_turn(self, ended: EndedTurn) -> None: ...
    async def request_stop(self, person: Person, client_id: UUID) -> KnownTurn | None: ...


@dataclass(slots=True)
class _Running:
    begun: BegunTurn
    stop: StopSignal
    task: asyncio.Task[None]


class TurnRunner:
    def __init__(
        self,
        *,
        records: TurnRecords,
        log: StreamLog,
        leases: Leases,
        ports_for: Callable[[BegunTurn], TurnPorts],
        prefetch: Callable[[str], None],
        embedder: str,
    ) -> None:
        self._records = records
        self._log = log
        self._leases = leases
        self._ports_for = ports_for
        self._prefetch = prefetch
        self._embedder = embedder
        self._running: dict[UUID, _Running] = {}
        self._by_client: dict[tuple[int, UUID], UUID] = {}
        self._keeper: asyncio.Task[None] | None = None

    def is_running_here(self, turn_id: UUID) -> bool:
        return turn_id in self._running

    async def start(self, person: Person, ask: Ask) -> BegunTurn:
        """Save the question and let the answer run on its own; raises AskRefusedError, SessionEndedError."""
        stopwatch = Stopwatch(time.perf_counter)
        if ask.text:
            self._prefetch(ask.text)  # the embedding is on its way while Postgres saves the question
        begun = await self._records.begin_turn(person, ask)
        stopwatch.add("queue_ms", stopwatch.elapsed_ms())
        if not begun.is_repeated:
            self._launch(begun, stopwatch)
        return begun

    async def stop(self, person: Person, client_id: UUID) -> bool:
        """Ends the person's turn wherever it runs; False if there is no such turn."""
        running = self._running.get(self._by_client.get((person.user_id, client_id), client_id))
        if running is not None and running.begun.user_id == person.user_id:
            running.stop.request()
        known = await self._records.request_stop(person, client_id)
        if known is not None and known.is_running:
            await self._leases.ask_to_stop(known.turn_id)
        return known is not None

    async def aclose(self) -> None:
        """End what runs here; each turn is written down as stopped with what was said so far."""
        tasks = [running.task for running in self._running.values()]
        for running in list(self._running.values()):
            running.stop.request()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._keeper is not None:
            self._keeper.cancel()

    def _launch(self, begun: BegunTurn, stopwatch: Stopwatch) -> None:
        stop = StopSignal()
        task = asyncio.create_task(self._run(begun, stop, stopwatch), name=f"turn-{begun.turn_id}")
        self._running[begun.turn_id] = _Running(begun, stop, task)
        self._by_client[(begun.user_id, begun.client_id)] = begun.turn_id
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep(), name="turn-keeper")

    async def _run(self, begun: BegunTurn, stop: StopSignal, stopwatch: Stopwatch) -> None:
        trace = TurnTrace(stopwatch)
        writer = StreamWriter(self._log, turn_id=begun.turn_id, client_id=begun.client_id)
        try:
            ending = await self._stream(begun, stop, trace, writer)
            await self._records.end_turn(EndedTurn(begun, ending, trace, self._embedder))
        except Exception:
            # The outermost frame of a turn. It stays "running" in Postgres, loses its lease, and the sweeper ends it
            # with what its log holds.
            logger.exception("turn %s could not be written down", begun.turn_id)
        finally:
            del self._running[begun.turn_id]
            self._by_client.pop((begun.user_id, begun.client_id), None)
        await self._leases.end(begun.turn_id)

    async def _stream(self, begun: BegunTurn, stop: StopSignal, trace: TurnTrace, writer: StreamWriter) -> Ending:
        ending: Ending = Failed("internal")
        try:
            async with aclosing(self._events(begun, stop, trace)) as events:
                async for event in events:
                    writer.write(event, trace)
                    if isinstance(event, Finished | Stopped | Failed):
                        ending = event
        except Exception:
            logger.exception("turn %s broke", begun.turn_id)
            trace.total_ms = trace.stopwatch.elapsed_ms()
            ending = Failed("internal")
            writer.end(ending, trace)
        return ending

    def _events(self, begun: BegunTurn, stop: StopSignal, trace: TurnTrace) -> AsyncGenerator[TurnEvent, None]:
        request = TurnRequest(
            turn_id=begun.turn_id,
            user_id=begun.user_id,
            question=begun.question,
            history=begun.history,
            context_digest=begun.context_digest,
            use_cache=begun.use_cache,
        )
        return run_turn(request, self._ports_for(begun), trace=trace, stop=stop)

    async def _keep(self) -> None:
        """One loop for all running turns: renews their leases and looks for stops from elsewhere."""
        renew_at = 0.0
        while self._running:
            try:
                if time.monotonic() >= renew_at:
                    await self._leases.renew(list(self._running))
                    renew_at = time.monotonic() + RENEW_SECONDS
                for turn_id in await self._leases.find_stopped(list(self._running)):
                    if turn_id in self._running:
                        self._running[turn_id].stop.request()
            except (RedisError, OSError) as error:
                logger.warning("leases not renewed (%s)", type(error).__name__)
            await asyncio.sleep(STOP_CHECK_SECONDS)
