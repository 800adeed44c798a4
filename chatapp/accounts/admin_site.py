"""The admin is for admins: `is_staff` alone opens the latency dashboard, not this."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest


class ChatappAdminSite(admin.AdminSite):
    site_title = site_header = "chatapp admin"
    index_title = "Routes, answers, people"

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)


class ChatappAdminConfig(AdminConfig):
    default_site = "chatapp.accounts.admin_site.ChatappAdminSite"
