"""What the router sees of a question: simple counts, each of which can be stated in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A question is judged by this many characters at most, so that 100 kB costs no more than a page.
MAX_CHARACTERS = 8_000

# Words that ask for several steps of thought rather than for something known.
REASONING_WORDS = frozenset(
    {"prove", "proof", "derive", "why", "analyse", "analyze", "compare", "contrast", "evaluate", "design"}
    | {"architect", "debug", "refactor", "optimise", "optimize", "explain", "justify", "critique", "plan"}
    | {"strategy", "trade-off", "tradeoff", "tradeoffs", "step", "steps", "reason", "reasoning", "solve"}
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_CODE = re.compile(r"```|^\s{4,}\S.*[;{}()=]\s*$|\b(?:def|class|function|import|select|return)\b.*[({=;:]", re.M | re.I)
_MATHS = re.compile(
    r"\d\s*[-+*/^=<>]\s*\d|\\(?:frac|sum|int|sqrt)\b|[∑∫√≤≥≠]|\b(?:integral|equation|probability)\b", re.I
)
_PART = re.compile(r"\?|^\s*(?:\d+[.)]|[-*])\s", re.M)


@dataclass(frozen=True, slots=True)
class Features:
    """Counts over the first MAX_CHARACTERS of the question, but for `characters`, which counts all."""

    characters: int
    words: int
    # Distinct ones of REASONING_WORDS.
    reasoning_words: int
    has_code: bool
    has_maths: bool
    # Question marks and list items: one question that is several.
    parts: int
    # Share of letters outside ASCII, 0 to 1: the small local model knows English best.
    foreign_share: float
    # Messages before this question.
    history_length: int


def extract_features(question: str, *, history_length: int) -> Features:
    """Never fails, whatever the text holds."""
    text = question[:MAX_CHARACTERS]
    words = [word.lower() for word in _WORD.findall(text)]
    letters = [character for character in text if character.isalpha()]
    return Features(
        characters=len(question),
        words=len(words),
        reasoning_words=len(REASONING_WORDS.intersection(words)),
        has_code=_CODE.search(text) is not None,
        has_maths=_MATHS.search(text) is not None,
        parts=max(1, len(_PART.findall(text))),
        foreign_share=sum(not letter.isascii() for letter in letters) / len(letters) if letters else 0.0,
        history_length=history_length,
    )
