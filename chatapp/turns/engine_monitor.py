"""Knows whether the local model answers: asks its /health, and reads how far the supervisor has got."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

import httpx
import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError

from inference.errors import EngineUnreachable

logger = logging.getLogger(__name__)

# Written by the supervisor while the engine is not up; it expires when the supervisor is gone.
PROGRESS_KEY = "chatapp:engine:progress"
CHECK_WHEN_UP_S, CHECK_WHEN_NOT_UP_S = 3.0, 0.5
HEALTH_TIMEOUT_S = 2.0

State = Literal["up", "loading", "down", "off"]
_STATES: dict[str, State] = {"up": "up", "loading": "loading", "down": "down", "off": "off"}


@dataclass(frozen=True, slots=True)
class EngineState:
    """`progress` is 0 to 1 while loading, None where unknown; `message` is a sentence for a person."""

    state: State
    progress: float | None = None
    message: str = ""

    def as_frame(self) -> dict[str, object]:
        return asdict(self)


class EngineMonitor:
    """One for the process. `base_url` ends in /v1, as the OpenAI protocol has it; blank: there is no local engine."""

    def __init__(self, *, base_url: str, redis: Redis, warmup_max_s: float) -> None:
        self._health_url = base_url.rstrip("/").removesuffix("/v1") + "/health" if base_url else ""
        self._redis = redis
        self._warmup_max_s = warmup_max_s
        self._client = httpx.AsyncClient(timeout=HEALTH_TIMEOUT_S)
        self._changed = asyncio.Event()
        self._listeners: set[Callable[[EngineState], None]] = set()
        self._task: asyncio.Task[None] | None = None
        self.state = EngineState("loading", None, "Looking for the local model.")

    async def start(self) -> None:
        """Look once, then keep looking."""
        if self._task is None:
            self._set(await self.look())
            self._task = asyncio.create_task(self._watch(), name="engine-monitor")

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
        await self._client.aclose()

    def add_listener(self, listener: Callable[[EngineState], None]) -> None:
        self._listeners.add(listener)

    def remove_listener(self, listener: Callable[[EngineState], None]) -> None:
        self._listeners.discard(listener)

    def note_unreachable(self) -> None:
        """A turn has just found that nobody answers: say so before the next look does."""
        if self.state.state == "up":
            self._set(EngineState("loading", None, "The local model is being restarted."))

    async def wait_until_up(self) -> None:
        """Raises EngineUnreachable when the engine gives up, is off, or takes longer than `warmup_max_s`."""
        try:
            async with asyncio.timeout(self._warmup_max_s):
                while self.state.state == "loading":
                    await self._changed.wait()
        except TimeoutError:
            raise EngineUnreachable("the local model took too long to load") from None
        if self.state.state != "up":
            raise EngineUnreachable("the local model is not there")

    async def look(self) -> EngineState:
        if not self._health_url:
            return EngineState("off", None, "There is no local model here.")
        try:
            if (await self._client.get(self._health_url)).is_success:
                return EngineState("up")
        except (httpx.HTTPError, OSError):
            pass
        return await self._read_progress()

    async def _read_progress(self) -> EngineState:
        try:
            raw = await self._redis.get(PROGRESS_KEY)
        except (RedisError, OSError):
            raw = None
        if raw is None:
            return EngineState("down", None, "The local model does not answer.")
        told = orjson.loads(raw)
        return EngineState(_STATES.get(told["state"], "loading"), told["progress"], told["message"])

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_WHEN_UP_S if self.state.state == "up" else CHECK_WHEN_NOT_UP_S)
            self._set(await self.look())

    def _set(self, state: EngineState) -> None:
        if state == self.state:
            return
        self.state = state
        self._changed.set()
        self._changed = asyncio.Event()
        for listener in tuple(self._listeners):
            listener(state)
