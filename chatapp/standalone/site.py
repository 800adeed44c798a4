"""Where one site keeps its things, and the environment its processes run in."""

from __future__ import annotations

import fcntl
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from chatapp.standalone.bootstrap import ROOT
from chatapp.standalone.steps import SetupError


@dataclass(frozen=True, slots=True)
class Site:
    data_dir: Path

    @property
    def pids(self) -> Path:
        return self.data_dir / "pids"

    @property
    def logs(self) -> Path:
        return self.data_dir / "logs"


def open_site() -> Site:
    """The site of DATA_DIR, its folder made. Others may pass through it (the embedded Postgres runs as a user of its
    own when root starts it) but not list it."""
    data_dir = Path(os.environ.get("DATA_DIR", "").strip() or ROOT / "data").resolve()
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        data_dir.chmod(0o711)
    except OSError as error:
        raise SetupError(f"DATA_DIR {data_dir} cannot be used: {error.strerror}.") from None
    return Site(data_dir)


def lock_site(site: Site) -> IO[str]:
    """Held until the process ends, however it ends; two supervisors would fight over one database."""
    lock = (site.data_dir / "lock").open("w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise SetupError(
            f"chatapp already runs on {site.data_dir}: stop it, or set DATA_DIR to another folder."
        ) from None
    return lock


def read_secret_key(site: Site) -> str:
    """The site's own key, made on the first run: sessions outlive a restart."""
    path = site.data_dir / "secret-key"
    if not path.exists():
        partial = path.with_suffix(".partial")
        write_private(partial, secrets.token_urlsafe(50))
        partial.replace(path)
    return path.read_text(encoding="utf-8").strip()


def write_private(path: Path, text: str) -> None:
    """Readable by its owner only, from the first byte on."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
