"""A scripted model: an OpenAI-compatible server on loopback that says what a test tells it.

It records each request and how much of each answer left before the client hung up. Everything it
does is bounded: it stops answering after `max_requests`, and leaving its `with` block cuts every
connection.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self, TypeAlias

from satyrn_engine.testing.errors import PiTimeoutError
from satyrn_engine.testing.jsonl import JsonObject
from satyrn_engine.testing.replies import SSE_DONE, Failure, Reply, say, sse_event, stream_chunks

_MAX_REQUEST_BYTES = 256 * 1024 * 1024
_CLOSE_SECONDS = 5.0
_SEND_SECONDS = 60.0
# Small, so that little more than the client has taken is counted as sent. The kernel doubles it.
_SEND_BUFFER_BYTES = 8 * 1024


@dataclass(frozen=True)
class SeenResult:
    """A tool result as the model sees it in a request."""

    call_id: str
    text: str


@dataclass(frozen=True)
class Request:
    """One chat-completion request.

    Attributes:
        number: Its place among this model's requests, from 1.
        body: The parsed JSON body.
    """

    number: int
    body: JsonObject

    @property
    def messages(self) -> list[JsonObject]:
        """The conversation that the request carries."""
        return list(self.body.get("messages") or [])

    @property
    def tool_results(self) -> tuple[SeenResult, ...]:
        """The tool results in the conversation, oldest first."""
        return tuple(
            SeenResult(str(message.get("tool_call_id", "")), content_text(message.get("content")))
            for message in self.messages
            if message.get("role") == "tool"
        )

    @property
    def text(self) -> str:
        """All text in the conversation, by which one checks that a message reached the model."""
        return "\n".join(content_text(message.get("content")) for message in self.messages)


ScriptStep: TypeAlias = Reply | Failure
Script: TypeAlias = Iterable[ScriptStep] | Callable[[Request], ScriptStep | None]
"""Replies in order (endless iterators are fine), or a function of the request that returns the
next one, and None when it has no more to say."""


@dataclass
class Exchange:
    """A request, what it was answered, and how much of the answer really went out.

    Attributes:
        request: What Pi asked.
        step: What the script said; None when the script was used up.
        chunks_sent: Stream events that were handed to the connection.
        bytes_sent: Their size.
        finished: Whether the whole answer went out.
        hung_up: Whether the client closed the connection before that.
    """

    request: Request
    step: ScriptStep | None = None
    chunks_sent: int = 0
    bytes_sent: int = 0
    finished: bool = False
    hung_up: bool = False


@dataclass
class _State:
    """What the server's threads share, guarded by `changed`."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    exchanges: list[Exchange] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    live: set[socket.socket] = field(default_factory=set)
    threads: list[threading.Thread] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


