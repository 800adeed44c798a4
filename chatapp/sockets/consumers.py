"""One browser's socket: authenticates, parses, starts and stops turns, shows their logs. It never streams inline."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.db import DatabaseError
from django.urls import reverse
from redis.exceptions import RedisError

from chatapp.sockets.frames import (
    Ack,
    ClientFrame,
    Feedback,
    FrameError,
    Painted,
    Ping,
    Resume,
    Stop,
    error_frame,
    parse_frame,
)
from chatapp.sockets.open_sockets import CLOSE_SIGNED_OUT, OpenSockets
from chatapp.sockets.outbox import Outbox
from chatapp.sockets.rate_limit import TokenBucket
from chatapp.turns.commands import Ask, AskRefusedError, KnownTurn, Person, SessionEndedError
from chatapp.turns.engine_monitor import EngineState
from chatapp.turns.frames import Frame, encode_frame
from chatapp.turns.stream_hub import Subscription
from chatapp.turns.wiring import Runtime, get_runtime

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = 1
# A busy person with several answers running sends a handful a second (asks, acknowledgements, stops).
FRAMES_PER_SECOND, FRAMES_BURST = 20, 60


class ChatConsumer(AsyncConsumer):
    """The socket at /ws/chat/."""

    # No channel layer: every record comes from the durable log.
    channel_layer_alias = "sockets use none"

    person: Person
    outbox: Outbox

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # `disconnect` is not promised by every server: what the socket holds is let go here, however it ends.
        self.scope = scope
        self._send = send
        self._receive = receive
        self._runtime: Runtime | None = None
        self._sockets: OpenSockets | None = None
        self._sender: asyncio.Task[None] | None = None
        self._subscriptions: dict[UUID, Subscription] = {}
        self._bucket = TokenBucket(per_second=FRAMES_PER_SECOND, burst=FRAMES_BURST)
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        finally:
            await self._let_go()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Straight to the handler: the one of Channels hops to another thread and back for each message."""
        match message["type"]:
            case "websocket.receive":
                await self._on_receive(message)
            case "websocket.connect":
                await self._on_connect()
            case "websocket.disconnect":
                raise StopConsumer

    async def _on_connect(self) -> None:
        await self._send({"type": "websocket.accept"})
        person = _read_person(self.scope)
        if person is None:
            # After the accept, since a browser sees only 1006 otherwise.
            await self._send({"type": "websocket.close", "code": CLOSE_SIGNED_OUT})
            return
        self.person = person
        self.outbox = Outbox(self._send)
        self._sender = asyncio.create_task(self._run_outbox(), name="socket-sender")
        self._runtime = await get_runtime()
        self._sockets = open_sockets_of(self._runtime)
        self._sockets.add(self)
        self._runtime.monitor.add_listener(self._on_engine_state)
        state = self._runtime.monitor.state
        self._put({"type": "ready", "protocol": PROTOCOL_VERSION, "engine": state.as_frame()})

    async def _run_outbox(self) -> None:
        # The browser may be gone before its last frame: that is no error, the log keeps it.
        with contextlib.suppress(OSError):
            await self.outbox.run()

    async def _let_go(self) -> None:
        if self._runtime is not None:
            self._runtime.monitor.remove_listener(self._on_engine_state)
            for subscription in self._subscriptions.values():
                self._runtime.hub.unsubscribe(subscription)
        if self._sockets is not None:
            self._sockets.discard(self)
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait([self._sender])

    def _on_engine_state(self, state: EngineState) -> None:
        self._put({"type": "notice", "engine": state.as_frame()})

    def _put(self, frame: Frame) -> None:
        self.outbox.put(encode_frame(frame))

    async def _on_receive(self, message: dict[str, Any]) -> None:
        """Whatever comes in, the socket stays open: a bad frame is answered with what was wrong with it."""
        if self._runtime is None:
            return
        try:
            await self._handle(self._runtime, self._parse(message))
        except (FrameError, AskRefusedError) as error:
            self._put(error_frame(error.code, turn=getattr(error, "turn", None)))
        except SessionEndedError:
            self.outbox.close(CLOSE_SIGNED_OUT)

    def _parse(self, message: dict[str, Any]) -> ClientFrame:
        if not self._bucket.take():
            raise FrameError("too_many_frames")
        text = message.get("text")
        if text is None:
            raise FrameError("binary_frame")
        return parse_frame(text, question_max_characters=settings.QUESTION_MAX_CHARACTERS)

    async def _handle(self, runtime: Runtime, frame: ClientFrame) -> None:
        if isinstance(frame, Ping):
            self._put({"type": "pong"})
            return
        try:
            await HANDLERS[type(frame)](self, runtime, frame)
        except AskRefusedError as refusal:
            raise FrameError(refusal.code, turn=frame.turn) from None
        except (DatabaseError, RedisError) as error:
            logger.warning("%s not handled (%s)", type(frame).__name__, type(error).__name__)
            raise FrameError("busy", turn=frame.turn) from None

    async def _ask(self, runtime: Runtime, frame: Ask) -> None:
        self._forget_ended()
        begun = await runtime.runner.start(self.person, frame)
        self._put(
            {
                "type": "accepted",
                "turn": str(frame.turn),
                "conversation": str(begun.conversation_id),
                "title": begun.title,
                "question": str(begun.question_id),
                "answer": str(begun.answer_id),
                "repeated": begun.is_repeated,
            }
        )
        if begun.is_repeated:
            known = KnownTurn(begun.turn_id, begun.conversation_id, is_running=True)
            await self._watch(runtime, frame.turn, known, after=-1)
        else:
            self._subscriptions[begun.turn_id] = runtime.hub.follow_new(begun.turn_id, self.outbox.put)

    async def _stop(self, runtime: Runtime, frame: Stop) -> None:
        if not await runtime.runner.stop(self.person, frame.turn):
            raise FrameError("turn_not_found", turn=frame.turn)

    async def _resume(self, runtime: Runtime, frame: Resume) -> None:
        known = await runtime.records.find_turn(self.person, frame.turn)
        if known is None:
            raise FrameError("turn_not_found", turn=frame.turn)
        await self._watch(runtime, frame.turn, known, after=frame.after)

    async def _watch(self, runtime: Runtime, client_id: UUID, known: KnownTurn, *, after: int) -> None:
        """Show the turn from `after` on; a turn whose process died is ended first, by whoever looks at it."""
        is_local = runtime.runner.is_running_here(known.turn_id)
        if known.is_running and not is_local:
            await runtime.records.end_if_lost(known.turn_id)
        if not known.is_running and not await runtime.log.exists(known.turn_id):
            url = reverse("api-conversation", args=[known.conversation_id])
            self._put({"type": "gap", "turn": str(client_id), "url": url})
            return
        earlier = self._subscriptions.pop(known.turn_id, None)
        if earlier is not None:
            runtime.hub.unsubscribe(earlier)
        self._subscriptions[known.turn_id] = await runtime.hub.subscribe(
            known.turn_id, self.outbox.put, after=after, is_local=is_local
        )

    def _forget_ended(self) -> None:
        for turn_id in [turn_id for turn_id, view in self._subscriptions.items() if view.has_ended]:
            del self._subscriptions[turn_id]

    async def _ack(self, runtime: Runtime, frame: Ack) -> None:
        """What the browser has taken in: nothing to do while the outbox alone bounds what is on its way."""

    async def _painted(self, runtime: Runtime, frame: Painted) -> None:
        if not await runtime.records.save_first_paint(self.person, frame.turn, frame.ms):
            raise FrameError("turn_not_found", turn=frame.turn)

    async def _feedback(self, runtime: Runtime, frame: Feedback) -> None:
        if not await runtime.records.save_feedback(self.person, frame.turn, value=frame.value, reason=frame.reason):
            raise FrameError("turn_not_found", turn=frame.turn)


HANDLERS: dict[type, Callable[..., Awaitable[None]]] = {
    Ask: ChatConsumer._ask,
    Stop: ChatConsumer._stop,
    Resume: ChatConsumer._resume,
    Ack: ChatConsumer._ack,
    Painted: ChatConsumer._painted,
    Feedback: ChatConsumer._feedback,
}


def _read_person(scope: dict[str, Any]) -> Person | None:
    user, session = scope["user"], scope["session"]
    if not user.is_authenticated or session.session_key is None:
        return None
    return Person(user.pk, session.session_key, session.get(HASH_SESSION_KEY, ""))


_open_sockets: dict[Runtime, OpenSockets] = {}


def open_sockets_of(runtime: Runtime) -> OpenSockets:
    if runtime not in _open_sockets:
        _open_sockets.clear()  # a runtime that was closed leaves nothing behind
        _open_sockets[runtime] = OpenSockets(runtime.records, runtime.hub)
    return _open_sockets[runtime]


async def refuse_unknown_path(scope: Any, receive: Any, send: Any) -> None:
    """Any other socket address: the handshake is refused, as a page that is not there would be."""
    await receive()
    await send({"type": "websocket.close"})
