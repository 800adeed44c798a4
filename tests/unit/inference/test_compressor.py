from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.compressor import PromptTooLongError, fit_history
from inference.messages import ChatMessage

SYSTEM = ChatMessage("system", "s" * 10)
QUESTION = ChatMessage("user", "q" * 10)

exchanges = st.lists(st.tuples(st.integers(1, 200), st.integers(0, 200)), max_size=30)


def make_history(sizes: list[tuple[int, int]]) -> list[ChatMessage]:
    return [
        message
        for asked, answered in sizes
        for message in (ChatMessage("user", "u" * asked), ChatMessage("assistant", "a" * answered))
    ]


@given(exchanges, st.integers(20, 2_000))
def test_what_is_left_fits_and_is_the_end_of_the_history_in_whole_exchanges(
    sizes: list[tuple[int, int]], budget: int
) -> None:
    history = make_history(sizes)
    prompt = fit_history([SYSTEM, *history, QUESTION], budget_tokens=budget, count_tokens=len)
    assert prompt.messages[0] == SYSTEM
    assert prompt.messages[-1] == QUESTION
    kept = list(prompt.messages[1:-1])
    assert kept == history[len(history) - len(kept) :]
    assert len(kept) % 2 == 0
    assert prompt.dropped_messages == len(history) - len(kept)
    assert prompt.tokens_before == sum(len(message.text) for message in [SYSTEM, *history, QUESTION])
    assert prompt.tokens_after == sum(len(message.text) for message in prompt.messages) <= budget


@given(exchanges, st.integers(0, 500))
def test_a_prompt_that_fits_is_left_alone(sizes: list[tuple[int, int]], spare: int) -> None:
    messages = [SYSTEM, *make_history(sizes), QUESTION]
    budget = sum(len(message.text) for message in messages) + spare
    assert fit_history(messages, budget_tokens=budget, count_tokens=len).messages == tuple(messages)


def test_the_cut_stays_for_several_turns_so_that_the_prefix_cache_hits() -> None:
    firsts = []
    for turns in range(1, 61):
        history = [
            message
            for turn in range(turns)
            for message in (ChatMessage("user", f"{turn:<25}"), ChatMessage("assistant", "a" * 25))
        ]
        prompt = fit_history([SYSTEM, *history, QUESTION], budget_tokens=1_020, count_tokens=len)
        firsts.append(prompt.messages[1].text.strip())
    moves = sum(before != after for before, after in pairwise(firsts))
    assert moves == 8, "40 turns over the budget, 5 turns in a quarter of the room"


@pytest.mark.parametrize("messages", [[SYSTEM, QUESTION], [SYSTEM, *make_history([(5, 5)]), QUESTION]])
def test_a_question_that_cannot_fit_is_refused(messages: list[ChatMessage]) -> None:
    with pytest.raises(PromptTooLongError):
        fit_history(messages, budget_tokens=19, count_tokens=len)


def test_a_prompt_without_a_question_is_no_prompt() -> None:
    with pytest.raises(ValueError, match="question"):
        fit_history([], budget_tokens=100, count_tokens=len)
