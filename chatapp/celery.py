"""Celery: jobs off the token path. Tasks get ids, after commit, and may run twice without harm."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")

app = Celery("chatapp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    task_time_limit=300,
    task_soft_time_limit=240,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"global_keyprefix": "chatapp:celery:"},
    # Seconds between runs; each task is idempotent, so a late or doubled run does no harm.
    beat_schedule={
        "sweep-lost-turns": {"task": "chatapp.turns.tasks.sweep_lost_turns", "schedule": 10.0},
        "worker-heartbeat": {"task": "chatapp.turns.tasks.note_worker_alive", "schedule": 10.0},
        "expire-cached-answers": {"task": "chatapp.answercache.tasks.expire_cached_answers", "schedule": 600.0},
        "prune-latency": {"task": "chatapp.latency.tasks.prune_latency", "schedule": 3600.0},
    },
)
app.autodiscover_tasks(["chatapp.turns", "chatapp.answercache", "chatapp.latency"])
