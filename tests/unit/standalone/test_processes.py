"""Processes of this machine, started and ended for real; each lives for the moment of its test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from chatapp.standalone.processes import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    STABLE_AFTER_S,
    Backoff,
    ChildProcess,
    end_leftover,
    end_leftovers,
    remember_pid,
)

WAIT_FOR_EVER = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
PARENT_OF_ONE = (
    "import signal, subprocess, sys;"
    "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()']);"
    "print(child.pid, flush=True); signal.pause()"
)

Spawn = Callable[[list[str]], subprocess.Popen[str]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Starts a process in a session of its own, and returns when it has said its first line."""
    started: list[subprocess.Popen[str]] = []

    def spawn_one(command: list[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        started.append(process)
        return process

    yield spawn_one
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def make_child(tmp_path: Path, command: list[str]) -> ChildProcess:
    return ChildProcess("one", command, pid_folder=tmp_path / "pids", log_folder=tmp_path / "logs")


def test_a_leftover_is_found_by_its_pid_file_and_ended(tmp_path: Path, spawn: Spawn) -> None:
    process = spawn(WAIT_FOR_EVER)
    read_line(process)
    remember_pid(tmp_path / "one.json", process.pid)
    assert end_leftover(tmp_path / "one.json")
    assert not is_alive(process.pid)
    assert not (tmp_path / "one.json").exists()


def test_a_pid_that_now_is_another_process_is_spared(tmp_path: Path, spawn: Spawn) -> None:
    process = spawn(WAIT_FOR_EVER)
    read_line(process)
    created = psutil.Process(process.pid).create_time() - 3_600
    (tmp_path / "one.json").write_text(json.dumps({"pid": process.pid, "created": created}))
    assert not end_leftover(tmp_path / "one.json")
    assert process.poll() is None


def test_a_process_that_is_deaf_to_sigterm_is_killed(tmp_path: Path, spawn: Spawn) -> None:
    process = spawn([sys.executable, "-c", DEAF])
    read_line(process)
    remember_pid(tmp_path / "one.json", process.pid)
    assert end_leftover(tmp_path / "one.json", timeout_s=0.1)
    assert not is_alive(process.pid)


def test_what_a_killed_process_had_started_is_ended_too(tmp_path: Path, spawn: Spawn) -> None:
    process = spawn([sys.executable, "-c", PARENT_OF_ONE])
    orphan = int(read_line(process))
    remember_pid(tmp_path / "one.json", process.pid)
    process.kill()
    process.wait()
    assert is_alive(orphan)
    assert end_leftover(tmp_path / "one.json")
    assert not is_alive(orphan)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "x", "created": 1}'])
def test_a_spoiled_pid_file_is_forgotten(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.json").write_text(text)
    assert not end_leftover(tmp_path / "one.json")
    assert not (tmp_path / "one.json").exists()


def test_every_leftover_of_a_folder_is_ended(tmp_path: Path, spawn: Spawn) -> None:
    processes = [spawn(WAIT_FOR_EVER) for _ in range(2)]
    for number, process in enumerate(processes):
        read_line(process)
        remember_pid(tmp_path / f"{number}.json", process.pid)
    end_leftovers(tmp_path)
    assert [is_alive(process.pid) for process in processes] == [False, False]


def test_a_child_runs_in_a_session_of_its_own_until_it_is_stopped(tmp_path: Path) -> None:
    child = make_child(tmp_path, WAIT_FOR_EVER)
    child.start()
    pid = json.loads((tmp_path / "pids" / "one.json").read_text())["pid"]
    try:
        assert child.is_running()
        assert os.getsid(pid) == pid
    finally:
        child.stop()
    assert not child.is_running()
    assert not (tmp_path / "pids" / "one.json").exists()


def test_a_child_that_was_never_started_can_be_stopped(tmp_path: Path) -> None:
    make_child(tmp_path, WAIT_FOR_EVER).stop()


def test_a_child_that_died_is_started_again_after_its_pause(tmp_path: Path) -> None:
    child = make_child(tmp_path, WAIT_FOR_EVER)
    child.start()
    try:
        first = json.loads((tmp_path / "pids" / "one.json").read_text())["pid"]
        os.kill(first, signal.SIGKILL)
        while not child.keep_running():
            pass
        second = json.loads((tmp_path / "pids" / "one.json").read_text())["pid"]
        assert second != first
        assert child.is_running()
    finally:
        child.stop()


def test_what_a_child_says_is_kept_in_its_log(tmp_path: Path) -> None:
    child = make_child(tmp_path, [sys.executable, "-c", "print('hello')"])
    child.start()
    while child.is_running():
        pass
    child.stop()
    assert child.log_path.read_text() == "hello\n"


def test_the_pause_doubles_up_to_its_limit() -> None:
    backoff, now, pauses = Backoff(), 0.0, []
    for _ in range(9):
        died_at = now
        while not backoff.is_over(now):
            now += 0.25
        pauses.append(now - died_at)
    assert pauses[:3] == [FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, 4 * FIRST_PAUSE_S]
    assert pauses[-1] == LONGEST_PAUSE_S


def test_the_pause_is_short_again_after_a_minute_of_running() -> None:
    backoff = Backoff()
    assert not backoff.is_over(0.0)
    assert backoff.is_over(FIRST_PAUSE_S)
    died_again_at = FIRST_PAUSE_S + STABLE_AFTER_S + 1
    assert not backoff.is_over(died_again_at)
    assert backoff.is_over(died_again_at + FIRST_PAUSE_S)
