"""The processes that make up the product on one machine: started, watched, restarted, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

# Seconds before what died is started again: doubled each time, begun anew once it has run for a minute.
FIRST_PAUSE_S, LONGEST_PAUSE_S, STABLE_AFTER_S = 0.5, 30.0, 60.0
STOP_TIMEOUT_S = 15.0
LOG_KEEP_BYTES = 10 * 1024**2


class Backoff:
    """The pause before a restart. `now` is seconds of any one clock."""

    def __init__(self) -> None:
        self._pause_s = FIRST_PAUSE_S
        self._ends_at: float | None = None
        self._started_at = float("-inf")

    def is_over(self, now: float) -> bool:
        """Asked while the process is dead; True once for each restart."""
        if self._ends_at is None:
            if now - self._started_at > STABLE_AFTER_S:
                self._pause_s = FIRST_PAUSE_S
            self._ends_at = now + self._pause_s
            self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
        if now < self._ends_at:
            return False
        self._ends_at, self._started_at = None, now
        return True


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
        self._backoff = Backoff()

    def start(self) -> None:
        """What is left of the one before, also what it started, is ended first."""
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
        if self._niceness:
            os.setpriority(os.PRIO_PROCESS, self._process.pid, self._niceness)
        remember_pid(self._pid_path, self._process.pid)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> bool:
        """Start the process again if it has died and its pause is over; True if it was just started."""
        if self.is_running() or not self._backoff.is_over(time.monotonic()):
            return False
        self.start()
        return True

    def stop(self, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Ask the process to end, wait, then end it and everything it started."""
        end_leftover(self._pid_path, timeout_s=timeout_s)
        if self._process is not None:
            self._process.wait()


def remember_pid(pid_path: Path, pid: int) -> None:
    pid_path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(psutil.NoSuchProcess):
        told = {"pid": pid, "created": psutil.Process(pid).create_time()}
        pid_path.write_text(json.dumps(told), encoding="utf-8")


def end_leftover(pid_path: Path, *, timeout_s: float = STOP_TIMEOUT_S) -> bool:
    """End the process of a pid file and what it started; True if there was something.

    A pid that now is another process's is spared: the time of creation tells.
    """
    try:
        told = json.loads(pid_path.read_text(encoding="utf-8"))
        pid, created = int(told["pid"]), float(told["created"])
    except (OSError, ValueError, KeyError, TypeError):
        pid_path.unlink(missing_ok=True)
        return False
    found = psutil.boot_time() <= created + 1 and _end_remembered(pid, created, timeout_s=timeout_s)
    pid_path.unlink(missing_ok=True)
    return found


def _end_remembered(pid: int, created: float, *, timeout_s: float) -> bool:
    try:
        if abs(psutil.Process(pid).create_time() - created) >= 1:
            return False
        found = end_process(pid, timeout_s=timeout_s)
    except psutil.NoSuchProcess:
        found = False
    return kill_group(pid, since=created) or found


def end_leftovers(pid_folder: Path) -> None:
    """The newest first: those who write before those who are written to."""
    for pid_path in sorted(pid_folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True):
        end_leftover(pid_path)


def end_process(pid: int, *, timeout_s: float) -> bool:
    """SIGTERM to the process, which ends its own; what is left of its family after the time is killed."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        process.send_signal(signal.SIGTERM)
    except psutil.NoSuchProcess:
        return False
    _wait([process], timeout_s=timeout_s)
    _kill(family)
    return True


def kill_group(group: int, *, since: float) -> bool:
    """Kill what a process left behind when it was itself killed: its children keep its group, with nobody to ask them
    to end. True if there was something. `since` is in seconds of the epoch: an older process is another's."""
    members = [process for process in _list_group(group) if process.create_time() >= since - 1]
    _kill(members)
    return bool(members)


def _list_group(group: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == group and not _is_gone(process):
                yield process


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _wait(processes, timeout_s=5)


def _wait(processes: Sequence[psutil.Process], *, timeout_s: float) -> None:
    ends_at = time.monotonic() + timeout_s
    while time.monotonic() < ends_at and not all(_is_gone(process) for process in processes):
        time.sleep(0.02)


def _is_gone(process: psutil.Process) -> bool:
    """A process that ended but that nobody buries is gone too: in a container the first process may bury none."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
