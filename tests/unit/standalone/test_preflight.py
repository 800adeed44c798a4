"""Each obstacle gets one line that says what to do."""

from __future__ import annotations

import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from chatapp.standalone import preflight
from chatapp.standalone.steps import SetupError


def line_of(check: Callable[[], object]) -> str:
    with pytest.raises(SetupError) as told:
        check()
    line = str(told.value)
    assert "\n" not in line
    return line


def test_a_port_in_use_says_so_and_names_the_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = line_of(lambda: preflight.check_port(port))
    assert line.startswith(f"Port {port} is in use")
    assert "PORT" in line


def test_a_free_port_is_fine() -> None:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        port = probe.getsockname()[1]
    preflight.check_port(port)


@pytest.mark.parametrize("value", ["0", "65536", "http", "-1", "80 80", "٨٠٠٠"])
def test_a_port_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PORT", value)
    assert "1 to 65535" in line_of(preflight.read_port)


@pytest.mark.parametrize(("value", "port"), [("", 8000), ("  ", 8000), ("8123", 8123), (" 1 ", 1)])
def test_the_port_is_8000_unless_it_is_set(monkeypatch: pytest.MonkeyPatch, value: str, port: int) -> None:
    monkeypatch.setenv("PORT", value)
    assert preflight.read_port() == port


def test_a_disk_without_room_says_how_much_is_needed(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    line = line_of(lambda: preflight.check_disk(tmp_path / "not" / "there", need_bytes=free + 2**40))
    assert str(tmp_path) in line
    assert "GB are needed" in line


def test_a_disk_with_room_is_fine_even_for_a_folder_to_come(tmp_path: Path) -> None:
    preflight.check_disk(tmp_path / "not" / "there", need_bytes=1)


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    assert "3.11 or newer" in line_of(preflight.check_python)


def test_an_unsupported_machine_is_told_what_else_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    line = line_of(preflight.check_machine)
    assert "riscv64" in line
    assert "DATABASE_URL and REDIS_URL" in line


def test_a_processor_without_avx2_is_told_what_else_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text("flags : fpu sse sse2 avx\n")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert "LOCAL_ENGINE_URL" in line_of(lambda: preflight.check_engine_cpu(described))


def test_a_processor_with_avx2_is_fine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text("flags : fpu sse sse2 avx avx2\n")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    preflight.check_engine_cpu(described)


def test_missing_node_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install Node.js 20" in line_of(preflight.check_node)


def test_an_old_node_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout="v18.19.0\n"))
    assert "v18.19.0 is too old" in line_of(preflight.check_node)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("ERROR: [Errno 28] No space left on device", "The disk is full"),
        ("npm error code ENOTFOUND", "check the network"),
        ("NewConnectionError: Temporary failure in name resolution", "check the network"),
        ("error: command 'gcc' failed: No such file or directory", "install gcc and g++"),
        ("The virtual environment was not created: ensurepip is not available.", "python3-venv"),
        ("one\ntwo\n\n  the last word \n\n", "`pip install` failed: the last word"),
        ("", "`pip install` failed: no output"),
    ],
)
def test_a_failed_command_is_explained_in_one_line(output: str, says: str) -> None:
    line = str(preflight.explain_failed_command("pip install", output))
    assert says in line
    assert "\n" not in line


def test_a_very_long_last_line_is_cut() -> None:
    assert len(str(preflight.explain_failed_command("npm ci", "x" * 10_000))) < 400
