"""The stand-ins keep the engines' contract, so that what passes against them passes against an engine."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from inference.errors import EngineBroke
from inference.events import Completed, TextDelta
from inference.fakes import ScriptedEngine
from tests.unit.inference.answers import ask, make_request


async def test_it_plays_one_script_a_stream_in_order() -> None:
    engine = ScriptedEngine()
    engine.enqueue("Hello", " world", Completed("stop"))
    engine.enqueue(Completed("length"))
    assert (await ask(engine)).deltas == ("Hello", " world")
    assert (await ask(engine, make_request(request_id="second"))).completed.finish_reason == "length"
    assert [request.request_id for request in engine.requests] == ["", "second"]
    assert engine.open_streams == 0


async def test_it_waits_for_an_event_and_raises_an_error() -> None:
    engine, gate = ScriptedEngine(), asyncio.Event()
    engine.enqueue("Hello", gate, EngineBroke("as told"))
    async with aclosing(engine.stream(make_request())) as stream:
        assert await anext(stream) == TextDelta("Hello")
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.set()
        with pytest.raises(EngineBroke):
            await waiting
    assert engine.open_streams == 0


async def test_it_knows_that_a_stream_was_closed_early() -> None:
    engine = ScriptedEngine()
    engine.enqueue("Hello", " world", Completed("stop"))
    async with aclosing(engine.stream(make_request())) as stream:
        assert await anext(stream) == TextDelta("Hello")
        assert engine.open_streams == 1
    assert engine.open_streams == 0
