"""What only the real engine can show: that it talks, counts, stops when nobody listens, and shares its prefixes."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from inference.engines.vllm import VLLMEngine
from inference.events import Completed, TextDelta
from inference.messages import ChatMessage, GenerationRequest
from tests.engine.conftest import Metrics

pytestmark = pytest.mark.engine

LONG_ENOUGH_TO_SHARE = "You are a patient assistant. Say what you know and what you do not know. " * 20


def ask_for(text: str, *, max_tokens: int = 48, system: str = "Answer in one short sentence.") -> GenerationRequest:
    messages = (ChatMessage("system", system), ChatMessage("user", text))
    return GenerationRequest(messages=messages, max_tokens=max_tokens, temperature=0.0)


async def read_all(engine: VLLMEngine, request: GenerationRequest) -> tuple[list[str], Completed]:
    *deltas, completed = [event async for event in engine.stream(request)]
    assert isinstance(completed, Completed)
    return [delta.text for delta in deltas if isinstance(delta, TextDelta)], completed


async def wait_for(metrics: Metrics, name: str, wanted: float) -> None:
    """Each look is a request of its own; the time limit only ends a test that has failed already."""
    async with asyncio.timeout(30):
        while await asyncio.to_thread(metrics.read, name) != wanted:
            pass


async def test_it_streams_an_answer_that_makes_sense(engine: VLLMEngine) -> None:
    deltas, completed = await read_all(engine, ask_for("What is the capital of France?"))
    assert "Paris" in "".join(deltas)
    assert len(deltas) > 3
    assert completed.finish_reason == "stop"


async def test_it_says_how_many_tokens_it_read_and_wrote(engine: VLLMEngine) -> None:
    _, completed = await read_all(engine, ask_for("Tell me a long story about a river.", max_tokens=16))
    assert completed.finish_reason == "length"
    assert completed.usage.completion_tokens == 16
    assert completed.usage.prompt_tokens is not None
    assert completed.usage.prompt_tokens > 16


async def test_it_reads_a_prefix_it_has_seen_from_its_cache(engine: VLLMEngine) -> None:
    await read_all(engine, ask_for("What is a lake?", max_tokens=2, system=LONG_ENOUGH_TO_SHARE))
    _, completed = await read_all(engine, ask_for("What is a hill?", max_tokens=2, system=LONG_ENOUGH_TO_SHARE))
    assert completed.usage.cached_tokens is not None
    assert completed.usage.cached_tokens > 200


async def test_it_stops_generating_when_the_stream_is_closed(engine: VLLMEngine, metrics: Metrics) -> None:
    long_answer = ask_for(
        "Explain how a computer works, in twenty paragraphs.", max_tokens=300, system="Explain it all."
    )
    _, completed = await read_all(engine, long_answer)
    assert completed.finish_reason == "length"
    before = metrics.read("generation_tokens_total")
    async with aclosing(engine.stream(long_answer)) as events:
        first = await anext(events)
        assert isinstance(first, TextDelta)
    await wait_for(metrics, "num_requests_running", 0)
    assert metrics.read("generation_tokens_total") - before < 150


async def test_it_answers_several_at_once(engine: VLLMEngine) -> None:
    questions = ["What is the capital of Italy?", "What is the capital of Spain?", "What is the capital of Japan?"]
    answers = await asyncio.gather(*(read_all(engine, ask_for(question)) for question in questions))
    assert ["".join(deltas) != "" for deltas, _ in answers] == [True, True, True]


async def test_it_takes_text_of_any_script(engine: VLLMEngine) -> None:
    deltas, completed = await read_all(
        engine, ask_for("\u202eשלום\u202c 👩‍👩‍👧 <script>alert(1)</script> \u0000", max_tokens=8)
    )
    assert completed.usage.completion_tokens is not None
    assert "".join(deltas).encode("utf-8")
