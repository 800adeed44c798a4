"""Reads and writes of cached answers. Who may be served is decided in the SQL, never after it."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.db import connection
from django.db.models import F
from django.utils import timezone
from numpy.typing import NDArray
from pgvector import HalfVector

from chatapp.answercache.models import CachedAnswer
from chatapp.answercache.normalise import normalise_question
from chatapp.answercache.verify import explain_difference

logger = logging.getLogger(__name__)

# The nearest answers that are looked at closely: the first is usually the one, the rest are other phrasings of it.
CANDIDATES = 5

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CacheQuery:
    """`embedding` has 384 numbers and length 1; `fingerprints` are those of the routes in force."""

    user_id: int
    question: str
    embedding: Vector
    embedder: str
    context_digest: str
    fingerprints: frozenset[str]
    min_similarity: float


@dataclass(frozen=True, slots=True)
class CacheHit:
    entry_id: UUID
    question: str
    answer: str
    similarity: float
    answered_at: datetime
    scope: str


@dataclass(frozen=True, slots=True)
class CacheVerdict:
    """status: hit; miss (nothing near enough); refused (near, but another question, for these reasons).

    `similarity` is that of the nearest answer, None if there was none.
    """

    status: str
    hit: CacheHit | None = None
    similarity: float | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewAnswer:
    user_id: int
    question: str
    answer: str
    embedding: Any
    embedder: str
    context_digest: str
    fingerprint: str
    source_turn_id: UUID
    expires_at: datetime


def find_answer(query: CacheQuery) -> CacheVerdict:
    """The best answer that this person may be served. One query."""
    candidates = [row for row in _nearest(query) if row.similarity >= query.min_similarity]
    if not candidates:
        return CacheVerdict("miss")
    nearest = candidates[0].similarity
    # The very same question first, however the vectors order it.
    digest = digest_question(query.question)
    candidates.sort(key=lambda row: row.question_digest != digest)
    reasons: tuple[str, ...] = ()
    for row in candidates:
        difference = _explain(query, row)
        if not difference:
            return CacheVerdict("hit", _as_hit(row), nearest)
        reasons = reasons or difference
    return CacheVerdict("refused", None, nearest, reasons)


def _explain(query: CacheQuery, row: _Candidate) -> tuple[str, ...]:
    try:
        return explain_difference(query.question, row.question, row.similarity)
    except Exception:
        logger.exception("cached answer %s could not be compared", row.id)
        return ("The comparison failed.",)


# Written out, since it stands between a question and its first token: the ORM takes as long to build it as Postgres to
# answer it. The predicate is who may be served. Only ORDER BY ... <=> ... LIMIT is answered from the index.
_NEAREST = """
    WITH asked AS (SELECT %(embedding)s::halfvec(384) AS vector)
    SELECT id, question, question_digest, answer, scope, answered_at,
           1 - (embedding <=> (SELECT vector FROM asked)) AS similarity
    FROM answercache_cachedanswer
    WHERE (
            scope = 'curated'
            OR (scope = 'shared' AND fingerprint = ANY(%(fingerprints)s))
            OR (scope = 'private' AND user_id = %(user_id)s AND fingerprint = ANY(%(fingerprints)s))
        )
        AND (expires_at IS NULL OR expires_at > NOW())
        AND embedder = %(embedder)s
        AND context_digest = %(context_digest)s
    ORDER BY embedding <=> (SELECT vector FROM asked)
    LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: UUID
    question: str
    question_digest: str
    answer: str
    scope: str
    answered_at: datetime
    similarity: float


def _nearest(query: CacheQuery) -> list[_Candidate]:
    values: dict[str, Any] = {
        "embedding": HalfVector(query.embedding).to_text(),
        "fingerprints": list(query.fingerprints),
        "user_id": query.user_id,
        "embedder": query.embedder,
        "context_digest": query.context_digest,
        "limit": CANDIDATES,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST, values)
        return [_Candidate(*row) for row in cursor.fetchall()]


def _as_hit(row: _Candidate) -> CacheHit:
    return CacheHit(
        entry_id=row.id,
        question=row.question,
        answer=row.answer,
        similarity=min(1.0, row.similarity),
        answered_at=row.answered_at,
        scope=row.scope,
    )


def digest_question(question: str) -> str:
    return hashlib.sha256(normalise_question(question).encode(errors="replace")).hexdigest()


def save_answer(new: NewAnswer) -> None:
    """Keep a private answer; it replaces the person's older one to the same question. An answer that was taken out
    of service stays out."""
    if not new.answer.strip():
        return
    values: dict[str, Any] = {
        "id": uuid4(),
        "question": new.question,
        "question_digest": digest_question(new.question),
        "embedding": HalfVector(new.embedding).to_text(),
        "embedder": new.embedder,
        "answer": new.answer,
        "user_id": new.user_id,
        "context_digest": new.context_digest,
        "fingerprint": new.fingerprint,
        "source_turn_id": new.source_turn_id,
        "expires_at": new.expires_at,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, values)


# An upsert with a condition, which the ORM does not know.
_SAVE = """
    INSERT INTO answercache_cachedanswer AS kept (id, question, question_digest, embedding, embedder, answer, scope,
        user_id, context_digest, fingerprint, source_turn_id, created_at, answered_at, expires_at, hit_count)
    VALUES (%(id)s, %(question)s, %(question_digest)s, %(embedding)s::halfvec(384), %(embedder)s, %(answer)s, 'private',
        %(user_id)s, %(context_digest)s, %(fingerprint)s, %(source_turn_id)s, NOW(), NOW(), %(expires_at)s, 0)
    ON CONFLICT (user_id, question_digest, context_digest, fingerprint) DO UPDATE
        SET answer = EXCLUDED.answer, answered_at = EXCLUDED.answered_at, expires_at = EXCLUDED.expires_at,
            source_turn_id = EXCLUDED.source_turn_id
        WHERE kept.scope <> 'quarantined'
"""


def save_curated(question: str, answer: str, *, embedding: Vector, embedder: str) -> bool:
    """Add a curated answer, or give the one to the same question this text; True if it is new."""
    _, is_new = CachedAnswer.objects.update_or_create(
        user=None,
        question_digest=digest_question(question),
        context_digest="",
        fingerprint="",
        defaults={"answer": answer},
        create_defaults={
            "question": question,
            "answer": answer,
            "embedding": embedding,
            "embedder": embedder,
            "scope": CachedAnswer.Scope.CURATED,
            "answered_at": timezone.now(),
        },
    )
    return is_new


def refresh_statistics() -> None:
    """After a large import: until Postgres knows how many rows there are it sorts them all instead of asking the index,
    four times as long for 2,000. Postgres does it by itself within a minute or so."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE answercache_cachedanswer")


def note_hit(entry_id: UUID | str) -> None:
    """One more served; an answer that is gone by now is no error."""
    CachedAnswer.objects.filter(pk=entry_id).update(hit_count=F("hit_count") + 1, last_hit_at=timezone.now())


def delete_expired(*, limit: int) -> int:
    """Delete at most `limit` answers that have expired; returns how many."""
    expired = CachedAnswer.objects.filter(expires_at__lte=timezone.now()).values("pk")[:limit]
    return CachedAnswer.objects.filter(pk__in=expired).delete()[0]
