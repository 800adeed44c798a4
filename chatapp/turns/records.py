"""What turns read and write in Postgres: sync functions, one transaction each, called through `adapters`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chatapp.conversations.models import Conversation, Message, Turn
from chatapp.conversations.store import title_from_question
from chatapp.turns.commands import Ask, AskRefusedError, BegunTurn, KnownTurn, Person, SessionEndedError
from inference.messages import ChatMessage
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


@transaction.atomic
def _begin_turn(person: Person, ask: Ask) -> BegunTurn:
    _check_person(person)
    known = _find_turn_row(person.user_id, ask.turn)
    if known is not None:
        return _repeated(known)
    if ask.again is not None:
        conversation, question, history = _question_again(person, ask)
    else:
        conversation, question, history = _new_question(person, ask)
    answer = Message.objects.create(
        conversation=conversation, parent=question, role=Message.Role.ASSISTANT, status=Message.Status.RUNNING
    )
    turn = Turn.objects.create(
        user_id=person.user_id,
        client_id=ask.turn,
        conversation=conversation,
        question=question,
        answer=answer,
    )
    return BegunTurn(
        turn_id=turn.id,
        client_id=turn.client_id,
        user_id=person.user_id,
        conversation_id=conversation.id,
        title=conversation.title,
        question_id=question.id,
        answer_id=answer.id,
        question=question.text,
        history=history,
        context_digest=digest_context(history),
        use_cache=ask.use_cache,
        snapshot=load_snapshot(),
        is_repeated=False,
    )


def _check_person(person: Person) -> None:
    """One query: the account is active, the session exists and was made with the present password, and there is room
    for one more turn."""
    session = Session.objects.filter(session_key=person.session_key, expire_date__gt=timezone.now())
    user = (
        get_user_model()
        .objects.filter(Exists(session), pk=person.user_id, is_active=True)
        .annotate(running=Count("turns", filter=Q(turns__status=Turn.Status.RUNNING)))
        .first()
    )
    if user is None or not constant_time_compare(user.get_session_auth_hash(), person.session_hash):
        raise SessionEndedError
    if user.running >= settings.TURNS_PER_USER:
        raise AskRefusedError("too_many_turns")


def _find_turn_row(user_id: int, client_id: UUID) -> Turn | None:
    return Turn.objects.filter(user_id=user_id, client_id=client_id).select_related("conversation", "question").first()


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


def _new_question(person: Person, ask: Ask) -> tuple[Conversation, Message, tuple[ChatMessage, ...]]:
    now = timezone.now()
    parent_id = None
    path: tuple[Message, ...] = ()
    if ask.conversation is None:
        conversation = Conversation.objects.create(
            user_id=person.user_id, title=title_from_question(ask.text), updated_at=now
        )
    else:
        conversation = _lock_conversation(person, ask.conversation)
        path = _path_to(conversation, ask.parent)
        parent_id = path[-1].id if path else None
        conversation.updated_at = now
        conversation.save(update_fields=["updated_at"])
    question = Message.objects.create(
        conversation=conversation, parent_id=parent_id, role=Message.Role.USER, text=ask.text
    )
    return conversation, question, _as_history(path)


def _question_again(person: Person, ask: Ask) -> tuple[Conversation, Message, tuple[ChatMessage, ...]]:
    earlier = _find_turn_row(person.user_id, ask.again) if ask.again else None
    if earlier is None:
        raise AskRefusedError("turn_not_found")
    conversation = _lock_conversation(person, earlier.conversation_id)
    path = _path_to(conversation, earlier.question.parent_id) if earlier.question.parent_id else ()
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=timezone.now())
    return conversation, earlier.question, _as_history(path)


def _lock_conversation(person: Person, conversation_id: UUID) -> Conversation:
    """Only one turn runs in a conversation at a time: a second would not know the first one's answer."""
    conversation = Conversation.objects.select_for_update().filter(pk=conversation_id, user_id=person.user_id).first()
    if conversation is None:
        raise AskRefusedError("conversation_not_found")
    if Turn.objects.filter(conversation=conversation, status=Turn.Status.RUNNING).exists():
        raise AskRefusedError("conversation_busy")
    return conversation


def _path_to(conversation: Conversation, message_id: UUID | None) -> tuple[Message, ...]:
    """The messages from the first to `message_id`, or to the latest one if it is None."""
    rows = list(Message.objects.filter(conversation=conversation).order_by("created_at"))
    by_id = {row.id: row for row in rows}
    current = by_id.get(message_id) if message_id else (rows[-1] if rows else None)
    if message_id and current is None:
        raise AskRefusedError("conversation_not_found")
    path: list[Message] = []
    while current is not None:
        path.append(current)
        current = by_id.get(current.parent_id) if current.parent_id else None
    return tuple(reversed(path))


def _as_history(path: Iterable[Message]) -> tuple[ChatMessage, ...]:
    """What was said, for the model. A question that got no answer is left out with it: it would be answered too."""
    history: list[ChatMessage] = []
    for message in path:
        if message.role == Message.Role.ASSISTANT and not message.text:
            if history and history[-1].role == "user":
                history.pop()
            continue
        history.append(ChatMessage("assistant" if message.role == Message.Role.ASSISTANT else "user", message.text))
    return tuple(history)


def digest_context(history: tuple[ChatMessage, ...]) -> str:
    """Blank for a first question; else SHA-256 of what was said before, in hex: the same words after another context
    are another question."""
    if not history:
        return ""
    digest = hashlib.sha256()
    for message in history:
        encoded = message.text.encode()
        digest.update(f"{message.role}:{len(encoded)}:".encode() + encoded)
    return digest.hexdigest()


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
