"""The bounded thread pool on which async code reaches the ORM; only `adapters` uses it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection
from psycopg_pool import PoolTimeout

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThreads:
    """Each thread keeps one connection: taking one from the pool for every call costs more than most queries do."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="orm")

    async def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one transactional, idempotent function; a connection that the server has closed is replaced once."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(_call, function, *args, **kwargs))

    async def aclose(self) -> None:
        """Close each thread's connection, then the threads."""
        loop = asyncio.get_running_loop()
        # No thread may take a second closing before every thread has its own.
        together = threading.Barrier(self._size)
        await asyncio.gather(*(loop.run_in_executor(self._pool, _close, together) for _ in range(self._size)))
        self._pool.shutdown(wait=False)


def _call(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return function(*args, **kwargs)
    except (OperationalError, InterfaceError) as error:
        connection.close()
        if isinstance(error.__cause__, PoolTimeout):
            raise
        return function(*args, **kwargs)


def _close(together: threading.Barrier) -> None:
    connection.close()
    together.wait()
