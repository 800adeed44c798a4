"""The local engine: set up, served and kept running on a thread of its own, all while the page is up."""

from __future__ import annotations

import os
import threading
import time

import httpx

from chatapp.standalone import preflight
from chatapp.standalone.engine_setup import BUILD_SHARE, ENGINE_PYTHON, INSTALL_SHARE, EngineSetup
from chatapp.standalone.processes import ChildProcess
from chatapp.standalone.progress import Tell
from chatapp.standalone.site import Site
from chatapp.standalone.steps import SetupError, say, warn
from inference.serving.profiles import choose_profile, has_gpu, serve_command, serve_environment

MODEL_NAME = "smollm2-135m-int8"
# The web process goes first when both want a core.
NICENESS = 5
# vLLM says nothing while it loads; on two cores it takes about this long.
USUAL_LOAD_S = 20.0
# It keeps nothing, and is deaf to SIGTERM while it loads.
STOP_TIMEOUT_S = 5.0
# One end may be an accident, and is over in half a minute; whoever asks should not wait for more of them.
ENDS_BEFORE_DOWN = 2


class EngineStarter:
    """Runs from `start` to `stop`; tells how far it is. `site` says where logs and pids go, `model_site` the model."""

    def __init__(self, site: Site, *, model_site: Site, port: int, tell: Tell) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self._tell = tell
        self._port = port
        self._model = model_site.data_dir / "models" / MODEL_NAME
        self._setup = EngineSetup(site, model=self._model, tell=tell)
        self._server = self._plan_server(site)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._setup.cancel()
        if self._thread.is_alive():
            self._thread.join(timeout=30)
        self._server.stop(timeout_s=STOP_TIMEOUT_S)

    def _plan_server(self, site: Site) -> ChildProcess:
        profile = choose_profile(has_gpu=has_gpu(), cores=os.cpu_count() or 1)
        return ChildProcess(
            "engine",
            serve_command(profile, python=ENGINE_PYTHON, model=self._model, port=self._port),
            environment={**os.environ, **serve_environment(profile)},
            pid_folder=site.pids,
            log_folder=site.logs,
            niceness=NICENESS,
        )

    def _run(self) -> None:
        try:
            preflight.check_engine_cpu()
            self._setup.install()
            self._setup.build()
        except SetupError as error:
            if not self._stopping.is_set():
                warn(f"The local engine is not there. {error}")
                self._tell("down", None, str(error))
            return
        if not self._stopping.is_set():
            self._serve()

    def _serve(self) -> None:
        self._tell(*describe_loading(0.0, ends=0))
        self._server.start()
        began, ends, was_up = time.monotonic(), 0, False
        while not self._stopping.wait(1):
            if self._server.keep_running():
                began, ends, was_up = time.monotonic(), ends + 1, False
                say(f"  The local model had ended and was started again: see {self._server.log_path}")
            seconds = time.monotonic() - began
            if not self._is_healthy():
                self._tell(*describe_loading(seconds, ends=ends))
                continue
            self._tell("up", None, "")
            if not was_up:
                say(f"  The local model is ready after {seconds:.0f} s")
            ends, was_up = 0, True

    def _is_healthy(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self._port}/health", timeout=2, trust_env=False).is_success
        except httpx.HTTPError:
            return False


def describe_loading(seconds: float, *, ends: int) -> tuple[str, float | None, str]:
    """What to tell of a server that does not answer yet, started `seconds` ago, that ended `ends` times before."""
    if ends >= ENDS_BEFORE_DOWN:
        return "down", None, "The local model ends as soon as it is started: its log is logs/engine.log."
    before = INSTALL_SHARE + BUILD_SHARE
    # Rounded: a new word each second is enough.
    share = round(before + (1 - before) * min(0.95, seconds / USUAL_LOAD_S), 2)
    return "loading", share, "The local model is being restarted." if ends else "Loading the model into memory."
