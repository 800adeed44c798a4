"""Loads a FAQ into the cache, as curated answers that everyone may be served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from chatapp.answercache.embedding import load_embedder
from chatapp.answercache.faq_files import FaqEntry, read_faq
from chatapp.answercache.store import refresh_statistics, save_curated

# Bad lines that are shown one by one.
SHOWN = 10
PROGRESS_EVERY = 200


class Command(BaseCommand):
    help = (
        "Loads questions and answers from FILE, one JSON object a line. A question that is there gets the new answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help='lines such as {"question": "...", "answer": "..."}')
        parser.add_argument("--skip-bad", action="store_true", help="load the good lines of a file that has bad ones")

    def handle(self, *args: Any, file: str, skip_bad: bool, **options: Any) -> None:
        try:
            with Path(file).open(encoding="utf-8-sig") as lines:
                entries, bad = read_faq(lines)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise CommandError(f"{file} is not UTF-8 text.") from None
        for line in bad[:SHOWN]:
            self.stderr.write(f"line {line.number}: {line.reason}")
        if bad and not skip_bad:
            raise CommandError(f"{len(bad)} bad lines, nothing was loaded. Mend them, or use --skip-bad.")
        new = self._save(entries)
        refresh_statistics()
        self.stdout.write(f"{new} answers added, {len(entries) - new} updated, {len(bad)} lines left out.")

    @transaction.atomic
    def _save(self, entries: list[FaqEntry]) -> int:
        embedder = load_embedder()
        new = 0
        for number, entry in enumerate(entries, start=1):
            new += save_curated(
                entry.question, entry.answer, embedding=embedder.embed(entry.question), embedder=embedder.name
            )
            if number % PROGRESS_EVERY == 0:
                self.stdout.write(f"{number} of {len(entries)}")
        return new
