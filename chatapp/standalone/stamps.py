"""Remembers what was done, by the content it was done from: a second run does nothing again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest_files(paths: Iterable[Path]) -> str:
    """SHA-256 over names and contents, in hex."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def is_done(stamp: Path, digest: str) -> bool:
    try:
        return stamp.read_text(encoding="utf-8") == digest
    except OSError:
        return False


def mark_done(stamp: Path, digest: str) -> None:
    stamp.write_text(digest, encoding="utf-8")
