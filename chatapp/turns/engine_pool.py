"""The engines that routes point to: built once per address, shared by all turns, replaced when a route is edited."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from inference.engines.base import Engine, EngineAddress

logger = logging.getLogger(__name__)

BuildEngine = Callable[[EngineAddress], Engine]


class EnginePool:
    def __init__(self, builders: Mapping[str, BuildEngine]) -> None:
        """`builders` names the engine class of each kind of route."""
        self._builders = builders
        self._engines: dict[tuple[str, EngineAddress], Engine] = {}

    def get_engine(self, kind: str, address: EngineAddress) -> Engine:
        """An engine stays open until the process ends: a turn that began before an edit is still streaming from it."""
        engine = self._engines.get((kind, address))
        if engine is None:
            engine = self._engines[(kind, address)] = self._builders[kind](address)
        return engine

    async def aclose(self) -> None:
        for engine in self._engines.values():
            await engine.aclose()
