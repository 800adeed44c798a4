"""One turn through its ports, with scripted engines: what it says, and what it leaves in its trace."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest

from chatapp.turns.events import Delta, Failed, Finished, Routed, Stopped, TurnEvent, Waiting
from chatapp.turns.fakes import FakeCache, FakeRoutes, make_ports, make_request
from chatapp.turns.pipeline import run_turn
from chatapp.turns.ports import CacheOutcome, TurnPorts, TurnRequest
from chatapp.turns.stop_signal import StopSignal
from chatapp.turns.stopwatch import Stopwatch
from chatapp.turns.trace import CachedFrom, TurnTrace
from inference.errors import EngineBroke, EngineOverloaded, EngineUnreachable
from inference.events import Completed, Usage
from inference.fakes import ScriptedEngine
from inference.messages import ChatMessage

HIT = CacheOutcome("hit", 0.99, CachedFrom("1", "Before?", "Paris. " * 600, 0.99, datetime.now(UTC), "private"))


async def run(
    ports: TurnPorts, request: TurnRequest | None = None, *, stop: StopSignal | None = None
) -> tuple[list[TurnEvent], TurnTrace]:
    trace = TurnTrace(Stopwatch())
    async with aclosing(run_turn(request or make_request(), ports, trace=trace, stop=stop or StopSignal())) as events:
        return [event async for event in events], trace


def scripted(*steps: Any) -> ScriptedEngine:
    engine = ScriptedEngine()
    engine.enqueue(*steps)
    return engine


async def test_it_streams_what_the_engine_says() -> None:
    engine = scripted("Par", "is.", Completed("stop", Usage(12, 4, 2)))
    events, trace = await run(make_ports(FakeRoutes({"local": engine})))
    assert events == [Routed("local", "local", "local-model"), Delta("Par"), Delta("is."), Finished("stop")]
    assert trace.answer == "Paris."
    assert trace.usage.cached_tokens == 4
    assert {"embed_ms", "cache_ms", "route_ms", "compress_ms", "engine_first_token_ms"} <= set(
        trace.stopwatch.stages_ms
    )
    assert engine.open_streams == 0


async def test_a_cached_answer_asks_no_engine() -> None:
    engine = ScriptedEngine()
    events, trace = await run(make_ports(FakeRoutes({"local": engine}), cache=FakeCache(HIT)))
    assert events[0] == Routed("cache", "", "")
    assert events[-1] == Finished("stop")
    assert HIT.hit is not None
    assert "".join(event.text for event in events if isinstance(event, Delta)) == HIT.hit.answer
    assert engine.requests == []
    assert trace.source == "cache"


async def test_asking_around_the_cache_does_not_look_into_it() -> None:
    cache = FakeCache(HIT)
    routes = FakeRoutes({"local": scripted("New.", Completed("stop"))})
    _, trace = await run(make_ports(routes, cache=cache), make_request(use_cache=False))
    assert cache.lookups == []
    assert trace.cache_status == "bypassed"


@pytest.mark.parametrize("error", [EngineUnreachable("x"), EngineOverloaded("x"), EngineBroke("x")])
async def test_the_next_route_takes_over_before_the_first_delta(error: Exception) -> None:
    routes = FakeRoutes({"local": scripted(error), "flagship": scripted("Hi", Completed("stop"))})
    events, trace = await run(make_ports(routes))
    assert [event for event in events if isinstance(event, Routed)][-1].source == "flagship"
    assert events[-1] == Finished("stop")
    assert trace.fallbacks == 1


async def test_after_the_first_delta_a_broken_stream_has_failed_and_keeps_its_text() -> None:
    flagship = ScriptedEngine()
    routes = FakeRoutes({"local": scripted("Half an", EngineBroke("x")), "flagship": flagship})
    events, trace = await run(make_ports(routes))
    assert events[-1] == Failed("engine_broke")
    assert trace.answer == "Half an"
    assert flagship.requests == []


async def test_when_every_route_is_down_the_turn_has_failed() -> None:
    routes = FakeRoutes({"local": scripted(EngineUnreachable("x")), "flagship": scripted(EngineOverloaded("x"))})
    events, _ = await run(make_ports(routes))
    assert events[-1] == Failed("engine_overloaded")


async def test_without_any_route_the_turn_has_failed() -> None:
    events, _ = await run(make_ports(FakeRoutes()))
    assert events == [Failed("no_engine")]


async def test_a_question_waits_for_an_engine_that_loads() -> None:
    routes = FakeRoutes({"local": scripted("Hi", Completed("stop"))}, warming_up={"local"})
    events, trace = await run(make_ports(routes))
    assert events[0] == Waiting("engine_loading")
    assert events[-1] == Finished("stop")
    assert "wait_ms" in trace.stopwatch.stages_ms


async def test_an_engine_that_gives_up_loading_fails_the_turn() -> None:
    routes = FakeRoutes({"local": ScriptedEngine()}, warming_up={"local", "flagship"}, gives_up=True)
    routes.warming_up = {"local"}
    stop = StopSignal()
    trace = TurnTrace(Stopwatch())
    seen: list[TurnEvent] = []
    async with aclosing(run_turn(make_request(), make_ports(routes), trace=trace, stop=stop)) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, Waiting):
                routes.warming_up.clear()
    assert seen[-1] == Failed("engine_unreachable")


async def test_stop_before_the_first_token_closes_the_engine() -> None:
    engine = scripted(asyncio.Event())
    stop = StopSignal()
    events: list[TurnEvent] = []

    async def watch() -> None:
        trace = TurnTrace(Stopwatch())
        async for event in run_turn(make_request(), make_ports(FakeRoutes({"local": engine})), trace=trace, stop=stop):
            events.append(event)

    task = asyncio.create_task(watch())
    while not engine.open_streams:  # noqa: ASYNC110 - the fake engine announces nothing
        await asyncio.sleep(0)
    stop.request()
    await task
    assert events[-1] == Stopped()
    assert engine.open_streams == 0


async def test_stop_in_mid_answer_keeps_what_was_said() -> None:
    engine = scripted("One", "Two", asyncio.Event())
    stop = StopSignal()
    trace = TurnTrace(Stopwatch())
    seen: list[TurnEvent] = []
    async for event in run_turn(make_request(), make_ports(FakeRoutes({"local": engine})), trace=trace, stop=stop):
        seen.append(event)
        if event == Delta("Two"):
            stop.request()
    assert seen[-1] == Stopped()
    assert trace.answer == "OneTwo"
    assert engine.open_streams == 0


async def test_an_answer_without_end_is_cut_at_its_longest() -> None:
    engine = scripted(*["x" * 60] * 5, Completed("stop"))
    events, trace = await run(make_ports(FakeRoutes({"local": engine}), answer_max_bytes=100))
    assert events[-1] == Finished("length")
    assert trace.answer_bytes == 120
    assert engine.open_streams == 0


async def test_a_question_longer_than_the_context_fails_with_its_own_code() -> None:
    routes = FakeRoutes({"local": ScriptedEngine()}, context_tokens=300)
    events, _ = await run(make_ports(routes), make_request("word " * 2_000))
    assert events[-1] == Failed("prompt_too_long")


async def test_the_prompt_has_its_stable_part_first() -> None:
    engine = scripted("Hi", Completed("stop"))
    base = make_request("And now?")
    history = (ChatMessage("user", "First?"), ChatMessage("assistant", "Yes."))
    request = TurnRequest(base.turn_id, 1, base.question, history, "digest", use_cache=True)
    await run(make_ports(FakeRoutes({"local": engine}, system_prompt="Be kind.")), request)
    assert [message.text for message in engine.requests[0].messages] == ["Be kind.", "First?", "Yes.", "And now?"]
