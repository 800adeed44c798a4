"""Reads and writes of conversations. Every row is fetched through its owner: a stranger's id is not found."""

from __future__ import annotations

import uuid
from typing import Any, TypedDict

from django.contrib.auth.base_user import AbstractBaseUser
from django.db.models import QuerySet

from chatapp.conversations.failures import failure_sentence
from chatapp.conversations.models import Conversation, Message, Turn

TITLE_MAX_CHARACTERS = 200
# A title made from a question ends at a word near this length: what a sidebar can show.
TITLE_FROM_QUESTION_CHARACTERS = 60
# The list on the page; older ones come by search later.
LIST_MAX_CONVERSATIONS = 200


class ConversationSummary(TypedDict):
    id: str
    title: str
    updated_at: str


def get_conversation_for_user(user: AbstractBaseUser | Any, conversation_id: uuid.UUID) -> Conversation:
    """The conversation if it is this person's; else Conversation.DoesNotExist, as if there were none."""
    return Conversation.objects.get(id=conversation_id, user_id=user.pk)


def list_conversations(user: AbstractBaseUser | Any) -> list[ConversationSummary]:
    """This person's conversations, latest first."""
    rows: QuerySet[Conversation] = Conversation.objects.filter(user_id=user.pk).order_by("-updated_at")
    return [summarize_conversation(row) for row in rows[:LIST_MAX_CONVERSATIONS]]


def summarize_conversation(conversation: Conversation) -> ConversationSummary:
    return {
        "id": str(conversation.id),
        "title": conversation.title,
        "updated_at": conversation.updated_at.isoformat(),
    }


def describe_conversation(conversation: Conversation) -> dict[str, object]:
    """The whole conversation as the page shows it: messages in the order of writing, answers with their turn."""
    messages = Message.objects.filter(conversation=conversation).select_related("turn").order_by("created_at", "role")
    return {
        "id": str(conversation.id),
        "title": conversation.title,
        "messages": [_describe_message(message) for message in messages],
    }


def _describe_message(message: Message) -> dict[str, object]:
    turn = getattr(message, "turn", None)
    return {
        "id": str(message.id),
        "parent": str(message.parent_id) if message.parent_id else None,
        "role": message.role,
        "text": message.text,
        "status": message.status,
        "created_at": message.created_at.isoformat(),
        "turn": _describe_turn(turn) if turn else None,
    }


def _describe_turn(turn: Turn) -> dict[str, object]:
    return {
        "id": str(turn.client_id),
        "status": turn.status,
        "finish_reason": turn.finish_reason,
        "error_code": turn.error_code,
        "error_message": failure_sentence(turn.error_code) if turn.error_code else "",
        "feedback": turn.feedback,
        "badge": turn.badge or None,
    }


def rename_conversation(conversation: Conversation, title: str) -> None:
    """Raises ValueError with a sentence for a person if the title is empty or too long."""
    title = " ".join(title.split())
    if not title:
        raise ValueError("A conversation needs a title.")
    if len(title) > TITLE_MAX_CHARACTERS:
        raise ValueError(f"A title has at most {TITLE_MAX_CHARACTERS} characters.")
    conversation.title = title
    conversation.save(update_fields=["title"])


def title_from_question(text: str) -> str:
    """The first words of the question, cut at a word."""
    words = " ".join(text.split())
    if len(words) <= TITLE_FROM_QUESTION_CHARACTERS:
        return words
    cut = words[:TITLE_FROM_QUESTION_CHARACTERS].rsplit(" ", 1)[0]
    return f"{cut}…"
