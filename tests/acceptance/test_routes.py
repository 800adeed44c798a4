"""An admin tunes the routes in the admin; the next question obeys, without a restart. Both providers' protocols."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from chatapp.standalone.valkey import find_free_port
from tests.acceptance.conftest import Line, Person, text_of
from tests.browser.site import ADMIN_PASSWORD, Daphne, StandIn

pytestmark = pytest.mark.services

EASY, HARD = (
    "What is the capital of {}?",
    "Prove step by step, and explain why, that {} is best. Compare it with others.",
)


def open_site(stand_in: StandIn, engine_url: str) -> Iterator[Daphne]:
    if not os.environ.get("DATABASE_URL") or not os.environ.get("REDIS_URL"):
        pytest.skip("no services: DATABASE_URL and REDIS_URL are not set (`make test` sets them)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "a-key")
        patch.setenv("OPENAI_BASE_URL", f"{stand_in.url}/v1")
        patch.setenv("ANTHROPIC_API_KEY", "another-key")
        patch.setenv("ANTHROPIC_BASE_URL", stand_in.url)
        patch.setenv("FLAGSHIP_MODEL", "flagship")
        daphne = Daphne(database_url=os.environ["DATABASE_URL"], engine_url=engine_url, engine_model="stand-in")
    yield daphne
    daphne.close()


@pytest.fixture(scope="module")
def both(stand_in: StandIn) -> Iterator[Daphne]:
    """A local model and flagships."""
    yield from open_site(stand_in, f"{stand_in.url}/v1")


@pytest.fixture(scope="module")
def no_local(stand_in: StandIn) -> Iterator[Daphne]:
    """The local model's address answers nobody."""
    yield from open_site(stand_in, f"http://127.0.0.1:{find_free_port()}/v1")


class Admin:
    """In the admin by its forms, as a browser sends them."""

    def __init__(self, site: Daphne) -> None:
        self._origin = site.origin
        self.http = httpx.Client(base_url=site.origin, trust_env=False, follow_redirects=True)
        self._submit("/accounts/login/", username="admin", password=ADMIN_PASSWORD)

    def set_policy(self, **fields: str) -> None:
        latest = self._rows("/admin/routing/routepolicy/")[0]
        defaults = {
            "routing_enabled": "on",
            "threshold": "0.5",
            "fallback_enabled": "on",
            "cache_min_similarity": "0.85",
        }
        self._submit(latest, **(defaults | {"cache_ttl_days": "30"} | fields))

    def set_route(self, name: str, *, enabled: bool) -> None:
        page = "/admin/routing/route/"
        rows = re.findall(r'field-name"><a href="([^"]+)">([^<]+)', self.http.get(page).text)
        change = next(url for url, found in rows if found == name)
        form = dict(
            re.findall(r'<input type="(?:text|number)" name="(\w+)" value="([^"]*)"', self.http.get(change).text)
        )
        chosen = re.findall(r'<select name="(\w+)".*?<option value="(\w+)" selected', self.http.get(change).text, re.S)
        self._submit(change, **form, **dict(chosen), **({"enabled": "on"} if enabled else {}))

    def _rows(self, page: str) -> list[str]:
        return re.findall(r'field-version"><a href="([^"]+)"', self.http.get(page).text)

    def _submit(self, path: str, **form: str) -> None:
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', self.http.get(path).text)
        assert token is not None
        answer = self.http.post(path, data={"csrfmiddlewaretoken": token[1]} | form, headers={"Referer": self._origin})
        assert answer.status_code == 200
        assert "errornote" not in answer.text, re.findall(r"errorlist.*?</ul>", answer.text, re.S)


async def answer_to(line: Line, question: str) -> dict[str, Any]:
    """The ending; the question is made one that nobody has asked."""
    records = await line.read_turn(await line.ask(question.format(uuid4().hex)))
    return records[-1] | {"text": text_of(records)}


Visit = Callable[[Daphne], Person]
Administer = Callable[[Daphne], Admin]


@pytest.fixture
def visit() -> Iterator[Visit]:
    """Signs somebody up on a site."""
    people: list[Person] = []

    def visit_one(site: Daphne) -> Person:
        people.append(Person(site))
        return people[-1]

    yield visit_one
    for person in people:
        person.http.close()


