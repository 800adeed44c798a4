"""A turn as a bar of stages."""

from __future__ import annotations

import pytest

from chatapp.latency.models import TurnLatency
from chatapp.latency.timeline import LABELS, STAGES, list_segments, longest_total_ms, stage_times_ms


def test_stages_come_in_the_order_of_the_flow() -> None:
    turn = TurnLatency(route_ms=1.0, queue_ms=2.0, engine_first_token_ms=30.0, embed_ms=4.0)
    assert list(stage_times_ms(turn)) == ["queue", "embed", "route", "engine_first_token"]


def test_a_stage_that_did_not_happen_is_left_out_and_one_of_no_length_is_not() -> None:
    assert stage_times_ms(TurnLatency(embed_ms=None, cache_ms=0.0)) == {"cache": 0.0}


def test_streaming_is_what_is_left_after_the_first_token() -> None:
    assert stage_times_ms(TurnLatency(ttft_ms=40.0, total_ms=100.0)) == {"stream": 60.0}


@pytest.mark.parametrize("turn", [TurnLatency(total_ms=100.0), TurnLatency(ttft_ms=40.0), TurnLatency()])
def test_a_turn_without_a_first_token_or_an_end_has_not_streamed(turn: TurnLatency) -> None:
    assert "stream" not in stage_times_ms(turn)


def test_segments_join_without_a_gap() -> None:
    turn = TurnLatency(queue_ms=10.0, embed_ms=30.0, ttft_ms=40.0, total_ms=100.0)
    segments = list_segments(turn, longest_ms=200.0)
    assert [(segment.stage, segment.start, segment.width) for segment in segments] == [
        ("queue", 0.0, 5.0),
        ("embed", 5.0, 15.0),
        ("stream", 20.0, 30.0),
    ]


def test_the_slowest_turn_fills_its_bar() -> None:
    turns = [TurnLatency(queue_ms=10.0, ttft_ms=10.0, total_ms=50.0), TurnLatency(ttft_ms=0.0, total_ms=20.0)]
    last = list_segments(turns[0], longest_ms=longest_total_ms(turns))[-1]
    assert last.start + last.width == 100.0


def test_stages_that_sum_to_more_than_the_total_still_fit() -> None:
    turn = TurnLatency(queue_ms=30.0, embed_ms=30.0, total_ms=59.0)
    assert longest_total_ms([turn]) == 60.0


def test_turns_that_measured_nothing_have_an_empty_bar() -> None:
    turns = [TurnLatency(queue_ms=0.0)]
    assert longest_total_ms(turns) == 0.0
    assert [segment.width for segment in list_segments(turns[0], longest_ms=0.0)] == [0.0]
    assert longest_total_ms([]) == 0.0


def test_every_stage_is_labelled_and_has_a_column_or_is_what_is_left() -> None:
    columns = {field.name for field in TurnLatency._meta.concrete_fields}
    assert set(LABELS) == set(STAGES)
    assert {f"{stage}_ms" for stage in STAGES} - columns == {"stream_ms"}
