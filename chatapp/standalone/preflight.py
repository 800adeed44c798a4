"""What is checked before anything is started: the problems that would else show as a long traceback much later."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from chatapp.standalone.steps import SetupError

MIN_PYTHON, MIN_NODE = (3, 11), 20
# .venv, node_modules and the database; the engine's environment and its model on top.
MIN_FREE_BYTES, ENGINE_FREE_BYTES = 2 * 1024**3, 4 * 1024**3
# The wheels of Postgres, Valkey and vLLM's CPU build exist for these.
MACHINES = frozenset({"x86_64", "amd64", "aarch64", "arm64"})
ENGINE_CPU_FLAGS = frozenset({"avx2"})


def check_python() -> None:
    if sys.version_info < MIN_PYTHON:
        found = platform.python_version()
        raise SetupError(
            f"Python {found} is too old: install Python 3.11 or newer, or run `make run PYTHON=python3.12`."
        )


def check_machine() -> None:
    if platform.machine().lower() not in MACHINES or platform.system() not in {"Linux", "Darwin"}:
        told = f"{platform.system()} on {platform.machine()}"
        raise SetupError(
            f"There is no embedded Postgres and Valkey for {told}: set DATABASE_URL and REDIS_URL to servers of yours."
        )


def check_node() -> None:
    try:
        told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        found = int(told.strip().lstrip("v").split(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        raise SetupError(f"Node.js is missing: install Node.js {MIN_NODE} or newer with npm.") from None
    if found < MIN_NODE:
        raise SetupError(f"Node.js {told.strip()} is too old: install Node.js {MIN_NODE} or newer.")
    if shutil.which("npm") is None:
        raise SetupError("npm is missing: install it beside Node.js.")


def check_disk(folder: Path, *, need_bytes: int) -> None:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < need_bytes:
        raise SetupError(
            f"The disk of {existing} has {free / 1024**3:.1f} GB left and {need_bytes / 1024**3:.0f} GB are needed: "
            "make room, or set DATA_DIR to another disk."
        )


def check_port(port: int) -> None:
    """Whether the web server will be able to listen."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - only to see whether somebody else has it
        except OSError as error:
            if error.errno == errno.EACCES:
                raise SetupError(f"Port {port} is not allowed for this user: set PORT to one above 1023.") from None
            raise SetupError(f"Port {port} is in use: stop what listens there, or set PORT to another one.") from None


def read_port() -> int:
    value = os.environ.get("PORT", "").strip() or "8000"
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 65_535):
        raise SetupError(f"PORT is {value!r}: write a number from 1 to 65535.")
    return int(value)


def check_engine_cpu(described: Path = Path("/proc/cpuinfo")) -> None:
    """Whether vLLM's CPU build runs on this processor."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return
    try:
        flags = set(described.read_text(encoding="utf-8").split())
    except OSError:
        return
    if ENGINE_CPU_FLAGS - flags:
        raise SetupError(
            "This processor has no AVX2, which the local engine needs: set LOCAL_ENGINE_URL to a vLLM elsewhere."
        )


def explain_failed_command(command: str, output: str) -> SetupError:
    """The likeliest reason why an installation failed, in one line."""
    told = output.lower()
    if "no space left" in told:
        return SetupError("The disk is full: make room, or set DATA_DIR to another disk.")
    if "ensurepip" in told:
        return SetupError("This Python makes no virtual environments: install python3-venv, then run this again.")
    network = ("temporary failure in name resolution", "network is unreachable", "connection refused", "enotfound")
    if any(
        sign in told for sign in (*network, "etimedout", "econnrefused", "max retries exceeded", "newconnectionerror")
    ):
        return SetupError(f"`{command}` reached no package registry: check the network, then run this again.")
    if any(
        sign in told
        for sign in ("gcc' failed", "g++' failed", "unable to find vcvarsall", "no such file or directory: 'gcc'")
    ):
        return SetupError("A package has to be compiled and there is no compiler: install gcc and g++, run this again.")
    last = next((line for line in reversed(output.splitlines()) if line.strip()), "no output")
    return SetupError(f"`{command}` failed: {last.strip()[:300]}")
