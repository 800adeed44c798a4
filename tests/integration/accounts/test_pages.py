"""The pages and the JSON over HTTP: owner, stranger, visitor; and the headers of every page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from chatapp.accounts.first_admin import ensure_admin
from chatapp.accounts.models import User
from chatapp.conversations.models import Conversation, Message

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture
def conversation() -> Conversation:
    user = User.objects.create_user("owner")
    conversation = Conversation.objects.create(user=user, title="Mine", updated_at=timezone.now())
    Message.objects.create(conversation=conversation, role="user", text="</script><script>alert(1)</script>")
    return conversation


@pytest.fixture
def owner(conversation: Conversation) -> Client:
    return logged_in(conversation.user)


@pytest.fixture
def stranger() -> Client:
    return logged_in(User.objects.create_user("stranger"))


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def api(conversation: Conversation | None = None) -> str:
    return f"/api/conversations/{conversation.pk if conversation else uuid4()}/"


def test_the_owner_reads_renames_and_deletes(owner: Client, conversation: Conversation) -> None:
    assert owner.get(api(conversation)).json()["title"] == "Mine"
    renamed = owner.patch(api(conversation), json.dumps({"title": "  New   name "}))
    assert renamed.json()["title"] == "New name"
    assert owner.delete(api(conversation)).status_code == 204
    assert not Conversation.objects.exists()


def test_a_stranger_gets_the_same_answer_as_for_nothing(stranger: Client, conversation: Conversation) -> None:
    for method in (stranger.get, stranger.delete, lambda url: stranger.patch(url, json.dumps({"title": "Theirs"}))):
        theirs, nothing = method(api(conversation)), method(api())
        assert theirs.status_code == nothing.status_code == 404
        assert theirs.content == nothing.content
    assert stranger.get(f"/c/{conversation.pk}/").status_code == 302
    assert stranger.get("/api/conversations/").json() == {"conversations": []}
    conversation.refresh_from_db()
    assert conversation.title == "Mine"


def test_a_visitor_is_told_to_sign_in(conversation: Conversation) -> None:
    visitor = Client()
    assert visitor.get(api(conversation)).status_code == 401
    assert visitor.get("/").headers["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '{"title": 3}', '{"title": ""}', '{"title": "a\\u0000"}'])
def test_a_bad_title_is_refused_with_a_sentence(owner: Client, conversation: Conversation, body: str) -> None:
    answer = owner.patch(api(conversation), body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


def test_a_change_without_the_csrf_token_is_refused(conversation: Conversation) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(conversation.user)
    assert client.delete(api(conversation)).status_code == 403


def test_the_chat_page_takes_a_fixed_number_of_queries(
    owner: Client, conversation: Conversation, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        Message.objects.create(conversation=conversation, role="user", text=str(number))
    with django_assert_num_queries(5):
        page = owner.get(f"/c/{conversation.pk}/")
    assert page.status_code == 200
    assert b"<script>alert(1)" not in page.content


@pytest.mark.parametrize(
    "url",
    ["/", "/accounts/login/", "/accounts/signup/", "/accounts/password_change/", "/latency/", "/admin/", "/nowhere"],
)
@pytest.mark.parametrize("who", ["visitor", "admin"])
def test_every_page_forbids_inline_script_and_eval(url: str, who: str) -> None:
    client = logged_in(User.objects.create_superuser("root")) if who == "admin" else Client()
    policy = client.get(url, follow=True).headers["Content-Security-Policy"]
    script = next(part for part in policy.split(";") if part.strip().startswith("script-src"))
    assert script.split()[1:] == ["'self'"]
    assert "unsafe" not in policy


def test_a_person_signs_up_and_is_in() -> None:
    client = Client()
    form = {"username": "new", "password1": "a-long-one-42", "password2": "a-long-one-42"}
    assert client.post("/accounts/signup/", form).headers["Location"] == "/"
    assert client.get("/").status_code == 200
    assert client.post("/accounts/logout/").status_code == 302
    assert client.get("/").status_code == 302
    assert client.post("/accounts/signup/", form).status_code == 200


def test_the_first_admin_is_made_once(tmp_path: Path) -> None:
    file = tmp_path / "site" / "admin-password"
    told = ensure_admin(password="", password_file=file)
    assert str(file) in told
    assert file.stat().st_mode & 0o077 == 0
    assert Client().login(username="admin", password=file.read_text().strip())
    ensure_admin(password="another-word", password_file=file)
    assert User.objects.count() == 1
    assert not Client().login(username="admin", password="another-word")


def test_health_names_every_part() -> None:
    answer = Client().get("/healthz")
    assert answer.status_code == 200
    assert set(answer.json()["parts"]) == {"database", "redis", "worker", "embedder", "local_engine"}
