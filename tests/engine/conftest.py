"""The real vLLM with the real model: `make test` starts it and names it in the environment."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from inference.engines.base import EngineAddress
from inference.engines.vllm import VLLMEngine
from inference.serving.profiles import SERVED_NAME


@dataclass(frozen=True, slots=True)
class ServedModel:
    """`base_url` ends in /v1; `folder` is where the server says that its model lies."""

    base_url: str
    name: str
    folder: Path


@pytest.fixture(scope="session")
def served_model() -> ServedModel:
    base_url = os.environ.get("LOCAL_ENGINE_URL", "")
    if not base_url:
        pytest.skip("no local engine: LOCAL_ENGINE_URL is not set (`make test` starts one, --no-engine leaves it out)")
    name = os.environ.get("LOCAL_ENGINE_MODEL", SERVED_NAME)
    models = httpx.get(f"{base_url}/models", trust_env=False).raise_for_status().json()["data"]
    folder = next(model["root"] for model in models if model["id"] == name)
    return ServedModel(base_url, name, Path(folder))


@pytest.fixture
async def engine(served_model: ServedModel) -> AsyncIterator[VLLMEngine]:
    engine = VLLMEngine(EngineAddress(served_model.base_url, served_model.name))
    yield engine
    await engine.aclose()


class Metrics:
    """What the server counts, read anew each time."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def read(self, name: str) -> float:
        """The sum over the series of `vllm:name`."""
        lines = self._client.get("/metrics").raise_for_status().text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"vllm:{name}{{"))


@pytest.fixture
def metrics(served_model: ServedModel) -> Iterator[Metrics]:
    with httpx.Client(base_url=served_model.base_url.removesuffix("/v1"), trust_env=False) as client:
        yield Metrics(client)
