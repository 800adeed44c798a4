"""What a site needs before its first visitor: its tables, an admin, routes with a policy, answers about itself."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from chatapp.accounts.first_admin import ensure_admin
from routing.store import ensure_default_routes


class Command(BaseCommand):
    help = (
        "Migrates, makes the first admin, the default routes and the starter answers. Running it again changes nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        ensure_default_routes()
        call_command("load_starter_answers", stdout=self.stdout)
        self.stdout.write(
            ensure_admin(password=settings.ADMIN_PASSWORD, password_file=settings.DATA_DIR / "admin-password")
        )
