"""Turns a person's Stop into an exception at the very await that the turn is in."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class StopRequestedError(Exception):
    """The turn was asked to stop."""


class StopSignal:
    """Entered around each await of a turn. Works the way `asyncio.timeout` does: the request cancels the task, and
    the exit turns that cancellation, and no other, into StopRequestedError.

    Between two scopes a request is only noted: the next scope raises at once.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0

    def request(self) -> None:
        """Ask the turn to stop; asking again changes nothing."""
        if self.is_requested:
            return
        self.is_requested = True
        if self._task is not None:
            self._task.cancel()

    def __enter__(self) -> None:
        if self.is_requested:
            raise StopRequestedError
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a turn runs in a task")
        self._task = task
        self._cancelling = task.cancelling()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if not self.is_requested or task is None:
            return
        # A cancellation that came from elsewhere as well stays one: the count says so.
        if task.uncancel() <= self._cancelling and (kind is None or kind is asyncio.CancelledError):
            raise StopRequestedError from error
