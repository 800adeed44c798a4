"""What the web processes are told about the local engine."""

from __future__ import annotations

import json

import pytest

from chatapp.standalone.engine import describe_loading
from chatapp.standalone.progress import EXPIRES_AFTER_S, PROGRESS_KEY, RENEW_AFTER_S, ProgressBoard
from chatapp.turns import engine_monitor


class ManualClock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def published() -> list[str]:
    return []


@pytest.fixture
def board(published: list[str], clock: ManualClock) -> ProgressBoard:
    return ProgressBoard(published.append, clock=clock)


def test_a_word_is_published_with_its_time(board: ProgressBoard, published: list[str]) -> None:
    board.tell("loading", 0.25, "Installing.")
    assert [json.loads(text) for text in published] == [
        {"state": "loading", "progress": 0.25, "message": "Installing.", "at": 1_000.0}
    ]


def test_the_same_word_again_is_not_published_twice(board: ProgressBoard, published: list[str]) -> None:
    board.tell("loading", 0.25, "Installing.")
    board.tell("loading", 0.25, "Installing.")
    assert len(published) == 1


def test_it_is_said_again_before_it_expires(board: ProgressBoard, published: list[str], clock: ManualClock) -> None:
    board.tell("loading", 0.25, "Installing.")
    clock.now += RENEW_AFTER_S
    board.renew()
    assert RENEW_AFTER_S < EXPIRES_AFTER_S
    assert [json.loads(text)["at"] for text in published] == [1_000.0, 1_000.0 + RENEW_AFTER_S]


def test_it_is_not_said_again_at_once(board: ProgressBoard, published: list[str]) -> None:
    board.tell("loading", 0.25, "Installing.")
    board.renew()
    assert len(published) == 1


def test_nothing_is_said_before_the_first_word(board: ProgressBoard, published: list[str]) -> None:
    board.renew()
    assert published == []


def test_the_web_processes_read_the_key_that_is_written() -> None:
    assert engine_monitor.PROGRESS_KEY == PROGRESS_KEY


def test_loading_gets_further_with_time_but_never_to_the_end() -> None:
    shares = [describe_loading(seconds, ends=0)[1] for seconds in (0, 5, 10, 1_000)]
    assert shares == sorted(shares)
    assert shares[0] < shares[1]
    assert shares[-1] < 1


def test_one_end_is_an_accident_that_is_waited_for() -> None:
    state, _, message = describe_loading(1, ends=1)
    assert (state, message) == ("loading", "The local model is being restarted.")


def test_an_engine_that_ends_again_and_again_is_down() -> None:
    state, share, message = describe_loading(1, ends=2)
    assert (state, share) == ("down", None)
    assert "engine.log" in message
