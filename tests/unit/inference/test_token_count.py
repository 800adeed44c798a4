"""The estimate against the one real tokenizer at hand: never far below it, and never wildly above."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.token_count import count_tokens

# Counted by SmolLM2's own tokenizer (the default model's).
COUNTED = {
    "What is the capital of France?": 7,
}


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items())
def test_it_is_rather_too_many_than_too_few(text: str, tokens: int) -> None:
    assert tokens <= count_tokens(text) <= 3 * tokens


def test_nothing_is_no_token() -> None:
    assert count_tokens("") == 0


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(text: str, more: str) -> None:
    assert count_tokens(text) <= count_tokens(text + more) <= count_tokens(text) + count_tokens(more)


@given(st.text(st.characters(), min_size=1))
def test_any_text_counts_and_never_more_than_its_bytes(text: str) -> None:
    assert 1 <= count_tokens(text) <= len(text.encode(errors="replace"))
