"""An answer that never ends, in time or in size: the real SDKs at a server that sends on until they are gone."""

import gzip
import json
import socketserver
import threading

import pytest
from loopback import NAMES, Body, Endless, Loopback
from test_live import ASK, END

from agentlab.errors import AgentlabError
from agentlab.messages import provider_count
from agentlab.messages.connection import LIMITS, Limits
from agentlab.messages.models import ModelError
from agentlab.messages.wire import DIALECTS, reply_to_wire

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
each_way = pytest.mark.parametrize("stream", [False, True], ids=["in-one-piece", "as-stream"])

HEAD = b"HTTP/1.1 200 OK\r\nrequest-id: req_1\r\n"
JSON = HEAD + b"content-type: application/json\r\n\r\n"
EVENTS = HEAD + b"content-type: text/event-stream\r\n\r\n"
DRIPS = {
    "spaces": Endless(JSON, b" "),
    "error": Endless(JSON.replace(b"200", b"500"), b" "),
    "pings": Endless(EVENTS, b'event: ping\ndata: {"type": "ping"}\n\n'),
    "comments": Endless(EVENTS, b": still here\n\n"),
    "headers": Endless(HEAD, b"a: b\r\n"),
    "hints": Endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
}


class Alarm:
    """A timer that goes off after `pieces` pieces of an answer, and not by the clock."""

    def __init__(self, pieces):
        self.left = pieces
        self.seconds = None
        self.cancelled = False
        self.lock = threading.Lock()

    def __call__(self, seconds, then):
        self.seconds, self.then = seconds, then
        return self

    def start(self):
        pass

    def cancel(self):
        self.cancelled = True

    def piece(self):
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.then()


@each_way
@each_dialect
@pytest.mark.parametrize("drip", DRIPS)
def test_an_answer_that_never_ends_is_cut_off_after_its_time_and_asked_for_once(drip, dialect, stream, monkeypatch):
    alarm = Alarm(pieces=50)
    with Loopback([DRIPS[drip]._replace(sent=alarm.piece)]) as server:
        limits = Limits(seconds=3.0, timer=alarm)
        model = server.model(NAMES[dialect], monkeypatch, stream=stream, limits=limits)
        with pytest.raises(ModelError) as caught:
            model.complete(ASK)
    assert str(caught.value) == f"{NAMES[dialect]} gave no whole answer within 3 s, and was cut off"
    assert caught.value.__context__ is None
    assert (alarm.seconds, alarm.cancelled) == (3.0, True)
    assert len(server.seen) == 1


@each_way
@each_dialect
@pytest.mark.parametrize("flood", ["spaces", "error", "pings", "comments"])
def test_an_answer_without_end_is_cut_off_at_its_largest_size(flood, dialect, stream, monkeypatch):
    endless = DRIPS[flood]._replace(more=DRIPS[flood].more * 1000)
    with Loopback([endless]) as server:
        limits = Limits(largest=100_000)
        model = server.model(NAMES[dialect], monkeypatch, stream=stream, limits=limits)
        with pytest.raises(ModelError) as caught:
            model.complete(ASK)
    assert str(caught.value) == f"{NAMES[dialect]} answered with more than 100,000 bytes, and was cut off"
    assert caught.value.__context__ is None
    assert len(server.seen) == 1
    assert model.last_exchange.model_dump_json()


@each_dialect
def test_an_answer_of_exactly_the_largest_size_is_read(dialect, monkeypatch):
    text = json.dumps(reply_to_wire(END, dialect, model="test"))
    with Loopback([Body(text), Body(text + " ")]) as server:
        model = server.model(NAMES[dialect], monkeypatch, limits=Limits(largest=len(text)))
        assert model.complete(ASK).content == "Posted."
        with pytest.raises(ModelError, match="answered with more than"):
            model.complete(ASK)


@each_way
@each_dialect
def test_no_packed_answer_is_asked_for_or_unpacked(dialect, stream, monkeypatch):
    packed = gzip.compress(b" " * 10_000_000)
    head = HEAD + f"content-encoding: gzip\r\ncontent-length: {len(packed)}\r\n\r\n".encode()
    with Loopback([Endless(head + packed, b"")]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=stream)
        with pytest.raises(ModelError, match=r"packed its answer \(gzip\), though asked not to$"):
            model.complete(ASK)
    assert server.seen[0].headers["accept-encoding"] == "identity"


@each_way
@each_dialect
def test_an_answer_in_time_is_read_and_its_alarm_is_called_off(dialect, stream, monkeypatch):
    alarm = Alarm(pieces=1)
    with Loopback([END]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=stream, limits=Limits(timer=alarm))
        assert model.complete(ASK).content == "Posted."
    assert (alarm.seconds, alarm.cancelled) == (LIMITS.seconds, True)


class Drip(socketserver.BaseRequestHandler):
    """Reads the head of a request and answers without end, a piece at a time."""

    def handle(self):
        self.request.recv(65_536)
        first, more = self.server.answer
        try:
            self.request.sendall(first)
            while True:
                self.request.sendall(more)
                self.server.piece()
        except OSError:
            return  # the client has gone, which is what it is to do


@pytest.mark.parametrize("answer", [(JSON, b" "), (HEAD, b"a: b\r\n")], ids=["spaces", "headers"])
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_count_that_never_comes_is_cut_off_after_its_time(answer, provider, monkeypatch):
    alarm = Alarm(pieces=50)
    monkeypatch.setattr(provider_count, "Limits", lambda seconds: Limits(seconds=seconds, timer=alarm))
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "key-of-nobody")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Drip) as server:
        server.answer, server.piece = answer, alarm.piece
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(AgentlabError) as caught:
            provider_count.provider_count(ASK, f"{provider}:a model that drips {answer[1]!r}")
        server.shutdown()
    assert str(caught.value) == f"{provider} gave no count within 30 s; count offline, or try again"
    assert (alarm.seconds, alarm.cancelled) == (30.0, True)
