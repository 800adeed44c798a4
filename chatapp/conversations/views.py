"""The chat page, and the JSON that the page reads and edits its conversations through."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_http_methods

from chatapp.conversations.models import Conversation
from chatapp.conversations.store import (
    describe_conversation,
    get_conversation_for_user,
    list_conversations,
    rename_conversation,
    summarize_conversation,
)

P = ParamSpec("P")


def json_error(status: HTTPStatus, code: str, message: str) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message}}, status=status)


def signed_in(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Like login_required, for a script: it gets a code instead of a login page."""

    @wraps(view)
    def checked(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return json_error(HTTPStatus.UNAUTHORIZED, "signed_out", "Sign in to go on.")
        return view(request, *args, **kwargs)

    return cast(Callable[Concatenate[HttpRequest, P], HttpResponse], checked)


@require_GET
@login_required
@ensure_csrf_cookie
def chat(request: HttpRequest, conversation_id: uuid.UUID | None = None) -> HttpResponse:
    """The page, with everything it first shows inside it: no second request before the first paint."""
    conversation = None
    if conversation_id is not None:
        try:
            conversation = describe_conversation(get_conversation_for_user(request.user, conversation_id))
        except Conversation.DoesNotExist:
            return redirect("chat")
    return render(request, "chat/chat.html", {"boot": _boot(request, conversation)})


def _boot(request: HttpRequest, conversation: dict[str, object] | None) -> dict[str, object]:
    user = request.user
    return {
        "user": {"name": user.get_username(), "is_staff": user.is_staff, "is_admin": user.is_superuser},
        "conversations": list_conversations(user),
        "conversation": conversation,
        "limits": {"question_characters": settings.QUESTION_MAX_CHARACTERS},
    }


@require_GET
@signed_in
def conversation_list(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"conversations": list_conversations(request.user)})


@require_http_methods(["GET", "PATCH", "DELETE"])
@signed_in
def conversation_detail(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    try:
        conversation = get_conversation_for_user(request.user, conversation_id)
    except Conversation.DoesNotExist:
        return json_error(HTTPStatus.NOT_FOUND, "conversation_not_found", "There is no such conversation.")
    if request.method == "DELETE":
        conversation.delete()
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    if request.method == "PATCH":
        return _rename(request, conversation)
    return JsonResponse(describe_conversation(conversation))


def _rename(request: HttpRequest, conversation: Conversation) -> HttpResponse:
    try:
        title = json.loads(request.body)["title"]
        if not isinstance(title, str) or "\x00" in title:
            raise TypeError
    except (ValueError, KeyError, TypeError):
        return json_error(HTTPStatus.BAD_REQUEST, "bad_json", 'Send {"title": "..."}.')
    try:
        rename_conversation(conversation, title)
    except ValueError as error:
        return json_error(HTTPStatus.BAD_REQUEST, "bad_title", str(error))
    return JsonResponse(summarize_conversation(conversation))
