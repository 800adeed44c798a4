"""What every engine owes the pipeline, against a real server that speaks the provider's protocol."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from inference.engines.base import Engine
from inference.events import FinishReason
from tests.providers.scripted_provider import ScriptedProvider
from tests.unit.inference.answers import QUESTION, ask, make_request
from tests.unit.inference.conftest import BuildEngine

FOREIGN = "Größe: 🇫🇷 日本語 👩‍👩‍👧 naïve — שלום"


async def test_it_streams_the_answer_and_says_how_it_ended(engine: Engine, provider: ScriptedProvider) -> None:
    provider.script(text="One two three.", cached_tokens=8)
    answer = await ask(engine)
    assert answer.deltas == ("One", " two", " three.")
    assert answer.completed.finish_reason == "stop"
    usage = answer.completed.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (12, 8, 3)


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7])
async def test_code_points_stay_whole_wherever_the_bytes_are_cut(
    engine: Engine, provider: ScriptedProvider, chunk_bytes: int
) -> None:
    provider.script(text=FOREIGN, chunk_bytes=chunk_bytes)
    assert (await ask(engine)).text == FOREIGN


async def test_pings_comments_and_empty_deltas_are_no_events(engine: Engine, provider: ScriptedProvider) -> None:
    provider.script(text="One two", noisy=True)
    assert (await ask(engine)).deltas == ("One", " two")


async def test_an_answer_without_text_is_still_an_answer(engine: Engine, provider: ScriptedProvider) -> None:
    provider.script(deltas=0)
    assert (await ask(engine)).deltas == ()


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("vllm", "length", "length"),
        ("openai", "length", "length"),
        ("openai", "content_filter", "content_filter"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "content_filter"),
        ("anthropic", "stop_sequence", "stop"),
    ],
)
async def test_the_providers_words_for_an_end_become_ours(
    build_engine: BuildEngine, provider: ScriptedProvider, kind: str, said: str, expected: FinishReason
) -> None:
    provider.script(finish_reason=said)
    assert (await ask(build_engine(kind))).completed.finish_reason == expected


async def test_closing_the_stream_closes_it_upstream(engine: Engine, provider: ScriptedProvider) -> None:
    provider.script(endless=True, token_delay_s=0.001)
    async with aclosing(engine.stream(make_request())) as stream:
        await anext(stream)
    await provider.wait_until(lambda log: log[0].closed_by_client_ns is not None)


@pytest.mark.parametrize("stall_after", [0, 2])
async def test_cancelling_a_stream_that_waits_closes_it_upstream(
    engine: Engine, provider: ScriptedProvider, stall_after: int
) -> None:
    provider.script(stall_after=stall_after)
    asking = asyncio.create_task(ask(engine))
    await provider.wait_until(lambda log: bool(log) and len(log[0].sent_ns) == stall_after)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await provider.wait_until(lambda log: log[0].closed_by_client_ns is not None)


async def test_fifty_streams_at_once_do_not_mix(engine: Engine, provider: ScriptedProvider) -> None:
    provider.script(deltas=20, text="a b c d e", token_delay_s=0.001)
    answers = await asyncio.gather(*(ask(engine) for _ in range(50)))
    assert {answer.text for answer in answers} == {"a b c d e" * 4}
    assert len(provider.log) == 50


async def test_a_finished_stream_leaves_its_connection_to_the_next(engine: Engine, provider: ScriptedProvider) -> None:
    await ask(engine)
    await ask(engine)
    await provider.wait_until(lambda log: all(seen.is_finished for seen in log))
    assert [seen.closed_by_client_ns for seen in provider.log] == [None, None]
    assert len({seen.client_port for seen in provider.log}) == 1


async def test_vllm_is_told_the_priority_the_seed_and_the_id(
    build_engine: BuildEngine, provider: ScriptedProvider
) -> None:
    await ask(build_engine("vllm"), make_request(priority=3, seed=7, temperature=0.5, request_id="turn-1"))
    seen = provider.log[0]
    assert (seen.body["priority"], seen.body["seed"], seen.body["temperature"]) == (3, 7, 0.5)
    assert seen.body["stream_options"] == {"include_usage": True}
    assert seen.headers["x-request-id"] == "turn-1"
    assert seen.headers["authorization"] == "Bearer sk-canary-key"
    assert [message["role"] for message in seen.body["messages"]] == ["system", "user", "assistant", "user"]


async def test_openai_is_sent_nothing_that_only_vllm_knows(
    build_engine: BuildEngine, provider: ScriptedProvider
) -> None:
    await ask(build_engine("openai"), make_request(priority=3))
    assert "priority" not in provider.log[0].body
    assert "temperature" not in provider.log[0].body
    assert provider.log[0].headers["authorization"] == "Bearer sk-canary-key"


async def test_anthropic_is_told_where_the_stable_prefix_ends(
    build_engine: BuildEngine, provider: ScriptedProvider
) -> None:
    await ask(build_engine("anthropic"))
    body = provider.log[0].body
    mark = {"type": "ephemeral"}
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert [message["content"][0].get("cache_control") for message in body["messages"]] == [None, mark, None]
    assert body["messages"][-1]["content"][0]["text"] == QUESTION
    assert provider.log[0].headers["authorization"] == "Bearer sk-canary-key"
