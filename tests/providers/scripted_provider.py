"""The stand-in on a thread of the test's own process, behind a real port."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Self

from tests.providers.http_server import serve
from tests.providers.scripts import ScriptBook, Seen
from tests.providers.server import ProviderApp

# How long a test waits for what must happen before it fails.
PATIENCE_S = 10.0
POLL_S = 0.005


class ScriptedProvider:
    """`with ScriptedProvider() as provider:`; `provider.base_url` has no /v1."""

    def __init__(self) -> None:
        self._book = ScriptBook()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._port = 0
        self._thread = threading.Thread(target=self._run, name="scripted-provider", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_S)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def log(self) -> list[Seen]:
        return self._book.log

    def script(self, **values: Any) -> None:
        """Fields of Script, and `model` for one model only."""
        self._book.set_script(values)

    def reset(self) -> None:
        self._book.reset()

    async def wait_until(self, holds: Callable[[list[Seen]], bool]) -> None:
        """Returns once it holds for the log; raises TimeoutError when it does not come to hold."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds(self.log):  # noqa: ASYNC110 - the log lives on another thread, which knows no waiters
                await asyncio.sleep(POLL_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await serve(ProviderApp(self._book).handle)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        open_lines = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in open_lines:
            task.cancel()
        await asyncio.gather(*open_lines, return_exceptions=True)
