"""The answers that may be served again."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from pgvector.django import HalfVectorField, HnswIndex

# all-MiniLM-L6-v2. The size is schema: another embedder is a new column, a backfill, a switch and a drop.
DIMENSIONS = 384


class CachedAnswer(models.Model):
    """A question that was answered. Its scope decides who may be served."""

    class Scope(models.TextChoices):
        PRIVATE = "private", "private: its author only"
        SHARED = "shared", "shared: everyone, since enough people asked"
        CURATED = "curated", "curated: everyone, by an admin"
        QUARANTINED = "quarantined", "quarantined: nobody"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question = models.TextField()
    # SHA-256 of the normalised question: equal where two questions are the same without any judgement, and short
    # enough for an index whatever the question's length.
    question_digest = models.CharField(max_length=64, editable=False)
    # halfvec: half the memory of the index, and 16 bits are more than the cosine of such a model is good for.
    embedding = HalfVectorField(dimensions=DIMENSIONS, editable=False)
    # Vectors of two embedders cannot be compared: the lookup asks for its own.
    embedder = models.CharField(max_length=100, editable=False)
    # Model output or an admin's words: untrusted wherever it is shown.
    answer = models.TextField()
    scope = models.CharField(max_length=12, choices=Scope, default=Scope.PRIVATE)
    # The author; null for a curated answer, which is nobody's.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, editable=False, related_name="cached_answers"
    )
    # Of what was said before; blank for a first question. The same words after another context are another question.
    context_digest = models.CharField(max_length=64, blank=True, editable=False)
    # Of model and system prompt; blank for a curated answer, which no model made.
    fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    # The turn that gave the answer, kept as a bare id: a deleted conversation takes its turns with it, not this.
    source_turn_id = models.UUIDField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField()
    # Null: never, for curated answers.
    expires_at = models.DateTimeField(null=True, blank=True)
    hit_count = models.PositiveIntegerField(default=0, editable=False)
    last_hit_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        indexes = [
            # The nearest answers to a question.
            HnswIndex(
                name="cached_answer_nearest",
                fields=["embedding"],
                opclasses=["halfvec_cosine_ops"],
                m=16,
                ef_construction=64,
            ),
            # The expiry task's question.
            models.Index(fields=["expires_at"], name="cached_answer_expiry"),
        ]
        constraints = [
            # A newer answer to the same question of the same person replaces the older.
            models.UniqueConstraint(
                fields=["user", "question_digest", "context_digest", "fingerprint"],
                name="one_answer_per_question_and_person",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=~models.Q(scope="private") | models.Q(user__isnull=False), name="private_answer_has_an_author"
            ),
        ]

    def __str__(self) -> str:
        return self.question[:80]
