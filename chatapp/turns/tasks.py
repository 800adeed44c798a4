"""Jobs of turns off the token path."""

from __future__ import annotations

import time

from celery import shared_task
from django.conf import settings
from redis import Redis

from chatapp.turns import sweep

# /healthz calls the worker down when it has been silent this long: three missed beats.
WORKER_ALIVE_KEY = "chatapp:worker:alive"
WORKER_ALIVE_SECONDS = 35


@shared_task
def sweep_lost_turns() -> None:
    with Redis.from_url(settings.REDIS_URL) as redis:
        sweep.sweep_lost_turns(redis)


@shared_task
def note_worker_alive() -> None:
    """A canary: only a worker that consumes can renew it."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.set(WORKER_ALIVE_KEY, str(time.time()), ex=WORKER_ALIVE_SECONDS)
