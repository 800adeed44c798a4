"""One turn, from a saved question to its ending: embed, cache, route, compress, stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import islice

from chatapp.turns.events import Delta, Failed, Finished, Routed, Stopped, TurnEvent, Waiting
from chatapp.turns.ports import RouteEngine, TurnPorts, TurnRequest, Vector
from chatapp.turns.stop_signal import StopRequestedError, StopSignal
from chatapp.turns.trace import TurnTrace
from inference.compressor import PromptTooLongError, fit_history
from inference.errors import EngineError, EngineUnreachable
from inference.events import EngineEvent, TextDelta
from inference.messages import ChatMessage, GenerationRequest
from inference.token_count import count_tokens
from routing.errors import NoRouteAvailable

# A cached answer goes out in pieces of this many characters: the browser paints the first while the rest arrives.
CACHED_PIECE_CHARACTERS = 2_000
# Tokens that the chat template adds around the messages; SmolLM2's takes 5 a message, Llama's 8.
TEMPLATE_TOKENS_PER_MESSAGE = 8
# An answer shorter than this is no answer: the history gives way first.
MIN_ANSWER_TOKENS = 64


async def run_turn(
    request: TurnRequest, ports: TurnPorts, *, trace: TurnTrace, stop: StopSignal
) -> AsyncGenerator[TurnEvent, None]:
    """Yields events and ends with exactly one of Finished, Stopped, Failed; what it learns goes into `trace`.

    It must be closed (`aclosing`) or exhausted: that is what closes the engine's stream.
    """
    try:
        async with aclosing(_answer(request, ports, trace, stop)) as events:
            async for event in events:
                yield event
    except StopRequestedError:
        trace.total_ms = trace.stopwatch.elapsed_ms()
        yield Stopped()
    except NoRouteAvailable:
        yield _failed("no_engine", trace)
    except PromptTooLongError:
        yield _failed("prompt_too_long", trace)
    except EngineError as error:
        yield _failed(error.code, trace)


def _failed(code: str, trace: TurnTrace) -> Failed:
    trace.total_ms = trace.stopwatch.elapsed_ms()
    return Failed(code)


async def _answer(
    request: TurnRequest, ports: TurnPorts, trace: TurnTrace, stop: StopSignal
) -> AsyncGenerator[TurnEvent, None]:
    with stop, trace.stopwatch.stage("embed_ms"):
        embedding = await ports.embedder.embed(request.question)
    trace.embedding = embedding
    await _look_up(request, ports, trace, stop, embedding)
    if trace.cached is not None:
        for event in _serve_cached(trace):
            yield event
        return
    with trace.stopwatch.stage("route_ms"):
        trace.decision = ports.router.decide(request, embedding)
    async with aclosing(_stream_with_fallback(request, ports, trace, stop)) as events:
        async for event in events:
            yield event


async def _look_up(
    request: TurnRequest, ports: TurnPorts, trace: TurnTrace, stop: StopSignal, embedding: Vector
) -> None:
    if not request.use_cache:
        trace.cache_status = "bypassed"
        return
    with stop, trace.stopwatch.stage("cache_ms"):
        outcome = await ports.cache.find_answer(request, embedding)
    trace.cache_status = outcome.status
    trace.cache_similarity = outcome.similarity
    trace.cached = outcome.hit


def _serve_cached(trace: TurnTrace) -> list[TurnEvent]:
    assert trace.cached is not None  # noqa: S101 - narrows the type; the caller has looked
    trace.source = "cache"
    events: list[TurnEvent] = [Routed(source="cache", route="", model="")]
    characters = iter(trace.cached.answer)
    while piece := "".join(islice(characters, CACHED_PIECE_CHARACTERS)):
        trace.note_delta(piece)
        events.append(Delta(piece))
    trace.total_ms = trace.stopwatch.elapsed_ms()
    return [*events, Finished("stop")]


async def _stream_with_fallback(
    request: TurnRequest, ports: TurnPorts, trace: TurnTrace, stop: StopSignal
) -> AsyncGenerator[TurnEvent, None]:
    """Tries the decided route, then the others, but only until the first delta: after it a broken stream has failed."""
    assert trace.decision is not None  # noqa: S101 - narrows the type; the caller has decided
    names = [trace.decision.route, *trace.decision.fallbacks]
    while names:
        name = names.pop(0)
        try:
            async with aclosing(_stream_from(name, request, ports, trace, stop)) as events:
                async for event in events:
                    yield event
            return
        except EngineUnreachable:
            # An engine that is being restarted is worth waiting for when nobody else could answer.
            if trace.parts or not (names or ports.engines.is_warming_up(name)):
                raise
            names = names or [name]
        except EngineError:
            if trace.parts or not names:
                raise
        trace.fallbacks += 1


async def _stream_from(
    name: str, request: TurnRequest, ports: TurnPorts, trace: TurnTrace, stop: StopSignal
) -> AsyncGenerator[TurnEvent, None]:
    if ports.engines.is_warming_up(name):
        yield Waiting("engine_loading")
        with stop, trace.stopwatch.stage("wait_ms"):
            await ports.engines.wait_until_up(name)
    route = ports.engines.get_route(name)
    with trace.stopwatch.stage("compress_ms"):
        generation = _build_generation(request, ports, trace, route)
    trace.source, trace.route, trace.model = route.source, route.name, route.model
    yield Routed(source=route.source, route=route.name, model=route.model)
    asked_ms = trace.stopwatch.elapsed_ms()
    async with (
        aclosing(route.engine.stream(generation)) as stream,
        aclosing(_pull(stream, trace, stop)) as events,
    ):
        async for event in events:
            if isinstance(event, TextDelta):
                if trace.ttft_ms is None:
                    trace.stopwatch.add("engine_first_token_ms", trace.stopwatch.elapsed_ms() - asked_ms)
                trace.note_delta(event.text)
                yield Delta(event.text)
                if trace.answer_bytes >= ports.answer_max_bytes:
                    trace.total_ms = trace.stopwatch.elapsed_ms()
                    yield Finished("length")
                    return
            else:
                trace.usage = event.usage
                trace.total_ms = trace.stopwatch.elapsed_ms()
                yield Finished(event.finish_reason)
                return


async def _pull(
    stream: AsyncGenerator[EngineEvent, None], trace: TurnTrace, stop: StopSignal
) -> AsyncGenerator[EngineEvent, None]:
    """The stream's events; a Stop interrupts the wait for the next and closes the stream, which stops the engine."""
    try:
        while True:
            with stop:
                event = await anext(stream)
            yield event
    except StopRequestedError:
        stopped_at_ms = trace.stopwatch.elapsed_ms()
        await stream.aclose()
        trace.stop_ms = trace.stopwatch.elapsed_ms() - stopped_at_ms
        raise


def _build_generation(
    request: TurnRequest, ports: TurnPorts, trace: TurnTrace, route: RouteEngine
) -> GenerationRequest:
    """Stable part first (system prompt, history as it was written), so that prefix caches hit; the question last."""
    system = (ChatMessage("system", route.system_prompt),) if route.system_prompt else ()
    messages = (*system, *request.history, ChatMessage("user", request.question))
    overhead = TEMPLATE_TOKENS_PER_MESSAGE * len(messages)
    budget = route.context_tokens - MIN_ANSWER_TOKENS - overhead
    if ports.history_budget_tokens is not None and request.history:
        fixed = count_tokens(route.system_prompt) + count_tokens(request.question)
        budget = min(budget, fixed + ports.history_budget_tokens)
    prompt = fit_history(messages, budget_tokens=budget, count_tokens=count_tokens)
    trace.tokens_before_compress, trace.tokens_after_compress = prompt.tokens_before, prompt.tokens_after
    room = route.context_tokens - prompt.tokens_after - overhead
    return GenerationRequest(
        messages=prompt.messages,
        max_tokens=max(1, min(route.max_tokens, room)),
        temperature=route.temperature,
        request_id=str(request.turn_id),
    )
