"""Why a question could not be routed."""

from __future__ import annotations


class NoRouteAvailable(Exception):
    """No enabled route is ready. `reasons` has a sentence for each that is not."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("no route is available")
        self.reasons = reasons


class RuleError(ValueError):
    """A rule that cannot be read; the text is a sentence for the admin who wrote it."""
