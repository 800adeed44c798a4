"""Who is served which cached answer, on real pgvector."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from chatapp.accounts.models import User
from chatapp.answercache.models import CachedAnswer
from chatapp.answercache.store import (
    CacheQuery,
    CacheVerdict,
    NewAnswer,
    delete_expired,
    find_answer,
    note_hit,
    save_answer,
    save_curated,
)
from inference.embedder import Embedder

pytestmark = [pytest.mark.services, pytest.mark.django_db]

QUESTION = "How do I repot a cactus?"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("owner")


@pytest.fixture
def stranger() -> User:
    return User.objects.create_user("stranger")


class Cache:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def save(self, user: User, question: str = QUESTION, answer: str = "Gently.", **changes: Any) -> None:
        new = NewAnswer(
            user_id=user.pk,
            question=question,
            answer=answer,
            embedding=self._embedder.embed(question),
            embedder=self._embedder.name,
            context_digest="",
            fingerprint="f1",
            source_turn_id=uuid4(),
            expires_at=timezone.now() + timedelta(days=1),
        )
        save_answer(replace(new, **changes))

    def curate(self, question: str, answer: str) -> bool:
        return save_curated(question, answer, embedding=self._embedder.embed(question), embedder=self._embedder.name)

    def query(self, user: User, question: str = QUESTION, **changes: Any) -> CacheQuery:
        query = CacheQuery(
            user_id=user.pk,
            question=question,
            embedding=self._embedder.embed(question),
            embedder=self._embedder.name,
            context_digest="",
            fingerprints=frozenset({"f1"}),
            min_similarity=0.85,
        )
        return replace(query, **changes)

    def find(self, user: User, question: str = QUESTION, **changes: Any) -> CacheVerdict:
        return find_answer(self.query(user, question, **changes))


@pytest.fixture
def cache(embedder: Embedder) -> Cache:
    return Cache(embedder)


@pytest.mark.parametrize("question", [QUESTION, "how do i repot a cactus", "How can I repot a cactus?"])
def test_the_same_question_or_a_close_paraphrase_is_served_to_its_author(
    cache: Cache, owner: User, question: str
) -> None:
    cache.save(owner)
    verdict = cache.find(owner, question)
    assert verdict.status == "hit"
    assert verdict.hit is not None
    assert (verdict.hit.answer, verdict.hit.question, verdict.hit.scope) == ("Gently.", QUESTION, "private")


@pytest.mark.parametrize("question", [QUESTION, "how do i repot a cactus", "How can I repot a cactus?"])
def test_a_private_answer_is_served_to_nobody_else(cache: Cache, owner: User, stranger: User, question: str) -> None:
    cache.save(owner)
    assert cache.find(stranger, question) == CacheVerdict("miss")


def test_a_hundred_strangers_get_none_of_a_hundred_private_answers(cache: Cache, owner: User, stranger: User) -> None:
    for number in range(100):
        cache.save(owner, f"What is in box {number}?", f"secret {number}")
    assert {cache.find(stranger, f"What is in box {number}?").status for number in range(100)} == {"miss"}


def test_a_curated_answer_is_served_to_everyone(cache: Cache, owner: User, stranger: User) -> None:
    assert cache.curate(QUESTION, "Like this.")
    for person in (owner, stranger):
        hit = cache.find(person).hit
        assert hit is not None
        assert (hit.answer, hit.scope) == ("Like this.", "curated")


def test_a_near_question_that_is_another_is_refused_with_reasons(cache: Cache, owner: User) -> None:
    cache.save(owner)
    verdict = cache.find(owner, "How do I not repot a cactus?")
    assert verdict.status == "refused"
    assert verdict.reasons


@pytest.mark.parametrize(
    "changes",
    [
        {"context_digest": "another"},
        {"fingerprints": frozenset({"f2"})},
        {"fingerprints": frozenset()},
        {"embedder": "another"},
        {"min_similarity": 1.01},
    ],
)
def test_another_context_model_or_embedder_is_another_question(
    cache: Cache, owner: User, changes: dict[str, Any]
) -> None:
    cache.save(owner)
    assert cache.find(owner, **changes).status == "miss"


def test_an_expired_answer_is_not_served_and_is_deleted(cache: Cache, owner: User) -> None:
    cache.save(owner, expires_at=timezone.now() - timedelta(seconds=1))
    assert cache.find(owner).status == "miss"
    assert delete_expired(limit=10) == 1
    assert not CachedAnswer.objects.exists()


def test_a_quarantined_answer_is_not_served_and_a_new_one_does_not_bring_it_back(cache: Cache, owner: User) -> None:
    cache.save(owner)
    CachedAnswer.objects.update(scope="quarantined")
    cache.save(owner, answer="Again.")
    assert cache.find(owner).status == "miss"
    assert CachedAnswer.objects.get().answer == "Gently."


def test_a_newer_answer_replaces_the_older(cache: Cache, owner: User) -> None:
    cache.save(owner)
    cache.save(owner, "how do I repot a CACTUS", "Better.")
    assert CachedAnswer.objects.get().answer == "Better."


def test_an_empty_answer_is_not_kept(cache: Cache, owner: User) -> None:
    cache.save(owner, answer="  \n")
    assert not CachedAnswer.objects.exists()


def test_a_hit_is_counted(cache: Cache, owner: User) -> None:
    cache.save(owner)
    entry = CachedAnswer.objects.get()
    note_hit(entry.pk)
    note_hit(uuid4())
    entry.refresh_from_db()
    assert entry.hit_count == 1


def test_a_narrow_scope_in_a_large_index_is_still_found(cache: Cache, owner: User, stranger: User) -> None:
    vectors = np.random.default_rng(7).standard_normal((3_000, 384)).astype(np.float32)
    query = cache.query(owner)
    # All of them nearer to the question than to anything else, and none of them the owner's.
    CachedAnswer.objects.bulk_create(
        CachedAnswer(
            question=f"filler {number}",
            question_digest=str(number),
            embedding=query.embedding + vector / 400,
            embedder=query.embedder,
            answer="filler",
            user=stranger,
            fingerprint="f1",
            answered_at=timezone.now(),
        )
        for number, vector in enumerate(vectors)
    )
    cache.save(owner, "How does one repot a cactus?")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    verdict = cache.find(owner, "How does one repot a cactus?")
    assert verdict.status == "hit"


def test_a_lookup_is_one_query(cache: Cache, owner: User, django_assert_num_queries: Any) -> None:
    cache.save(owner)
    query = cache.query(owner)
    with django_assert_num_queries(1):
        find_answer(query)


def test_a_faq_is_imported_and_imported_again(cache: Cache, owner: User, tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    file.write_text('{"question": "Where is the shop?", "answer": "Here."}\n', encoding="utf-8")
    call_command("import_answers", str(file), verbosity=0)
    file.write_text('{"question": "Where is the shop?", "answer": "There."}\n', encoding="utf-8")
    call_command("import_answers", str(file), verbosity=0)
    hit = cache.find(owner, "where is the shop").hit
    assert hit is not None
    assert hit.answer == "There."
    assert CachedAnswer.objects.count() == 1


def test_a_faq_with_a_bad_line_loads_nothing(tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    file.write_text('{"question": "Q?", "answer": "A."}\n{"question": 1}\n', encoding="utf-8")
    with pytest.raises(CommandError, match="1 bad lines, nothing was loaded"):
        call_command("import_answers", str(file), verbosity=0)
    assert not CachedAnswer.objects.exists()
    call_command("import_answers", str(file), skip_bad=True, verbosity=0)
    assert CachedAnswer.objects.count() == 1


def test_the_product_can_answer_for_itself(cache: Cache, owner: User) -> None:
    call_command("load_starter_answers", verbosity=0)
    assert cache.find(owner, "What can you do?").status == "hit"
    CachedAnswer.objects.exclude(question="What can you do?").delete()
    call_command("load_starter_answers", verbosity=0)
    assert CachedAnswer.objects.count() == 1
