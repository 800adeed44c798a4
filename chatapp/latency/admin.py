"""The log in the admin: to be read, not written."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from chatapp.latency.models import TurnLatency


@admin.register(TurnLatency)
class TurnLatencyAdmin(admin.ModelAdmin):
    list_display = ("created_at", "user", "source", "route", "status", "ttft_ms", "total_ms", "reason")
    list_filter = ("source", "status", "route", "policy_version", "cache_status")
    list_select_related = ("user",)
    date_hierarchy = "created_at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: TurnLatency | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TurnLatency | None = None) -> bool:
        return False
