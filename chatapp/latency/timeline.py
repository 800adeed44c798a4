"""One turn as a bar: its stages one after the other, in shares of the slowest turn shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatapp.latency.models import TurnLatency

# In the order in which they happen; `stream` is what is left between the first token and the end.
STAGES = ("queue", "embed", "cache", "route", "wait", "compress", "engine_first_token", "stream")
LABELS = {
    "queue": "save the question",
    "embed": "embed",
    "cache": "look into the cache",
    "route": "choose the route",
    "wait": "wait for the engine to load",
    "compress": "fit the prompt",
    "engine_first_token": "engine's first token",
    "stream": "stream the rest",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """`start` and `width` are per cent of the bar's whole width."""

    stage: str
    label: str
    ms: float
    start: float
    width: float


def stage_times_ms(turn: TurnLatency) -> dict[str, float]:
    """The stages that happened, in order."""
    found = {stage: getattr(turn, f"{stage}_ms") for stage in STAGES if stage != "stream"}
    if turn.ttft_ms is not None and turn.total_ms is not None:
        found["stream"] = max(0.0, turn.total_ms - turn.ttft_ms)
    return {stage: found[stage] for stage in STAGES if found.get(stage) is not None}


def list_segments(turn: TurnLatency, *, longest_ms: float) -> list[Segment]:
    segments: list[Segment] = []
    start = 0.0
    for stage, ms in stage_times_ms(turn).items():
        width = 100 * ms / longest_ms if longest_ms else 0.0
        segments.append(Segment(stage, LABELS[stage], ms, round(start, 3), round(width, 3)))
        start += width
    return segments


def longest_total_ms(turns: Sequence[TurnLatency]) -> float:
    """The sum of a turn's stages can be a little more than its total: the bar has room for both."""
    return max((max(turn.total_ms or 0.0, sum(stage_times_ms(turn).values())) for turn in turns), default=0.0)