@pytest.fixture
def administer() -> Iterator[Administer]:
    """Logs the admin of a site in."""
    admins: list[Admin] = []

    def log_in(site: Daphne) -> Admin:
        admins.append(Admin(site))
        return admins[-1]

    yield log_in
    for admin in admins:
        admin.http.close()


@pytest.fixture
def models(stand_in: StandIn) -> StandIn:
    stand_in.say("From here.", model="stand-in")
    stand_in.say("From afar.", model="flagship")
    return stand_in


async def test_an_easy_question_stays_here_and_a_hard_one_goes_afar(
    both: Daphne, models: StandIn, visit: Visit
) -> None:
    async with visit(both).line() as line:
        easy, hard = await answer_to(line, EASY), await answer_to(line, HARD)
    assert (easy["text"], easy["badge"]["source"], hard["text"], hard["badge"]["source"]) == (
        "From here.",
        "local",
        "From afar.",
        "flagship",
    )
    assert "below the threshold of 0.50" in hard["badge"]["reason"]


async def test_the_next_question_obeys_the_admin(
    both: Daphne, models: StandIn, visit: Visit, administer: Administer
) -> None:
    admin = administer(both)
    async with visit(both).line() as line:
        admin.set_policy(threshold="0.99")
        assert (await answer_to(line, EASY))["badge"]["source"] == "flagship"
        admin.set_policy(threshold="0", rules="contains: moonlight -> flagship")
        assert (await answer_to(line, HARD))["badge"]["source"] == "local"
        ruled = await answer_to(line, "Is moonlight {} bright?")
        assert (ruled["badge"]["source"], ruled["badge"]["reason"][:6]) == ("flagship", "Rule 1")
        admin.set_route("local", enabled=False)
        told = await answer_to(line, EASY)
        assert (told["badge"]["source"], "local is disabled" in told["badge"]["reason"]) == ("flagship", True)
        admin.set_route("local", enabled=True)
        assert (await answer_to(line, EASY))["badge"]["source"] == "local"
        admin.set_policy()


@pytest.mark.parametrize(("order", "route"), [("openai", "openai"), ("anthropic", "anthropic")])
async def test_each_provider_answers_in_its_own_protocol(
    both: Daphne, models: StandIn, order: str, route: str, visit: Visit, administer: Administer
) -> None:
    administer(both).set_policy(fallback_order=order)
    async with visit(both).line() as line:
        hard = await answer_to(line, HARD)
    assert (hard["text"], hard["badge"]["route"], hard["badge"]["model"]) == ("From afar.", route, "flagship")
    assert models.last_request()["path"].startswith("/v1/messages" if route == "anthropic" else "/v1/chat")


async def test_a_local_model_that_fails_is_replaced_before_the_first_word(
    both: Daphne, models: StandIn, visit: Visit
) -> None:
    models.say("Never.", model="stand-in", fail_status=500)
    async with visit(both).line() as line:
        ending = await answer_to(line, EASY)
    assert (ending["text"], ending["badge"]["source"]) == ("From afar.", "flagship")


async def test_a_flagship_that_fails_is_replaced_by_the_local_model(
    both: Daphne, models: StandIn, visit: Visit
) -> None:
    models.say("Never.", model="flagship", fail_status=503)
    async with visit(both).line() as line:
        ending = await answer_to(line, HARD)
    assert (ending["text"], ending["badge"]["source"]) == ("From here.", "local")


async def test_without_the_local_model_the_flagship_answers_and_says_why(
    no_local: Daphne, models: StandIn, visit: Visit
) -> None:
    async with visit(no_local).line() as line:
        ready = await line.read("ready")
        ending = await answer_to(line, EASY)
    assert ready["engine"]["state"] == "down"
    assert (ending["badge"]["source"], "not available" in ending["badge"]["reason"]) == ("flagship", True)


async def test_with_nobody_left_the_turn_fails_with_a_sentence_and_the_question_is_kept(
    no_local: Daphne, models: StandIn, visit: Visit
) -> None:
    models.say("Never.", model="flagship", fail_status=500)
    person = visit(no_local)
    async with person.line() as line:
        turn = await line.ask("Is anybody there?")
        accepted = await line.read("accepted")
        ending = (await line.read_turn(turn))[-1]
    assert (ending["type"], ending["code"]) == ("failed", "engine_broke")
    kept = person.http.get(f"/api/conversations/{accepted['conversation']}/").json()["messages"]
    assert kept[0]["text"] == "Is anybody there?"
    assert kept[1]["turn"]["error_message"]