class ScriptedModel:
    """The server; use it as a context manager.

    >>> with ScriptedModel([say("Hello.")]) as model:
    ...     model.base_url.startswith("http://127.0.0.1:")
    True

    Args:
        script: The replies, see `Script`.
        final: What is said when the script is used up; None makes that an error, which the client
            gets as HTTP 400 and which is kept in `errors`.
        max_requests: After so many requests everything is answered with an error, so that a run
            that would never end does.
        name: The model's id.
    """

    def __init__(
        self,
        script: Script,
        *,
        final: str | None = "Done.",
        max_requests: int = 1000,
        name: str = "scripted",
    ) -> None:
        """Take a free port; answers begin with the `with` block."""
        self.name = name
        self._final = final
        self._max_requests = max_requests
        self._next = script if callable(script) else _in_order(script)
        self._script_turn = threading.Lock()
        self._state = _State()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def __enter__(self) -> Self:
        """Start to answer."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Cut what is open and stop."""
        self.close()

    @property
    def base_url(self) -> str:
        """What a provider's `baseUrl` must be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges so far, in the order in which they began."""
        with self._state.changed:
            return tuple(self._state.exchanges)

    @property
    def requests(self) -> tuple[Request, ...]:
        """All requests so far."""
        return tuple(exchange.request for exchange in self.exchanges)

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong on this side, as a used-up script or a bad request."""
        with self._state.changed:
            return tuple(self._state.errors)

    def wait_for_requests(self, count: int, timeout: float = 30.0) -> tuple[Request, ...]:
        """Wait until `count` requests have come in.

        Raises:
            PiTimeoutError: They did not come within `timeout` seconds.
        """
        if not self._wait(lambda: len(self._state.exchanges) >= count, timeout):
            msg = f"{len(self.requests)} of {count} requests came in {timeout:g} s\n{self.report()}"
            raise PiTimeoutError(msg)
        return self.requests

    def wait_until_idle(self, timeout: float = 30.0) -> None:
        """Wait until no answer is under way, so that the counts of what was sent are final.

        Raises:
            PiTimeoutError: An answer was still under way after `timeout` seconds.
        """
        if not self._wait(lambda: not self._state.live, timeout):
            msg = f"an answer was still under way after {timeout:g} s\n{self.report()}"
            raise PiTimeoutError(msg)

    def report(self, last: int = 3) -> str:
        """Return the errors and the `last` requests as text for an error message."""
        exchanges = self.exchanges
        lines = [f"the scripted model had {len(exchanges)} requests", *self.errors]
        for exchange in exchanges[-last:] if last else ():
            state = "finished" if exchange.finished else "hung up" if exchange.hung_up else "open"
            lines.append(
                f"request {exchange.request.number}: {len(exchange.request.messages)} messages, "
                f"answer {state} after {exchange.chunks_sent} chunks"
            )
            lines += [f"  {_shorten(message)}" for message in exchange.request.messages[-2:]]
        return "\n".join(lines)

    def close(self) -> None:
        """Stop answering, cut open connections, wait a little for their threads. Idempotent."""
        if self._state.closing.is_set():
            return
        self._state.closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(_CLOSE_SECONDS)
        self._server.server_close()
        with self._state.changed:
            for connection in self._state.live:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        end = time.monotonic() + _CLOSE_SECONDS
        for thread in self._state.threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        with self._state.changed:
            return self._state.changed.wait_for(condition, timeout)

    def _complain(self, message: str) -> None:
        with self._state.changed:
            self._state.errors.append(message)

    def _begin(self, body: JsonObject) -> Exchange:
        with self._state.changed:
            exchange = Exchange(Request(len(self._state.exchanges) + 1, body))
            self._state.exchanges.append(exchange)
            self._state.changed.notify_all()
        return exchange

    def _decide(self, request: Request) -> ScriptStep | None:
        """Ask the script; every fault of it becomes an error that the test can see."""
        if request.number > self._max_requests:
            return self._refuse(f"more than {self._max_requests} requests (max_requests)")
        try:
            with self._script_turn:
                step = self._next(request)
        except Exception as error:  # noqa: BLE001 - the script is the test's own code
            return self._refuse(f"the script raised {error!r} at request {request.number}")
        if step is None and self._final is None:
            return self._refuse(f"the script was used up at request {request.number}")
        return step

    def _refuse(self, message: str) -> Failure:
        self._complain(message)
        return Failure(400, message)

    def _answer(self, handler: _Handler, exchange: Exchange) -> None:
        step = exchange.step = self._decide(exchange.request)
        if isinstance(step, Failure):
            handler.send_json(step.status, {"error": {"message": step.message}})
            exchange.finished = True
            return
        self._stream(handler, exchange, step or say(self._final or ""))

    def _stream(self, handler: _Handler, exchange: Exchange, reply: Reply) -> None:
        handler.start_stream()
        chunks = stream_chunks(reply, model=self.name, turn=exchange.request.number)
        events = itertools.chain(map(sse_event, chunks), [SSE_DONE])
        for position, event in enumerate(events):
            delay = reply.delay if position else 0.0
            if not handler.may_send(delay) or not handler.send(event):
                exchange.hung_up = not self._state.closing.is_set()
                return
            exchange.chunks_sent += 1
            exchange.bytes_sent += len(event)
        exchange.finished = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Leaving the `with` block waits for the answers itself, and not for ever.
    block_on_close = False

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep a fault of a connection for the test instead of printing it."""
        del request, client_address


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SEND_SECONDS

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._state.changed:
            self._state.live.add(self.connection)
            # A thread is there for a moment after its connection is gone.
            alive = [thread for thread in self._state.threads if thread.is_alive()]
            self._state.threads = [*alive, threading.current_thread()]

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            super().finish()
        with self._state.changed:
            self._state.live.discard(self.connection)
            self._state.changed.notify_all()

    @property
    def _state(self) -> _State:
        return self.server.model._state  # noqa: SLF001 - one module, one class in two halves

    def do_GET(self) -> None:
        """List the one model."""
        model = {"id": self.server.model.name, "object": "model", "owned_by": "script"}
        self.send_json(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        """Answer a chat completion."""
        model = self.server.model
        body = self._read_body()
        if not self.path.endswith("/chat/completions") or body is None:
            message = f"POST {self.path} is not a chat completion with a JSON object as its body"
            model._complain(message)  # noqa: SLF001
            self.send_json(400, {"error": {"message": message}})
            return
        exchange = model._begin(body)  # noqa: SLF001
        with contextlib.suppress(OSError):
            model._answer(self, exchange)  # noqa: SLF001

    def _read_body(self) -> JsonObject | None:
        try:
            size = int(self.headers.get("Content-Length", "0"))
            value = json.loads(self.rfile.read(min(size, _MAX_REQUEST_BYTES)))
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def send_json(self, status: int, value: JsonObject) -> None:
        """Send one whole JSON answer."""
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def start_stream(self) -> None:
        """Send the head of a stream, whose end is the end of the connection (HTTP/1.0)."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()

    def may_send(self, delay: float) -> bool:
        """Wait `delay` seconds; False as soon as the client hangs up or the model closes."""
        deadline = time.monotonic() + delay
        while not self._state.closing.is_set():
            left = max(deadline - time.monotonic(), 0.0)
            # The client says nothing more on this connection, so readable means closed.
            if select.select([self.connection], [], [], min(left, 0.05))[0]:
                return False
            if left <= 0:
                return True
        return False

    def send(self, data: bytes) -> bool:
        """Hand `data` to the connection; False when the client is gone."""
        try:
            self.wfile.write(data)
        except OSError:
            return False
        return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing: what matters is recorded."""


def content_text(content: object) -> str:
    """Return the text of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _in_order(steps: Iterable[ScriptStep]) -> Callable[[Request], ScriptStep | None]:
    remaining: Iterator[ScriptStep] = iter(steps)
    return lambda _request: next(remaining, None)


def _shorten(message: JsonObject, limit: int = 300) -> str:
    text = json.dumps(message)
    return text if len(text) <= limit else f"{text[:limit]}…"
