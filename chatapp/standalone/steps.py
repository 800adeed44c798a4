"""What the set-up says while it works: each step with its time, and one line when something stands in the way."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class SetupError(Exception):
    """Set-up cannot go on; the text is one line that says what to do."""


@contextmanager
def step(text: str) -> Iterator[None]:
    """Prints the text, then how long the block took."""
    began = time.monotonic()
    print(f"  {text} …", end="", flush=True)
    try:
        yield
    except BaseException:
        print(" failed", flush=True)
        raise
    print(f" {time.monotonic() - began:.1f} s", flush=True)


def say(text: str) -> None:
    print(text, flush=True)


def warn(text: str) -> None:
    print(f"\n{text}", file=sys.stderr, flush=True)


def fail(error: SetupError) -> int:
    """Print the line; returns the exit status."""
    warn(str(error))
    return 1
