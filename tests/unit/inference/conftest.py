"""The three engines, each against the stand-in on a real port."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator

import pytest

from inference.engines.anthropic import AnthropicEngine
from inference.engines.base import Engine, EngineAddress, Timeouts
from inference.engines.openai_compatible import OpenAICompatibleEngine
from inference.engines.vllm import VLLMEngine
from tests.providers.scripted_provider import ScriptedProvider

BuildEngine = Callable[..., Engine]

ENGINES: dict[str, Callable[[EngineAddress], Engine]] = {
    "vllm": VLLMEngine,
    "openai": OpenAICompatibleEngine,
    "anthropic": AnthropicEngine,
}


@pytest.fixture(scope="session")
def running_provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: ScriptedProvider) -> ScriptedProvider:
    running_provider.reset()
    return running_provider


@pytest.fixture
async def build_engine(provider: ScriptedProvider) -> AsyncGenerator[BuildEngine, None]:
    """Builds an engine of a kind; each is closed when the test ends."""
    built: list[Engine] = []

    def build(kind: str, *, timeouts: Timeouts | None = None, base_url: str = "") -> Engine:
        address = EngineAddress(
            base_url or f"{provider.base_url}/v1", "stand-in", "sk-canary-key", timeouts or Timeouts()
        )
        built.append(ENGINES[kind](address))
        return built[-1]

    yield build
    for engine in built:
        await engine.aclose()


@pytest.fixture(params=list(ENGINES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(kind: str, build_engine: BuildEngine) -> Engine:
    return build_engine(kind)
