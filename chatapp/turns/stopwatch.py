"""Times the stages of a turn. Every mark comes from one monotonic clock, so a change of the wall clock does no harm."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Clock = Callable[[], float]


class Stopwatch:
    """Milliseconds per stage, and since the start. A stage that did not happen is absent, never 0."""

    def __init__(self, clock: Clock = time.perf_counter, *, started_at: float | None = None) -> None:
        self._clock = clock
        self._started_at = clock() if started_at is None else started_at
        self.stages_ms: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds what the block takes to the stage, also when it raises."""
        began = self._clock()
        try:
            yield
        finally:
            self.add(name, (self._clock() - began) * 1_000)

    def add(self, name: str, elapsed_ms: float) -> None:
        self.stages_ms[name] = self.stages_ms.get(name, 0.0) + elapsed_ms

    def elapsed_ms(self) -> float:
        """Since the question arrived."""
        return (self._clock() - self._started_at) * 1_000
