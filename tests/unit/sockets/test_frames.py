"""What comes in from a browser is a frame of the protocol, or is refused with a code."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.sockets.frames import MAX_FRAME_BYTES, FrameError, Ping, Resume, parse_frame
from chatapp.sockets.rate_limit import TokenBucket
from chatapp.turns.commands import Ask

TURN = str(uuid4())


def parse(frame: Any) -> Any:
    return parse_frame(frame if isinstance(frame, str) else json.dumps(frame), question_max_characters=100)


def refused(frame: Any) -> str:
    with pytest.raises(FrameError) as caught:
        parse(frame)
    return caught.value.code


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "null", '"ask"', "\x00", '{"type": "ping"', '{"a": "\\ud800"}'])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    assert refused(text) == "bad_json"


@pytest.mark.parametrize("kind", ["", "shout", 7, None, ["ask"], {"ask": 1}])
def test_an_unknown_type_is_refused(kind: Any) -> None:
    assert refused({"type": kind, "turn": TURN}) == "unknown_type"


@pytest.mark.parametrize("turn", [None, "", "x", 7, "{" + TURN[:-2] + "}", f"urn:uuid:{TURN}", TURN + "0"])
def test_a_turn_is_named_by_a_plain_uuid(turn: Any) -> None:
    assert refused({"type": "stop", "turn": turn}) == "bad_frame"


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b\u2060", "\x00\x01", "\u3000"])
def test_a_question_without_a_visible_character_is_empty(text: str) -> None:
    assert refused({"type": "ask", "turn": TURN, "conversation": None, "text": text}) == "question_empty"


def test_a_question_that_is_too_long_says_so() -> None:
    assert refused({"type": "ask", "turn": TURN, "text": "x" * 101}) == "question_too_long"


def test_a_frame_over_the_limit_is_refused_unread() -> None:
    assert refused({"type": "ask", "turn": TURN, "text": "x" * MAX_FRAME_BYTES}) == "frame_too_large"
    assert (
        refused(json.dumps({"type": "ping", "x": "é" * (MAX_FRAME_BYTES // 2)}, ensure_ascii=False))
        == "frame_too_large"
    )


@pytest.mark.parametrize("text", ["مرحبا", "שלום 👋🏽", "<script>alert(1)</script>", "a\x07b", "🏳️‍🌈"])
def test_any_language_and_any_sign_is_a_question(text: str) -> None:
    ask = parse({"type": "ask", "turn": TURN, "text": text})
    assert isinstance(ask, Ask)
    assert ask.text == text


def test_a_nul_is_replaced_since_the_database_takes_none() -> None:
    assert parse({"type": "ask", "turn": TURN, "text": "a\x00b"}).text == "a\ufffdb"


@pytest.mark.parametrize(
    "fields",
    [
        {"conversation": "mine"},
        {"parent": 4},
        {"cache": "maybe"},
        {"again": TURN, "text": "both"},
        {"text": ["a"]},
        {"text": None},
    ],
)
def test_a_bad_field_of_a_question_is_refused_and_the_turn_named(fields: dict[str, Any]) -> None:
    with pytest.raises(FrameError) as caught:
        parse({"type": "ask", "turn": TURN, "text": "ok", **fields})
    assert caught.value.code == "bad_frame"
    assert caught.value.turn == UUID(TURN)


@pytest.mark.parametrize("after", [-2, 1.5, True, "1", None, 2**40])
def test_a_place_in_the_stream_is_a_whole_number(after: Any) -> None:
    assert refused({"type": "resume", "turn": TURN, "after": after}) == "bad_frame"


@pytest.mark.parametrize("ms", [-1, True, "5", None, 10**9])
def test_a_first_paint_that_cannot_be_is_refused(ms: Any) -> None:
    assert refused({"type": "painted", "turn": TURN, "ms": ms}) == "bad_frame"


def test_what_is_right_is_read() -> None:
    assert parse({"type": "resume", "turn": TURN, "after": -1}) == Resume(UUID(TURN), -1)
    assert parse({"type": "ping"}) == Ping()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_json_gets_past_or_breaks_the_parser(value: Any) -> None:
    with pytest.raises(FrameError):
        parse(value)


def test_the_bucket_allows_a_burst_and_then_its_rate() -> None:
    now = 0.0
    bucket = TokenBucket(per_second=2, burst=3, clock=lambda: now)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
