"""From a fresh clone to something that can run, with nothing but the standard library: .venv and the frontend.

`python3 -m chatapp.standalone.bootstrap [--dev] run|test|check [arguments]`: sets up, then hands over inside .venv.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from chatapp.standalone import preflight
from chatapp.standalone.stamps import digest_files, is_done, mark_done
from chatapp.standalone.steps import SetupError, fail, say, step

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
FRONTEND = ROOT / "frontend"
FRONTEND_SOURCES = ("package.json", "package-lock.json", "vite.config.ts", "tsconfig.json", "src", "public")


def run_quietly(command: list[str], *, folder: Path = ROOT, label: str) -> None:
    """Runs a command whose output matters only when it fails. Raises SetupError."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise SetupError(f"`{label}` cannot be run: {error.strerror}.") from None
    if done.returncode:
        raise preflight.explain_failed_command(label, done.stdout)


def prepare_venv(*, dev: bool) -> Path:
    """`.venv` with what the requirements name; returns its Python."""
    python = VENV / "bin" / "python"
    names = ["requirements.txt", *(["requirements-dev.txt"] if dev else [])]
    digest = digest_files(ROOT / name for name in names) + sys.version
    stamp = VENV / ("stamp-dev" if dev else "stamp")
    if is_done(stamp, digest):
        return python
    if not python.exists():
        with step("Making .venv"):
            run_quietly([sys.executable, "-m", "venv", str(VENV)], label="python3 -m venv")
    with step(f"Installing {names[-1]}"):
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-q"]
        run_quietly([*pip, "-r", names[-1]], label=f"pip install -r {names[-1]}")
    mark_done(stamp, digest)
    return python


def prepare_frontend() -> None:
    """frontend/dist, built from the sources as they are."""
    files = [
        path
        for name in FRONTEND_SOURCES
        for path in ((FRONTEND / name).rglob("*") if (FRONTEND / name).is_dir() else [FRONTEND / name])
        if path.is_file()
    ]
    digest = digest_files(files)
    stamp = FRONTEND / "node_modules" / ".chatapp-built"
    if is_done(stamp, digest) and (FRONTEND / "dist" / "manifest.json").exists():
        return
    preflight.check_node()
    lock = digest_files([FRONTEND / "package-lock.json"])
    installed = FRONTEND / "node_modules" / ".chatapp-installed"
    if not is_done(installed, lock):
        with step("Installing the frontend's packages"):
            run_quietly(["npm", "ci", "--no-audit", "--no-fund"], folder=FRONTEND, label="npm ci")
        mark_done(installed, lock)
    with step("Building the frontend"):
        run_quietly(["npm", "run", "build"], folder=FRONTEND, label="npm run build")
    mark_done(stamp, digest)


def has_leftovers() -> bool:
    """Whether a run may have been killed: what holds the port is then its own, and the supervisor ends it."""
    data_dir = Path(os.environ.get("DATA_DIR", "").strip() or ROOT / "data")
    return (data_dir / "pids" / "web.json").exists()


def main(arguments: list[str]) -> int:
    dev = arguments[:1] == ["--dev"]
    what = arguments[1:] if dev else arguments
    try:
        preflight.check_python()
        preflight.check_machine()
        if not (VENV / "stamp").exists():
            preflight.check_disk(ROOT, need_bytes=preflight.MIN_FREE_BYTES)
        if what[:1] == ["run"] and not has_leftovers():
            preflight.check_port(preflight.read_port())
        say("Setting up")
        python = prepare_venv(dev=dev)
        prepare_frontend()
    except SetupError as error:
        return fail(error)
    except KeyboardInterrupt:
        return 130
    if what:
        os.execv(python, [str(python), "-m", "chatapp.standalone", *what])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
