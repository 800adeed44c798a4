"""The hosted flagship's stand-in: a server that speaks both providers' protocols and does as it is told.

`python -m tests.providers.server --port N`. `POST /script` takes the fields of `Script`, `GET /log` tells what came,
`POST /reset` forgets both.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import suppress

import orjson

from tests.providers.http_server import Answer, Request, serve
from tests.providers.protocols import AnthropicDialect, Dialect, OpenAIDialect
from tests.providers.scripts import Script, ScriptBook, Seen


class ProviderApp:
    """The paths of the stand-in."""

    def __init__(self, book: ScriptBook) -> None:
        self.book = book

    async def handle(self, request: Request, answer: Answer) -> None:
        route = (request.method, request.path.partition("?")[0])
        if route == ("POST", "/script"):
            self._set_script(request, answer)
        elif route == ("POST", "/reset"):
            self.book.reset()
            answer.send_json({})
        elif route == ("GET", "/log"):
            answer.send_json(self.book.log_as_json())
        elif route in {("GET", "/health"), ("GET", "/v1/health")}:
            answer.send_json({})
        elif route == ("GET", "/v1/models"):
            answer.send_json({"object": "list", "data": [{"id": "stand-in", "object": "model"}]})
        elif route in {("POST", "/v1/chat/completions"), ("POST", "/v1/messages")}:
            await self._generate(request, answer)
        else:
            answer.send_json({"error": {"message": "no such path", "type": "not_found_error"}}, status=404)

    def _set_script(self, request: Request, answer: Answer) -> None:
        try:
            self.book.set_script(orjson.loads(request.body))
        except TypeError as error:
            answer.send_json({"error": str(error)}, status=400)
        else:
            answer.send_json({})

    async def _generate(self, request: Request, answer: Answer) -> None:
        body = orjson.loads(request.body)
        script = self.book.get_script(body["model"])
        seen = Seen(request.path, request.headers, body, time.monotonic_ns(), request.client_port)
        self.book.log.append(seen)
        if script.recording is not None:
            _replay(script, answer)
        elif script.fail_status is not None:
            _fail(script, answer)
        else:
            try:
                await _stream(script, _dialect_of(request.path, body["model"], script), answer=answer, seen=seen)
            except (asyncio.CancelledError, ConnectionError):
                seen.closed_by_client_ns = time.monotonic_ns()
                raise
        seen.is_finished = True


def _dialect_of(path: str, model: str, script: Script) -> Dialect:
    if path.startswith("/v1/messages"):
        return AnthropicDialect(model, cached_tokens=script.cached_tokens)
    return OpenAIDialect(model)


def _fail(script: Script, answer: Answer) -> None:
    error = {"type": "error", "error": {"message": "the prompt was: secret", "type": "scripted", "code": "scripted"}}
    headers = {"retry-after": script.retry_after} if script.retry_after is not None else {}
    answer.send_json(error, status=script.fail_status or 500, headers=headers)


def _replay(script: Script, answer: Answer) -> None:
    answer.start_stream(status=script.fail_status or 200)
    _send(answer, script, (script.recording or "").encode())
    answer.end_stream()


async def _stream(script: Script, dialect: Dialect, *, answer: Answer, seen: Seen) -> None:
    answer.start_stream()
    _send(answer, script, dialect.begin())
    starts_at = time.monotonic() + script.first_token_delay_s
    for index, text in enumerate(script.texts()):
        if await _misbehave(script, dialect, answer=answer, sent=index):
            return
        # Against the clock, not from the last token: a late timer must not slow the stream down.
        await asyncio.sleep(max(0.0, starts_at + index * script.token_delay_s - time.monotonic()))
        now_ns = time.monotonic_ns()
        if script.noisy:
            _send(answer, script, dialect.noise())
        _send(answer, script, dialect.delta(f" t{now_ns}" if text is None else text))
        await answer.drain()
        seen.sent_ns.append(now_ns)
    if await _misbehave(script, dialect, answer=answer, sent=len(seen.sent_ns)):
        return
    if not script.without_end:
        _send(
            answer,
            script,
            dialect.end(script.finish_reason, sent=len(seen.sent_ns), cached_tokens=script.cached_tokens),
        )
    answer.end_stream()


async def _misbehave(script: Script, dialect: Dialect, *, answer: Answer, sent: int) -> bool:
    """Whether what the script wanted at this point has ended the stream."""
    if script.stall_after == sent:
        await asyncio.Event().wait()
    if script.cut_after == sent:
        await answer.cut()
        return True
    if script.malformed_after == sent:
        _send(answer, script, dialect.malformed())
    if script.error_after == sent:
        _send(answer, script, dialect.error())
        answer.end_stream()
        return True
    return False


def _send(answer: Answer, script: Script, content: bytes) -> None:
    size = script.chunk_bytes or len(content)
    for start in range(0, len(content), size):
        answer.send_chunk(content[start : start + size])


async def run_server(port: int) -> None:
    server = await serve(ProviderApp(ScriptBook()).handle, port=port)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one, and prints it")
    with suppress(KeyboardInterrupt):
        asyncio.run(run_server(parser.parse_args().port))


if __name__ == "__main__":
    main()
