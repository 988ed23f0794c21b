"""A stand-in for model servers of one's own machine: real HTTP on loopback, answers by path."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

Answers = Mapping[str, Any]
"""A JSON value for each path, or bytes to send as the whole answer; a function gets the question's JSON."""


class LocalServer:
    """Answers GET and POST with what `answers` has for the path, else 404.

    Attributes:
        asked: the paths, in order.
        delay: seconds before each answer.
        chunked: whether answers come in chunks, without a length.
    """

    def __init__(self, answers: Answers, *, delay: float = 0.0, chunked: bool = False) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.delay = delay
        self.chunked = chunked
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> LocalServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                path, question = await _read(reader)
                self.asked.append(path)
                await asyncio.sleep(self.delay)
                writer.write(self._answer(path, question))
                await writer.drain()
        finally:
            writer.close()

    def _answer(self, path: str, question: Any) -> bytes:
        answer = self.answers.get(path)
        if callable(answer):
            answer = answer(question)
        if isinstance(answer, bytes):
            return answer
        status = b"404 Not Found" if answer is None else b"200 OK"
        body = json.dumps(answer).encode()
        if self.chunked:
            pieces = [body[:10], body[10:]]
            chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
            return b"HTTP/1.1 %b\r\nTransfer-Encoding: chunked\r\n\r\n%b0\r\n\r\n" % (status, chunks)
        return b"HTTP/1.1 %b\r\nContent-Type: application/json\r\n\r\n%b" % (status, body)


async def _read(reader: asyncio.StreamReader) -> tuple[str, Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = head.lower().split("\r\n")
    length = next((int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")), 0)
    return head.split(" ")[1], json.loads(await reader.readexactly(length)) if length else None


def ollama(models: Mapping[str, Any], running: tuple[str, ...] = ()) -> dict[str, Any]:
    """The answers of Ollama with these models: each a list of capabilities, or what else is told of it."""

    def show(question: Any) -> Any:
        told = models[question["model"]]
        return {"capabilities": told} if isinstance(told, list) else told

    return {
        "/api/tags": {"models": [{"name": name, "model": name} for name in models]},
        "/api/ps": {"models": [{"name": name} for name in running]},
        "/api/show": show,
    }


def lmstudio(*models: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of LM Studio."""
    return {"/api/v0/models": {"object": "list", "data": list(models)}}


def llamacpp(name: str = "qwen.gguf", **props: Any) -> dict[str, Any]:
    """The answers of llama.cpp's server."""
    base = {"default_generation_settings": {"n_ctx": 8192}, "chat_template": "{{ messages }}"}
    return {"/props": base | props, "/v1/models": {"data": [{"id": name}]}}


def vllm(*names: str) -> dict[str, Any]:
    """The answers of vLLM."""
    data = [{"id": name, "owned_by": "vllm", "max_model_len": 4096} for name in names]
    return {"/v1/models": {"object": "list", "data": data}}
