"""The main job in a browser, with the real model: ask, be answered, be answered from the cache, stop, reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenVisitor
from tests.browser.site import Daphne

pytestmark = [pytest.mark.browser, pytest.mark.services, pytest.mark.engine]


def test_a_question_is_answered_by_the_model_and_the_second_time_by_the_cache(
    real_site: Daphne, open_visitor: OpenVisitor
) -> None:
    visitor = open_visitor(real_site.origin)
    visitor.sign_up()
    first = visitor.ask("What is the capital of France?")
    expect(first.locator(".answer-body")).to_contain_text("Paris")
    expect(first.locator(".source")).to_have_text("Local")
    said = first.locator(".answer-body").inner_text()
    visitor.page.get_by_role("link", name="New chat").click()
    second = visitor.ask("What is the capital of France?")
    expect(second.locator(".source")).to_have_text("Cache")
    expect(second.locator(".answer-body")).to_have_text(said)
    second.locator(".badge summary").click()
    expect(second.locator(".badge-details")).to_contain_text("What is the capital of France?")
    visitor.photograph("cached-answer")
    second.get_by_role("button", name="Ask again").click()
    third = visitor.page.locator("article.answer")
    expect(third.locator(".source")).to_have_text("Local", timeout=60_000)
    expect(third).to_contain_text("2 of 2")


def test_a_long_answer_streams_stops_and_is_there_after_a_reload(real_site: Daphne, open_visitor: OpenVisitor) -> None:
    visitor = open_visitor(real_site.origin)
    visitor.sign_up()
    answer = visitor.start_asking("Write a very long story about a dragon, with twenty chapters.")
    expect(answer.locator(".prose p").first).to_be_visible(timeout=60_000)
    assert answer.get_attribute("aria-busy") == "true"
    visitor.page.get_by_role("button", name="Stop").click()
    expect(answer.locator(".answer-note")).to_have_text("Stopped.")
    said = answer.locator(".answer-body").inner_text().strip()
    assert said
    visitor.page.reload()
    answer = visitor.page.locator("article.answer")
    expect(answer.locator(".answer-note")).to_have_text("Stopped.")
    assert answer.locator(".answer-body").inner_text().strip() == said


def test_a_question_about_the_product_is_answered_at_once(real_site: Daphne, open_visitor: OpenVisitor) -> None:
    visitor = open_visitor(real_site.origin)
    visitor.sign_up()
    visitor.page.get_by_role("button", name="What can you do?").click()
    answer = visitor.page.locator("article.answer")
    expect(answer.locator(".source")).to_have_text("Cache")
    answer.locator(".badge summary").click()
    expect(answer.locator(".badge-details")).to_contain_text("Curated")
