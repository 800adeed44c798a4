"""OpenAI, and every endpoint that speaks its protocol, through the provider's own client."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from json import JSONDecodeError
from typing import Any

import httpx2
import openai

from inference.deadlines import keep_deadlines
from inference.engines.base import EngineAddress
from inference.engines.openai_protocol import ChunkReader, request_body
from inference.engines.provider_errors import error_of_provider
from inference.errors import EngineSpokeNonsense
from inference.events import EngineEvent
from inference.http_errors import TRANSPORT_ERRORS, error_of_transport
from inference.messages import GenerationRequest


class OpenAICompatibleEngine:
    """`address.base_url` ends in /v1."""

    def __init__(self, address: EngineAddress) -> None:
        self._address = address
        self._client = openai.AsyncOpenAI(
            base_url=address.base_url,
            # The client refuses to be built without a key; endpoints that want none ignore it.
            api_key=address.api_key or "none",
            # Retries are the pipeline's: it knows whether a first delta has gone out.
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=address.timeouts.connect_s),
        )

    def stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        return keep_deadlines(self._stream(request), self._address.timeouts)

    async def aclose(self) -> None:
        await self._client.close()

    async def _stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]:
        reader = ChunkReader()
        began = False
        try:
            async with await self._client.chat.completions.create(**self._body(request)) as chunks:
                async for chunk in chunks:
                    began = True
                    for event in reader.read(chunk.to_dict(warnings=False)):
                        yield event
        except openai.OpenAIError as error:
            raise error_of_provider(error, began=began) from None
        except TRANSPORT_ERRORS as error:
            raise error_of_transport(error, began=began) from None
        except (JSONDecodeError, UnicodeDecodeError):
            raise EngineSpokeNonsense("the stream holds something that is no chunk") from None
        yield reader.complete()

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        body = request_body(request, self._address.model)
        if self._client.base_url.host.endswith("openai.com"):
            # OpenAI's own models have left the older name behind; other endpoints often know only that one.
            body["max_completion_tokens"] = body.pop("max_tokens")
        return body
