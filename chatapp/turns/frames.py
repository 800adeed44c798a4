"""The records of a turn's stream, exactly as they go over the socket; docs/protocol.md has an example of each."""

from __future__ import annotations

import zlib
from typing import Any
from uuid import UUID

import orjson

from chatapp.conversations.failures import failure_sentence
from chatapp.turns.events import Delta, Ending, Failed, Finished, Routed, Stopped, Waiting
from chatapp.turns.trace import TurnTrace

Frame = dict[str, Any]

WAITING_SENTENCES = {
    "engine_loading": "The local model is still loading. Your question is kept and will be answered.",
}


def encode_frame(frame: Frame) -> str:
    return orjson.dumps(frame).decode()


def waiting_frame(turn: UUID, event: Waiting) -> Frame:
    return {"type": "waiting", "turn": str(turn), "code": event.code, "message": WAITING_SENTENCES[event.code]}


def routed_frame(turn: UUID, event: Routed) -> Frame:
    return {"type": "routed", "turn": str(turn), "source": event.source, "route": event.route, "model": event.model}


def delta_frame(turn: UUID, event: Delta, *, batch_ms: int) -> Frame:
    return {"type": "delta", "turn": str(turn), "text": event.text, "batch_ms": batch_ms}


def ending_frame(turn: UUID, ending: Ending, trace: TurnTrace) -> Frame:
    badge = describe_badge(trace)
    match ending:
        case Finished():
            head: Frame = {"type": "finished", "finish_reason": ending.finish_reason}
        case Stopped():
            head = {"type": "stopped", "finish_reason": "cancelled"}
        case Failed():
            head = {
                "type": "failed",
                "finish_reason": "producer_lost" if ending.code == "producer_lost" else "error",
                "code": ending.code,
                "message": failure_sentence(ending.code),
            }
    return {**head, "turn": str(turn), **checksum(trace.answer), "badge": badge}


def checksum(answer: str) -> Frame:
    """Length and CRC-32 of the answer in UTF-8: a browser that has lost or doubled a delta notices."""
    encoded = answer.encode()
    return {"bytes": len(encoded), "crc32": zlib.crc32(encoded)}


def describe_badge(trace: TurnTrace) -> Frame:
    """Where the answer came from and where the time went; also kept with the turn for the next reload."""
    cached = trace.cached
    return {
        "source": trace.source,
        "route": trace.route,
        "model": trace.model,
        "ttft_ms": _round(trace.ttft_ms),
        "total_ms": _round(trace.total_ms),
        "tokens": trace.usage.completion_tokens,
        "tokens_per_s": _round(trace.tokens_per_s),
        "reason": trace.decision.reason if trace.decision else ("Answered before." if cached else ""),
        "cached": {
            "question": cached.question,
            "answered_at": cached.answered_at.isoformat(),
            "similarity": round(cached.similarity, 4),
            "scope": cached.scope,
        }
        if cached
        else None,
        "stages": {name: round(ms, 2) for name, ms in trace.stopwatch.stages_ms.items()},
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
