"""What turns read and write in Postgres: sync functions, one statement or transaction each, called by `adapters`."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import IntegrityError
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatapp.conversations.models import Turn
from chatapp.turns.commands import Ask, AskRefusedError, BegunTurn, KnownTurn, Person
from chatapp.turns.places import digest_context, place_again, place_new
from chatapp.turns.turn_sql import NewTurn, insert_turn, look
from routing.store import load_snapshot


def begin_turn(person: Person, ask: Ask) -> BegunTurn:
    """Save the question and an empty, running answer; a repeated ask finds its turn and saves nothing.

    Raises AskRefusedError, or SessionEndedError when the person is signed out.
    """
    try:
        return _begin_turn(person, ask)
    except IntegrityError:
        # The same turn, or another one of this conversation, was begun at this very moment: look again.
        return _begin_turn(person, ask)


def _begin_turn(person: Person, ask: Ask) -> BegunTurn:
    found = look(person, ask.turn)
    if found.known_turn is not None:
        return _repeated(Turn.objects.select_related("conversation", "question").get(pk=found.known_turn))
    if found.running_turns >= settings.TURNS_PER_USER:
        raise AskRefusedError("too_many_turns")
    place = place_again(person, ask.again) if ask.again else place_new(person, ask)
    turn_id, answer_id = uuid4(), uuid4()
    insert_turn(
        NewTurn(
            turn=turn_id,
            client_id=ask.turn,
            user_id=person.user_id,
            conversation=place.conversation_id,
            title=place.title,
            parent=place.parent_id,
            question=place.question_id,
            question_is_new=ask.again is None,
            text=place.question,
            answer=answer_id,
        )
    )
    return BegunTurn(
        turn_id=turn_id,
        client_id=ask.turn,
        user_id=person.user_id,
        conversation_id=place.conversation_id,
        title=place.title,
        question_id=place.question_id,
        answer_id=answer_id,
        question=place.question,
        history=place.history,
        context_digest=digest_context(place.history),
        use_cache=ask.use_cache,
        snapshot=load_snapshot(stamp=found.routing_stamp),
        is_repeated=False,
    )


def _repeated(turn: Turn) -> BegunTurn:
    return BegunTurn(
        turn_id=turn.id,
        client_id=turn.client_id,
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        title=turn.conversation.title,
        question_id=turn.question_id,
        answer_id=turn.answer_id,
        question=turn.question.text,
        history=(),
        context_digest="",
        use_cache=False,
        snapshot=None,
        is_repeated=True,
    )


def find_turn(person: Person, client_id: UUID) -> KnownTurn | None:
    """The turn if it is this person's; a stranger's id is not found."""
    row = (
        Turn.objects.filter(user_id=person.user_id, client_id=client_id)
        .values_list("id", "conversation_id", "status")
        .first()
    )
    return None if row is None else KnownTurn(row[0], row[1], row[2] == Turn.Status.RUNNING)


def request_stop(person: Person, client_id: UUID) -> KnownTurn | None:
    """Note, durably, that the person wants the turn to end."""
    known = find_turn(person, client_id)
    if known is not None and known.is_running:
        Turn.objects.filter(pk=known.turn_id, status=Turn.Status.RUNNING).update(stop_requested_at=timezone.now())
    return known


def list_running_turns(person: Person, *, conversation: UUID | None, again: UUID | None) -> list[UUID]:
    """Ids of the turns that run in this person's conversation, named by itself or by one of its turns."""
    running = Turn.objects.filter(user_id=person.user_id, status=Turn.Status.RUNNING)
    if again is not None:
        running = running.filter(conversation__turns__client_id=again)
    elif conversation is not None:
        running = running.filter(conversation_id=conversation)
    return list(running.values_list("id", flat=True))


def save_feedback(person: Person, client_id: UUID, *, value: str, reason: str) -> bool:
    """False if there is no such turn of this person."""
    rows = Turn.objects.filter(user_id=person.user_id, client_id=client_id)
    return bool(rows.update(feedback=value, feedback_reason=reason))


def find_ended_sessions(people: Iterable[Person]) -> set[Person]:
    """Those whose session is gone, whose account is off, or whose password has changed. Two queries."""
    people = set(people)
    alive = set(
        Session.objects.filter(
            session_key__in={person.session_key for person in people}, expire_date__gt=timezone.now()
        ).values_list("session_key", flat=True)
    )
    users = get_user_model().objects.in_bulk({person.user_id for person in people})
    return {
        person
        for person in people
        if person.session_key not in alive
        or (user := users.get(person.user_id)) is None
        or not user.is_active
        or not constant_time_compare(user.get_session_auth_hash(), person.session_hash)
    }
