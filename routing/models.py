"""The routes and the policy that an admin tunes."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from simple_history.models import HistoricalRecords

from routing.errors import RuleError
from routing.rules import parse_rules
from routing.urls_of_engines import check_base_url


def validate_base_url(value: str) -> None:
    problem = check_base_url(value)
    if problem:
        raise ValidationError(problem)


def validate_rules(value: str) -> None:
    try:
        parse_rules(value)
    except RuleError as error:
        raise ValidationError(str(error)) from None


SECONDS = [MinValueValidator(0.1), MaxValueValidator(3_600)]
SHARE = [MinValueValidator(0), MaxValueValidator(1)]


class Route(models.Model):
    """An engine that can answer, and how to ask it."""

    class Kind(models.TextChoices):
        VLLM = "vllm", "vLLM"
        OPENAI = "openai", "OpenAI or compatible"
        ANTHROPIC = "anthropic", "Anthropic"

    class Tier(models.TextChoices):
        LOCAL = "local", "local: easy questions"
        FLAGSHIP = "flagship", "flagship: hard questions"

    name = models.SlugField(unique=True, help_text="Stands in the latency log; renaming starts a new line there.")
    label = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind, help_text="The protocol that the engine speaks.")
    tier = models.CharField(max_length=10, choices=Tier)
    enabled = models.BooleanField(default=True)
    base_url = models.CharField(
        "base URL",
        max_length=300,
        blank=True,
        validators=[validate_base_url],
        help_text="Ends in /v1, but for Anthropic. Blank: LOCAL_ENGINE_URL, OPENAI_BASE_URL or ANTHROPIC_BASE_URL.",
    )
    model = models.CharField(max_length=200, blank=True, help_text="Blank: LOCAL_ENGINE_MODEL or FLAGSHIP_MODEL.")
    # The name only: the key itself never enters the database, a page or a log.
    api_key_env = models.CharField(
        "name of the key's environment variable",
        max_length=100,
        blank=True,
        validators=[RegexValidator(r"^[A-Z][A-Z0-9_]*_API_KEY$", "Write a name such as OPENAI_API_KEY, not the key.")],
        help_text="Such as OPENAI_API_KEY. Never the key itself. Blank: the engine wants none.",
    )
    system_prompt = models.TextField(blank=True, max_length=20_000)
    max_tokens = models.PositiveIntegerField(
        default=1_024, validators=[MinValueValidator(1)], help_text="Of an answer, at most."
    )
    context_tokens = models.PositiveIntegerField(
        default=8_192, validators=[MinValueValidator(256)], help_text="What the model takes in, answer included."
    )
    temperature = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(2)], help_text="Blank: the engine's."
    )
    connect_timeout_s = models.FloatField("connect timeout (s)", default=3, validators=SECONDS)
    first_token_timeout_s = models.FloatField("first token timeout (s)", default=30, validators=SECONDS)
    between_tokens_timeout_s = models.FloatField("between tokens timeout (s)", default=20, validators=SECONDS)
    total_timeout_s = models.FloatField("total timeout (s)", default=300, validators=SECONDS)
    price_per_million_input_usd = models.DecimalField(max_digits=10, decimal_places=4, default=0)
    price_per_million_cached_usd = models.DecimalField(
        max_digits=10, decimal_places=4, default=0, help_text="Input tokens that the provider read from its cache."
    )
    price_per_million_output_usd = models.DecimalField(max_digits=10, decimal_places=4, default=0)
    history = HistoricalRecords()

    class Meta:
        ordering = ["tier", "name"]

    def __str__(self) -> str:
        return self.label or self.name


class RoutePolicy(models.Model):
    """One version of the policy. A version is never changed: an edit makes the next one."""

    version = models.PositiveIntegerField(unique=True, editable=False)
    is_active = models.BooleanField(default=False, editable=False)
    note = models.CharField(max_length=200, blank=True, help_text="Why: it stands beside the version in the log.")
    routing_enabled = models.BooleanField(default=True, help_text="Off: everything goes to the local model.")
    threshold = models.FloatField(
        default=0.5,
        validators=SHARE,
        help_text=(
            "The local model answers when it is good enough with at least this probability, by the score. "
            "0: always the local model. 1: always the flagship. 0.5: whichever is likelier to be right to choose."
        ),
    )
    rules = models.TextField(
        blank=True,
        validators=[validate_rules],
        help_text=(
            "Looked at before the score, in order, one a line: contains: invoice, refund -> flagship · "
            "starts with: translate -> local · longer than: 4000 -> flagship · has code -> flagship · "
            "has maths -> flagship. Lines that begin with # are notes."
        ),
    )
    fallback_enabled = models.BooleanField(
        default=True, help_text="When a route fails before its first token, try the next."
    )
    fallback_order = models.CharField(
        max_length=500, blank=True, help_text="Names of routes, best first, with commas between. Blank: by name."
    )
    cache_enabled = models.BooleanField(default=True, help_text="Serve and keep answers in the semantic cache.")
    # Of two paraphrases MiniLM says 0.84 to 0.99, of two near misses as well: the verifier tells them apart, and this
    # only bounds what it is shown.
    cache_min_similarity = models.FloatField(
        default=0.85,
        validators=SHARE,
        help_text="How alike (cosine) a question must be to an answered one before the two are compared closely.",
    )
    cache_ttl_days = models.PositiveIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(3_650)]
    )
    compression_enabled = models.BooleanField(default=True, help_text="Keep history within the budget below.")
    history_budget_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="Tokens of history at most. Blank: what the model's context has room for."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        verbose_name_plural = "route policies"
        constraints = [
            models.UniqueConstraint(fields=["is_active"], condition=models.Q(is_active=True), name="one_active_policy"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"
