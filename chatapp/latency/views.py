"""The dashboard, for staff."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import F, OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chatapp.latency.models import FirstPaint, TurnLatency
from chatapp.latency.reports import RANGES, report_latency, summarize_conversation
from chatapp.latency.timeline import LABELS, list_segments, longest_total_ms

P = ParamSpec("P")

# The page of one conversation shows its latest turns.
TURNS_MAX = 200


def staff_only(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """A visitor is sent to log in; a person who is no staff is refused."""

    @wraps(view)
    def checked(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return cast(Callable[Concatenate[HttpRequest, P], HttpResponse], checked)


@require_safe
@staff_only
def dashboard(request: HttpRequest) -> HttpResponse:
    choice = RANGES.get(request.GET.get("range", "day"), RANGES["day"])
    return render(
        request,
        "latency/dashboard.html",
        {"report": report_latency(choice), "ranges": RANGES.values(), "choice": choice},
    )


@require_safe
@staff_only
def data(request: HttpRequest) -> HttpResponse:
    choice = RANGES.get(request.GET.get("range", "day"))
    page = request.GET.get("page", "1")
    if choice is None or not (page.isascii() and page.isdigit() and 0 < int(page) <= 10_000):
        told = f"range is one of {', '.join(RANGES)}; page is a number from 1."
        return JsonResponse({"error": {"code": "bad_query", "message": told}}, status=HTTPStatus.BAD_REQUEST)
    return JsonResponse(report_latency(choice, page=int(page)))


@require_safe
@staff_only
def conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    summary = summarize_conversation(conversation_id)
    if summary is None:
        raise Http404
    painted = FirstPaint.objects.filter(turn_id=OuterRef("turn_id")).values("first_paint_ms")
    turns = list(
        TurnLatency.objects.filter(conversation_id=conversation_id)
        .annotate(first_paint_ms=Subquery(painted))
        .order_by(F("created_at").desc())[:TURNS_MAX]
    )[::-1]
    longest_ms = longest_total_ms(turns)
    return render(
        request,
        "latency/conversation.html",
        {
            "conversation_id": conversation_id,
            "summary": summary,
            "measures": [("Time to first token", summary["ttft"]), ("Total", summary["total"])],
            # What was said is its owner's to read: to others the chat would answer that there is no such page.
            "is_own": summary["user_id"] == request.user.pk,
            "turns_max": TURNS_MAX,
            "turns": [(turn, list_segments(turn, longest_ms=longest_ms)) for turn in turns],
            "labels": LABELS.items(),
        },
    )
