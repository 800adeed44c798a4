"""A site for the browser to visit: Daphne as a process on a database of its own, its models scripted or real."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg

from chatapp.standalone.valkey import find_free_port

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 60.0
ADMIN_PASSWORD = "a-password-for-the-browser"


class Daphne:
    """`close` ends it and drops its database."""

    def __init__(self, *, database_url: str, engine_url: str, engine_model: str) -> None:
        self.port = find_free_port()
        self._server_url = database_url
        self._database = f"browser_{secrets.token_hex(6)}"
        self._execute(f'CREATE DATABASE "{self._database}"')
        self._environment = os.environ | {
            "DATABASE_URL": urlunsplit(urlsplit(database_url)._replace(path=f"/{self._database}")),
            "PORT": str(self.port),
            "SECRET_KEY": "only-for-the-browser-tests",
            "ADMIN_PASSWORD": ADMIN_PASSWORD,
            "LOCAL_ENGINE_URL": engine_url,
            "LOCAL_ENGINE_MODEL": engine_model,
            "LOG_LEVEL": "WARNING",
        }
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run(
            [sys.executable, "manage.py", "prepare_site"],
            cwd=ROOT,
            env=self._environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.start()

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        command = ["-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port), "chatapp.asgi:application"]
        self._process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=self._environment, stdout=subprocess.DEVNULL
        )
        wait_until_answering(f"{self.origin}/accounts/login/")

    def kill(self) -> None:
        """As the kernel does when memory runs out: nothing is said and nothing is saved."""
        self._end(signal.SIGKILL)

    @contextmanager
    def working(self, folder: Path) -> Iterator[None]:
        """While the jobs off the token path run too, on the product's own schedule."""
        command = ["-m", "celery", "-A", "chatapp.celery", "worker", "--pool", "solo", "--beat", "-l", "ERROR"]
        schedule = ["--schedule", str(folder / "beat"), "--without-gossip", "--without-mingle"]
        worker = subprocess.Popen([sys.executable, *command, *schedule], cwd=ROOT, env=self._environment)
        try:
            yield
        finally:
            worker.terminate()
            worker.wait()

    def close(self) -> None:
        self._end(signal.SIGTERM)
        self._execute(f'DROP DATABASE "{self._database}" WITH (FORCE)')

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(statement.encode())


class StandIn:
    """A model that says what it is told to, over HTTP as the real one does."""

    def __init__(self) -> None:
        port = find_free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.providers.server", "--port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        wait_until_answering(f"{self.url}/health")

    def say(self, text: str, **script: Any) -> None:
        """From now on; `script` has the fields of tests.providers.scripts.Script."""
        httpx.post(f"{self.url}/script", json={"text": text, **script}, trust_env=False).raise_for_status()

    def forget(self) -> None:
        """Every script and every request."""
        httpx.post(f"{self.url}/reset", trust_env=False).raise_for_status()

    def last_request(self) -> dict[str, Any]:
        log: list[dict[str, Any]] = httpx.get(f"{self.url}/log", trust_env=False).raise_for_status().json()
        return log[-1]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def wait_until_answering(url: str) -> None:
    ends_at = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < ends_at:
        try:
            httpx.get(url, timeout=5, trust_env=False)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError(f"nothing answers at {url}")
