"""Jobs of the answer cache off the token path."""

from __future__ import annotations

from celery import shared_task

from chatapp.answercache.store import delete_expired

# Short transactions: a turn must not wait behind a large delete.
BATCH = 1_000


@shared_task
def expire_cached_answers() -> None:
    while delete_expired(limit=BATCH) == BATCH:
        pass
