"""Postgres and Valkey, each embedded unless the environment names a server: for the product and for its tests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from chatapp.standalone.postgres import EmbeddedPostgres
from chatapp.standalone.processes import Backoff
from chatapp.standalone.site import Site
from chatapp.standalone.steps import SetupError, say, step
from chatapp.standalone.valkey import EmbeddedValkey


class Storage:
    """`urls` is what to add to the environment of whoever uses it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._postgres: EmbeddedPostgres | None = None
        self._valkey: EmbeddedValkey | None = None
        self._backoff = Backoff()
        self.urls: dict[str, str] = {}

    def start(self, environment: Mapping[str, str]) -> None:
        """Raises SetupError; `stop` ends what was started until then."""
        data_dir = self._site.data_dir
        if not environment.get("DATABASE_URL", "").strip():
            with step("Starting Postgres"):
                self._postgres = EmbeddedPostgres(data_dir / "postgres")
            self.urls["DATABASE_URL"] = self._postgres.url
        if not environment.get("REDIS_URL", "").strip():
            with step("Starting Valkey"):
                self._valkey = EmbeddedValkey(
                    data_dir / "valkey", pid_folder=self._site.pids, log_folder=self._site.logs
                )
            self.urls["REDIS_URL"] = self._valkey.url

    def keep_running(self) -> None:
        """Start again what died; a start that fails is tried again later."""
        if self._valkey is not None and self._valkey.process.keep_running():
            say(f"  Valkey had ended and was started again: see {self._valkey.process.log_path}")
        if self._postgres is not None and not self._postgres.is_running() and self._backoff.is_over(time.monotonic()):
            self._restart(self._postgres, self._site.data_dir / "postgres" / "log")

    def stop(self) -> None:
        if self._valkey is not None:
            self._valkey.process.stop()
        if self._postgres is not None:
            self._postgres.stop()

    def _restart(self, postgres: EmbeddedPostgres, log_path: Path) -> None:
        try:
            postgres.start()
        except SetupError as error:
            say(f"  {error}")
            return
        say(f"  Postgres had ended and was started again: see {log_path}")
