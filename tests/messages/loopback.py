"""A stand-in for both providers on 127.0.0.1: real sockets, strict about every request, scripted in its answers.

    with Loopback([Reply(...), Status(429, "slow down")]) as server:
        model = server.model("anthropic:test", monkeypatch)

It holds a request to the path, the headers, the official shape (`official`) and the rules of order
(`agentlab.messages.pairing`). One that breaks a rule gets a 400 in the provider's form, and leaving the block fails
with the reason; so does an answer that was never asked for.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from official import violations

from agentlab.messages import pairing
from agentlab.messages.conversation import Reply
from agentlab.messages.live import model_from
from agentlab.messages.retries import Retries
from agentlab.messages.wire import from_wire, reply_to_wire

KEY = "sk-test-0123456789-never-to-be-seen"
"""The one key that the server takes. Tests look for it everywhere."""

ANTHROPIC_VERSION = "2026-10-21"
PATHS = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai-chat", "/v1/responses": "openai-responses"}
PREFIX = {"anthropic": "", "openai-chat": "/v1", "openai-responses": "/v1"}
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY"}
NAMES = {"anthropic": "anthropic:test", "openai-chat": "openai-chat:test", "openai-responses": "openai:test"}


class Status(NamedTuple):
    """An error of the provider."""

    code: int
    message: str
    kind: str = "some_error"
    headers: dict = {}  # noqa: RUF012 - never written to


class Body(NamedTuple):
    """This very body, JSON or text, with status 200 or another one."""

    content: object
    kind: str = "application/json"
    headers: dict = {}  # noqa: RUF012 - never written to
    code: int = 200


class Events(NamedTuple):
    """A stream of these events (JSON, or text as it is); `cut` closes the connection in its middle."""

    events: list
    cut: bool = False


class Hang(NamedTuple):
    """No answer at all, until the block is left."""


class Endless(NamedTuple):
    """`start`, then `more` again and again until the client is gone; `sent` is called after each."""

    start: bytes
    more: bytes
    sent: object = None


class HangUp(NamedTuple):
    """The connection is closed without an answer."""


class Seen(NamedTuple):
    """A request that arrived."""

    dialect: str
    headers: dict
    body: dict


class Loopback:
    """The server. `answers` is a list (a `Reply`, or one of the above, for each request), or a model that answers."""

    def __init__(self, answers, *, order=True):
        self._answers = list(answers) if not hasattr(answers, "complete") else None
        self._model = answers if self._answers is None else None
        self._order = order
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.seen: list[Seen] = []
        self.problems: list[str] = []

    def __enter__(self):
        server = self

        class Handler(_Handler):
            loopback = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()  # waits for the threads of its requests
        self._thread.join()
        if kind is None or self.problems:
            assert not self.problems, "the server refused a request: " + "; ".join(self.problems)
            assert not self._answers, f"{len(self._answers)} answers were never asked for"

    @property
    def url(self):
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def bodies(self):
        return [seen.body for seen in self.seen]

    def model(self, name, monkeypatch, **options):
        """The live model `name` pointed at this server, which never sleeps between its attempts."""
        dialect = next(dialect for dialect, known in NAMES.items() if known.split(":")[0] == name.split(":")[0])
        set_keys(monkeypatch)
        options = {"retries": Retries(sleep=lambda seconds: None), "timeout": 20.0, **options}
        return model_from(name, base_url=self.url + PREFIX[dialect], **options)

    def receive(self, handler):
        """Check one request and choose its answer."""
        path = handler.path.partition("?")[0]
        dialect = PATHS.get(path)
        problem = None
        body = {}
        if dialect is None:
            problem = f"the path {handler.path} is of no provider"
        else:
            problem, body = self._read(handler, dialect)
        with self._lock:
            self.seen.append(Seen(dialect or "", {k.lower(): v for k, v in handler.headers.items()}, body))
            if problem:
                self.problems.append(problem)
                return dialect or "anthropic", body, Status(400, problem, "invalid_request_error")
            if self._model is not None:
                return dialect, body, self._model.complete(from_wire(body, dialect))
            if not self._answers:
                self.problems.append("one request more than there are answers")
                return dialect, body, Status(400, self.problems[-1], "invalid_request_error")
            return dialect, body, self._answers.pop(0)

    def _read(self, handler, dialect):
        text = handler.rfile.read(int(handler.headers["content-length"])).decode()
        headers = handler.headers
        try:
            body = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
        except ValueError as error:
            return f"the body is no JSON: {error}", {}
        wanted = {"content-type": "application/json", "authorization": f"Bearer {KEY}", "x-api-key": None}
        if dialect == "anthropic":
            wanted["anthropic-version"] = ANTHROPIC_VERSION
        for name, value in wanted.items():
            if headers[name] != value:
                return f"the header {name} is {headers[name]!r}, not {value!r}", body
        broken = violations(body, dialect)
        if broken:
            return broken[0], body
        held = {"thread", "conversation", "previous_response_id"} & body.keys()
        if held or (dialect == "openai-responses" and body.get("store") is not False):
            return f"the request leaves its history to the server: {held or 'store'}", body
        found = [f for f in pairing.check(body, dialect) if f.level == "must"] if self._order else []
        return (f"{found[0].rule} at {found[0].where}: {found[0].message}" if found else None), body


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    loopback: Loopback

    def log_message(self, format, *args):
        pass

    def do_POST(self):
        dialect, body, answer = self.loopback.receive(self)
        if callable(answer):
            answer = answer(body)
        match answer:
            case Reply():
                written = reply_to_wire(answer, dialect, model=body["model"])
                if body.get("stream"):
                    self._stream(Events(as_events(written, dialect)))
                else:
                    self._send(200, written)
            case Status(code, message, kind, headers):
                error = {"type": kind, "message": message}
                if dialect == "anthropic":
                    whole = {"type": "error", "error": error, "request_id": "req_body"}
                else:
                    whole = {"error": {**error, "param": None, "code": None}}
                self._send(code, whole, headers)
            case Body(content, kind, headers, code):
                self._send(code, content, {"content-type": kind, **headers})
            case Events():
                self._stream(answer)
            case Hang():
                self.loopback._closing.wait()
                self.close_connection = True
            case Endless(start, more, sent):
                self._without_end(start, more, sent)
            case HangUp():
                self.close_connection = True
            case other:
                raise TypeError(f"no answer: {other!r}")

    def _send(self, code, content, headers=None):
        data = (content if isinstance(content, str) else json.dumps(content)).encode("utf-8", "surrogatepass")
        identity = {"request-id": "req_1", "x-request-id": "req_1"}
        self._head(code, {"content-type": "application/json", **identity, **(headers or {})}, len(data))
        self.wfile.write(data)

    def _stream(self, answer):
        lines = [_sse(event) for event in answer.events]
        data = "".join(lines).encode()
        self._head(200, {"content-type": "text/event-stream", "request-id": "req_1"}, len(data) + 100 * answer.cut)
        self.wfile.write(data)
        self.close_connection = self.close_connection or answer.cut

    def _without_end(self, start, more, sent):
        self.close_connection = True
        try:
            self.wfile.write(start)
            while not self.loopback._closing.is_set():
                self.wfile.write(more)
                if sent is not None:
                    sent()
        except OSError:
            pass  # the client is gone, as it should be

    def _head(self, code, headers, length):
        self.send_response(code)
        for name, value in {**headers, "content-length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()


def set_keys(monkeypatch, key=KEY):
    """Both keys, and nothing else that the SDKs would take from the environment of the machine."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in set(KEYS.values()):
        monkeypatch.setenv(name, key)


