"""The local engine: its environment installed, its model built, its server kept running, all while the page is up."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from chatapp.standalone import preflight
from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.processes import ChildProcess
from chatapp.standalone.stamps import digest_files, is_done, mark_done
from chatapp.standalone.steps import SetupError
from inference.serving.profiles import choose_profile, has_gpu, serve_command, serve_environment
from inference.serving.progress import read_progress

ENGINE_VENV = ROOT / ".venv-engine"
MODEL_NAME = "smollm2-135m-int8"
# PyTorch's own index: asked second, for the CPU build, where the configured index has CUDA builds only.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# The web process goes first when both want a core.
NICENESS = 5
# vLLM says nothing while it loads; on two cores it takes about this long.
USUAL_LOAD_S = 30.0
# Shares of the whole that the parts take on a first run.
INSTALL_SHARE, BUILD_SHARE = 0.6, 0.2

# Called with a state (loading, up, down), a share of 0 to 1 or None, and a sentence.
Tell = Callable[[str, float | None, str], None]


class EngineStarter:
    """Runs on a thread of its own until `stop`; tells how far it is."""

    def __init__(self, *, data_dir: Path, port: int, pid_folder: Path, log_folder: Path, tell: Tell) -> None:
        self._model = data_dir / "models" / MODEL_NAME
        self._port = port
        self._tell = tell
        self._log_path = log_folder / "engine-setup.log"
        self._pid_folder = pid_folder
        self._log_folder = log_folder
        self._stopping = threading.Event()
        self._setup_process: subprocess.Popen[str] | None = None
        self._server: ChildProcess | None = None
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._setup_process is not None and self._setup_process.poll() is None:
            self._setup_process.terminate()
        self._thread.join(timeout=30)
        if self._server is not None:
            self._server.stop()

    def _run(self) -> None:
        try:
            preflight.check_engine_cpu()
            self._install()
            self._build()
            self._serve()
        except SetupError as error:
            if not self._stopping.is_set():
                print(f"\nThe local engine is not there. {error}", file=sys.stderr, flush=True)
                self._keep_telling("down", None, str(error))

    def _keep_telling(self, state: str, share: float | None, message: str) -> None:
        while not self._stopping.wait(5):
            self._tell(state, share, message)

    # Install

    def _install(self) -> None:
        gpu = has_gpu()
        requirements = ROOT / f"requirements-engine-{'gpu' if gpu else 'cpu'}.txt"
        digest = digest_files([requirements]) + sys.version
        stamp = ENGINE_VENV / "stamp"
        if is_done(stamp, digest):
            return
        preflight.check_disk(ROOT, need_bytes=preflight.ENGINE_FREE_BYTES)
        self._tell("loading", 0.0, "Installing the local engine, once.")
        python = str(ENGINE_VENV / "bin" / "python")
        if not Path(python).exists():
            self._command([sys.executable, "-m", "venv", str(ENGINE_VENV)], label="python -m venv .venv-engine")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        wanted = ["-r", str(requirements)] if gpu else ["--no-deps", "-r", str(requirements)]
        try:
            self._pip([*pip, *wanted], requirements)
        except SetupError as first:
            if gpu or self._stopping.is_set():
                raise
            try:
                self._pip([*pip, *wanted, "--extra-index-url", TORCH_CPU_INDEX], requirements)
            except SetupError:
                raise first from None
        mark_done(stamp, digest)

    def _pip(self, command: list[str], requirements: Path) -> None:
        """pip names each package when it begins with it: that is the progress there is."""
        total = sum(1 for line in requirements.read_text(encoding="utf-8").splitlines() if "==" in line)
        seen = 0
        for line in self._lines(command, label="pip install"):
            if line.startswith("Collecting "):
                seen = min(total, seen + 1)
                share = INSTALL_SHARE * 0.8 * seen / total
                self._tell("loading", share, f"Installing the local engine, once ({seen} of {total} packages).")
            elif line.startswith("Installing collected"):
                self._tell("loading", INSTALL_SHARE * 0.85, "Installing the local engine, once.")

    # Build

    def _build(self) -> None:
        python = str(ENGINE_VENV / "bin" / "python")
        command = [python, "-m", "inference.serving.build", "--out", str(self._model)]
        for line in self._lines(command, label="inference.serving.build"):
            progress = read_progress(line)
            if progress is not None:
                share = INSTALL_SHARE + BUILD_SHARE * progress.share
                self._tell("loading", share, f"Preparing the local model: {progress.text.lower()}.")

    # Serve

    def _serve(self) -> None:
        profile = choose_profile(has_gpu=has_gpu(), cores=os.cpu_count() or 1)
        self._server = ChildProcess(
            "engine",
            serve_command(profile, python=ENGINE_VENV / "bin" / "python", model=self._model, port=self._port),
            environment={**os.environ, **serve_environment(profile)},
            pid_folder=self._pid_folder,
            log_folder=self._log_folder,
            niceness=NICENESS,
        )
        self._server.start()
        began = time.monotonic()
        is_up = False
        while not self._stopping.wait(1):
            if self._server.keep_running():
                began = time.monotonic()
            healthy = self._is_healthy()
            if healthy and not is_up:
                print(f"  The local model is ready after {time.monotonic() - began:.0f} s", flush=True)
            is_up = healthy
            self._tell_serving(is_up, time.monotonic() - began)

    def _tell_serving(self, is_up: bool, seconds: float) -> None:
        if is_up:
            self._tell("up", None, "")
            return
        before = INSTALL_SHARE + BUILD_SHARE
        share = before + (1 - before) * min(0.95, seconds / USUAL_LOAD_S)
        self._tell("loading", share, "Loading the model into memory.")

    def _is_healthy(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self._port}/health", timeout=2).is_success
        except httpx.HTTPError:
            return False

    # Commands

    def _command(self, command: list[str], *, label: str) -> None:
        for _ in self._lines(command, label=label):
            pass

    def _lines(self, command: list[str], *, label: str) -> Iterator[str]:
        """The command's output, line by line, also kept in the log. Raises SetupError when it fails."""
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        output: list[str] = []
        with self._log_path.open("a", encoding="utf-8") as log, self._started(command) as process:
            assert process.stdout is not None  # noqa: S101 - narrows the type; it is a pipe
            for line in process.stdout:
                log.write(line)
                log.flush()
                output.append(line)
                yield line
        if process.returncode and not self._stopping.is_set():
            raise preflight.explain_failed_command(label, "".join(output[-200:]))
        if self._stopping.is_set():
            raise SetupError("stopped")

    @contextmanager
    def _started(self, command: list[str]) -> Iterator[subprocess.Popen[str]]:
        environment: Mapping[str, str] = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._setup_process = process
        try:
            yield process
        finally:
            if process.poll() is None and self._stopping.is_set():
                process.terminate()
            process.wait()
