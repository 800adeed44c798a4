"""Two questions that look alike: which may share an answer. The cases are of our own making, one kind a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.answercache.faq_files import read_faq
from chatapp.answercache.normalise import normalise_question
from chatapp.answercache.verify import explain_difference


@pytest.mark.parametrize(
    ("asked", "cached"),
    [
        ("What is the capital of Peru?", "what's the capital of peru"),
        ("What is the capital of Peru?", "What is Peru's capital?"),
        ("How do I bake bread?", "  How do I bake bread??  "),
        ("How can I bake bread?", "How do I bake bread?"),
        ("Tell me how tides work", "How do tides work?"),
        ("HOW DO TIDES WORK", "How do tides work?"),
    ],
)
def test_the_same_question_in_other_words_is_served(asked: str, cached: str) -> None:
    assert explain_difference(asked, cached, 0.96) == ()


@pytest.mark.parametrize(
    ("asked", "cached", "told"),
    [
        ("Do not water the plant", "Water the plant", "Negations"),
        ("How do I bake without yeast?", "How do I bake?", "Negations"),
        ("Roast it for 20 minutes", "Roast it for 30 minutes", "Numbers"),
        ("Roast two ducks", "Roast three ducks", "Numbers"),
        ("How do I lock the door?", "How do I unlock the door?", "Opposites"),
        ("Turn the lamp on", "Turn the lamp off", "Opposites"),
        ("Show all ships", "Show ships", "Scope"),
        ("Ships in March", "Ships in April", "Dates"),
        ("How many miles is it?", "How many km is it?", "Units"),
        ("Is Oslo cold?", "Is Lima cold?", "Names"),
        ("What does --force do?", "What does --dry-run do?", "flags"),
        ("When did it rain?", "Where did it rain?", "asks"),
        ("What can I do?", "What can you do?", "persons"),
        ("Convert pesos to francs", "Convert francs to pesos", "order"),
        ("Что это?", "What is this?", "Scripts"),
    ],
)
def test_another_question_is_refused_with_its_reason(asked: str, cached: str, told: str) -> None:
    reasons = explain_difference(asked, cached, 0.99)
    assert any(told in reason for reason in reasons), reasons


def test_one_word_put_for_another_is_refused_unless_they_are_near_to_the_same() -> None:
    assert explain_difference("How do I fry an egg?", "How do I boil an egg?", 0.90)
    assert not explain_difference("How do I fry an egg?", "How do I boil an egg?", 0.97)


def test_long_questions_must_be_the_same() -> None:
    long = "Tell me about the sea and its many tides and waves. " * 20
    assert explain_difference(long + "Now.", long + "Then.", 0.999)
    assert explain_difference(long.upper(), long, 0.999) == ()


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_breaks_the_comparison(asked: str, cached: str) -> None:
    assert isinstance(explain_difference(asked, cached, 0.95), tuple)


@given(st.text(max_size=300))
def test_a_question_is_the_same_as_itself(question: str) -> None:
    assert explain_difference(question, question, 1.0) == ()


@pytest.mark.parametrize(
    ("text", "normal"),
    [("  Can't  I\tGO?! ", "can not i go"), ("What’s up", "what is up"), ("Ｆｕｌｌ", "full"), ("Straße", "strasse")],
)
def test_one_form_for_what_differs_in_writing_only(text: str, normal: str) -> None:
    assert normalise_question(text) == normal


def test_a_faq_is_read_and_each_bad_line_named() -> None:
    entries, bad = read_faq(
        ['{"question": " Q? ", "answer": "A."}', "", "{", "[]", '{"question": ""}', '{"question": "Q", "answer": 3}']
    )
    assert [(entry.question, entry.answer) for entry in entries] == [("Q?", "A.")]
    assert [line.number for line in bad] == [3, 4, 5, 6]
