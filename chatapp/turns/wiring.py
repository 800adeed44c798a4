"""Builds the parts of a process from the settings: the one place that names concrete engines."""

from __future__ import annotations

import asyncio

import redis
import redis.asyncio
from django.conf import settings

from chatapp.answercache.embedding import load_embedder
from chatapp.turns.adapters import AnswerCache, DatabaseRecords, NoAnswerCache, ThreadedEmbedder
from chatapp.turns.commands import BegunTurn
from chatapp.turns.database_threads import DatabaseThreads
from chatapp.turns.engine_monitor import EngineMonitor
from chatapp.turns.engine_pool import EnginePool
from chatapp.turns.leases import Leases
from chatapp.turns.ports import AnswerCachePort, TurnPorts
from chatapp.turns.route_ports import EngineDefaults, RoutePorts
from chatapp.turns.runner import TurnRunner
from chatapp.turns.stream_hub import BLOCK_MS, StreamHub
from chatapp.turns.stream_log import StreamLog
from inference.engines.anthropic import AnthropicEngine
from inference.engines.openai_compatible import OpenAICompatibleEngine
from inference.engines.vllm import VLLMEngine
from routing.scorers import FeatureScorer
from routing.store import RoutingSnapshot, generation_fingerprint

# Each statement is short: more threads than this only take the interpreter from the event loop. With 6, fifty questions
# at one instant waited longer, and every delta with them (benchmarks/turn_overhead.py).
DATABASE_THREADS = 3


class Runtime:
    """Everything that the sockets of one process share. Lives on one event loop."""

    def __init__(self) -> None:
        self._redis = redis.asyncio.Redis.from_url(settings.REDIS_URL)
        self._sync_redis = redis.Redis.from_url(settings.REDIS_URL)
        self._threads = DatabaseThreads(DATABASE_THREADS)
        self._embedder = ThreadedEmbedder(load_embedder())
        self._scorer = FeatureScorer()
        self._pool = EnginePool(
            {"vllm": VLLMEngine, "openai": OpenAICompatibleEngine, "anthropic": AnthropicEngine},
        )
        self._defaults = read_engine_defaults()
        self.monitor = EngineMonitor(
            base_url=settings.LOCAL_ENGINE_URL, redis=self._redis, warmup_max_s=settings.ENGINE_WARMUP_MAX_SECONDS
        )
        self.records = DatabaseRecords(self._threads, self._sync_redis)
        self.log = StreamLog(self._redis, keep_seconds=settings.STREAM_LOG_KEEP_SECONDS)
        # A client of its own, whose patience is longer than a blocked read.
        self._blocking_redis = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_timeout=BLOCK_MS / 1_000 + 5)
        self.hub = StreamHub(self.log, self._redis, blocking_redis=self._blocking_redis)
        self.runner = TurnRunner(
            records=self.records,
            log=self.log,
            leases=Leases(self._redis),
            ports_for=self._ports_for,
            prefetch=self._embedder.prefetch,
            embedder=self._embedder.name,
        )

    async def start(self) -> None:
        await self.monitor.start()

    async def aclose(self) -> None:
        """End the turns that run here, write down what they said, and close every connection."""
        await self.runner.aclose()
        await self.log.aclose()
        await self.hub.aclose()
        await self.monitor.aclose()
        await self._pool.aclose()
        await self._threads.aclose()
        self._embedder.close()
        await self._redis.aclose()
        await self._blocking_redis.aclose()
        self._sync_redis.close()

    def _ports_for(self, begun: BegunTurn) -> TurnPorts:
        assert begun.snapshot is not None  # noqa: S101 - narrows the type; a repeated ask runs nothing
        policy = begun.snapshot.policy
        routes = RoutePorts(
            begun.snapshot, defaults=self._defaults, pool=self._pool, monitor=self.monitor, scorer=self._scorer
        )
        return TurnPorts(
            embedder=self._embedder,
            cache=self._cache_for(begun.snapshot),
            router=routes,
            engines=routes,
            history_budget_tokens=policy.history_budget_tokens if policy.compression_enabled else None,
            answer_max_bytes=settings.ANSWER_MAX_BYTES,
        )

    def _cache_for(self, snapshot: RoutingSnapshot) -> AnswerCachePort:
        if not snapshot.policy.cache_enabled:
            return NoAnswerCache()
        return AnswerCache(
            self._threads,
            embedder=self._embedder.name,
            min_similarity=snapshot.policy.cache_min_similarity,
            fingerprints=frozenset(
                generation_fingerprint(route, model=self._defaults.model_of(route))
                for route in snapshot.routes
                if route.enabled
            ),
        )


def read_engine_defaults() -> EngineDefaults:
    return EngineDefaults(
        local_url=settings.LOCAL_ENGINE_URL,
        local_model=settings.LOCAL_ENGINE_MODEL,
        openai_url=settings.OPENAI_BASE_URL,
        anthropic_url=settings.ANTHROPIC_BASE_URL,
        flagship_model=settings.FLAGSHIP_MODEL,
        total_max_s=settings.ANSWER_MAX_SECONDS,
    )


_runtimes: dict[asyncio.AbstractEventLoop, asyncio.Task[Runtime]] = {}


async def get_runtime() -> Runtime:
    """The runtime of this event loop, started by whoever asks first. A start that failed is tried again."""
    loop = asyncio.get_running_loop()
    task = _runtimes.get(loop)
    if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
        task = _runtimes[loop] = loop.create_task(_start_runtime(), name="runtime-start")
    return await asyncio.shield(task)


async def close_runtime() -> None:
    task = _runtimes.pop(asyncio.get_running_loop(), None)
    if task is not None:
        await (await task).aclose()


async def _start_runtime() -> Runtime:
    runtime = Runtime()
    await runtime.start()
    return runtime
