"""What the local engine needs before it can serve: an environment of its own, and its model; each made once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from chatapp.standalone import preflight
from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.processes import end_leftover, remember_pid
from chatapp.standalone.progress import Tell
from chatapp.standalone.site import Site
from chatapp.standalone.stamps import digest_files, is_done, mark_done
from chatapp.standalone.steps import SetupError, say
from inference.serving.profiles import has_gpu
from inference.serving.progress import read_progress

ENGINE_VENV = ROOT / ".venv-engine"
ENGINE_PYTHON = ENGINE_VENV / "bin" / "python"
# PyTorch's own index: asked second, for the CPU build, where the configured index has CUDA builds only.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# Shares of the whole way that the parts take on a first run; loading takes the rest.
INSTALL_SHARE, BUILD_SHARE = 0.6, 0.2


class EngineSetup:
    """`cancel` may be called from another thread: the running command ends, and with it the set-up, by SetupError."""

    def __init__(self, site: Site, *, model: Path, tell: Tell) -> None:
        self._model = model
        self._tell = tell
        self._log_path = site.logs / "engine-setup.log"
        self._pid_path = site.pids / "engine-setup.json"
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()
        end_leftover(self._pid_path)

    def install(self) -> None:
        """`.venv-engine`, unless it already holds what the requirements name. Raises SetupError."""
        gpu = has_gpu()
        requirements = ROOT / f"requirements-engine-{'gpu' if gpu else 'cpu'}.txt"
        digest = digest_files([requirements]) + sys.version
        if is_done(ENGINE_VENV / "stamp", digest):
            return
        preflight.check_disk(ROOT, need_bytes=preflight.ENGINE_FREE_BYTES)
        began = time.monotonic()
        self._tell("loading", 0.0, "Installing the local engine, once.")
        if not ENGINE_PYTHON.exists():
            for _ in self._lines([sys.executable, "-m", "venv", str(ENGINE_VENV)], label="python -m venv"):
                pass
        self._install_from(requirements, extra=[] if gpu else ["--no-deps"], second_index=not gpu)
        mark_done(ENGINE_VENV / "stamp", digest)
        say(f"  Installed the local engine in {time.monotonic() - began:.0f} s")

    def build(self) -> None:
        """The model, quantized once; an unspoiled one is kept. Raises SetupError."""
        began, worked = time.monotonic(), False
        command = [str(ENGINE_PYTHON), "-m", "inference.serving.build", "--out", str(self._model)]
        for line in self._lines(command, label="inference.serving.build"):
            progress = read_progress(line)
            if progress is not None:
                worked = worked or 0.05 < progress.share < 1
                share = INSTALL_SHARE + BUILD_SHARE * progress.share
                self._tell("loading", share, f"Preparing the local model: {progress.text.lower()}.")
        if worked:
            say(f"  Prepared the local model in {time.monotonic() - began:.0f} s")

    def _install_from(self, requirements: Path, *, extra: list[str], second_index: bool) -> None:
        pip = [str(ENGINE_PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        command = [*pip, *extra, "-r", str(requirements)]
        try:
            self._pip(command, requirements)
        except SetupError as first:
            if not second_index or self._cancelled.is_set():
                raise
            try:
                self._pip([*command, "--extra-index-url", TORCH_CPU_INDEX], requirements)
            except SetupError:
                raise first from None

    def _pip(self, command: list[str], requirements: Path) -> None:
        """pip names each package when it begins with it: that is the progress there is."""
        total = sum(1 for line in requirements.read_text(encoding="utf-8").splitlines() if "==" in line)
        seen = 0
        for line in self._lines(command, label=f"pip install -r {requirements.name}"):
            if line.startswith("Collecting "):
                seen = min(total, seen + 1)
                share = INSTALL_SHARE * 0.8 * seen / total
                self._tell("loading", share, f"Installing the local engine, once ({seen} of {total} packages).")
            elif line.startswith("Installing collected"):
                self._tell("loading", INSTALL_SHARE * 0.85, "Installing the local engine, once.")

    def _lines(self, command: list[str], *, label: str) -> Iterator[str]:
        """The command's output, line by line, also kept in the log. Raises SetupError when it fails."""
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        output: list[str] = []
        with self._log_path.open("a", encoding="utf-8") as log, _started(command) as process:
            remember_pid(self._pid_path, process.pid)
            if self._cancelled.is_set():
                process.terminate()
            assert process.stdout is not None  # noqa: S101 - narrows the type; it is a pipe
            for line in process.stdout:
                log.write(line)
                log.flush()
                output.append(line)
                yield line
        self._pid_path.unlink(missing_ok=True)
        if self._cancelled.is_set():
            raise SetupError("Setting up the local engine was stopped.")
        if process.returncode:
            raise preflight.explain_failed_command(label, "".join(output[-200:]))


def _started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
