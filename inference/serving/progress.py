"""How long work says how far it is: a line `percent text` on standard output, which the supervisor reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` is 0 to 1."""

    share: float
    text: str


def print_progress(share: float, text: str) -> None:
    print(f"{round(share * 100)}% {text}", flush=True)


def read_progress(line: str) -> Progress | None:
    """The progress that a line tells, or None if it is some other output."""
    percent, _, text = line.strip().partition("% ")
    if not (percent.isascii() and percent.isdigit()) or int(percent) > 100:
        return None
    return Progress(int(percent) / 100, text)
