"""Routes and policies in the database and in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.test import Client

from chatapp.accounts.models import User
from routing.models import Route, RoutePolicy
from routing.store import (
    RouteSettings,
    ensure_default_routes,
    generation_fingerprint,
    load_snapshot,
    save_policy_version,
)

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _defaults() -> None:
    ensure_default_routes()


@pytest.fixture
def admin() -> Client:
    return logged_in(User.objects.create_superuser("root"))


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def policy_form(**changes: Any) -> dict[str, Any]:
    form = {
        "note": "",
        "routing_enabled": "on",
        "threshold": "0.5",
        "rules": "",
        "fallback_order": "",
        "cache_enabled": "on",
        "cache_min_similarity": "0.85",
        "cache_ttl_days": "30",
        "history_budget_tokens": "",
    }
    return form | changes


def test_a_new_site_has_routes_and_a_policy_once() -> None:
    Route.objects.filter(name="anthropic").delete()
    ensure_default_routes()
    assert [route.name for route in load_snapshot().routes] == ["openai", "local"]
    assert load_snapshot().policy.version == 1


def test_a_snapshot_takes_two_queries_and_none_under_the_same_stamp(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        load_snapshot(stamp=(-1, -1))
    with django_assert_num_queries(0):
        load_snapshot(stamp=(-1, -1))


def test_saving_a_policy_in_the_admin_makes_the_next_version_with_its_author(admin: Client) -> None:
    active = RoutePolicy.objects.get(is_active=True)
    answer = admin.post(f"/admin/routing/routepolicy/{active.pk}/change/", policy_form(threshold="0.8", note="Try."))
    assert answer.status_code == 302
    newest = RoutePolicy.objects.get(is_active=True)
    assert (newest.version, newest.threshold, newest.note) == (2, 0.8, "Try.")
    assert newest.created_by is not None
    assert newest.created_by.get_username() == "root"
    active.refresh_from_db()
    assert (active.version, active.threshold, active.is_active) == (1, 0.5, False)
    assert load_snapshot().policy.threshold == 0.8


@pytest.mark.parametrize(
    "changes", [{"threshold": "1.5"}, {"threshold": "much"}, {"rules": "shouts -> local"}, {"cache_ttl_days": "0"}]
)
def test_a_bad_policy_is_refused_and_the_old_one_stays(admin: Client, changes: dict[str, str]) -> None:
    active = RoutePolicy.objects.get(is_active=True)
    answer = admin.post(f"/admin/routing/routepolicy/{active.pk}/change/", policy_form(**changes))
    assert answer.status_code == 200
    assert b"errorlist" in answer.content
    assert RoutePolicy.objects.count() == 1


def test_an_old_version_can_be_restored_but_not_edited_or_deleted(admin: Client) -> None:
    save_policy_version({"threshold": 0.9}, author=None)
    old = RoutePolicy.objects.get(version=1)
    admin.post("/admin/routing/routepolicy/", {"action": "restore", "_selected_action": [old.pk]})
    assert load_snapshot().policy.threshold == 0.5
    assert load_snapshot().policy.version == 3
    assert admin.post(f"/admin/routing/routepolicy/{old.pk}/change/", policy_form()).status_code == 403
    assert admin.post(f"/admin/routing/routepolicy/{old.pk}/delete/", {"post": "yes"}).status_code == 403


def test_only_one_policy_is_in_force() -> None:
    with pytest.raises(IntegrityError):
        RoutePolicy.objects.create(version=9, is_active=True)


def test_a_change_of_a_route_is_kept_with_its_author_and_changes_the_stamp(admin: Client) -> None:
    route = Route.objects.get(name="local")
    page = admin.get(f"/admin/routing/route/{route.pk}/change/")
    form = {name: value for name, value in page.context["adminform"].form.initial.items() if value is not None}
    before = route.history.latest().history_id
    form.pop("enabled")
    assert admin.post(f"/admin/routing/route/{route.pk}/change/", form).status_code == 302
    latest = route.history.latest()
    assert not latest.enabled
    assert latest.history_user is not None
    assert latest.history_user.get_username() == "root"
    assert latest.history_id > before
    assert admin.get(f"/admin/routing/route/{route.pk}/history/").status_code == 200


def test_the_key_itself_is_refused_and_never_shown(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    route = Route.objects.get(name="openai")
    route.api_key_env = "sk-abc123"
    with pytest.raises(ValidationError):
        route.full_clean()
    monkeypatch.setenv("OPENAI_API_KEY", "canary-7c1")
    for url in ("/admin/routing/route/", f"/admin/routing/route/{route.pk}/change/"):
        page = admin.get(url).content.decode()
        assert "OPENAI_API_KEY is set" in page
        assert "canary-7c1" not in page


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example.org",
        "http://",
        "http://me:pw@a.example.org/v1",
        "no url",
        "http://a.example.org/?x=1",
        "http://[::",
    ],
)
def test_an_address_that_is_no_base_url_is_refused(url: str) -> None:
    route = Route.objects.get(name="openai")
    route.base_url = url
    with pytest.raises(ValidationError):
        route.full_clean()


def test_another_model_or_prompt_is_another_fingerprint() -> None:
    route: RouteSettings = load_snapshot().routes[0]
    prints = {generation_fingerprint(route, model="a"), generation_fingerprint(route, model="b")}
    Route.objects.filter(name=route.name).update(system_prompt="Other.")
    prints.add(generation_fingerprint(load_snapshot().routes[0], model="a"))
    assert len(prints) == 3


@pytest.mark.parametrize(("is_staff", "status"), [(False, 302), (True, 302)])
def test_only_admins_see_the_admin(is_staff: bool, status: int) -> None:
    client = logged_in(User.objects.create_user("member", is_staff=is_staff))
    assert client.get("/admin/routing/route/").status_code == status
