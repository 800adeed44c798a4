"""Where a question stands: its conversation, the message it follows, and what was said before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID, uuid4

from chatapp.conversations.models import Conversation, Message, Turn
from chatapp.conversations.store import title_from_question
from chatapp.turns.commands import Ask, AskRefusedError, Person
from inference.messages import ChatMessage


@dataclass(frozen=True, slots=True)
class Place:
    conversation_id: UUID
    title: str
    question_id: UUID
    question: str
    parent_id: UUID | None
    history: tuple[ChatMessage, ...]


def place_new(person: Person, ask: Ask) -> Place:
    """Of a new question, in a new conversation or after a message of one; raises AskRefusedError."""
    if ask.conversation is None:
        return Place(uuid4(), title_from_question(ask.text), uuid4(), ask.text, None, ())
    conversation = _get_free_conversation(person, ask.conversation)
    path = _path_to(conversation, ask.parent)
    parent_id = path[-1].id if path else None
    return Place(conversation.id, conversation.title, uuid4(), ask.text, parent_id, _as_history(path))


def place_again(person: Person, earlier: UUID) -> Place:
    """Of the question of an earlier turn; raises AskRefusedError."""
    turn = (
        Turn.objects.filter(user_id=person.user_id, client_id=earlier)
        .select_related("conversation", "question")
        .first()
    )
    if turn is None:
        raise AskRefusedError("turn_not_found")
    conversation = _get_free_conversation(person, turn.conversation_id)
    question = turn.question
    path = _path_to(conversation, question.parent_id) if question.parent_id else ()
    return Place(conversation.id, conversation.title, question.id, question.text, question.parent_id, _as_history(path))


def _get_free_conversation(person: Person, conversation_id: UUID) -> Conversation:
    """Only one turn runs in a conversation at a time: a second would not know the first one's answer."""
    conversation = Conversation.objects.filter(pk=conversation_id, user_id=person.user_id).first()
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
