"""The embedder of this process: one for the turns, the admin and the commands."""

from __future__ import annotations

from functools import cache

from inference.embedder import Embedder


@cache
def load_embedder() -> Embedder:
    """A third of a second the first time; refuses a broken model before the first question does."""
    return Embedder()
