"""The pages: who may open them, and what they answer."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from chatapp.accounts.models import User
from chatapp.conversations.models import Conversation
from chatapp.latency.models import TurnLatency
from chatapp.latency.store import save_first_paint
from tests.integration.latency.conftest import LogTurn

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(params=["/latency/", "/latency/data/", "/latency/conversations/{id}/"])
def path(request: pytest.FixtureRequest, conversation: Conversation, log_turn: LogTurn) -> str:
    log_turn(ttft_ms=10.0, total_ms=20.0)
    return str(request.param).format(id=conversation.pk)


def page_of(conversation: Conversation) -> str:
    return f"/latency/conversations/{conversation.pk}/"


def test_staff_may_read_the_log(member: Client, path: str) -> None:
    assert member.get(path).status_code == 200


def test_somebody_who_is_no_staff_is_refused_even_for_their_own_turns(owner: Client, path: str) -> None:
    assert owner.get(path).status_code == 403


def test_a_visitor_is_sent_to_log_in_and_back(stranger: Client, path: str) -> None:
    response = stranger.get(path)
    assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={path}")


def test_nobody_writes_to_the_log_over_http(member: Client, path: str) -> None:
    assert member.post(path).status_code == 405


@pytest.mark.parametrize(
    "query",
    [
        "range=month",
        "range=",
        "range=hour%00",
        "page=0",
        "page=-1",
        "page=x",
        "page=",
        "page=1.5",
        "page=99999",
        "page=²",
    ],
)
def test_a_bad_query_is_told_what_a_good_one_is(member: Client, query: str) -> None:
    response = member.get(f"/latency/data/?{query}")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "bad_query"


@pytest.mark.parametrize("name", ["hour", "day", "week"])
def test_the_data_are_of_the_range_that_was_asked_for(member: Client, name: str) -> None:
    report = member.get(f"/latency/data/?range={name}&page=2").json()
    assert (report["range"], report["page"]) == (name, 2)


def test_the_dashboard_shows_the_last_day_when_it_is_not_told_a_range_it_knows(member: Client) -> None:
    for query in ("", "?range=month"):
        assert member.get(f"/latency/{query}").context["report"]["range"] == "day"


def test_the_dashboard_takes_as_many_queries_for_many_turns_as_for_one(
    member: Client, log_turn: LogTurn, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    # The session, its user, and the report's four.
    for turns in (1, 30):
        for _ in range(turns):
            log_turn(ttft_ms=1.0, total_ms=2.0)
        with django_assert_num_queries(6):
            member.get("/latency/")


def test_a_conversations_page_takes_as_many_queries_for_many_turns_as_for_one(
    member: Client, log_turn: LogTurn, conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    # The session, its user, the summary and the turns.
    for turns in (1, 30):
        for _ in range(turns):
            save_first_paint(log_turn(ttft_ms=1.0, total_ms=2.0), 3.0)
        with django_assert_num_queries(4):
            member.get(page_of(conversation))


def test_a_conversations_page_shows_each_turn_with_its_stages_and_first_paint(
    member: Client, log_turn: LogTurn, conversation: Conversation
) -> None:
    turn_id = log_turn(queue_ms=1.5, embed_ms=4.5, ttft_ms=100.0, total_ms=1_300.0)
    save_first_paint(turn_id, 123.4)
    html = member.get(page_of(conversation)).content.decode()
    for words in ("save the question 1.5 ms", "embed 4.5 ms", "stream the rest", "first paint 123.4 ms"):
        assert words in html


def test_a_turn_without_a_first_token_shows_a_dash(
    member: Client, log_turn: LogTurn, conversation: Conversation
) -> None:
    log_turn(status="failed", error_code="engine_down", total_ms=50.0)
    html = member.get(page_of(conversation)).content.decode()
    assert "first token –" in html
    assert "first token 0" not in html


def test_only_the_latest_turns_are_drawn_and_the_page_says_so(
    member: Client, log_turn: LogTurn, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatapp.latency.views.TURNS_MAX", 2)
    for total_ms in (1.0, 2.0, 3.0):
        log_turn(total_ms=total_ms)
    response = member.get(page_of(conversation))
    assert len(response.context["turns"]) == 2
    assert "The latest 2 of 3 turns." in response.content.decode()


def test_another_persons_title_is_not_shown_and_their_chat_is_not_linked(
    member: Client, log_turn: LogTurn, conversation: Conversation
) -> None:
    log_turn()
    html = member.get(page_of(conversation)).content.decode()
    assert conversation.title not in html
    assert f"/c/{conversation.pk}/" not in html


def test_staff_get_a_link_to_their_own_chat(
    member: Client, staff: User, log_turn: LogTurn, conversation: Conversation
) -> None:
    log_turn(user=staff)
    assert f"/c/{conversation.pk}/" in member.get(page_of(conversation)).content.decode()


def test_a_conversation_that_the_log_does_not_know_is_not_found(member: Client) -> None:
    assert member.get(f"/latency/conversations/{uuid4()}/").status_code == 404


def test_a_name_that_is_markup_stays_text(member: Client, log_turn: LogTurn, person: User) -> None:
    User.objects.filter(pk=person.pk).update(username="</script><script>alert(1)</script>")
    log_turn()
    assert "<script>alert(1)" not in member.get("/latency/").content.decode()


def test_the_log_cannot_be_changed_in_the_admin(log_turn: LogTurn) -> None:
    admin = Client()
    admin.force_login(User.objects.create_superuser("root"))
    turn_id = log_turn(total_ms=20.0)
    change = f"/admin/latency/turnlatency/{turn_id}/change/"
    assert admin.get("/admin/latency/turnlatency/").status_code == 200
    assert admin.post(change, {"total_ms": "1"}).status_code == 403
    assert admin.get("/admin/latency/turnlatency/add/").status_code == 403
    assert TurnLatency.objects.get().total_ms == 20.0
