"""A browser, and sites to visit with it: one whose model is scripted, one whose model is the real one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.site import Daphne, StandIn
from tests.browser.visitor import Visitor

OpenVisitor = Callable[..., Visitor]


# Of this package, not of the session: while it is open, its loop is the thread's, and no async test could run.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium: `apt-get install chromium`")
    with sync_playwright() as playwright:
        # As root there is no sandbox; the rest keeps the browser from calling home.
        arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def _database_url() -> str:
    if not os.environ.get("DATABASE_URL") or not os.environ.get("REDIS_URL"):
        pytest.skip("no services: DATABASE_URL and REDIS_URL are not set (`make test` sets them)")
    return os.environ["DATABASE_URL"]


@pytest.fixture(scope="package")
def stand_in() -> Iterator[StandIn]:
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture(scope="package")
def site(stand_in: StandIn) -> Iterator[Daphne]:
    daphne = Daphne(database_url=_database_url(), engine_url=f"{stand_in.url}/v1", engine_model="stand-in")
    yield daphne
    daphne.close()


@pytest.fixture(scope="package")
def real_site() -> Iterator[Daphne]:
    engine_url = os.environ.get("LOCAL_ENGINE_URL", "")
    if not engine_url:
        pytest.skip("no local engine: LOCAL_ENGINE_URL is not set (`make test` starts one)")
    model = os.environ.get("LOCAL_ENGINE_MODEL", "smollm2-135m")
    daphne = Daphne(database_url=_database_url(), engine_url=engine_url, engine_model=model)
    yield daphne
    daphne.close()


@pytest.fixture
def open_visitor(browser: Browser) -> Iterator[OpenVisitor]:
    """Opens a browser of its own for each visitor. None of them may have complained of anything at the end."""
    visitors: list[Visitor] = []

    def open_one(origin: str, *, width: int = 1280, height: int = 800, dark: bool = False) -> Visitor:
        visitors.append(Visitor(browser, origin, width=width, height=height, dark=dark))
        return visitors[-1]

    yield open_one
    for visitor in visitors:
        visitor.context.close()
    assert [problem for visitor in visitors for problem in visitor.problems] == []


@pytest.fixture
def visitor(site: Daphne, stand_in: StandIn, open_visitor: OpenVisitor) -> Visitor:
    """Signed up on the site with the scripted model."""
    stand_in.say("Hello! I am a stand-in.")
    visitor = open_visitor(site.origin)
    visitor.sign_up()
    return visitor
