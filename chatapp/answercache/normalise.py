"""Brings a question into one form: two that differ by case, spaces or a full stop only are the same."""

from __future__ import annotations

import re
import unicodedata

# What apostrophes leave out. The rest ("the dog's") is a possessive and stays.
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"(?<=\w)n't\b"), " not"),
    (re.compile(r"\b(what|who|where|when|how|that|there|it|he|she)'s\b"), r"\1 is"),
    (re.compile(r"(?<=\w)'re\b"), " are"),
    (re.compile(r"(?<=\w)'ll\b"), " will"),
    (re.compile(r"(?<=\w)'ve\b"), " have"),
    (re.compile(r"\bi'm\b"), "i am"),
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})
_END = " \t\n.?!…。？！؟;,"


def normalise_question(text: str) -> str:
    """Compatibility forms folded (NFKC), lower case, single spaces, contractions written out, no mark at the end."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
    folded = " ".join(folded.split()).strip(_END)
    for pattern, written_out in _CONTRACTIONS:
        folded = pattern.sub(written_out, folded)
    return folded
