"""What /healthz reports: each part that the product needs, up or why not."""

from __future__ import annotations

import logging
from collections.abc import Callable

import httpx
import orjson
from django.conf import settings
from django.db import DatabaseError, connection
from redis import Redis
from redis.exceptions import RedisError

from chatapp.answercache.embedding import load_embedder
from chatapp.turns.engine_monitor import PROGRESS_KEY
from chatapp.turns.tasks import WORKER_ALIVE_KEY
from inference.embedder import EmbedderBroken

logger = logging.getLogger(__name__)

PROBE_TIMEOUT_S = 1.0
# Before this release an index scan under a filter could return too little without a word.
MINIMUM_PGVECTOR = (0, 8, 4)

Report = dict[str, str]
UP: Report = {"status": "up"}


def check_health() -> dict[str, Report]:
    """`status` is up, loading, off or down; `detail` says why, with no address and no secret in it."""
    return {name: check() for name, check in CHECKS.items()}


def is_serving(parts: dict[str, Report]) -> bool:
    """Whether people can be served: a model that still loads, or is switched off, does not take the site down."""
    return all(parts[name]["status"] == "up" for name in ("database", "redis", "embedder"))


def _down(detail: str) -> Report:
    return {"status": "down", "detail": detail}


def _check_database() -> Report:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            row = cursor.fetchone()
    except DatabaseError as error:
        logger.warning("database check failed: %s", type(error).__name__)
        return _down("Postgres does not answer.")
    if row is None:
        return _down("The extension pgvector is missing: run `manage.py migrate`.")
    if tuple(int(part) for part in row[0].split(".")) < MINIMUM_PGVECTOR:
        return _down(f"pgvector {row[0]} is too old: install 0.8.4 or newer.")
    return UP


def _check_redis() -> Report:
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=PROBE_TIMEOUT_S) as redis:
            redis.ping()
    except (RedisError, OSError):
        return _down("Redis does not answer.")
    return UP


def _check_worker() -> Report:
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=PROBE_TIMEOUT_S) as redis:
            alive = redis.exists(WORKER_ALIVE_KEY)
    except (RedisError, OSError):
        return _down("Redis does not answer.")
    return UP if alive else _down("No Celery worker has reported for half a minute.")


def _check_embedder() -> Report:
    try:
        load_embedder()
    except (EmbedderBroken, OSError) as error:
        logger.warning("embedder check failed: %s", error)
        return _down("The embedding model cannot be loaded.")
    return UP


def _check_engine() -> Report:
    url = settings.LOCAL_ENGINE_URL
    if not url:
        return {"status": "off", "detail": "LOCAL_ENGINE_URL is not set."}
    try:
        if httpx.get(url.rstrip("/").removesuffix("/v1") + "/health", timeout=PROBE_TIMEOUT_S).is_success:
            return UP
    except httpx.HTTPError:
        pass
    return _read_progress()


def _read_progress() -> Report:
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=PROBE_TIMEOUT_S) as redis:
            raw = redis.get(PROGRESS_KEY)
    except (RedisError, OSError):
        raw = None
    if not isinstance(raw, bytes):
        return _down("The local model does not answer.")
    told = orjson.loads(raw)
    return {"status": told["state"], "detail": told["message"]}


CHECKS: dict[str, Callable[[], Report]] = {
    "database": _check_database,
    "redis": _check_redis,
    "worker": _check_worker,
    "embedder": _check_embedder,
    "local_engine": _check_engine,
}
