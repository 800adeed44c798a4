"""Jobs of the latency log off the token path."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from chatapp.latency.store import prune

# Short transactions: a turn must not wait behind a large delete.
BATCH = 5_000


@shared_task
def prune_latency() -> None:
    while prune(keep_days=settings.LATENCY_RETENTION_DAYS, limit=BATCH) == BATCH:
        pass
