"""Stand-ins for tests: an engine that says what it is told to, and an embedder without a model."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator

import numpy as np
from numpy.typing import NDArray

from inference.embedder import DIMENSIONS
from inference.events import Completed, EngineEvent, TextDelta
from inference.messages import GenerationRequest

Step = EngineEvent | asyncio.Event | Exception


class ScriptedEngine:
    """Each stream plays the next enqueued script: text, a Completed, an Event to wait for, an error to raise."""

    def __init__(self) -> None:
        self.requests: list[GenerationRequest] = []
        # How many streams are open: 0 again when each was closed or exhausted.
        self.open_streams = 0
        self._scripts: list[list[Step]] = []

    def enqueue(self, *steps: str | Step) -> None:
        """A script that ends without a Completed or an error waits for ever."""
        self._scripts.append([TextDelta(step) if isinstance(step, str) else step for step in steps])

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        self.requests.append(request)
        steps = self._scripts.pop(0)
        self.open_streams += 1
        try:
            for step in steps:
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield step
                if isinstance(step, Completed):
                    return
            await asyncio.Event().wait()
        finally:
            self.open_streams -= 1

    async def aclose(self) -> None:
        """Nothing to close."""


class FakeEmbedder:
    """The same text gives the same vector, two texts give unlike ones; shape (384,), length 1, as the real one."""

    name = "fake"
    dimensions = DIMENSIONS

    def embed(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:8])
        vector = np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
        return vector / np.linalg.norm(vector)
