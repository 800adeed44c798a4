"""How far the local engine is, kept where the web processes read it, and said again before it expires."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable

from redis import Redis
from redis.exceptions import RedisError

# The web processes read it while the engine does not answer; when nobody renews it, the supervisor is gone.
PROGRESS_KEY, EXPIRES_AFTER_S = "chatapp:engine:progress", 20
RENEW_AFTER_S = 4.0

# Called with a state (loading, up, down), a share of 0 to 1 or None where unknown, and a sentence for a person.
Tell = Callable[[str, float | None, str], None]
Publish = Callable[[str], None]


class ProgressBoard:
    """`tell` is called by the engine's thread, `renew` by the one that watches; `clock` gives seconds."""

    def __init__(self, publish: Publish, *, clock: Callable[[], float] = time.time) -> None:
        self._publish = publish
        self._clock = clock
        self._lock = threading.Lock()
        self._told: tuple[str, float | None, str] | None = None
        self._published_at = float("-inf")

    def tell(self, state: str, share: float | None, message: str) -> None:
        with self._lock:
            if (state, share, message) != self._told:
                self._told = (state, share, message)
                self._say()

    def renew(self) -> None:
        """A long download says nothing for minutes; what was told last still holds."""
        with self._lock:
            if self._told is not None and self._clock() - self._published_at >= RENEW_AFTER_S:
                self._say()

    def _say(self) -> None:
        assert self._told is not None  # noqa: S101 - narrows the type; both callers have checked
        state, share, message = self._told
        self._published_at = self._clock()
        self._publish(json.dumps({"state": state, "progress": share, "message": message, "at": self._published_at}))


def publish_to(redis_url: str) -> Publish:
    """Writes the key; while Valkey is being restarted nothing is written, and the next word comes in a moment."""
    redis = Redis.from_url(redis_url, socket_timeout=2, socket_connect_timeout=2)

    def publish(text: str) -> None:
        try:
            redis.set(PROGRESS_KEY, text, ex=EXPIRES_AFTER_S)
        except RedisError:
            return

    return publish