def as_events(body, dialect):
    """The events that add up to `body`, with texts and arguments in pieces of three characters."""
    match dialect:
        case "anthropic":
            return list(_anthropic_events(body))
        case "openai-chat":
            return [*_chat_events(body), "data: [DONE]\n\n"]
        case _:
            created = {**body, "status": "in_progress", "output": [], "usage": None}
            kind = "response.incomplete" if body["status"] == "incomplete" else "response.completed"
            return [
                {"type": "response.created", "sequence_number": 0, "response": created},
                {"type": kind, "sequence_number": 1, "response": body},
            ]


def _anthropic_events(body):
    usage = {"input_tokens": 0, "output_tokens": 0}
    start = {
        **body,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, **body.get("usage", {}), "output_tokens": 1},
    }
    if "usage" not in body:
        start["usage"] = usage
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(body["content"]):
        field, delta, text = _pieces_of(block)
        empty = {**block, **({field: {} if field == "input" else ""} if field else {})}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for piece in _pieces(text):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": delta, **_delta(delta, piece)}}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]},
        "usage": {"output_tokens": 0, **body.get("usage", {})},
    }
    yield {"type": "message_stop"}


def _pieces_of(block):
    match block["type"]:
        case "text":
            return "text", "text_delta", block["text"]
        case "tool_use":
            return "input", "input_json_delta", json.dumps(block["input"])
        case "thinking":
            return "thinking", "thinking_delta", block["thinking"]
        case _:
            return None, None, ""


def _delta(kind, piece):
    return {"partial_json": piece} if kind == "input_json_delta" else {kind.removesuffix("_delta"): piece}


def _chat_events(body):
    head = {key: value for key, value in body.items() if key not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    message, finish = body["choices"][0]["message"], body["choices"][0]["finish_reason"]

    def chunk(delta, finish=None):
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": None if message.get("content") is None else ""})
    for piece in _pieces(message.get("content") or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls") or []):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        for piece in _pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, finish)
    if body.get("usage"):
        yield {**head, "choices": [], "usage": body["usage"]}


def _pieces(text):
    return [text[start : start + 3] for start in range(0, len(text), 3)]


def _sse(event):
    if isinstance(event, str):
        return event
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _no_twins(pairs):
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is written twice")
    return value


def _no_constant(name):
    raise ValueError(f"{name} is no JSON number")
