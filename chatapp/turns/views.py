"""The health of the parts, for operators and load balancers."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chatapp.turns.health import check_health, is_serving


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """200 while people can be served, else 503; the body names each part either way."""
    parts = check_health()
    serving = is_serving(parts)
    return JsonResponse(
        {"status": "up" if serving else "down", "parts": parts},
        status=HTTPStatus.OK if serving else HTTPStatus.SERVICE_UNAVAILABLE,
    )
