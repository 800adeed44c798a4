"""The processes that make up the product on one machine: started, watched, restarted, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

# Seconds before a process that died is started again: doubled each time, reset once it has run for a minute.
FIRST_BACKOFF_S, LONGEST_BACKOFF_S, STABLE_AFTER_S = 0.5, 30.0, 60.0
STOP_TIMEOUT_S = 15.0
LOG_KEEP_BYTES = 10 * 1024**2


class ChildProcess:
    """One process in a session of its own, so that Ctrl-C in the terminal reaches the supervisor only.

    Its output goes to a log file, its pid into a file: what a killed supervisor leaves running is found again.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        pid_folder: Path,
        log_folder: Path,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        niceness: int = 0,
    ) -> None:
        self.name = name
        self.log_path = log_folder / f"{name}.log"
        self._command = list(command)
        self._environment = environment
        self._folder = folder
        self._niceness = niceness
        self._pid_path = pid_folder / f"{name}.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._backoff_s = FIRST_BACKOFF_S
        self._start_again_at: float | None = None

    def start(self) -> None:
        end_leftover(self._pid_path)
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.log_path.exists() and self.log_path.stat().st_size > LOG_KEEP_BYTES:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self._environment) if self._environment is not None else None,
                cwd=self._folder,
                start_new_session=True,
            )
        self._started_at = time.monotonic()
        if self._niceness:
            os.setpriority(os.PRIO_PROCESS, self._process.pid, self._niceness)
        self._write_pid()

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> bool:
        """Start the process again if it has died and its pause is over; True if it was just started."""
        if self.is_running():
            if time.monotonic() - self._started_at > STABLE_AFTER_S:
                self._backoff_s = FIRST_BACKOFF_S
            return False
        if self._start_again_at is None:
            self._start_again_at = time.monotonic() + self._backoff_s
            self._backoff_s = min(self._backoff_s * 2, LONGEST_BACKOFF_S)
        if time.monotonic() < self._start_again_at:
            return False
        self._start_again_at = None
        self.start()
        return True

    def stop(self, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Ask the process to end, wait, then end it and everything it started."""
        if self._process is not None and self._process.poll() is None:
            end_tree(self._process.pid, timeout_s=timeout_s)
            self._process.wait()
        self._pid_path.unlink(missing_ok=True)

    def _write_pid(self) -> None:
        assert self._process is not None  # noqa: S101 - narrows the type; it has just been started
        self._pid_path.parent.mkdir(parents=True, exist_ok=True)
        try:
            created = psutil.Process(self._process.pid).create_time()
        except psutil.NoSuchProcess:
            return
        self._pid_path.write_text(json.dumps({"pid": self._process.pid, "created": created}), encoding="utf-8")


def end_leftover(pid_path: Path) -> bool:
    """End what an earlier run left behind; True if there was something. A pid that now is another process's is spared:
    the time of creation tells."""
    try:
        told = json.loads(pid_path.read_text(encoding="utf-8"))
        process = psutil.Process(told["pid"])
        is_same = abs(process.create_time() - told["created"]) < 1
    except (OSError, ValueError, KeyError, psutil.NoSuchProcess):
        is_same = False
    pid_path.unlink(missing_ok=True)
    if is_same:
        end_tree(process.pid, timeout_s=STOP_TIMEOUT_S)
    return is_same


def end_tree(pid: int, *, timeout_s: float) -> None:
    """SIGTERM to the process, which ends its own; what is left after the time is killed."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        process.send_signal(signal.SIGTERM)
    except psutil.NoSuchProcess:
        return
    psutil.wait_procs([process], timeout=timeout_s)
    for member in family:
        if member.is_running():
            try:
                member.kill()
            except psutil.NoSuchProcess:
                continue
    psutil.wait_procs(family, timeout=5)
