"""Whether a cached question and a new one ask for the same answer. The nearest neighbour is only a candidate."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from chatapp.answercache.normalise import normalise_question
from chatapp.answercache.words import (
    DATE_WORDS,
    DIRECTIONS,
    FUNCTION_WORDS,
    NEGATIONS,
    NUMBER_WORDS,
    OPPOSITES,
    PERSONS,
    SCOPE_WORDS,
    UNITS,
)

# Questions beyond this are compared by their normalised text only: rules made for a sentence say nothing of a page.
MAX_CHARACTERS = 400
# Where each question has a content word that the other lacks, one thing may have been put for another. MiniLM puts
# synonyms in one sentence above this; chosen on CLINC150's train split.
SWAP_MIN_SIMILARITY = 0.95

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:[-'][^\W\d_]+)*")
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
# Flags, paths, dotted or snake_case names, CamelCase, versions: text in which one character counts.
_LITERAL = re.compile(
    r"(?<!\S)(?:--?\w[\w-]*|\S*[/\\_@#=]\S*|\w+(?:\.\w+)+|[A-Za-z]+\d\w*|[a-z]+[A-Z]\w*|[^\w\s]+)(?!\S)"
)
_QUESTION_WORD = re.compile(
    r"\b(how (?:many|much|long|often|old|far|tall|big|fast|soon)|who|whom|whose|when|where|why|how|what|which)\b"
)


@dataclass(frozen=True)
class Question:
    """A question with what the rules look at, each computed when it is first asked for."""

    text: str

    @cached_property
    def normal(self) -> str:
        return normalise_question(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self.normal))

    @cached_property
    def word_set(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Stems of the words that carry meaning, in order."""
        return tuple(_stem(word) for word in self.words if word not in FUNCTION_WORDS)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words written with a capital though no sentence begins there, in lower case."""
        found = re.finditer(r"(?<![.?!:]\s)(?<!^)(?<!\w)[^\W\d_a-zß-ÿ][\w'-]*", self.text.strip())
        return frozenset(match.group().casefold().removesuffix("'s") for match in found) - {"i", "i'm", "i'd", "i've"}

    @cached_property
    def literals(self) -> frozenset[str]:
        quoted = {"".join(groups) for groups in _QUOTED.findall(self.text)}
        return frozenset(quoted | {found.rstrip("?.!,") for found in _LITERAL.findall(self.text)} - {""})

    @cached_property
    def question_word(self) -> str:
        match = _QUESTION_WORD.search(self.normal)
        return {"which": "what", "whom": "who"}.get(match.group(), match.group()) if match else ""


def explain_difference(asked: str, cached: str, similarity: float) -> tuple[str, ...]:
    """Why the two may not share an answer, a sentence each; empty when no rule objects."""
    new, old = Question(asked), Question(cached)
    if new.normal == old.normal:
        return ()
    if max(len(asked), len(cached)) > MAX_CHARACTERS:
        return ("Long questions must be the same, word for word.",)
    found = tuple(reason for rule in RULES if (reason := rule(new, old)))
    return found or _explain_swap(new, old, similarity)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _differ(what: str, new: frozenset[str], old: frozenset[str]) -> str:
    if new == old:
        return ""
    told = [", ".join(sorted(words)) or "none" for words in (new - old, old - new)]
    return f"{what} differ: {told[0]} against {told[1]}."


def _check_negation(new: Question, old: Question) -> str:
    return _differ("Negations", new.word_set & NEGATIONS, old.word_set & NEGATIONS)


def _check_numbers(new: Question, old: Question) -> str:
    def numbers(question: Question) -> Counter[str]:
        return Counter(NUMBER_WORDS.get(word, word) for word in question.words if _is_number(word))

    first, second = numbers(new), numbers(old)
    return "" if first == second else f"Numbers differ: {sorted(first)} against {sorted(second)}."


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in NUMBER_WORDS


def _check_opposites(new: Question, old: Question) -> str:
    for first, second in OPPOSITES:
        for one, other in ((first, second), (second, first)):
            if one in new.word_set - old.word_set and other in old.word_set - new.word_set:
                return f"Opposites: {one} against {other}."
    return ""


def _check_scope(new: Question, old: Question) -> str:
    return _differ("Scope words", new.word_set & SCOPE_WORDS, old.word_set & SCOPE_WORDS)


def _check_dates(new: Question, old: Question) -> str:
    return _differ("Dates", new.word_set & DATE_WORDS, old.word_set & DATE_WORDS)


def _check_units(new: Question, old: Question) -> str:
    return _differ("Units", new.word_set & UNITS, old.word_set & UNITS)


def _check_names(new: Question, old: Question) -> str:
    missing = {name for name in new.names if name not in _spoken(old)} | {
        name for name in old.names if name not in _spoken(new)
    }
    return f"Names differ: {', '.join(sorted(missing))}." if missing else ""


def _spoken(question: Question) -> frozenset[str]:
    return question.word_set | {word.removesuffix("'s") for word in question.words}


def _check_literals(new: Question, old: Question) -> str:
    return _differ("Quoted text, code or flags", new.literals, old.literals)


def _check_question_word(new: Question, old: Question) -> str:
    first, second = new.question_word, old.question_word
    return "" if not first or not second or first == second else f"One asks {first}, the other {second}."


def _check_persons(new: Question, old: Question) -> str:
    first, second = ({index for index, words in enumerate(PERSONS) if words & q.word_set} for q in (new, old))
    return "" if not first or not second or first & second else "They are about different persons."


def _check_order(new: Question, old: Question) -> str:
    """The same words the other way round: miles to km, km to miles."""
    if not DIRECTIONS & new.word_set & old.word_set or Counter(new.content) != Counter(old.content):
        return ""
    return "" if new.content == old.content else "The same words in another order."


def _check_script(new: Question, old: Question) -> str:
    first, second = _script(new.normal), _script(old.normal)
    return "" if first == second else f"Scripts differ: {first} against {second}."


def _script(text: str) -> str:
    """The commonest script among the letters, by the first word of their Unicode names."""
    scripts = Counter(unicodedata.name(letter, "UNKNOWN").split()[0] for letter in text if letter.isalpha())
    return scripts.most_common(1)[0][0] if scripts else "NONE"


RULES: tuple[Callable[[Question, Question], str], ...] = (
    _check_negation,
    _check_numbers,
    _check_opposites,
    _check_scope,
    _check_dates,
    _check_units,
    _check_names,
    _check_literals,
    _check_question_word,
    _check_persons,
    _check_order,
    _check_script,
)


def _explain_swap(new: Question, old: Question, similarity: float) -> tuple[str, ...]:
    only_new, only_old = set(new.content) - set(old.content), set(old.content) - set(new.content)
    if not only_new or not only_old or similarity >= SWAP_MIN_SIMILARITY:
        return ()
    told = f"{', '.join(sorted(only_new))} against {', '.join(sorted(only_old))}"
    return (f"Something may have been put for something else: {told}.",)
