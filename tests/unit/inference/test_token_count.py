"""The estimate against counts of the default model's own tokenizer (SmolLM2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.token_count import count_tokens

COUNTED = {
    "What is the capital of France?": 7,
    "WHAT IS THE CAPITAL OF FRANCE AND GERMANY": 14,
    "Wie kann ich mein Passwort ändern, wenn ich es vergessen habe?": 25,
    "Как мне изменить пароль, если я его забыл?": 35,
    "パスワードを忘れた場合、どうすれば変更できますか。": 45,
    "비밀번호를 잊어버렸을 때 어떻게 바꾸나요?": 54,
    "👩‍👩‍👧🇫🇷🎉🎉🔥": 28,
    "def f(x):\n    return {k: v[0] for k, v in x.items() if k != 'a'}\n": 30,
    "3.14159 26535 89793 2026-12-01": 30,
}


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items())
def test_it_is_near_what_the_model_counts_and_rather_above(text: str, tokens: int) -> None:
    assert 0.8 * tokens <= count_tokens(text) <= 2 * tokens


def test_nothing_is_no_token() -> None:
    assert count_tokens("") == 0


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(text: str, more: str) -> None:
    assert count_tokens(text) <= count_tokens(text + more) <= count_tokens(text) + count_tokens(more)


@given(st.text(st.characters(), min_size=1))
def test_any_text_counts_and_never_more_than_its_bytes(text: str) -> None:
    assert 1 <= count_tokens(text) <= len(text.encode(errors="replace"))
