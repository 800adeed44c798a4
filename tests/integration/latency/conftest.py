"""A person, a member of staff, a visitor, and turns that they had."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chatapp.accounts.models import User
from chatapp.conversations.models import Conversation
from chatapp.latency.models import TurnLatency

LogTurn = Callable[..., UUID]


@pytest.fixture(scope="session", autouse=True)
def _services() -> None:
    if not os.environ.get("DATABASE_URL"):
        pytest.skip("no services: DATABASE_URL is not set (`make test` sets it)")


@pytest.fixture(autouse=True)
def _static_files(settings: Settings, tmp_path: Path) -> None:
    """Where a site collects them; a checkout that never ran has no such folder, and the middleware warns of it."""
    settings.STATIC_ROOT = tmp_path


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def person(db: None) -> User:
    """Whose turns they are; no staff."""
    return User.objects.create_user("ada")


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_user("grace", is_staff=True)


@pytest.fixture
def conversation(person: User, now: datetime) -> Conversation:
    return Conversation.objects.create(user=person, title="A secret title", updated_at=now)


@pytest.fixture
def log_turn(conversation: Conversation, now: datetime) -> LogTurn:
    """Writes one row, finished by the local model a minute ago unless told otherwise."""

    def log(*, ago: timedelta = timedelta(minutes=1), **fields: Any) -> UUID:
        turn_id = uuid4()
        row = {"conversation": conversation, "user": conversation.user, "status": "finished", "source": "local"}
        TurnLatency.objects.create(turn_id=turn_id, created_at=now - ago, **(row | fields))
        return turn_id

    return log


@pytest.fixture
def owner(person: User) -> Client:
    return _log_in(person)


@pytest.fixture
def member(staff: User) -> Client:
    """Of the staff: reads the dashboard."""
    return _log_in(staff)


@pytest.fixture
def stranger() -> Client:
    """A visitor who has not logged in."""
    return Client()


def _log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
