"""A stop ends the await that the turn is in, and nothing else is swallowed with it."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.turns.stop_signal import StopRequestedError, StopSignal


async def test_a_stop_interrupts_the_wait() -> None:
    stop = StopSignal()

    async def wait() -> None:
        with stop:
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    stop.request()
    with pytest.raises(StopRequestedError):
        await task


async def test_a_stop_between_two_waits_ends_the_next_at_once() -> None:
    stop = StopSignal()
    stop.request()
    with pytest.raises(StopRequestedError), stop:
        pytest.fail("the block must not run")


async def test_a_cancellation_from_elsewhere_stays_one() -> None:
    stop = StopSignal()

    async def wait() -> None:
        with stop:
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_stopping_twice_is_stopping_once() -> None:
    stop = StopSignal()

    async def wait() -> None:
        with stop:
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    stop.request()
    stop.request()
    with pytest.raises(StopRequestedError):
        await task
    assert task.cancelling() == 0
