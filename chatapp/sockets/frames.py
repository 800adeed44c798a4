"""What a browser may send, from text to values: nothing unchecked gets past this module. See docs/protocol.md."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from chatapp.turns.commands import Ask

MAX_FRAME_BYTES = 262_144
FEEDBACK_VALUES = frozenset({"up", "down", "none"})
FEEDBACK_REASON_MAX_CHARACTERS = 1_000
# The largest first paint that is believed: ten minutes.
PAINTED_MAX_MS = 600_000.0

ERROR_SENTENCES = {
    "bad_json": "This message could not be read: it is not a JSON object.",
    "binary_frame": "Only text messages are understood here.",
    "bad_frame": "This message could not be understood.",
    "unknown_type": "This kind of message is not known here.",
    "frame_too_large": f"This message is too large: at most {MAX_FRAME_BYTES:,} bytes.",
    "too_many_frames": "Too many messages at once. Wait a moment.",
    "question_empty": "Write a question first.",
    "question_too_long": "This question is too long. Shorten it and ask again.",
    "conversation_not_found": "There is no such conversation.",
    "turn_not_found": "There is no such question.",
    "conversation_busy": "This conversation is still being answered. Wait, or stop the answer first.",
    "too_many_turns": "You have too many answers running. Wait for one to end, or stop one.",
    "busy": "The server is busy. Try again in a moment.",
}


@dataclass(frozen=True, slots=True)
class Stop:
    turn: UUID


@dataclass(frozen=True, slots=True)
class Resume:
    turn: UUID
    after: int


@dataclass(frozen=True, slots=True)
class Ack:
    turn: UUID
    seq: int


@dataclass(frozen=True, slots=True)
class Painted:
    turn: UUID
    ms: float


@dataclass(frozen=True, slots=True)
class Feedback:
    turn: UUID
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ping:
    pass


ClientFrame = Ask | Stop | Resume | Ack | Painted | Feedback | Ping


class FrameError(Exception):
    """A frame that was not taken; `code` is one of the error codes of docs/protocol.md."""

    def __init__(self, code: str, *, turn: UUID | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.turn = turn


def parse_frame(text: str, *, question_max_characters: int) -> ClientFrame:
    """Raises FrameError for anything that is not exactly a frame of the protocol."""
    if len(text) > MAX_FRAME_BYTES or len(text.encode(errors="surrogatepass")) > MAX_FRAME_BYTES:
        raise FrameError("frame_too_large")
    try:
        raw = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        raise FrameError("bad_json") from None
    if not isinstance(raw, dict):
        raise FrameError("bad_json")
    kind = raw.get("type")
    if kind == "ping":
        return Ping()
    parse = PARSERS.get(kind) if isinstance(kind, str) else None
    if parse is None:
        raise FrameError("unknown_type", turn=_read_turn_if_any(raw))
    turn = _read_turn_if_any(raw)
    if turn is None:
        raise FrameError("bad_frame")
    try:
        return parse(turn, raw, question_max_characters)
    except FrameError as error:
        raise FrameError(error.code, turn=turn) from None


def error_frame(code: str, *, turn: UUID | None = None) -> dict[str, Any]:
    frame = {"type": "error", "code": code, "message": ERROR_SENTENCES[code]}
    return frame if turn is None else {**frame, "turn": str(turn)}


def _read_turn_if_any(raw: dict[str, Any]) -> UUID | None:
    try:
        return _read_uuid(raw.get("turn"))
    except FrameError:
        return None


def _read_uuid(value: object) -> UUID:
    """Only the canonical form: UUID() itself also takes braces and URNs, and one name must have one spelling."""
    try:
        if isinstance(value, str) and len(value) == 36:
            return UUID(value)
    except ValueError:
        pass
    raise FrameError("bad_frame")


def _read_uuid_or_null(value: object) -> UUID | None:
    return None if value is None else _read_uuid(value)


def _read_int(value: object, *, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**31:
        raise FrameError("bad_frame")
    return value


def _parse_ask(turn: UUID, raw: dict[str, Any], question_max_characters: int) -> Ask:
    again = _read_uuid_or_null(raw.get("again"))
    cache = raw.get("cache", "use")
    if cache not in {"use", "bypass"} or (again is not None and "text" in raw):
        raise FrameError("bad_frame")
    return Ask(
        turn=turn,
        conversation=_read_uuid_or_null(raw.get("conversation")),
        text="" if again is not None else _read_question(raw.get("text"), question_max_characters),
        again=again,
        parent=_read_uuid_or_null(raw.get("parent")),
        use_cache=cache == "use",
    )


def _read_question(value: object, max_characters: int) -> str:
    if not isinstance(value, str):
        raise FrameError("bad_frame")
    if len(value) > max_characters:
        raise FrameError("question_too_long")
    if not any(unicodedata.category(character)[0] not in "ZC" for character in value):
        raise FrameError("question_empty")
    # Postgres stores every code point but NUL.
    return value.replace("\x00", "\ufffd")


def _parse_stop(turn: UUID, raw: dict[str, Any], _: int) -> Stop:
    return Stop(turn)


def _parse_resume(turn: UUID, raw: dict[str, Any], _: int) -> Resume:
    return Resume(turn, _read_int(raw.get("after"), minimum=-1))


def _parse_ack(turn: UUID, raw: dict[str, Any], _: int) -> Ack:
    return Ack(turn, _read_int(raw.get("seq"), minimum=0))


def _parse_painted(turn: UUID, raw: dict[str, Any], _: int) -> Painted:
    ms = raw.get("ms")
    if isinstance(ms, bool) or not isinstance(ms, int | float) or not math.isfinite(ms):
        raise FrameError("bad_frame")
    if not 0 <= ms <= PAINTED_MAX_MS:
        raise FrameError("bad_frame")
    return Painted(turn, float(ms))


def _parse_feedback(turn: UUID, raw: dict[str, Any], _: int) -> Feedback:
    value, reason = raw.get("value"), raw.get("reason", "")
    if value not in FEEDBACK_VALUES or not isinstance(reason, str) or len(reason) > FEEDBACK_REASON_MAX_CHARACTERS:
        raise FrameError("bad_frame")
    return Feedback(turn, value, reason.replace("\x00", "\ufffd"))


PARSERS: dict[str, Callable[[UUID, dict[str, Any], int], ClientFrame]] = {
    "ask": _parse_ask,
    "stop": _parse_stop,
    "resume": _parse_resume,
    "ack": _parse_ack,
    "painted": _parse_painted,
    "feedback": _parse_feedback,
}
