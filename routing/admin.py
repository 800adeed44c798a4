"""Routes and policies in the admin: an edit applies to the next turn, and stays on record with its author."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from simple_history.admin import SimpleHistoryAdmin

from routing.models import Route, RoutePolicy
from routing.store import POLICY_FIELDS, restore_policy_version, save_policy_version

if TYPE_CHECKING:  # generic for the type checker only
    PolicyAdminBase = admin.ModelAdmin[RoutePolicy]
else:
    PolicyAdminBase = admin.ModelAdmin


@admin.register(Route)
class RouteAdmin(SimpleHistoryAdmin):
    list_display = ("name", "label", "kind", "tier", "enabled", "model_in_use", "key_state")
    list_editable = ("enabled",)
    list_filter = ("tier", "kind", "enabled")
    readonly_fields = ("key_state",)
    history_list_display = ("enabled", "model", "base_url")
    fieldsets = (
        (None, {"fields": ("name", "label", "tier", "enabled")}),
        ("Engine", {"fields": ("kind", "base_url", "model", "api_key_env", "key_state")}),
        ("Answer", {"fields": ("system_prompt", "temperature", "max_tokens", "context_tokens")}),
        (
            "Timeouts",
            {
                "description": "Seconds. Each phase has a clock of its own.",
                "fields": (
                    ("connect_timeout_s", "first_token_timeout_s"),
                    ("between_tokens_timeout_s", "total_timeout_s"),
                ),
            },
        ),
        (
            "Prices",
            {
                "description": "US dollars for a million tokens.",
                "fields": (
                    (
                        "price_per_million_input_usd",
                        "price_per_million_cached_usd",
                        "price_per_million_output_usd",
                    ),
                ),
            },
        ),
    )

    @admin.display(description="model")
    def model_in_use(self, route: Route) -> str:
        return route.model or ("by LOCAL_ENGINE_MODEL" if route.kind == Route.Kind.VLLM else "by FLAGSHIP_MODEL")

    @admin.display(description="key")
    def key_state(self, route: Route) -> str:
        """Whether the variable is set here; never what it holds."""
        if not route.api_key_env:
            return "not needed"
        return f"{route.api_key_env} is set" if os.environ.get(route.api_key_env) else f"{route.api_key_env} is not set"


@admin.register(RoutePolicy)
class RoutePolicyAdmin(PolicyAdminBase):
    list_display = ("version", "is_active", "threshold", "note", "created_by", "created_at")
    list_filter = ("is_active",)
    actions = ("restore",)
    readonly_fields = ("version", "is_active", "created_by", "created_at")
    fieldsets = (
        (None, {"fields": (("version", "is_active"), ("created_by", "created_at"), "note")}),
        ("Routing", {"fields": ("routing_enabled", "threshold", "rules")}),
        ("Fallback", {"fields": ("fallback_enabled", "fallback_order")}),
        ("Cache", {"fields": ("cache_enabled", "cache_min_similarity", "cache_ttl_days")}),
        ("Prompt", {"fields": ("compression_enabled", "history_budget_tokens")}),
    )

    def has_change_permission(self, request: HttpRequest, obj: RoutePolicy | None = None) -> bool:
        """Only the version in force can be edited, and that makes the next one."""
        return super().has_change_permission(request, obj) and (obj is None or obj.is_active)

    def has_delete_permission(self, request: HttpRequest, obj: RoutePolicy | None = None) -> bool:
        """The latency log names versions: none goes."""
        return False

    def save_model(self, request: HttpRequest, obj: RoutePolicy, form: Any, change: bool) -> None:
        saved = save_policy_version({name: getattr(obj, name) for name in POLICY_FIELDS}, author=request.user)
        # The admin goes on with the row that is now in force.
        obj.pk, obj.version, obj.is_active = saved.pk, saved.version, True

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """There is nothing beside the version's own fields."""

    @admin.action(description="Restore the selected version")
    def restore(self, request: HttpRequest, queryset: QuerySet[RoutePolicy]) -> None:
        policies = list(queryset)
        if len(policies) != 1:
            self.message_user(request, "Select one version to restore.", messages.ERROR)
            return
        restored = restore_policy_version(policies[0], author=request.user)
        self.message_user(request, f"Version {policies[0].version} is in force again, as version {restored.version}.")
