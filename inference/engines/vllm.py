"""The local vLLM, over HTTP: the engine most turns use, so each token takes the shortest way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, cast

import httpx
import orjson

from inference.deadlines import keep_deadlines
from inference.engines.base import EngineAddress
from inference.engines.event_lines import EventLines
from inference.engines.openai_protocol import ChunkReader, request_body
from inference.errors import EngineSpokeNonsense
from inference.events import EngineEvent
from inference.http_errors import error_of_status, error_of_transport
from inference.messages import GenerationRequest

# httpx keeps 20 idle connections by default and opens 100: too few for a full house, where each stream has its own.
LIMITS = httpx.Limits(max_connections=1_000, max_keepalive_connections=200)
# The end of the answer follows its last event at once; if not, the connection is given up.
READ_TO_END_S = 0.1


class VLLMEngine:
    """`address.base_url` ends in /v1."""

    def __init__(self, address: EngineAddress, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._address = address
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if address.api_key:
            headers["Authorization"] = f"Bearer {address.api_key}"
        self._client = httpx.AsyncClient(
            base_url=address.base_url,
            headers=headers,
            limits=LIMITS,
            transport=transport,
            # The other phases have clocks of their own: see `keep_deadlines`.
            timeout=httpx.Timeout(None, connect=address.timeouts.connect_s),
            trust_env=False,
        )

    def stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        return keep_deadlines(self._stream(request), self._address.timeouts)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        body = request_body(request, self._address.model) | {"priority": request.priority}
        headers = {"X-Request-Id": request.request_id} if request.request_id else {}
        reader = ChunkReader()
        began = False
        try:
            async with self._client.stream(
                "POST", "chat/completions", content=orjson.dumps(body), headers=headers
            ) as response:
                if not response.is_success:
                    raise error_of_status(response.status_code, response.headers)
                async with aclosing(_read_chunks(response)) as chunks:
                    async for chunk in chunks:
                        began = True
                        for event in reader.read(chunk):
                            yield event
        except httpx.TransportError as error:
            raise error_of_transport(error, began=began) from None
        yield reader.complete()


async def _read_chunks(response: httpx.Response) -> AsyncGenerator[dict[str, Any], None]:
    lines = EventLines()
    # httpx hides that it is a generator, and so has to be closed when the reading ends early.
    raw = cast(AsyncGenerator[bytes, None], response.aiter_raw())
    try:
        async with aclosing(raw) as parts:
            async for part in parts:
                for data in lines.feed(part):
                    if data == b"[DONE]":
                        await _read_to_end(parts)
                        return
                    yield orjson.loads(data)
    except ValueError:
        raise EngineSpokeNonsense("the stream holds something that is no chunk") from None


async def _read_to_end(parts: AsyncGenerator[bytes, None]) -> None:
    """Only a connection whose answer was read to its end can serve the next one."""
    with suppress(TimeoutError, httpx.TransportError):
        async with asyncio.timeout(READ_TO_END_S):
            async for _ in parts:
                pass
