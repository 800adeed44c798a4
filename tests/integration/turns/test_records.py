"""Beginning, ending and losing turns, on real Postgres and Valkey: owner, stranger, and the same again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import orjson
import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from redis import Redis

from chatapp.accounts.models import User
from chatapp.answercache.models import CachedAnswer
from chatapp.conversations.models import Conversation, Message, Turn
from chatapp.latency.models import TurnLatency
from chatapp.turns import records
from chatapp.turns.commands import Ask, AskRefusedError, BegunTurn, Person, SessionEndedError
from chatapp.turns.endings import EndedTurn, end_turn
from chatapp.turns.events import Ending, Failed, Finished, Stopped
from chatapp.turns.leases import lease_key
from chatapp.turns.stopwatch import Stopwatch
from chatapp.turns.stream_log import entry_id, stream_key
from chatapp.turns.sweep import sweep_lost_turns
from chatapp.turns.trace import TurnTrace
from inference.events import Usage
from routing.store import ensure_default_routes

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def sign_in(name: str) -> Person:
    user = User.objects.create_user(name)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return Person(user.pk, session.session_key or "", user.get_session_auth_hash())


@pytest.fixture(autouse=True)
def _routes() -> None:
    ensure_default_routes()


@pytest.fixture
def owner() -> Person:
    return sign_in("owner")


@pytest.fixture
def stranger() -> Person:
    return sign_in("stranger")


@pytest.fixture
def redis() -> Iterator[Redis]:
    with Redis.from_url(settings.REDIS_URL) as client:
        yield client


def ask(text: str = "Why is the sky blue?", **fields: Any) -> Ask:
    values: dict[str, Any] = {"turn": uuid4(), "conversation": None, "again": None, "parent": None, "use_cache": True}
    return Ask(text=text, **(values | fields))


def finish(begun: BegunTurn, ending: Ending | None = None, *, text: str = "Scattering.") -> None:
    trace = TurnTrace(Stopwatch(), source="local", route="local", model="m")
    trace.embedding = np.eye(1, 384, dtype=np.float32)[0]
    trace.usage = Usage(10, 4, 2)
    if text:
        trace.note_delta(text)
    trace.total_ms = trace.stopwatch.elapsed_ms()
    end_turn(EndedTurn(begun, ending or Finished("stop"), trace, "all-MiniLM-L6-v2-int8"))


def refusal(person: Person, asked: Ask) -> str:
    with pytest.raises(AskRefusedError) as caught:
        records.begin_turn(person, asked)
    return caught.value.code


def test_a_question_is_saved_with_a_running_answer(owner: Person, django_assert_num_queries: Any) -> None:
    records.begin_turn(owner, ask())
    with django_assert_num_queries(2):
        begun = records.begin_turn(owner, ask("And the sea?"))
    turn = Turn.objects.get(pk=begun.turn_id)
    assert (turn.question.text, turn.answer.status, turn.status) == ("And the sea?", "running", "running")
    assert turn.conversation.title == "And the sea?"
    assert begun.history == ()
    assert begun.snapshot is not None


def test_the_same_turn_again_is_one_turn(owner: Person) -> None:
    first = ask()
    begun = records.begin_turn(owner, first)
    again = records.begin_turn(owner, first)
    assert again.is_repeated
    assert again.turn_id == begun.turn_id
    assert Turn.objects.count() == 1


def test_two_people_may_use_one_id(owner: Person, stranger: Person) -> None:
    asked = ask()
    begun = records.begin_turn(owner, asked)
    other = records.begin_turn(stranger, asked)
    assert not other.is_repeated
    assert other.conversation_id != begun.conversation_id


def test_a_second_question_follows_the_first_with_its_history(owner: Person) -> None:
    begun = records.begin_turn(owner, ask())
    finish(begun)
    second = records.begin_turn(owner, ask("And at night?", conversation=begun.conversation_id))
    assert [(message.role, message.text) for message in second.history] == [
        ("user", "Why is the sky blue?"),
        ("assistant", "Scattering."),
    ]
    assert second.context_digest
    assert Message.objects.get(pk=second.question_id).parent_id == begun.answer_id


def test_asking_again_makes_a_sibling_of_the_answer(owner: Person) -> None:
    first = ask()
    begun = records.begin_turn(owner, first)
    finish(begun)
    again = records.begin_turn(owner, ask("", conversation=begun.conversation_id, again=first.turn))
    assert again.question_id == begun.question_id
    assert again.answer_id != begun.answer_id
    assert again.question == "Why is the sky blue?"
    assert Message.objects.filter(role="user").count() == 1


def test_a_conversation_answers_one_question_at_a_time(owner: Person) -> None:
    begun = records.begin_turn(owner, ask())
    assert refusal(owner, ask("Next?", conversation=begun.conversation_id)) == "conversation_busy"


def test_too_many_running_turns_are_refused(owner: Person, settings: Any) -> None:
    settings.TURNS_PER_USER = 2
    records.begin_turn(owner, ask())
    records.begin_turn(owner, ask())
    assert refusal(owner, ask()) == "too_many_turns"


def test_a_strangers_ids_are_as_if_they_were_not_there(owner: Person, stranger: Person) -> None:
    first = ask()
    begun = records.begin_turn(owner, first)
    finish(begun)
    assert refusal(stranger, ask(conversation=begun.conversation_id)) == "conversation_not_found"
    assert refusal(stranger, ask(conversation=uuid4())) == "conversation_not_found"
    assert refusal(stranger, ask("", again=first.turn)) == "turn_not_found"
    mine = records.begin_turn(stranger, ask("Mine"))
    finish(mine)
    foreign_parent = ask("x", conversation=mine.conversation_id, parent=begun.answer_id)
    assert refusal(stranger, foreign_parent) == "conversation_not_found"
    assert records.find_turn(stranger, first.turn) is None
    assert records.request_stop(stranger, first.turn) is None
    assert not records.save_feedback(stranger, first.turn, value="down", reason="")
    assert Turn.objects.get(pk=begun.turn_id).feedback == "none"


@pytest.mark.parametrize("how", ["logout", "password", "deactivated", "deleted", "forged"])
def test_a_person_whose_session_has_ended_begins_nothing(owner: Person, how: str) -> None:
    user = User.objects.get(pk=owner.user_id)
    person = owner
    if how == "logout":
        SessionStore(owner.session_key).delete()
    elif how == "password":
        user.set_password("another-one")
        user.save()
    elif how == "deactivated":
        User.objects.filter(pk=user.pk).update(is_active=False)
    elif how == "deleted":
        user.delete()
    else:
        person = Person(owner.user_id, owner.session_key, "0" * 64)
    with pytest.raises(SessionEndedError):
        records.begin_turn(person, ask())
    assert records.find_ended_sessions([person]) == {person}
    assert not Turn.objects.exists()


def test_a_signed_in_person_is_not_among_the_ended(owner: Person, stranger: Person) -> None:
    assert records.find_ended_sessions([owner, stranger]) == set()


def test_a_finished_turn_leaves_answer_row_and_cached_answer(owner: Person) -> None:
    begun = records.begin_turn(owner, ask())
    finish(begun)
    finish(begun, Failed("internal"), text="Too late.")
    turn = Turn.objects.get(pk=begun.turn_id)
    assert (turn.status, turn.finish_reason, turn.answer.text) == ("finished", "stop", "Scattering.")
    row = TurnLatency.objects.get()
    assert (row.source, row.prompt_tokens, row.cached_prompt_tokens, row.wait_ms) == ("local", 10, 4, None)
    assert CachedAnswer.objects.get().scope == "private"


@pytest.mark.parametrize("ending", [Stopped(), Failed("engine_broke"), Finished("length"), Finished("content_filter")])
def test_an_answer_that_did_not_end_by_itself_is_kept_but_not_cached(owner: Person, ending: Ending) -> None:
    begun = records.begin_turn(owner, ask())
    finish(begun, ending, text="Half")
    assert Message.objects.get(pk=begun.answer_id).text == "Half"
    assert TurnLatency.objects.count() == 1
    assert not CachedAnswer.objects.exists()


def lose(begun: BegunTurn, redis: Redis, *frames: dict[str, Any]) -> None:
    """As if the process had died a while ago, with these records in the log."""
    for seq, frame in enumerate(frames):
        redis.xadd(stream_key(begun.turn_id), {"f": orjson.dumps({**frame, "seq": seq})}, id=entry_id(seq))
    Turn.objects.filter(pk=begun.turn_id).update(created_at=timezone.now() - timedelta(minutes=1))


ROUTED = {"type": "routed", "turn": "t", "source": "local", "route": "local", "model": "m"}


def delta(text: str) -> dict[str, Any]:
    return {"type": "delta", "turn": "t", "text": text, "batch_ms": 0}


def last_record(turn_id: UUID, redis: Redis) -> dict[str, Any]:
    rows: Any = redis.xrevrange(stream_key(turn_id), count=1)
    return dict(orjson.loads(rows[0][1][b"f"]))


def test_a_lost_turn_is_ended_with_what_was_said(owner: Person, redis: Redis) -> None:
    begun = records.begin_turn(owner, ask())
    lose(begun, redis, ROUTED, delta("So "), delta("far"))
    assert sweep_lost_turns(redis) == 1
    assert sweep_lost_turns(redis) == 0
    turn = Turn.objects.get(pk=begun.turn_id)
    assert (turn.status, turn.finish_reason, turn.error_code) == ("failed", "producer_lost", "producer_lost")
    assert (turn.answer.text, turn.source) == ("So far", "local")
    record = last_record(begun.turn_id, redis)
    assert (record["type"], record["seq"], record["bytes"]) == ("failed", 3, 6)
    assert TurnLatency.objects.get().error_code == "producer_lost"


def test_a_turn_with_a_lease_or_too_young_is_left_alone(owner: Person, redis: Redis) -> None:
    young = records.begin_turn(owner, ask())
    leased = records.begin_turn(owner, ask())
    lose(leased, redis)
    redis.set(lease_key(leased.turn_id), "1", ex=60)
    assert sweep_lost_turns(redis) == 0
    redis.delete(lease_key(leased.turn_id))
    assert Turn.objects.filter(pk__in=[young.turn_id, leased.turn_id], status="running").count() == 2


def test_a_lost_turn_whose_end_was_logged_ends_as_it_was_logged(owner: Person, redis: Redis) -> None:
    begun = records.begin_turn(owner, ask())
    badge = {"source": "local", "route": "local", "model": "m", "ttft_ms": 5.0, "total_ms": 9.0}
    lose(begun, redis, delta("All."), {"type": "finished", "finish_reason": "stop", "badge": badge})
    sweep_lost_turns(redis)
    turn = Turn.objects.get(pk=begun.turn_id)
    assert (turn.status, turn.finish_reason, turn.answer.text) == ("finished", "stop", "All.")


def test_a_conversation_deleted_in_mid_answer_ends_quietly(owner: Person) -> None:
    begun = records.begin_turn(owner, ask())
    Conversation.objects.all().delete()
    finish(begun)
    assert not Turn.objects.exists()
