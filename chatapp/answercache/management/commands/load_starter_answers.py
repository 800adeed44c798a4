"""Loads what the product can say about itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from chatapp.answercache.models import CachedAnswer

STARTER_ANSWERS = Path(__file__).resolve().parents[2] / "starter_answers.jsonl"


class Command(BaseCommand):
    help = "Loads the answers about the product itself, unless there is any curated answer already."

    def handle(self, *args: Any, **options: Any) -> None:
        # An admin who has changed or deleted some of them does not want them back at the next start.
        if not CachedAnswer.objects.filter(user=None).exists():
            call_command("import_answers", str(STARTER_ANSWERS), stdout=self.stdout, stderr=self.stderr)
