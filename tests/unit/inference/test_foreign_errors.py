"""Walks the error classes of the client libraries: each must become one of ours, also those of a later release."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from inference.engines.provider_errors import error_of_provider
from inference.errors import EngineError, EngineOverloaded, EngineSpokeNonsense, EngineTimedOut, EngineUnreachable
from inference.http_errors import error_of_status, error_of_transport

SECRET = "sk-canary-key and the prompt"


def subclasses(base: type) -> Iterator[type]:
    yield base
    for child in base.__subclasses__():
        yield from subclasses(child)


def make(error: type[Any], **attributes: Any) -> Any:
    """An instance without its constructor, whose signature differs from class to class."""
    made = error.__new__(error, SECRET)
    made.args = (SECRET,)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def every(base: type) -> list[type]:
    return sorted(set(subclasses(base)), key=lambda error: f"{error.__module__}.{error.__qualname__}")


@pytest.mark.parametrize("began", [False, True])
@pytest.mark.parametrize("error", [*every(openai.OpenAIError), *every(anthropic.AnthropicError)])
def test_every_error_of_a_client_becomes_ours(error: type[Exception], began: bool) -> None:
    response = httpx2.Response(418, headers={"retry-after": "3"})
    ours = error_of_provider(make(error, status_code=418, response=response, body={"message": SECRET}), began=began)
    assert type(ours) is not EngineError, "a leaf of the tree, with a sentence of its own"
    assert SECRET not in f"{ours} {ours!r}"


@pytest.mark.parametrize("began", [False, True])
@pytest.mark.parametrize("error", [*every(httpx.TransportError), *every(httpx2.TransportError)])
def test_every_error_of_the_transport_becomes_ours(error: type[Any], began: bool) -> None:
    ours = error_of_transport(make(error), began=began)
    expected = EngineTimedOut if "Timeout" in error.__name__ else EngineSpokeNonsense if began else EngineUnreachable
    assert type(ours) is expected
    assert SECRET not in f"{ours} {ours!r}"


@pytest.mark.parametrize("status", range(300, 600))
def test_every_status_that_is_no_success_becomes_ours(status: int) -> None:
    ours = error_of_status(status, {"retry-after": "3"})
    assert type(ours) is not EngineError
    assert isinstance(ours, EngineOverloaded) == (status in {429, 503, 529})


@pytest.mark.parametrize("library", [openai, anthropic])
def test_the_cause_that_a_client_wrapped_names_the_phase(library: ModuleType) -> None:
    error = library.APITimeoutError(request=httpx2.Request("POST", "http://engine.example"))
    error.__cause__ = httpx2.ConnectTimeout("slow")
    ours = error_of_provider(error, began=False)
    assert isinstance(ours, EngineTimedOut)
    assert ours.phase == "connect"


def test_no_two_kinds_of_failure_share_a_code() -> None:
    codes = [error.code for error in subclasses(EngineError)]  # type: ignore[attr-defined]
    assert len(codes) == len(set(codes))
