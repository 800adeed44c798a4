"""Questions and answers in a file: one JSON object a line, with `question` and `answer`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

MAX_QUESTION_CHARACTERS = 2_000
MAX_ANSWER_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class FaqEntry:
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int
    reason: str


def read_faq(lines: Iterable[str]) -> tuple[list[FaqEntry], list[BadLine]]:
    """The entries, and the lines that are none with the reason of each. Blank lines are left out."""
    entries: list[FaqEntry] = []
    bad: list[BadLine] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        found = _read_entry(line)
        if isinstance(found, str):
            bad.append(BadLine(number, found))
        else:
            entries.append(found)
    return entries, bad


def _read_entry(line: str) -> FaqEntry | str:
    try:
        raw = json.loads(line)
    except ValueError:
        return "this is no JSON"
    if not isinstance(raw, dict):
        return "this is no JSON object"
    for name, longest in (("question", MAX_QUESTION_CHARACTERS), ("answer", MAX_ANSWER_CHARACTERS)):
        value = raw.get(name)
        if not isinstance(value, str) or not value.strip():
            return f"`{name}` is missing or empty"
        if len(value) > longest:
            return f"`{name}` has {len(value):,} characters, more than {longest:,}"
        if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
            return f"`{name}` holds characters that are no text"
    return FaqEntry(raw["question"].strip(), raw["answer"].strip())
