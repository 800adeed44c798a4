"""The product as a process, its engines scripted, and sockets to it that are not the browser's."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from tests.browser.site import Daphne, StandIn

PASSWORD = "a-long-password-7"
# How long a test waits for a frame before it fails; a lost turn is ended after some ten seconds.
PATIENCE_S = 40.0


class Line:
    """One socket: sends frames, reads frames."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def read(self, *types: str) -> dict[str, Any]:
        """The next frame of one of these types, or of any."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                frame: dict[str, Any] = json.loads(await self.socket.recv())
                if not types or frame["type"] in types:
                    return frame

    async def ask(self, text: str, **fields: Any) -> str:
        turn = str(uuid4())
        await self.send(**({"type": "ask", "turn": turn, "conversation": None, "text": text, "cache": "use"} | fields))
        return turn

    async def read_turn(self, turn: str) -> list[dict[str, Any]]:
        """Every record of the turn up to its end."""
        records: list[dict[str, Any]] = []
        while not records or records[-1]["type"] not in {"finished", "stopped", "failed"}:
            frame = await self.read()
            if frame.get("turn") == turn and "seq" in frame:
                records.append(frame)
        return records


def text_of(records: list[dict[str, Any]]) -> str:
    return "".join(record["text"] for record in records if record["type"] == "delta")


class Person:
    """Signed up on the site, with an HTTP client and sockets."""

    def __init__(self, site: Daphne) -> None:
        self.site = site
        self.name = f"p{secrets.token_hex(6)}"
        self.http = httpx.Client(base_url=site.origin, trust_env=False, follow_redirects=True)
        self.post("/accounts/signup/", username=self.name, password1=PASSWORD, password2=PASSWORD)

    def post(self, path: str, **form: str) -> httpx.Response:
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', self.http.get(path).text)
        if token is None:
            token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', self.http.get("/").text)
        assert token is not None
        return self.http.post(
            path, data={"csrfmiddlewaretoken": token[1], **form}, headers={"Referer": self.site.origin}
        )

    @asynccontextmanager
    async def line(self, *, origin: str | None = None) -> AsyncIterator[Line]:
        cookie = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        url = self.site.origin.replace("http", "ws", 1) + "/ws/chat/"
        async with connect(
            url, origin=Origin(origin or self.site.origin), additional_headers={"Cookie": cookie}, proxy=None
        ) as socket:
            yield Line(socket)


@pytest.fixture(scope="package")
def stand_in() -> Iterator[StandIn]:
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture(autouse=True)
def _fresh_script(stand_in: StandIn) -> None:
    """No test inherits what another one scripted."""
    stand_in.forget()


@pytest.fixture(scope="package")
def site(stand_in: StandIn) -> Iterator[Daphne]:
    if not os.environ.get("DATABASE_URL") or not os.environ.get("REDIS_URL"):
        pytest.skip("no services: DATABASE_URL and REDIS_URL are not set (`make test` sets them)")
    daphne = Daphne(database_url=os.environ["DATABASE_URL"], engine_url=f"{stand_in.url}/v1", engine_model="stand-in")
    yield daphne
    daphne.close()


@pytest.fixture
def owner(site: Daphne) -> Iterator[Person]:
    person = Person(site)
    yield person
    person.http.close()


@pytest.fixture
def stranger(site: Daphne) -> Iterator[Person]:
    person = Person(site)
    yield person
    person.http.close()
