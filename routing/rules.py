"""The rules that an admin writes, one a line, before any score: `contains: invoice, refund -> flagship`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from routing.errors import RuleError
from routing.features import Features

Tier = Literal["local", "flagship"]
RuleKind = Literal["contains", "starts with", "longer than", "has code", "has maths"]

TIERS = ("local", "flagship")
KINDS_WITH_VALUE = ("contains", "starts with", "longer than")
KINDS = (*KINDS_WITH_VALUE, "has code", "has maths")
MAX_RULES = 50
# A rule looks at this much of a question; its words are compared as they stand. There are no regular expressions: one
# that backtracks would hold up every turn.
MAX_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class Rule:
    """`values` are lower-case phrases; for `longer than`, one number of characters."""

    kind: RuleKind
    values: tuple[str, ...]
    tier: Tier

    def __str__(self) -> str:
        return f"{self.kind}: {', '.join(self.values)}" if self.values else self.kind

    def matches(self, question: str, features: Features) -> bool:
        if self.kind == "has code":
            return features.has_code
        if self.kind == "has maths":
            return features.has_maths
        if self.kind == "longer than":
            return features.characters > int(self.values[0])
        text = question[:MAX_CHARACTERS].lower()
        if self.kind == "starts with":
            return text.lstrip().startswith(self.values)
        return any(_contains_phrase(text, phrase) for phrase in self.values)


def _contains_phrase(text: str, phrase: str) -> bool:
    """Whole words only: "art" is not in "start"."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        if not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        start = text.find(phrase, start + 1)
    return False


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Rules in order; blank lines and lines that begin with # are left out. Raises RuleError naming the line."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    rules = tuple(_parse_rule(number, line) for number, line in lines if line and not line.startswith("#"))
    if len(rules) > MAX_RULES:
        raise RuleError(f"There are {len(rules)} rules; at most {MAX_RULES} are looked at in every turn.")
    return rules


def _parse_rule(number: int, line: str) -> Rule:
    condition, arrow, tier = line.rpartition("->")
    tier = tier.strip().lower()
    if not arrow or tier not in TIERS:
        raise RuleError(f"Line {number}: end the rule with -> local or -> flagship.")
    kind, _, value = (part.strip().lower() for part in condition.partition(":"))
    if kind not in KINDS:
        raise RuleError(f"Line {number}: {kind!r} is no condition; write one of {', '.join(KINDS)}.")
    values = tuple(filter(None, (part.strip() for part in value.split(","))))
    if (kind in KINDS_WITH_VALUE) != bool(values):
        raise RuleError(
            f"Line {number}: {kind!r} " + ("needs a value after a colon." if not values else "has no value.")
        )
    if kind == "longer than" and not (len(values) == 1 and values[0].isascii() and values[0].isdigit()):
        raise RuleError(f"Line {number}: write a number of characters after 'longer than:'.")
    return Rule(cast(RuleKind, kind), values, cast(Tier, tier))
