"""The two statements that begin a turn. Written out, since they stand between a question and its first token: by the
ORM it is nine statements and 5 ms, most of it spent on building SQL (benchmarks/turn_overhead.py)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatapp.turns.commands import Person, SessionEndedError

_LOOK = """
    SELECT person.password,
           (SELECT COUNT(*) FROM conversations_turn WHERE user_id = person.id AND status = 'running'),
           (SELECT id FROM conversations_turn WHERE user_id = person.id AND client_id = %(client_id)s),
           (SELECT MAX(history_id) FROM routing_historicalroute),
           (SELECT MAX(version) FROM routing_routepolicy)
    FROM accounts_user AS person
    WHERE person.id = %(user_id)s AND person.is_active AND EXISTS (
        SELECT 1 FROM django_session WHERE session_key = %(session_key)s AND expire_date > %(now)s)
"""
_INSERT = """
    WITH conversation AS (
        INSERT INTO conversations_conversation (id, user_id, title, created_at, updated_at)
        VALUES (%(conversation)s, %(user_id)s, %(title)s, %(now)s, %(now)s)
        ON CONFLICT (id) DO UPDATE SET updated_at = EXCLUDED.updated_at
    ), question AS (
        INSERT INTO conversations_message (id, conversation_id, parent_id, role, text, status, created_at)
        SELECT %(question)s, %(conversation)s, %(parent)s, 'user', %(text)s, 'complete', %(now)s WHERE %(is_new)s
    ), answer AS (
        INSERT INTO conversations_message (id, conversation_id, parent_id, role, text, status, created_at)
        VALUES (%(answer)s, %(conversation)s, %(question)s, 'assistant', '', 'running', %(answered)s)
    )
    INSERT INTO conversations_turn (id, user_id, client_id, conversation_id, question_id, answer_id, status,
        finish_reason, error_code, source, badge, feedback, feedback_reason, created_at)
    VALUES (%(turn)s, %(user_id)s, %(client_id)s, %(conversation)s, %(question)s, %(answer)s, 'running',
        '', '', '', '{}', 'none', '', %(now)s)
"""


@dataclass(frozen=True, slots=True)
class Look:
    """`known_turn`: the turn that was begun under this client id already. `routing_stamp` changes with every edit of a
    route or a policy."""

    running_turns: int
    known_turn: UUID | None
    routing_stamp: tuple[int | None, int | None]


def look(person: Person, client_id: UUID) -> Look:
    """Raises SessionEndedError unless the account is active and the session exists and was made with the present
    password."""
    with connection.cursor() as cursor:
        cursor.execute(
            _LOOK,
            {
                "user_id": person.user_id,
                "session_key": person.session_key,
                "client_id": client_id,
                "now": timezone.now(),
            },
        )
        row = cursor.fetchone()
    if row is None:
        raise SessionEndedError
    present: str = get_user_model()(password=row[0]).get_session_auth_hash()
    if not constant_time_compare(present, person.session_hash):
        raise SessionEndedError
    return Look(row[1], row[2], (row[3], row[4]))


@dataclass(frozen=True, slots=True)
class NewTurn:
    """Ids are made by the caller. `question_is_new` is False when an earlier question is asked again."""

    turn: UUID
    client_id: UUID
    user_id: int
    conversation: UUID
    title: str
    parent: UUID | None
    question: UUID
    question_is_new: bool
    text: str
    answer: UUID


def insert_turn(new: NewTurn) -> None:
    """Question, answer, turn and, if it is new, conversation, in one statement: all or nothing.

    Raises IntegrityError when the same turn, or another one of the conversation, is running already.
    """
    now = timezone.now()
    values: dict[str, Any] = {
        "turn": new.turn,
        "client_id": new.client_id,
        "user_id": new.user_id,
        "conversation": new.conversation,
        "title": new.title,
        "parent": new.parent,
        "question": new.question,
        "is_new": new.question_is_new,
        "text": new.text,
        "answer": new.answer,
        "now": now,
        # After the question: messages are shown in the order of writing.
        "answered": now + timedelta(microseconds=1),
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)
