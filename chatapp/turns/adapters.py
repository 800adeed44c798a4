"""Where async code crosses into the ORM and into the embedder: one transactional function a crossing, values back."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol
from uuid import UUID

from django.db import DatabaseError
from redis import Redis

from chatapp.answercache.store import CacheQuery, CacheVerdict, find_answer
from chatapp.latency.store import save_first_paint
from chatapp.turns import endings, records, sweep
from chatapp.turns.commands import Ask, AskRefusedError, BegunTurn, KnownTurn, Person
from chatapp.turns.database_threads import DatabaseThreads
from chatapp.turns.endings import EndedTurn
from chatapp.turns.ports import CacheOutcome, TurnRequest, Vector
from chatapp.turns.trace import CachedFrom

logger = logging.getLogger(__name__)

# Embeddings of the latest questions: the one asked again, and the one being saved while it is embedded.
RECENT_EMBEDDINGS = 256


class DatabaseRecords:
    """What turns read and write, for async callers. Every method may raise django.db.DatabaseError."""

    def __init__(self, threads: DatabaseThreads, redis: Redis) -> None:
        self._threads = threads
        self._redis = redis

    async def begin_turn(self, person: Person, ask: Ask) -> BegunTurn:
        return await self._threads.call(_begin_turn, self._redis, person, ask)

    async def end_turn(self, ended: EndedTurn) -> None:
        await self._threads.call(endings.end_turn, ended)

    async def request_stop(self, person: Person, client_id: UUID) -> KnownTurn | None:
        return await self._threads.call(records.request_stop, person, client_id)

    async def find_turn(self, person: Person, client_id: UUID) -> KnownTurn | None:
        return await self._threads.call(records.find_turn, person, client_id)

    async def end_if_lost(self, turn_id: UUID) -> bool:
        return await self._threads.call(sweep.end_if_lost, self._redis, turn_id)

    async def save_feedback(self, person: Person, client_id: UUID, *, value: str, reason: str) -> bool:
        return await self._threads.call(records.save_feedback, person, client_id, value=value, reason=reason)

    async def save_first_paint(self, person: Person, client_id: UUID, ms: float) -> bool:
        return await self._threads.call(_save_first_paint, person, client_id, ms)

    async def find_ended_sessions(self, people: Iterable[Person]) -> set[Person]:
        return await self._threads.call(records.find_ended_sessions, people)


def _begin_turn(redis: Redis, person: Person, ask: Ask) -> BegunTurn:
    try:
        return records.begin_turn(person, ask)
    except AskRefusedError as refusal:
        # The answer that keeps the conversation busy may be one whose process died a moment ago.
        if refusal.code != "conversation_busy" or not _end_lost_turns(redis, person, ask):
            raise
        return records.begin_turn(person, ask)


def _end_lost_turns(redis: Redis, person: Person, ask: Ask) -> bool:
    running = records.list_running_turns(person, conversation=ask.conversation, again=ask.again)
    return any([sweep.end_if_lost(redis, turn_id) for turn_id in running])


def _save_first_paint(person: Person, client_id: UUID, ms: float) -> bool:
    known = records.find_turn(person, client_id)
    if known is None:
        return False
    save_first_paint(known.turn_id, ms)
    return True


class AnswerCache:
    """The semantic cache under one policy. A cache that fails is a miss that says so; it never fails a turn."""

    def __init__(
        self, threads: DatabaseThreads, *, embedder: str, min_similarity: float, fingerprints: frozenset[str]
    ) -> None:
        self._threads = threads
        self._embedder = embedder
        self._min_similarity = min_similarity
        # Of the routes in force: an answer of another model or under another prompt is not served.
        self._fingerprints = fingerprints

    async def find_answer(self, request: TurnRequest, embedding: Vector) -> CacheOutcome:
        query = CacheQuery(
            user_id=request.user_id,
            question=request.question,
            embedding=embedding,
            embedder=self._embedder,
            context_digest=request.context_digest,
            fingerprints=self._fingerprints,
            min_similarity=self._min_similarity,
        )
        try:
            return _as_outcome(await self._threads.call(find_answer, query))
        except DatabaseError:
            logger.exception("turn %s: the answer cache could not be read", request.turn_id)
            return CacheOutcome("error")


def _as_outcome(verdict: CacheVerdict) -> CacheOutcome:
    hit = verdict.hit
    if hit is None:
        return CacheOutcome(verdict.status, verdict.similarity)
    cached = CachedFrom(
        entry_id=str(hit.entry_id),
        question=hit.question,
        answer=hit.answer,
        similarity=hit.similarity,
        answered_at=hit.answered_at,
        scope=hit.scope,
    )
    return CacheOutcome(verdict.status, verdict.similarity, cached)


class NoAnswerCache:
    """The policy has switched the cache off."""

    async def find_answer(self, request: TurnRequest, embedding: Vector) -> CacheOutcome:
        return CacheOutcome("off")


class SyncEmbedder(Protocol):
    @property
    def name(self) -> str: ...

    def embed(self, text: str) -> Vector: ...


class ThreadedEmbedder:
    """The embedder on a thread of its own. A text that is being embedded, or was lately, is not embedded again."""

    def __init__(self, embedder: SyncEmbedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._recent: OrderedDict[str, asyncio.Future[Vector]] = OrderedDict()

    def prefetch(self, text: str) -> None:
        """Start embedding; the result is kept for the `embed` that follows."""
        self._start(text)

    async def embed(self, text: str) -> Vector:
        # Shielded: a stopped turn must not cancel what another one waits for.
        return await asyncio.shield(self._start(text))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, text: str) -> asyncio.Future[Vector]:
        future = self._recent.get(text)
        if future is None:
            future = asyncio.get_running_loop().run_in_executor(self._pool, self._embedder.embed, text)
            future.add_done_callback(lambda done: self._forget_failed(text, done))
            self._recent[text] = future
            if len(self._recent) > RECENT_EMBEDDINGS:
                self._recent.popitem(last=False)
        self._recent.move_to_end(text)
        return future

    def _forget_failed(self, text: str, done: asyncio.Future[Vector]) -> None:
        if done.cancelled() or done.exception() is not None:
            self._recent.pop(text, None)
