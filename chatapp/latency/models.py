"""The latency log: one row a turn, however it ended. It holds times and reasons, never a question or an answer."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class TurnLatency(models.Model):
    """Milliseconds by one monotonic clock. What did not happen is null, never 0."""

    # The turn's id, as a bare value: the log outlives the conversation.
    turn_id = models.UUIDField(primary_key=True, editable=False)
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    # When the turn ended.
    created_at = models.DateTimeField(db_default=Now())
    # finished, stopped or failed; only finished turns enter the percentiles.
    status = models.CharField(max_length=10)
    finish_reason = models.CharField(max_length=20, blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    # cache, local, flagship, or none when nobody had answered yet.
    source = models.CharField(max_length=10)
    route = models.CharField(max_length=50, blank=True)
    model = models.CharField(max_length=200, blank=True)

    # The decision
    reason = models.CharField(max_length=1_000, blank=True)
    rule = models.CharField(max_length=500, blank=True)
    scorer = models.CharField(max_length=50, blank=True)
    score = models.FloatField(null=True)
    threshold = models.FloatField(null=True)
    policy_version = models.PositiveIntegerField(null=True)
    experiment_arm = models.CharField(max_length=50, blank=True)
    # hit, miss, refused, off, bypassed or error.
    cache_status = models.CharField(max_length=10, blank=True)
    cache_similarity = models.FloatField(null=True)

    # The stages, in the order of the flow
    # From the frame's arrival until the question was saved.
    queue_ms = models.FloatField(null=True)
    embed_ms = models.FloatField(null=True)
    cache_ms = models.FloatField(null=True)
    route_ms = models.FloatField(null=True)
    # Until an engine that was loading answered.
    wait_ms = models.FloatField(null=True)
    compress_ms = models.FloatField(null=True)
    engine_first_token_ms = models.FloatField(null=True)

    ttft_ms = models.FloatField(null=True)
    total_ms = models.FloatField(null=True)
    # From Stop until the engine's stream was closed.
    stop_ms = models.FloatField(null=True)

    # Tokens as the engine counts them; before and after compression as we estimate them.
    prompt_tokens = models.PositiveIntegerField(null=True)
    cached_prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    tokens_before_compress = models.PositiveIntegerField(null=True)
    tokens_after_compress = models.PositiveIntegerField(null=True)
    tokens_per_s = models.FloatField(null=True)
    inter_token_p50_ms = models.FloatField(null=True)
    inter_token_max_ms = models.FloatField(null=True)
    delta_count = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    fallbacks = models.PositiveSmallIntegerField(default=0)

    class Meta:
        verbose_name = "turn"
        indexes = [
            # Every report begins with a range of time.
            models.Index(fields=["created_at"], name="latency_by_time"),
            # One conversation's page.
            models.Index(fields=["conversation", "created_at"], name="latency_by_conversation"),
        ]

    def __str__(self) -> str:
        return f"turn {self.turn_id}"


class FirstPaint(models.Model):
    """When the browser had the first text on its screen, by its own clock. In a table of its own, since it arrives
    while the turn still runs and the turn's row is written at its end."""

    turn_id = models.UUIDField(primary_key=True, editable=False)
    # Milliseconds since the browser sent the question.
    first_paint_ms = models.FloatField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"first paint of {self.turn_id}"
