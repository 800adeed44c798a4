"""Real services, or a word about their absence."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def _services_are_there() -> None:
    if not os.environ.get("DATABASE_URL") or not os.environ.get("REDIS_URL"):
        pytest.skip("no services: DATABASE_URL and REDIS_URL are not set (`make test` sets them)")
