"""`make run`: brings the whole product up on one machine, keeps it up, and takes it down in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
from redis import Redis
from redis.exceptions import RedisError

from chatapp.standalone import preflight
from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.engine import EngineStarter
from chatapp.standalone.postgres import EmbeddedPostgres
from chatapp.standalone.processes import ChildProcess, end_leftover
from chatapp.standalone.site import Site, lock_site, open_site, read_secret_key
from chatapp.standalone.steps import SetupError, fail, say, step
from chatapp.standalone.valkey import EmbeddedValkey, find_free_port

# Written here while the engine is not up, read by the web processes; it expires when nobody renews it.
PROGRESS_KEY, PROGRESS_SECONDS = "chatapp:engine:progress", 20
PAGE_TIMEOUT_S = 60.0
MAX_MESSAGE_BYTES = 262_144


class Supervisor:
    def __init__(self, site: Site, port: int) -> None:
        self._site = site
        self._port = port
        self._environment = {**os.environ, "DATA_DIR": str(site.data_dir), "PORT": str(port), "PYTHONUNBUFFERED": "1"}
        self._postgres: EmbeddedPostgres | None = None
        self._valkey: EmbeddedValkey | None = None
        self._engine: EngineStarter | None = None
        self._children: list[ChildProcess] = []
        self._is_stopping = False

    def start(self) -> None:
        """Raises SetupError; what was started until then is to be stopped."""
        for leftover in sorted(self._site.pids.glob("*.json")):
            end_leftover(leftover)
        self._start_storage()
        login = self._prepare_site()
        engine_is_ours = not os.environ.get("LOCAL_ENGINE_URL", "").strip()
        if engine_is_ours:
            self._plan_engine()
        self._start_web()
        self._start_worker()
        say(f"\nchatapp is up: http://localhost:{self._port}/\n{login}\nLogs: {self._site.logs}   Stop: Ctrl-C\n")
        if self._engine is not None:
            say("The local model is being prepared; the page says how far it is.")
            self._engine.start()

    def watch(self) -> None:
        """Until a signal: start again what died."""
        while not self._is_stopping:
            time.sleep(0.5)
            for child in self._children:
                if child.keep_running():
                    say(f"  {child.name} had ended and was started again: see {child.log_path}")
            if self._postgres is not None and not self._postgres.is_running():
                say("  Postgres had ended and is started again")
                self._postgres = EmbeddedPostgres(self._site.data_dir / "postgres")

    def request_stop(self, *_: object) -> None:
        if not self._is_stopping:
            say("\nStopping …")
        self._is_stopping = True

    def stop(self) -> None:
        """Those who write first, then those who are written to."""
        for child in reversed(self._children):
            if child.name != "valkey":
                child.stop()
        if self._engine is not None:
            self._engine.stop()
        if self._valkey is not None:
            self._valkey.process.stop()
        if self._postgres is not None:
            self._postgres.stop()

    def _start_storage(self) -> None:
        data_dir = self._site.data_dir
        if not self._environment.get("DATABASE_URL", "").strip():
            with step("Starting Postgres"):
                self._postgres = EmbeddedPostgres(data_dir / "postgres")
            self._environment["DATABASE_URL"] = self._postgres.url
        if not self._environment.get("REDIS_URL", "").strip():
            with step("Starting Valkey"):
                self._valkey = EmbeddedValkey(
                    data_dir / "valkey", pid_folder=self._site.pids, log_folder=self._site.logs
                )
            self._children.append(self._valkey.process)
            self._environment["REDIS_URL"] = self._valkey.url
        if not (self._environment.get("SECRET_KEY") or self._environment.get("SECRET_KEY_FILE")):
            self._environment["SECRET_KEY"] = read_secret_key(self._site)

    def _prepare_site(self) -> str:
        """Migrations, the first admin, routes and starter answers; returns how to log in."""
        with step("Preparing the database"):
            done = subprocess.run(
                [sys.executable, "manage.py", "prepare_site"],
                cwd=ROOT,
                env=self._environment,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            log = self._site.logs / "prepare.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(done.stdout + done.stderr, encoding="utf-8")
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no output"]
            raise SetupError(f"The database could not be prepared: {last[0][:300]} (all of it: {log})")
        return done.stdout.strip().splitlines()[-1]

    def _plan_engine(self) -> None:
        """The address is settled before the engine is there, so that everybody knows where to look."""
        self._engine = EngineStarter(
            data_dir=self._site.data_dir,
            port=find_free_port(),
            pid_folder=self._site.pids,
            log_folder=self._site.logs,
            tell=self._tell_progress,
        )
        self._environment["LOCAL_ENGINE_URL"] = self._engine.url
        self._tell_progress("loading", 0.0, "Starting.")

    def _tell_progress(self, state: str, share: float | None, message: str) -> None:
        told = json.dumps({"state": state, "progress": share, "message": message, "at": time.time()})
        try:
            with Redis.from_url(self._environment["REDIS_URL"], socket_timeout=2) as redis:
                redis.set(PROGRESS_KEY, told, ex=PROGRESS_SECONDS)
        except RedisError:
            return  # it is being restarted; the next word comes in a moment

    def _start_web(self) -> None:
        listen = ["-b", "0.0.0.0", "-p", str(self._port)]  # noqa: S104 - ALLOWED_HOSTS decides who is answered
        web = self._child(
            "web", [sys.executable, "-m", "daphne", *listen, "--websocket_timeout", "-1", "chatapp.asgi:application"]
        )
        with step("Starting the web server"):
            web.start()
            self._wait_for_page(web)

    def _wait_for_page(self, web: ChildProcess) -> None:
        ends_at = time.monotonic() + PAGE_TIMEOUT_S
        while time.monotonic() < ends_at:
            if not web.is_running():
                break
            try:
                httpx.get(f"http://127.0.0.1:{self._port}/accounts/login/", timeout=5)
                return
            except httpx.HTTPError:
                time.sleep(0.1)
        raise SetupError(f"The web server did not start: see {web.log_path}.")

    def _start_worker(self) -> None:
        schedule = self._site.data_dir / "celery-beat"
        with step("Starting the worker"):
            # Threads: the jobs wait for Postgres, and a second process would cost its memory again.
            small = ["--pool", "threads", "--concurrency", "2", "--without-gossip", "--without-mingle"]
            celery = [sys.executable, "-m", "celery", "-A", "chatapp.celery", "worker", "-l", "WARNING"]
            self._child("worker", [*celery, *small, "--beat", "--schedule", str(schedule)]).start()

    def _child(self, name: str, command: list[str]) -> ChildProcess:
        child = ChildProcess(
            name,
            command,
            environment=self._environment,
            folder=ROOT,
            pid_folder=self._site.pids,
            log_folder=self._site.logs,
        )
        self._children.append(child)
        return child


def run() -> int:
    supervisor: Supervisor | None = None
    try:
        port = preflight.read_port()
        site = open_site()
        lock = lock_site(site)
        preflight.check_disk(Path(site.data_dir), need_bytes=200 * 1024**2)
        supervisor = Supervisor(site, port)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, supervisor.request_stop)
        say("Starting")
        supervisor.start()
        supervisor.watch()
    except SetupError as error:
        return fail(error)
    finally:
        if supervisor is not None:
            supervisor.stop()
    lock.close()
    say("Stopped; nothing is lost.")
    return 0
