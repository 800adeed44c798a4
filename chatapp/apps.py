"""Loads Celery with Django, so that `shared_task` finds its app."""

from django.apps import AppConfig


class ChatappConfig(AppConfig):
    name = "chatapp"
    label = "chatapp"

    def ready(self) -> None:
        from chatapp import celery  # noqa: F401
