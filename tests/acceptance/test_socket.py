"""The socket, from outside: who may open it, what it answers, and what survives."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import Any
from uuid import uuid4

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from tests.acceptance.conftest import PASSWORD, Person, text_of
from tests.browser.site import Daphne, StandIn

pytestmark = pytest.mark.services


async def test_an_answer_streams_in_order_and_adds_up(owner: Person, stand_in: StandIn) -> None:
    stand_in.say("Grüße an alle 👋🏽, 日本 too.", token_delay_s=0.01)
    async with owner.line() as line:
        assert (await line.read())["type"] == "ready"
        turn = await line.ask("Say hello to everyone, number one.")
        records = await line.read_turn(turn)
    assert [record["seq"] for record in records] == list(range(len(records)))
    text = text_of(records)
    assert text == "Grüße an alle 👋🏽, 日本 too."
    assert (records[-1]["bytes"], records[-1]["crc32"]) == (len(text.encode()), zlib.crc32(text.encode()))
    assert records[-1]["badge"]["source"] == "local"


async def test_the_same_question_is_then_answered_by_the_cache(
    owner: Person, stranger: Person, stand_in: StandIn
) -> None:
    stand_in.say("Forty-two, I think.")
    question = "How many ducks live on the pond of the palace?"
    async with owner.line() as line:
        await line.read_turn(await line.ask(question))
        stand_in.say("Something else.")
        cached = await line.read_turn(await line.ask(question))
        assert (text_of(cached), cached[-1]["badge"]["source"]) == ("Forty-two, I think.", "cache")
        assert cached[-1]["badge"]["cached"]["question"] == question
        fresh = await line.read_turn(await line.ask(question, cache="bypass"))
        assert (text_of(fresh), fresh[-1]["badge"]["source"]) == ("Something else.", "local")
    async with stranger.line() as line:
        other = await line.read_turn(await line.ask(question))
        assert other[-1]["badge"]["source"] == "local"


async def test_a_repeated_question_is_one_turn(owner: Person, stand_in: StandIn) -> None:
    stand_in.say("Once.")
    async with owner.line() as line:
        turn = await line.ask("Tell me just one time, please.")
        first = await line.read_turn(turn)
        await line.ask("Tell me just one time, please.", turn=turn)
        accepted = await line.read("accepted")
        assert accepted["repeated"]
        assert await line.read_turn(turn) == first


async def test_stop_ends_the_turn_and_the_engine(owner: Person, stand_in: StandIn) -> None:
    stand_in.say("word", endless=True, token_delay_s=0.02)
    async with owner.line() as line:
        turn = await line.ask("Count for ever and ever.")
        await line.read("delta")
        async with owner.line() as other_tab:
            await other_tab.send(type="stop", turn=turn)
            records = await line.read_turn(turn)
        assert records[-1]["type"] == "stopped"
    async with asyncio.timeout(10):
        while stand_in.last_request()["closed_by_client_ns"] is None:  # noqa: ASYNC110 - the stand-in is another process
            await asyncio.sleep(0.05)


async def test_a_dropped_line_resumes_without_a_lost_or_doubled_record(owner: Person, stand_in: StandIn) -> None:
    words = " ".join(str(number) for number in range(120))
    stand_in.say(words, token_delay_s=0.01)
    async with owner.line() as line:
        turn = await line.ask("Count to a hundred and twenty.")
        before = [await line.read("routed", "delta", "waiting") for _ in range(5)]
    async with owner.line() as line:
        await line.send(type="resume", turn=turn, after=before[-1]["seq"])
        after = await line.read_turn(turn)
    records = [*before, *after]
    assert [record["seq"] for record in records] == list(range(len(records)))
    assert text_of(records) == words


async def test_a_stranger_with_the_owners_ids_gets_the_same_as_for_nothing(
    owner: Person, stranger: Person, stand_in: StandIn
) -> None:
    stand_in.say("Private words.")
    async with owner.line() as line:
        turn = await line.ask("What is my secret?")
        accepted = await line.read("accepted")
        await line.read_turn(turn)
    async with stranger.line() as line:
        await line.read("ready")
        for ids in ({"turn": turn}, {"turn": str(uuid4())}):
            for frame in (
                {"type": "stop"},
                {"type": "resume", "after": -1},
                {"type": "feedback", "value": "down"},
                {"type": "painted", "ms": 5},
            ):
                await line.send(**frame, **ids)
                answer = await line.read()
                assert (answer["type"], answer["code"]) == ("error", "turn_not_found")
        await line.ask("Continue", conversation=accepted["conversation"])
        assert (await line.read("error"))["code"] == "conversation_not_found"


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:1",
        "https://localhost:{port}",
        "http://evil.example.org",
        "http://localhost.example.org:{port}",
        "null",
    ],
)
async def test_only_the_exact_origin_opens_the_socket(owner: Person, origin: str) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with owner.line(origin=origin.format(port=owner.site.port)):
            pytest.fail("it opened")
    assert caught.value.response.status_code == 403


async def test_a_visitor_is_closed_with_a_code(site: Daphne) -> None:
    url = site.origin.replace("http", "ws", 1) + "/ws/chat/"
    async with connect(url, origin=Origin(site.origin), proxy=None) as socket:
        with pytest.raises(ConnectionClosed) as caught:
            await socket.recv()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4401


@pytest.mark.parametrize("how", ["logout", "password"])
async def test_an_ended_session_closes_its_sockets(owner: Person, how: str) -> None:
    async with owner.line() as line:
        await line.read("ready")
        if how == "logout":
            owner.post("/accounts/logout/")
        else:
            other = {"old_password": PASSWORD, "new_password1": "quite-another-8", "new_password2": "quite-another-8"}
            owner.post("/accounts/password_change/", **other)
        with pytest.raises(ConnectionClosed) as caught:
            await line.read("never")
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4401


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("", "bad_json"),
        ("{]", "bad_json"),
        (b"\x00\x01", "binary_frame"),
        ('{"type": "shout"}', "unknown_type"),
        ('{"type": "stop"}', "bad_frame"),
        (json.dumps({"type": "ask", "turn": str(uuid4()), "text": "   "}), "question_empty"),
        (json.dumps({"type": "ask", "turn": str(uuid4()), "text": "x" * 100_000}), "question_too_long"),
    ],
)
async def test_bad_input_is_answered_and_the_socket_stays_open(owner: Person, message: Any, code: str) -> None:
    async with owner.line() as line:
        await line.read("ready")
        await line.socket.send(message)
        answer = await line.read("error")
        assert (answer["code"], bool(answer["message"])) == (code, True)
        await line.send(type="ping")
        assert (await line.read())["type"] == "pong"


async def test_a_flood_is_limited_with_a_code(owner: Person) -> None:
    async with owner.line() as line:
        await line.read("ready")
        for _ in range(150):
            await line.send(type="ping")
        answers = [await line.read() for _ in range(150)]
    assert "too_many_frames" in {answer.get("code") for answer in answers}


@pytest.mark.parametrize(
    "text", ["مرحبا كيف الحال؟", "👩‍👩‍👧 🏴‍☠️ ok?", "<img src=x onerror=alert(1)>", "tab\tand\x07bell", "a\u0000b"]
)
async def test_any_text_is_answered_and_kept(owner: Person, stand_in: StandIn, text: str) -> None:
    stand_in.say(f"<script>alert(1)</script> {uuid4()}")
    async with owner.line() as line:
        turn = await line.ask(text)
        accepted = await line.read("accepted")
        records = await line.read_turn(turn)
    kept = owner.http.get(f"/api/conversations/{accepted['conversation']}/").json()
    assert kept["messages"][0]["text"] == text.replace("\x00", "\ufffd")
    assert kept["messages"][1]["text"] == text_of(records)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ({"fail_status": 500}, "engine_broke"),
        ({"fail_status": 429}, "engine_overloaded"),
        ({"fail_status": 401}, "engine_refused_key"),
        ({"malformed_after": 2}, "engine_spoke_nonsense"),
        ({"cut_after": 2}, "engine_spoke_nonsense"),
        ({"error_after": 2}, "engine_broke"),
    ],
)
async def test_a_failing_engine_ends_the_turn_with_a_sentence_and_one_click_asks_again(
    owner: Person, stand_in: StandIn, script: dict[str, Any], code: str
) -> None:
    stand_in.say("One two three four.", **script)
    async with owner.line() as line:
        turn = await line.ask(f"Does it work with {code}?")
        records = await line.read_turn(turn)
        assert (records[-1]["type"], records[-1]["code"]) == ("failed", code)
        assert records[-1]["message"].endswith((".", "again."))
        stand_in.say("Now it does.")
        again = str(uuid4())
        await line.send(type="ask", turn=again, conversation=None, again=turn, cache="use")
        assert text_of(await line.read_turn(again)) == "Now it does."


async def test_a_killed_server_leaves_no_turn_running_for_ever(owner: Person, stand_in: StandIn) -> None:
    stand_in.say("word", endless=True, token_delay_s=0.02)
    async with owner.line() as line:
        turn = await line.ask("Talk until the lights go out.")
        accepted = await line.read("accepted")
        seen = [await line.read("routed", "delta") for _ in range(10)]
        owner.site.kill()
    owner.site.start()
    async with owner.line() as line:
        await line.send(type="resume", turn=turn, after=seen[-1]["seq"])
        rest = await line.read_turn(turn)
    assert (rest[-1]["type"], rest[-1]["code"]) == ("failed", "producer_lost")
    records = [*seen, *rest]
    assert [record["seq"] for record in records] == list(range(len(records)))
    kept = owner.http.get(f"/api/conversations/{accepted['conversation']}/").json()["messages"]
    assert (kept[1]["status"], kept[1]["text"]) == ("failed", text_of(records))


async def test_another_address_is_no_socket(owner: Person) -> None:
    url = owner.site.origin.replace("http", "ws", 1) + "/ws/other/"
    with pytest.raises(InvalidStatus):
        async with connect(url, origin=Origin(owner.site.origin), proxy=None):
            pytest.fail("it opened")
