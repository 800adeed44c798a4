"""A site of its own for a benchmark: embedded Postgres and Valkey, a scripted engine, the real web server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.postgres import EmbeddedPostgres
from chatapp.standalone.valkey import EmbeddedValkey, find_free_port

START_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class BenchSite:
    port: int
    provider_url: str
    web_pid: int

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def socket_url(self) -> str:
        return f"ws://localhost:{self.port}/ws/chat/"

    def web_memory_mb(self) -> float:
        return float(psutil.Process(self.web_pid).memory_info().rss / 1e6)


@contextmanager
def open_site() -> Iterator[BenchSite]:
    """Everything is real but the engine, which is `tests.providers.server`: its answers carry their time of sending.

    Sets the environment of this process too, so that Django can be set up in it.
    """
    folder = Path(tempfile.mkdtemp(prefix="chatapp-bench-"))
    folder.chmod(0o711)
    port, provider_port = find_free_port(), find_free_port()
    postgres = EmbeddedPostgres(folder / "postgres")
    valkey = EmbeddedValkey(folder / "valkey", pid_folder=folder / "pids", log_folder=folder / "logs")
    os.environ |= {
        "DATABASE_URL": postgres.url,
        "REDIS_URL": valkey.url,
        "DATA_DIR": str(folder),
        "SECRET_KEY": "only-for-a-benchmark",
        "PORT": str(port),
        "LOCAL_ENGINE_URL": f"http://127.0.0.1:{provider_port}/v1",
        "LOCAL_ENGINE_MODEL": "bench",
        "LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "chatapp.settings",
    }
    processes: list[subprocess.Popen[bytes]] = []
    try:
        _run("manage.py", "prepare_site")
        processes.append(_start("-m", "tests.providers.server", "--port", str(provider_port)))
        listen = ("-b", "127.0.0.1", "-p", str(port))
        processes.append(_start("-m", "daphne", *listen, "--no-server-name", "chatapp.asgi:application"))
        _wait_for(f"http://127.0.0.1:{provider_port}/health")
        _wait_for(f"http://127.0.0.1:{port}/accounts/login/")
        yield BenchSite(port, f"http://127.0.0.1:{provider_port}", processes[1].pid)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
        valkey.process.stop()
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)


def _wait_for(url: str) -> None:
    ends_at = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < ends_at:
        try:
            httpx.get(url, timeout=5)
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(f"nothing answers at {url}")
