"""Conversations, their messages as a tree, and the turns that tie a question to its answer."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Conversation(models.Model):
    """Belongs to one person; nobody else ever reads it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    # The time of the latest question: the order of the list.
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [
            # The chat page's list: one person's conversations, latest first.
            models.Index(fields=["user", "-updated_at"], name="conversation_list"),
        ]

    def __str__(self) -> str:
        return self.title


class Message(models.Model):
    """A node of the tree. An edit or a new answer is a sibling: nothing is overwritten."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETE = "complete"
        STOPPED = "stopped"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    # The message that this one follows; null for the first.
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="children")
    role = models.CharField(max_length=10, choices=Role)
    # An answer's text is model output: untrusted wherever it is shown.
    text = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.COMPLETE)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            # One conversation's messages in the order of writing.
            models.Index(fields=["conversation", "created_at"], name="message_order"),
        ]

    def __str__(self) -> str:
        return f"{self.role} message {self.id}"


class Turn(models.Model):
    """One question and one answer to it: who answered, why, and how it ended."""

    class Status(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        STOPPED = "stopped"
        FAILED = "failed"

    class Feedback(models.TextChoices):
        NONE = "none"
        UP = "up"
        DOWN = "down"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="turns")
    # Made by the browser; with the user it makes a repeated `ask` one turn.
    client_id = models.UUIDField()
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    question = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="turns_asking")
    answer = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="turn")
    status = models.CharField(max_length=10, choices=Status, default=Status.RUNNING)
    # As the engine said (stop, length, content_filter), or cancelled, error, producer_lost.
    finish_reason = models.CharField(max_length=20, blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    source = models.CharField(max_length=10, blank=True)
    # What the browser shows under the answer, as sent in the terminal frame; docs/protocol.md has its keys.
    badge = models.JSONField(default=dict, blank=True)
    feedback = models.CharField(max_length=4, choices=Feedback, default=Feedback.NONE)
    feedback_reason = models.CharField(max_length=1000, blank=True)
    # Durable: a producer that restarts or runs elsewhere still sees it.
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "client_id"], name="one_turn_per_client_id"),
            # Two answers at once in one conversation would race for its history.
            models.UniqueConstraint(
                fields=["conversation"], condition=models.Q(status="running"), name="one_running_turn_per_conversation"
            ),
        ]
        indexes = [
            # The sweeper's question: which turns still claim to run?
            models.Index(fields=["created_at"], condition=models.Q(status="running"), name="running_turns"),
        ]

    def __str__(self) -> str:
        return f"turn {self.id}"
