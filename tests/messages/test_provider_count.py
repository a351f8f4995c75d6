"""The provider's own count: real SDKs over a real socket, to a server of this test on the loopback address."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agentlab.errors import AgentlabError
from agentlab.messages import provider_count as module
from agentlab.messages.conversation import AssistantMessage as Assistant
from agentlab.messages.conversation import Request, ToolCall, ToolResult, ToolSchema, UserMessage
from agentlab.messages.provider_count import provider_count, provider_of
from agentlab.messages.wire import from_wire

REQUEST = Request(
    system="Be brief.",
    tools=(ToolSchema(name="due", description="List what is due.", parameters={"type": "object"}),),
    messages=(
        UserMessage(content="What is due?"),
        Assistant(tool_calls=(ToolCall(id="call_1", name="due", arguments={"month": 11}),)),
        ToolResult(call_id="call_1", content="INV-7"),
    ),
    max_output_tokens=100,
)


class Provider:
    """Answers every count with ``answer``, and keeps what it was asked."""

    def __init__(self):
        self.asked = []
        self.answer = 200, {"input_tokens": 42}
        self.headers = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                provider.asked.append((self.path, self.headers, json.loads(body)))
                status, answer = provider.answer
                data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                for name, value in provider.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def provider(monkeypatch):
    provider = Provider()
    thread = threading.Thread(target=provider.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-for-the-loopback-server")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-loopback-server")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setattr(module, "_counted", {})
    yield provider
    provider.server.shutdown()
    thread.join()
    provider.server.server_close()


@pytest.mark.parametrize(
    ("model", "path", "fields"),
    [
        ("claude-opus-4-7", "/v1/messages/count_tokens", {"model", "system", "tools", "messages"}),
        ("openai:gpt-6-sol", "/v1/responses/input_tokens", {"model", "instructions", "tools", "input"}),
    ],
)
def test_the_whole_request_goes_to_the_endpoint_that_counts(provider, model, path, fields):
    counted = provider_count(REQUEST, model)
    assert (counted.value, counted.unit, counted.origin) == (42, "tokens", "measured")
    assert path in counted.source
    [(asked_path, headers, body)] = provider.asked
    assert asked_path == path
    assert headers["Authorization"] == "Bearer a-key-for-the-loopback-server"
    assert set(body) == fields
    assert body["model"] == model.removeprefix("openai:")
    dialect = "anthropic" if "messages" in fields else "openai-responses"
    assert from_wire(body, dialect).messages == REQUEST.messages
    assert from_wire(body, dialect).tools[0].name == "due"


def test_the_same_request_is_asked_for_once_and_another_again(provider):
    for _ in range(3):
        provider_count(REQUEST, "claude-opus-4-7")
    assert len(provider.asked) == 1
    provider_count(REQUEST, "claude-opus-5")
    provider_count(REQUEST.model_copy(update={"system": ""}), "claude-opus-5")
    assert len(provider.asked) == 3


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5.2"])
@pytest.mark.parametrize("status", [400, 429, 529])
def test_a_refusal_is_one_line_without_the_key_and_is_not_tried_again(provider, model, status):
    message = "no\nmore a-key-for-the-loopback-server"
    provider.answer = status, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    with pytest.raises(AgentlabError, match="gave no count") as refused:
        provider_count(REQUEST, model)
    assert "\n" not in str(refused.value)
    assert "a-key-for" not in str(refused.value)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5.2"])
@pytest.mark.parametrize("answer", [{}, {"input_tokens": None}, {"input_tokens": "42"}, {"input_tokens": True}])
def test_an_answer_without_a_count_is_said_and_not_kept(provider, model, answer):
    provider.answer = 200, answer
    with pytest.raises(AgentlabError, match="without a count"):
        provider_count(REQUEST, model)
    provider.answer = 200, {"input_tokens": 7}
    assert provider_count(REQUEST, model).value == 7


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5.2"])
def test_a_server_that_is_not_there_is_one_line(provider, monkeypatch, model):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    with pytest.raises(AgentlabError, match="gave no count"):
        provider_count(REQUEST, model)


def test_what_only_another_dialect_can_say_is_named_as_missing(provider):
    picture = {"role": "user", "content": [{"type": "text", "text": "See."}, {"type": "image_url", "image_url": {}}]}
    request = from_wire({"messages": [picture]}, "openai-chat")
    assert "without what only the original format can say" in provider_count(request, "gpt-5.2").source
    assert "without" not in provider_count(REQUEST, "gpt-5.2").source


def test_what_the_endpoint_does_not_take_is_named_and_not_sent(provider):
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    body = {"messages": [{"role": "user", "content": "So?"}], "thread": thread, "mcp_servers": None}
    counted = provider_count(from_wire(body, "anthropic"), "claude-opus-4-7")
    assert counted.source.endswith("; asked without thread")
    assert "thread" not in provider.asked[0][2]
    stored = {"input": "So?", "previous_response_id": "resp_1"}
    assert "asked without" not in provider_count(from_wire(stored, "openai-responses"), "gpt-5.2").source
    assert provider.asked[1][2]["previous_response_id"] == "resp_1"


def test_without_a_key_nothing_is_sent(provider, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(AgentlabError, match="ANTHROPIC_API_KEY"):
        provider_count(REQUEST, "claude-opus-4-7")
    assert provider.asked == []


@pytest.mark.parametrize(
    ("model", "whose"),
    [
        ("claude-opus-4-7", "anthropic"),
        ("anthropic:whatever", "anthropic"),
        ("gpt-6-sol", "openai"),
        ("o3-mini", "openai"),
        ("openai:whatever", "openai"),
        ("openai-chat:gpt-4o", "openai"),
    ],
)
def test_the_name_tells_whose_model_it_is(model, whose):
    assert provider_of(model) == whose


def test_a_name_that_does_not_tell_is_asked_about():
    with pytest.raises(AgentlabError, match="anthropic:llama or openai:llama"):
        provider_of("llama")


ODD = ["<html>", "[]", "[1]", "null", "", '{"input_tokens": 4', "[" * 100_000, '{"a":' * 600 + "1" + "}" * 600]
COUNTS = ("-1", "1" + "0" * 9, "9" * 400, "9" * 5_000, "1.5", "1e3")
NO_COUNTS = [f'{{"input_tokens": {count}}}' for count in COUNTS]


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5.2"])
@pytest.mark.parametrize("answer", ODD + NO_COUNTS, ids=range(len(ODD + NO_COUNTS)))
def test_an_answer_that_holds_no_believable_count_is_told_in_one_line(provider, model, answer):
    provider.answer = 200, answer
    with pytest.raises(AgentlabError, match="without a count") as refused:
        provider_count(REQUEST, model)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5.2"])
def test_a_redirect_is_not_followed(provider, model):
    provider.answer, provider.headers = (307, ""), {"location": f"{provider.url}/elsewhere"}
    with pytest.raises(AgentlabError, match="gave no count: it sends the request on to http"):
        provider_count(REQUEST, model)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("model", ["claude-opus-4-7", "gpt-5.2"])
def test_an_answer_that_cannot_be_unpacked_is_told_in_one_line(provider, model):
    provider.headers = {"content-encoding": "gzip"}
    with pytest.raises(AgentlabError, match="gave no count"):
        provider_count(REQUEST, model)
