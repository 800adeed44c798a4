"""Writes one turn's events to its log: the first delta at once, later ones joined for a moment."""

from __future__ import annotations

import asyncio
from uuid import UUID

from chatapp.turns.events import Delta, Ending, Routed, TurnEvent, Waiting
from chatapp.turns.frames import Frame, delta_frame, ending_frame, routed_frame, waiting_frame
from chatapp.turns.stream_log import StreamLog
from chatapp.turns.trace import TurnTrace

# Deltas are joined for at most this long or this much: a frame costs the socket far more than its bytes do, and the
# eye does not see 25 frames a second apart.
BATCH_SECONDS = 0.040
BATCH_BYTES = 512


class StreamWriter:
    """Numbers the records of one turn from 0 and appends them to the log; nothing here waits for Redis."""

    def __init__(self, log: StreamLog, *, turn_id: UUID, client_id: UUID) -> None:
        self._log = log
        self._turn_id = turn_id
        self._client_id = client_id
        self._seq = 0
        self._parts: list[str] = []
        self._held_bytes = 0
        self._held_since = 0.0
        self._flushed_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def write(self, event: TurnEvent, trace: TurnTrace) -> None:
        match event:
            case Delta():
                self._hold(event.text)
            case Waiting():
                self._append(waiting_frame(self._client_id, event))
            case Routed():
                self._append(routed_frame(self._client_id, event))
            case _:
                self.end(event, trace)

    def end(self, ending: Ending, trace: TurnTrace) -> None:
        self._flush()
        self._append(ending_frame(self._client_id, ending, trace))

    def _hold(self, text: str) -> None:
        now = asyncio.get_running_loop().time()
        if not self._parts:
            self._held_since = now
        self._parts.append(text)
        self._held_bytes += len(text.encode())
        due = now if self._flushed_at is None else self._flushed_at + BATCH_SECONDS
        if due <= now or self._held_bytes >= BATCH_BYTES:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(due, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._parts:
            return
        now = asyncio.get_running_loop().time()
        batch_ms = round((now - self._held_since) * 1_000)
        self._append(delta_frame(self._client_id, Delta("".join(self._parts)), batch_ms=batch_ms))
        self._parts.clear()
        self._held_bytes = 0
        self._flushed_at = now

    def _append(self, frame: Frame) -> None:
        self._log.append(self._turn_id, self._seq, frame)
        self._seq += 1
