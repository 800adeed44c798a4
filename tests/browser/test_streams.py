"""What a person sees when things go otherwise than planned: stops, reloads, other tabs, a server that dies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisitor
from tests.browser.site import Daphne, StandIn
from tests.browser.visitor import PASSWORD, Visitor, expect_ended

pytestmark = [pytest.mark.browser, pytest.mark.services]

# Numbered words: a lost or doubled one is seen.
COUNTING = " ".join(f"w{number}" for number in range(1, 61))


def test_a_reload_in_mid_answer_shows_the_whole_answer(visitor: Visitor, stand_in: StandIn) -> None:
    stand_in.say(COUNTING, token_delay_s=0.05)
    answer = visitor.start_asking("Count to sixty for a reload.")
    expect(answer).to_contain_text("w3 ")
    visitor.page.reload()
    answer = visitor.page.locator("article.answer")
    expect_ended(answer)
    expect(answer.locator(".answer-body")).to_have_text(COUNTING)


def test_a_second_tab_follows_the_same_answer_and_can_stop_it(visitor: Visitor, stand_in: StandIn) -> None:
    stand_in.say("word", endless=True, token_delay_s=0.05)
    answer = visitor.start_asking("Go on for ever, and let another tab stop it.")
    expect(answer).to_contain_text("word")
    expect(visitor.page).to_have_url(re.compile("/c/"))
    other = visitor.open_tab()
    other.goto(visitor.page.url)
    expect(other.locator("article.answer")).to_contain_text("word")
    other.keyboard.press("Escape")
    for page in (other, visitor.page):
        expect(page.locator(".answer-note")).to_have_text("Stopped.")
    first, second = (page.locator(".answer-body").inner_text() for page in (visitor.page, other))
    assert first == second


def test_a_lost_connection_loses_and_doubles_nothing(visitor: Visitor, stand_in: StandIn) -> None:
    stand_in.say(COUNTING, token_delay_s=0.05)
    answer = visitor.start_asking("Count to sixty over a bad line.")
    expect(answer).to_contain_text("w3 ")
    # A browser that is told it is offline keeps its sockets: the event is what the page goes by.
    visitor.page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(visitor.page.locator("body[data-line=open]")).to_be_visible()
    expect_ended(answer)
    expect(answer.locator(".answer-body")).to_have_text(COUNTING)


def test_a_question_asked_while_the_server_is_away_is_answered_when_it_is_back(visitor: Visitor, site: Daphne) -> None:
    site.kill()
    expect(visitor.page.get_by_text("Reconnecting…")).to_be_visible()
    answer = visitor.start_asking("Are you there again?")
    site.start()
    expect_ended(answer)
    expect(answer.locator(".answer-body")).to_have_text("Hello! I am a stand-in.")
    expect(visitor.page.locator("#line")).to_be_hidden()
    visitor.forgive("WebSocket connection")


def test_an_answer_whose_server_died_ends_and_keeps_what_was_said(
    visitor: Visitor, site: Daphne, stand_in: StandIn, tmp_path: Path
) -> None:
    stand_in.say(COUNTING, stall_after=3)
    answer = visitor.start_asking("Count until the server dies.")
    expect(answer).to_contain_text("w3")
    site.kill()
    site.start()
    # The page is back before the lease of the dead server has run out: it is the sweeper that ends the turn.
    with site.working(tmp_path):
        expect_ended(answer)
    expect(answer.locator(".answer-note")).to_contain_text("ask again")
    expect(answer.locator(".answer-body")).to_have_text("w1 w2 w3")
    visitor.forgive("WebSocket connection")


def test_a_question_that_nobody_can_answer_is_kept_and_asked_again_by_one_click(
    visitor: Visitor, stand_in: StandIn
) -> None:
    stand_in.say("", fail_status=500)
    answer = visitor.start_asking("Will this fail the first time?")
    again = answer.get_by_role("button", name="Try again")
    expect(again).to_be_visible(timeout=30_000)
    expect(answer.locator(".answer-note")).to_contain_text("Your question is kept")
    visitor.photograph("failed-question")
    stand_in.say("Not the second time.")
    again.click()
    expect(visitor.page.locator("article.answer .answer-body")).to_have_text("Not the second time.", timeout=30_000)
    expect(visitor.page.locator("article.question")).to_have_count(1)


def test_logging_out_elsewhere_ends_the_chat_here(visitor: Visitor) -> None:
    other = visitor.open_tab()
    other.goto("/")
    other.locator("details.menu summary").click()
    other.get_by_role("button", name="Log out").click()
    expect(visitor.page.get_by_text("You are signed out.")).to_be_visible()
    link = visitor.page.get_by_role("link", name="Log in again")
    expect(link).to_have_attribute("href", re.compile(r"/accounts/login/\?next="))


def test_another_person_never_sees_the_conversation(visitor: Visitor, site: Daphne, open_visitor: OpenVisitor) -> None:
    visitor.ask("What is my secret?")
    expect(visitor.page).to_have_url(re.compile("/c/"))
    stranger = open_visitor(site.origin)
    stranger.sign_up()
    stranger.page.goto(visitor.page.url)
    expect(stranger.page).to_have_url(f"{site.origin}/")
    expect(stranger.page.get_by_text("No conversations yet.")).to_be_visible()
    outsider = open_visitor(site.origin)
    outsider.page.goto(visitor.page.url)
    expect(outsider.page).to_have_url(re.compile("/accounts/login/"))


def test_a_changed_password_is_the_one_to_log_in_with(visitor: Visitor) -> None:
    page = visitor.page
    name = page.locator("details.menu summary").inner_text()
    page.goto("/accounts/password_change/")
    page.get_by_label("Old password").fill(PASSWORD)
    page.get_by_label("New password:", exact=True).fill("another-horse-battery")
    page.get_by_label("New password confirmation").fill("another-horse-battery")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("heading", name="Password changed")).to_be_visible()
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Log out").click()
    visitor.log_in(name.strip(" ▾"))
    expect(page.locator(".errorlist")).to_be_visible()
    visitor.log_in(name.strip(" ▾"), "another-horse-battery")
    visitor.wait_for_line()
