"""How each engine fails: every foreign error becomes one of ours, and none of them quotes key, prompt or answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from inference.engines.base import Engine, Timeouts
from inference.errors import (
    EngineBroke,
    EngineError,
    EngineOverloaded,
    EngineRefusedKey,
    EngineRejectedRequest,
    EngineSpokeNonsense,
    EngineTimedOut,
    EngineUnreachable,
    TimeoutPhase,
)
from inference.events import EngineEvent
from tests.providers.scripted_provider import ScriptedProvider
from tests.unit.inference.answers import QUESTION, ask, collect
from tests.unit.inference.conftest import BuildEngine


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, EngineRejectedRequest),
        (401, EngineRefusedKey),
        (403, EngineRefusedKey),
        (404, EngineRejectedRequest),
        (408, EngineBroke),
        (409, EngineRejectedRequest),
        (413, EngineRejectedRequest),
        (422, EngineRejectedRequest),
        (429, EngineOverloaded),
        (500, EngineBroke),
        (502, EngineBroke),
        (503, EngineOverloaded),
        (529, EngineOverloaded),
    ],
)
async def test_a_status_becomes_our_error(
    engine: Engine, provider: ScriptedProvider, status: int, expected: type[EngineError]
) -> None:
    provider.script(fail_status=status)
    with pytest.raises(EngineError) as raised:
        await ask(engine)
    assert type(raised.value) is expected
    assert len(provider.log) == 1, "retries are not the engine's"
    assert_it_tells_nothing(raised.value)


@pytest.mark.parametrize(
    ("header", "expected"), [("7", 7.0), ("0.5", 0.5), ("soon", None), (None, None), ("-3", 0.0), ("nan", None)]
)
async def test_an_overloaded_provider_says_when_to_come_back(
    engine: Engine, provider: ScriptedProvider, header: str | None, expected: float | None
) -> None:
    provider.script(fail_status=429, retry_after=header)
    with pytest.raises(EngineOverloaded) as raised:
        await ask(engine)
    assert raised.value.retry_after_s == expected


@pytest.mark.parametrize("sent", [0, 2])
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ({"malformed_after": 2}, EngineSpokeNonsense),
        ({"cut_after": 2}, EngineSpokeNonsense),
        ({"without_end": True}, EngineSpokeNonsense),
    ],
)
async def test_a_stream_that_is_not_the_protocol_is_nonsense(
    engine: Engine, provider: ScriptedProvider, script: dict[str, Any], expected: type[EngineError], sent: int
) -> None:
    provider.script(**{name: sent if name.endswith("_after") else value for name, value in script.items()}, deltas=sent)
    with pytest.raises(EngineError) as raised:
        await ask(engine)
    assert type(raised.value) is expected
    assert_it_tells_nothing(raised.value)


@pytest.mark.parametrize("sent", [0, 2])
@pytest.mark.parametrize(
    ("kind", "expected"), [("vllm", EngineBroke), ("openai", EngineBroke), ("anthropic", EngineOverloaded)]
)
async def test_an_error_event_in_a_stream_that_began_well_is_an_error(
    build_engine: BuildEngine, provider: ScriptedProvider, kind: str, expected: type[EngineError], sent: int
) -> None:
    provider.script(error_after=sent)
    with pytest.raises(EngineError) as raised:
        await ask(build_engine(kind))
    assert type(raised.value) is expected
    assert_it_tells_nothing(raised.value)


async def test_what_came_before_a_break_has_been_delivered(engine: Engine, provider: ScriptedProvider) -> None:
    provider.script(text="One two three", cut_after=2)
    events: list[EngineEvent] = []
    with pytest.raises(EngineSpokeNonsense):
        await collect(engine, events)
    assert [getattr(event, "text", None) for event in events] == ["One", " two"]


@pytest.mark.parametrize(
    ("script", "timeouts", "phase"),
    [
        ({"stall_after": 0}, {"first_token_s": 0.05}, "first_token"),
        ({"stall_after": 2}, {"between_tokens_s": 0.05}, "between_tokens"),
        ({"stall_after": 2}, {"total_s": 0.05}, "total"),
        ({"endless": True, "token_delay_s": 0.001}, {"total_s": 0.05}, "total"),
    ],
)
async def test_each_phase_has_its_own_clock(
    kind: str,
    build_engine: BuildEngine,
    provider: ScriptedProvider,
    script: dict[str, Any],
    timeouts: dict[str, float],
    phase: TimeoutPhase,
) -> None:
    provider.script(**script)
    with pytest.raises(EngineTimedOut) as raised:
        await ask(build_engine(kind, timeouts=Timeouts(**timeouts)))
    assert raised.value.phase == phase
    await provider.wait_until(lambda log: log[0].closed_by_client_ns is not None)


async def test_a_host_that_does_not_answer_the_knock_times_out_on_connect(
    kind: str, build_engine: BuildEngine, deaf_port: int
) -> None:
    engine = build_engine(kind, timeouts=Timeouts(connect_s=0.05), base_url=f"http://127.0.0.1:{deaf_port}/v1")
    with pytest.raises(EngineTimedOut) as raised:
        await ask(engine)
    assert raised.value.phase == "connect"


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
async def test_nobody_there_is_unreachable(kind: str, build_engine: BuildEngine, host: str) -> None:
    with pytest.raises(EngineUnreachable):
        await ask(build_engine(kind, base_url=f"http://{host}/v1"))


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port whose queue of waiting connections is full: the kernel lets further ones wait."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(8)]
        for knock in waiting:
            knock.setblocking(False)
            knock.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
        for knock in waiting:
            knock.close()


def assert_it_tells_nothing(error: EngineError) -> None:
    told = "".join(f"{part!s} {part!r}" for part in (error, error.__cause__, error.args))
    for secret in ("sk-canary-key", QUESTION, "secret"):
        assert secret not in told
