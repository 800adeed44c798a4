"""`make run`: brings the whole product up on one machine, keeps it up, and takes it down in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import httpx

from chatapp.standalone import preflight
from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.engine import EngineStarter
from chatapp.standalone.processes import ChildProcess, end_leftovers
from chatapp.standalone.progress import ProgressBoard, publish_to
from chatapp.standalone.site import Site, lock_site, open_site, read_secret_key
from chatapp.standalone.steps import SetupError, fail, say, step
from chatapp.standalone.storage import Storage
from chatapp.standalone.valkey import find_free_port

PAGE_TIMEOUT_S = 60.0
# A larger message closes the socket before it is in memory; chatapp/sockets checks the same limit again.
MAX_MESSAGE_BYTES = 262_144
MIN_FREE_BYTES = 200 * 1024**2


class Supervisor:
    def __init__(self, site: Site, port: int) -> None:
        self._site = site
        self._port = port
        self._environment = {**os.environ, "DATA_DIR": str(site.data_dir), "PORT": str(port), "PYTHONUNBUFFERED": "1"}
        self._storage = Storage(site)
        self._engine: EngineStarter | None = None
        self._board: ProgressBoard | None = None
        self._children: list[ChildProcess] = []
        self.is_stopping = False

    def start(self) -> None:
        """Raises SetupError; `stop` ends what was started until then."""
        end_leftovers(self._site.pids)
        preflight.check_port(self._port)
        self._storage.start(self._environment)
        self._environment |= self._storage.urls
        if not (self._environment.get("SECRET_KEY") or self._environment.get("SECRET_KEY_FILE")):
            self._environment["SECRET_KEY"] = read_secret_key(self._site)
        login = self._prepare_site()
        if not self._environment.get("LOCAL_ENGINE_URL", "").strip():
            self._plan_engine()
        self._start_web()
        self._start_worker()
        say(f"\nchatapp is up: http://localhost:{self._port}/\n{login}\nLogs: {self._site.logs}   Stop: Ctrl-C\n")
        if self._engine is not None:
            say("The local model is being prepared; the page says how far it is.")
            self._engine.start()

    def watch(self) -> None:
        """Until a signal: start again what died."""
        while not self.is_stopping:
            time.sleep(0.5)
            self._storage.keep_running()
            if self._board is not None:
                self._board.renew()
            for child in self._children:
                if child.keep_running():
                    say(f"  {child.name} had ended and was started again: see {child.log_path}")

    def request_stop(self, *_: object) -> None:
        if not self.is_stopping:
            say("\nStopping …")
        self.is_stopping = True

    def stop(self) -> None:
        """Those who write first, then those who are written to."""
        for child in self._children:
            child.stop()
        if self._engine is not None:
            self._engine.stop()
        self._storage.stop()

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
        self._board = ProgressBoard(publish_to(self._environment["REDIS_URL"]))
        self._board.tell("loading", 0.0, "The local model is about to be started.")
        self._engine = EngineStarter(self._site, model_site=self._site, port=find_free_port(), tell=self._board.tell)
        self._environment["LOCAL_ENGINE_URL"] = self._engine.url

    def _start_web(self) -> None:
        listen = ["-b", "0.0.0.0", "-p", str(self._port)]  # noqa: S104 - ALLOWED_HOSTS decides who is answered
        limits = ["--websocket-max-message-size", "--websocket-max-frame-size"]
        sizes = [part for limit in limits for part in (limit, str(MAX_MESSAGE_BYTES))]
        daphne = [sys.executable, "-m", "daphne", *listen, "--websocket_timeout", "-1", *sizes]
        web = self._child("web", [*daphne, "chatapp.asgi:application"])
        with step("Starting the web server"):
            web.start()
            self._wait_for_page(web)

    def _wait_for_page(self, web: ChildProcess) -> None:
        ends_at = time.monotonic() + PAGE_TIMEOUT_S
        while time.monotonic() < ends_at and web.is_running():
            try:
                httpx.get(f"http://127.0.0.1:{self._port}/accounts/login/", timeout=5, trust_env=False)
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
    # Logs and Valkey's file hold what people wrote; whoever else works on this machine may not read it.
    os.umask(0o077)
    try:
        port = preflight.read_port()
        site = open_site()
        lock = lock_site(site)
        preflight.check_disk(site.data_dir, need_bytes=MIN_FREE_BYTES)
        supervisor = Supervisor(site, port)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, supervisor.request_stop)
        say("Starting")
        supervisor.start()
        supervisor.watch()
    except SetupError as error:
        # Ctrl-C reaches the commands of the start too, which then fail: that is no error.
        if supervisor is None or not supervisor.is_stopping:
            return fail(error)
    finally:
        if supervisor is not None:
            supervisor.stop()
    lock.close()
    say("Stopped; nothing is lost.")
    return 0
