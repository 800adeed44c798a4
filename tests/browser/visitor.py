"""A person at a browser: what they do, and everything the browser complained about meanwhile."""

from __future__ import annotations

import secrets
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, Request, expect

SCREENSHOTS = Path(__file__).resolve().parents[2] / "screenshots"
PASSWORD = "correct-horse-battery"


class Visitor:
    """`problems` are console errors, exceptions, and requests to anywhere but the site."""

    def __init__(
        self, browser: Browser, origin: str, *, width: int = 1280, height: int = 800, dark: bool = False
    ) -> None:
        self.origin = origin
        self.problems: list[str] = []
        self.context = browser.new_context(
            base_url=origin,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        self.page: Page = self.open_tab()

    def open_tab(self) -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self._note("console", message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._note("exception", str(error)))
        page.on("request", self._note_foreign)
        return page

    def forgive(self, words: str) -> None:
        """Take out the complaints that a test provoked."""
        self.problems = [problem for problem in self.problems if words not in problem]

    def sign_up(self) -> str:
        name = f"visitor-{secrets.token_hex(4)}"
        self.page.goto("/accounts/signup/")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password:", exact=True).fill(PASSWORD)
        self.page.get_by_label("Password confirmation").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign up").click()
        self.wait_for_line()
        return name

    def log_in(self, name: str, password: str = PASSWORD) -> None:
        self.page.goto("/accounts/login/")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()

    def wait_for_line(self) -> None:
        expect(self.page.locator("body[data-line=open]")).to_be_visible()

    def start_asking(self, question: str) -> Locator:
        """The answer, as soon as its place is there."""
        answers = self.page.locator("article.answer")
        before = answers.count()
        self.field.fill(question)
        self.field.press("Enter")
        expect(answers).to_have_count(before + 1)
        return answers.nth(before)

    def ask(self, question: str) -> Locator:
        """The answer, once it has ended."""
        answer = self.start_asking(question)
        expect_ended(answer)
        return answer

    def photograph(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    @property
    def field(self) -> Locator:
        return self.page.get_by_label("Your question")

    def _note(self, kind: str, text: str) -> None:
        self.problems.append(f"{kind}: {text}")

    def _note_foreign(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.origin).netloc and not request.url.startswith("data:"):
            self._note("foreign request", request.url)


def expect_ended(answer: Locator) -> None:
    # A real model on two busy cores takes its time.
    expect(answer.locator(".tools")).to_be_visible(timeout=60_000)
