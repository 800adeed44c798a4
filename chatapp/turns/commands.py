"""What a browser asks of turns, after parsing, and what it is told: values between sockets, runner and records."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from inference.messages import ChatMessage
from routing.store import RoutingSnapshot


@dataclass(frozen=True, slots=True)
class Person:
    """Who is at the other end of a socket, and the session that says so."""

    user_id: int
    session_key: str
    # Django's session hash: it changes with the password.
    session_hash: str


@dataclass(frozen=True, slots=True)
class Ask:
    """`text` or `again` (the client id of an earlier turn whose question is asked once more), never both."""

    turn: UUID
    conversation: UUID | None
    text: str
    again: UUID | None
    parent: UUID | None
    use_cache: bool


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """A question that is saved, and what its answer needs. A repeated ask has `is_repeated` and nothing to run."""

    turn_id: UUID
    client_id: UUID
    user_id: int
    conversation_id: UUID
    title: str
    question_id: UUID
    answer_id: UUID
    question: str
    history: tuple[ChatMessage, ...]
    context_digest: str
    use_cache: bool
    snapshot: RoutingSnapshot | None
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class KnownTurn:
    """A turn of this person, found by its client id."""

    turn_id: UUID
    conversation_id: UUID
    is_running: bool


class AskRefusedError(Exception):
    """The question was not taken; `code` is one of the error codes of docs/protocol.md."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SessionEndedError(Exception):
    """The person behind the socket is not signed in any more."""
