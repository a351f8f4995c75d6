"""The live models: the real SDKs, over real sockets, at a strict server on this machine."""

import json
import logging
import subprocess
import sys
import time
import traceback

import pytest
from invoice_tool import CLERK, Clock, Erp, make_dispatcher, post_call
from loopback import KEY, NAMES, Body, Events, Hang, HangUp, Loopback, Status, set_keys

from agentlab.errors import AgentlabError
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.machine import State
from agentlab.messages.conversation import (
    AssistantMessage,
    Reply,
    Request,
    StopReason,
    SystemMessage,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSchema,
    Usage,
    UserMessage,
)
from agentlab.messages.live import MAX_OUTPUT_TOKENS, OpenAI, model_from
from agentlab.messages.models import ModelError
from agentlab.messages.received import read_json, with_sendable_arguments
from agentlab.messages.retries import Retries
from agentlab.messages.wire import DIALECTS, WireError, from_wire

ROOMY = Budgets(model_calls=20, tokens=1_000_000, seconds=1_000.0)
USAGE = Usage(input_tokens=120, output_tokens=12, cache_read_tokens=20, reasoning_tokens=2)
END = Reply(content="Posted.", stop=StopReason.END, usage=USAGE)
LOOK = ToolSchema(
    name="look",
    description="Look something up.",
    parameters={"type": "object", "properties": {"key": {"type": "string"}}},
)
ASK = Request(system="Be brief.", tools=(LOOK,), messages=(UserMessage(content="What is x?"),))

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
each_way = pytest.mark.parametrize("stream", [False, True], ids=["in-one-piece", "as-stream"])


def asks(*calls):
    return Reply(content="One moment.", tool_calls=calls, stop=StopReason.TOOL, usage=USAGE)


def run(model, dispatcher):
    return run_task(
        "Post the invoices.",
        system="You post invoices.",
        run_id="run-1",
        budgets=ROOMY,
        model=model,
        dispatcher=dispatcher,
        caller=CLERK,
        clock=Clock(),
    )


def no_sleep(seconds):
    pass


@each_way
@each_dialect
def test_one_tool_call_goes_end_to_end_through_the_loop(dialect, stream, monkeypatch):
    erp = Erp()
    with Loopback([asks(post_call(1)), END]) as server:
        result = run(server.model(NAMES[dialect], monkeypatch, stream=stream), make_dispatcher(erp=erp))
    assert (result.state, result.answer) == (State.ANSWERED, "Posted.")
    assert erp.posted == [post_call(1).arguments]
    assert (result.totals.input_tokens, result.totals.output_tokens) == (240, 24)
    assert [message.role for message in result.messages] == ["user", "assistant", "tool", "assistant"]


@each_dialect
def test_what_arrived_goes_back_to_the_letter_in_the_next_request(dialect, monkeypatch):
    with Loopback([asks(post_call(1)), END]) as server:
        model = server.model(NAMES[dialect], monkeypatch)
        exchanges = []
        model._options["on_exchange"] = exchanges.append
        run(model, make_dispatcher())
    first, second = exchanges
    field = "input" if dialect == "openai-responses" else "messages"
    history = second.sent[field][: len(first.sent[field])]
    assert history == first.sent[field]
    came = {
        "anthropic": lambda body: [{"role": "assistant", "content": body["content"]}],
        "openai-chat": lambda body: [{k: v for k, v in body["choices"][0]["message"].items() if v or k == "content"}],
        "openai-responses": lambda body: body["output"],
    }[dialect](first.received)
    assert second.sent[field][len(history) : len(history) + len(came)] == came


@each_way
@each_dialect
def test_parallel_calls_are_all_answered_at_once_and_an_error_is_told_as_one(dialect, stream, monkeypatch):
    erp = Erp()
    calls = (post_call(1), post_call(2, invoice_id=7), ToolCall(id="call_3", name="no_such_tool", arguments={}))
    with Loopback([asks(*calls), END]) as server:
        result = run(server.model(NAMES[dialect], monkeypatch, stream=stream), make_dispatcher(erp=erp))
    assert result.state is State.ANSWERED
    assert len(erp.posted) == 1
    assert [message.is_error for message in result.messages if message.role == "tool"] == [False, True, True]
    second = server.bodies[1]
    if dialect == "anthropic":
        results = second["messages"][-1]["content"]
        assert [(block["tool_use_id"], block.get("is_error", False)) for block in results] == [
            ("call_1", False),
            ("call_2", True),
            ("call_3", True),
        ]
    elif dialect == "openai-chat":
        results = second["messages"][-3:]
        assert [message["tool_call_id"] for message in results] == ["call_1", "call_2", "call_3"]
        assert [message["content"].startswith('{"error": ') for message in results] == [False, True, True]
    else:
        assert [item["call_id"] for item in second["input"][-3:]] == ["call_1", "call_2", "call_3"]


@each_dialect
def test_a_tool_whose_name_the_provider_refuses_is_called_by_its_alias_and_answered_by_its_name(dialect, monkeypatch):
    dotted = LOOK.model_copy(update={"name": "files.read"})
    request = ASK.model_copy(update={"tools": (dotted,)})

    def calls_what_it_was_shown(body):
        tool = body["tools"][0]
        name = tool.get("function", tool)["name"]
        assert "." not in name
        return asks(ToolCall(id="c1", name=name, arguments={}))

    with Loopback([calls_what_it_was_shown]) as server:
        reply = server.model(NAMES[dialect], monkeypatch).complete(request)
    assert reply.tool_calls[0].name == "files.read"


STOPS = {
    "anthropic": {
        "end_turn": StopReason.END,
        "stop_sequence": StopReason.END,
        "tool_use": StopReason.TOOL,
        "max_tokens": StopReason.LENGTH,
        "model_context_window_exceeded": StopReason.CONTEXT_FULL,
        "refusal": StopReason.REFUSAL,
        "pause_turn": StopReason.PAUSE,
        "compaction": StopReason.COMPACTION,
        "something_new": StopReason.UNKNOWN,
        None: StopReason.UNKNOWN,
    },
    "openai-chat": {
        "stop": StopReason.END,
        "tool_calls": StopReason.TOOL,
        "length": StopReason.LENGTH,
        "content_filter": StopReason.REFUSAL,
        "function_call": StopReason.UNKNOWN,
        "something_new": StopReason.UNKNOWN,
    },
    "openai-responses": {
        ("completed", None): StopReason.END,
        ("incomplete", "max_output_tokens"): StopReason.LENGTH,
        ("incomplete", "content_filter"): StopReason.REFUSAL,
        ("incomplete", "steered"): StopReason.UNKNOWN,
        ("cancelled", None): StopReason.UNKNOWN,
        ("something_new", None): StopReason.UNKNOWN,
    },
}


def body_that_ends(dialect, stop):
    text = {"type": "text", "text": "so far"}
    if dialect == "anthropic":
        return {"id": "m", "type": "message", "role": "assistant", "content": [text], "stop_reason": stop}
    if dialect == "openai-chat":
        return {"choices": [{"index": 0, "message": {"role": "assistant", "content": "so far"}, "finish_reason": stop}]}
    status, reason = stop
    item = {"type": "message", "role": "assistant", "content": [{**text, "type": "output_text"}]}
    return {"status": status, "incomplete_details": reason and {"reason": reason}, "output": [item]}


@pytest.mark.parametrize(
    ("dialect", "stop", "expected"), [(d, stop, reason) for d, rows in STOPS.items() for stop, reason in rows.items()]
)
def test_every_stop_of_a_provider_is_one_of_ours(dialect, stop, expected, monkeypatch):
    with Loopback([Body(body_that_ends(dialect, stop))]) as server:
        reply = server.model(NAMES[dialect], monkeypatch).complete(ASK)
    assert (reply.stop, reply.content) == (expected, "so far")


@each_dialect
def test_a_rate_limit_is_waited_out_as_asked_and_the_call_is_made_again(dialect, monkeypatch):
    waits = []
    slow = Status(429, "Slow down.", "rate_limit_error", {"retry-after": "7"})
    with Loopback([slow, Status(529, "Overloaded.", "overloaded_error"), HangUp(), END]) as server:
        model = server.model(NAMES[dialect], monkeypatch, retries=Retries(attempts=4, sleep=waits.append))
        assert model.complete(ASK).content == "Posted."
    assert waits == [7.0, 1.0, 2.0]
    assert server.bodies == [server.bodies[0]] * 4


@each_dialect
def test_it_gives_up_after_the_last_attempt_with_one_line(dialect, monkeypatch):
    with Loopback([Status(500, "Internal\nerror.", "api_error")] * 3) as server:
        model = server.model(NAMES[dialect], monkeypatch)
        with pytest.raises(ModelError) as caught:
            model.complete(ASK)
    assert str(caught.value) == (
        f"{NAMES[dialect]} answered 500 api_error: Internal error. (request req_1); gave up after 3 attempts"
    )
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@each_dialect
@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
def test_what_cannot_succeed_later_is_not_tried_again(dialect, code, monkeypatch):
    with Loopback([Status(code, "No.")]) as server, pytest.raises(ModelError, match=f"answered {code} some_error: No"):
        server.model(NAMES[dialect], monkeypatch).complete(ASK)


def test_the_provider_may_say_itself_whether_to_try_again(monkeypatch):
    final = Status(429, "Quota used up.", headers={"x-should-retry": "false"})
    with Loopback([final]) as server, pytest.raises(ModelError, match="Quota used up"):
        server.model("openai:test", monkeypatch).complete(ASK)


def test_a_wait_longer_than_the_longest_is_not_waited_for(monkeypatch):
    waits = []
    with Loopback([Status(429, "Later.", headers={"retry-after": "3600"})]) as server:
        model = server.model("anthropic:test", monkeypatch, retries=Retries(sleep=waits.append))
        with pytest.raises(ModelError, match="it asks to wait 3600 s, longer than 30 s"):
            model.complete(ASK)
    assert waits == []


@each_way
@each_dialect
def test_no_answer_in_time_is_a_model_error(dialect, stream, monkeypatch):
    with Loopback([Hang(), Hang()]) as server:
        model = server.model(
            NAMES[dialect], monkeypatch, stream=stream, timeout=0.2, retries=Retries(2, sleep=no_sleep)
        )
        with pytest.raises(ModelError, match=r"no answer within 0.2 s at 127.0.0.1; gave up after 2 attempts"):
            model.complete(ASK)
        assert (model.last_exchange.status, model.last_exchange.received) == (None, None)


@each_dialect
def test_a_refused_connection_is_a_model_error_and_ends_the_run_as_failed(dialect, monkeypatch):
    with Loopback([]) as server:
        model = server.model(NAMES[dialect], monkeypatch)
    result = run(model, make_dispatcher())
    assert result.state is State.FAILED
    assert "no connection ([Errno 111] Connection refused) at 127.0.0.1; gave up after 3 attempts" in result.reason


GARBAGE = [
    Body("<html>Bad gateway</html>", "text/html"),
    Body("", "application/json"),
    Body("null", "application/json"),
    Body("[]", "application/json"),
    Body("{}", "application/json"),
    Body('{"content": [{"type": "tool_use", "id": 5}], "choices": [{}], "output": [5]}', "application/json"),
    Body('{"content": {"a": 1}, "choices": "no", "output": null}', "application/json"),
    Body(
        '{"content": [], "content": [], "choices": [], "choices": [], "output": [], "output": []}', "application/json"
    ),
    Body('{"content": [], "choices": [], "output": [], "usage": NaN}', "application/json"),
    Body("[" * 100_000, "application/json"),
    Body('{"content": [{"type"', "application/json"),
    Body({"content": [{"type": "text", "text": "\ud83d"}], "choices": [{"x": "\ud83d"}], "output": [{"x": "\ud83d"}]}),
]


@each_dialect
@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_a_reply_that_is_none_is_told_in_one_line_and_not_asked_for_again(dialect, garbage, monkeypatch):
    with Loopback([garbage]) as server:
        model = server.model(NAMES[dialect], monkeypatch)
        with pytest.raises(ModelError, match="sent what is no reply") as caught:
            model.complete(ASK)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert model.last_exchange.model_dump_json()


@pytest.mark.parametrize(
    ("sent", "arguments"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("no json", "no json"),
        (None, {}),
        ([1], "[1]"),
        ("", {}),
        (5, "5"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ({"a": "\ud83d"}, '{"a": "\\ud83d"}'),
    ],
)
@each_dialect
def test_arguments_of_the_wrong_kind_are_kept_and_can_be_sent_back(dialect, sent, arguments, monkeypatch):
    call = {"id": "c1", "name": "look"}
    body = {
        "content": [{"type": "tool_use", **call, "input": sent}],
        "stop_reason": "tool_use",
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": sent}}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "status": "completed",
        "output": [{"type": "function_call", "id": "f", "call_id": "c1", "name": "look", "arguments": sent}],
    }
    mine = {
        "anthropic": ("content", "stop_reason"),
        "openai-chat": ("choices",),
        "openai-responses": ("status", "output"),
    }
    with Loopback([Body({field: body[field] for field in mine[dialect]}), END]) as server:
        model = server.model(NAMES[dialect], monkeypatch)
        reply = model.complete(ASK)
        assert reply.tool_calls == (ToolCall(id="c1", name="look", arguments=arguments),)
        result = ToolResult(call_id="c1", content="no", is_error=True)
        model.complete(ASK.model_copy(update={"messages": (*ASK.messages, reply.message, result)}))


def test_a_response_that_failed_inside_is_a_model_error(monkeypatch):
    failed = {"status": "failed", "output": [], "error": {"code": "server_error", "message": "It broke."}}
    refused = {**failed, "error": {"code": "bad_image", "message": "Not an image"}}
    with Loopback([Body(failed), Body(refused)]) as server, pytest.raises(ModelError, match="failed: Not an image"):
        server.model("openai:test", monkeypatch).complete(ASK)
    assert len(server.seen) == 2  # a failure of the server may pass, one of the request does not


FULL = Request(
    system="Be brief.",
    tools=(LOOK,),
    messages=(
        UserMessage(content="What is x?"),
        AssistantMessage(tool_calls=(ToolCall(id="c1", name="look", arguments={"key": "x"}),)),
        ToolResult(call_id="c1", content="42"),
        SystemMessage(content="Answer in German."),
    ),
    tool_choice=ToolChoice(mode="auto"),
    parallel_tool_calls=False,
    max_output_tokens=99,
)


@each_way
@each_dialect
def test_the_exchange_shows_what_was_sent_and_what_came_back(dialect, stream, monkeypatch):
    with Loopback([END]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=stream)
        model.complete(FULL)
    exchange = model.last_exchange
    assert exchange.sent == server.bodies[0] == model.body(FULL)
    assert (exchange.method, exchange.status) == ("POST", 200)
    assert exchange.path.endswith(("/v1/messages", "/v1/chat/completions", "/v1/responses"))
    assert exchange.headers["authorization"] == "Bearer [key]"
    assert isinstance(exchange.received, list) is stream


def test_anthropic_is_given_a_limit_where_the_request_has_none(monkeypatch):
    with Loopback([END] * 3) as server:
        server.model("anthropic:test", monkeypatch).complete(ASK)
        server.model("anthropic:test", monkeypatch, max_output_tokens=5).complete(ASK)
        server.model("anthropic:test", monkeypatch, max_output_tokens=5).complete(FULL)
    assert [body["max_tokens"] for body in server.bodies] == [MAX_OUTPUT_TOKENS, 5, 99]


def test_a_request_from_a_file_is_sent_to_the_model_at_hand_in_its_own_way_and_with_no_state_at_the_server(monkeypatch):
    body = {"model": "other", "stream": True, "store": True, "input": "What is x?", "max_output_tokens": 50}
    with Loopback([END]) as server:
        server.model("openai:test", monkeypatch).complete(from_wire(body, "openai-responses"))
    sent = server.bodies[0]
    assert (sent["model"], sent["store"], sent["input"], sent["max_output_tokens"]) == ("test", False, "What is x?", 50)
    assert "stream" not in sent


def test_no_sdk_is_loaded_before_a_model_is_called():
    code = "import sys, agentlab.messages.live, agentlab.messages.recorded; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "agentlab.messages.attempt" in loaded
    assert not {"anthropic", "openai", "httpx2", "jsonschema_rs"} & set(loaded)


def test_a_setting_that_the_sdk_refuses_is_told_in_one_line(monkeypatch):
    import openai

    def refuses(**settings):
        raise openai.OpenAIError("Two settings contradict each other.")

    set_keys(monkeypatch)
    monkeypatch.setattr(openai, "OpenAI", refuses)
    with pytest.raises(ModelError, match=r"^openai:test Two settings contradict each other\.$"):
        model_from("openai:test").complete(ASK)


def test_extra_fields_are_added_and_may_replace_ours(monkeypatch):
    with Loopback([END]) as server:
        server.model("openai:test", monkeypatch, extra={"include": [], "reasoning": {"effort": "low"}}).complete(ASK)
    assert (server.bodies[0]["include"], server.bodies[0]["reasoning"]) == ([], {"effort": "low"})


def test_a_request_that_no_json_can_hold_is_refused_before_it_is_sent(monkeypatch):
    half = Request(messages=(UserMessage(content="\ud83d"),))
    with Loopback([]) as server, pytest.raises(ModelError, match="the request is no JSON that can be sent"):
        server.model("anthropic:test", monkeypatch).complete(half)


@each_way
@each_dialect
@pytest.mark.parametrize(
    "answer",
    [
        Reply(content=f"Your key is {KEY}.", stop=StopReason.END),
        Status(401, f"Incorrect API key provided: {KEY}.", KEY),
        Body({"error": KEY}),
        Body(KEY, "text/plain"),
        Events([{"type": "error", "error": {"type": KEY, "message": f"bad key {KEY}"}, "message": KEY, "code": KEY}]),
        HangUp(),
    ],
    ids=["reply", "status", "body", "text", "events", "hang-up"],
)
def test_the_key_is_in_nothing_that_can_be_seen(dialect, stream, answer, monkeypatch, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    seen = []
    with Loopback([answer] * 3) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=stream, on_exchange=seen.append)
        server._answers = server._answers[: 3 if isinstance(answer, HangUp) else 1]
        try:
            seen.append(model.complete(ASK))
        except ModelError as error:
            seen += [str(error), repr(error), *traceback.format_exception(error), error.__cause__, error.__context__]
    texts = [repr(model), repr(vars(model)), str(model), caplog.text, *map(repr, seen), *capfd.readouterr()]
    texts += [exchange.model_dump_json() for exchange in seen if hasattr(exchange, "sent")]
    assert not [text for text in texts if KEY in text]
    assert any(hasattr(exchange, "sent") for exchange in seen)


def test_a_key_in_the_conversation_itself_is_sent_and_not_shown(monkeypatch):
    with Loopback([END]) as server:
        model = server.model("anthropic:test", monkeypatch)
        model.complete(Request(messages=(UserMessage(content=f"Is {KEY} my key?"),)))
    assert server.bodies[0]["messages"][0]["content"] == f"Is {KEY} my key?"
    assert model.last_exchange.sent["messages"][0]["content"] == "Is [key] my key?"


def test_a_short_stand_in_for_a_key_hides_nothing(monkeypatch):
    with Loopback([]) as server:
        model = server.model("openai-chat:test", monkeypatch)
    set_keys(monkeypatch, "x")
    with pytest.raises(ModelError, match="openai-chat:test no connection"):
        model.complete(ASK)
    assert model.last_exchange.sent["messages"][-1]["content"] == "What is x?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("claude-sonnet-5", "names no model; write anthropic:NAME, openai:NAME or openai-chat:NAME"),
        ("google:gemini", "names no model"),
        ("", "names no model"),
        (":x", "names no model"),
        ("anthropic:", "needs the name of a model; write anthropic:NAME"),
        ("openai-chat: ", "needs the name of a model; write openai-chat:NAME"),
    ],
)
def test_a_bad_name_is_one_line_with_the_way_out(text, said, monkeypatch):
    set_keys(monkeypatch)
    with pytest.raises(AgentlabError, match=said):
        model_from(text)


@pytest.mark.parametrize(
    ("name", "variable"),
    [("anthropic:m", "ANTHROPIC_API_KEY"), ("openai:m", "OPENAI_API_KEY"), ("openai-chat:m", "OPENAI_API_KEY")],
)
def test_a_missing_key_is_one_line_that_names_its_variable(name, variable, monkeypatch):
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(AgentlabError, match=f"there is no key: set {variable} in the environment"):
        model_from(name)
    monkeypatch.setenv(variable, "sk-one two")
    with pytest.raises(AgentlabError, match=f"^{variable} holds a space") as caught:
        model_from(name)
    assert "sk-one" not in str(caught.value)


@pytest.mark.parametrize("name", ["anthropic:m", "openai:m"])
def test_a_missing_sdk_is_one_line_that_names_the_extra(name, monkeypatch):
    set_keys(monkeypatch)
    monkeypatch.setattr("agentlab.messages.live.find_spec", lambda name: None)
    with pytest.raises(AgentlabError, match=r"pip install 'agentlab-toolkit\[providers\]'"):
        model_from(name)


def test_a_bad_address_is_one_line(monkeypatch):
    set_keys(monkeypatch)
    with pytest.raises(AgentlabError, match="it begins with http:// or https://"):
        OpenAI("m", base_url="localhost:8080")


def test_the_server_fails_the_test_of_a_client_that_breaks_a_rule(monkeypatch):
    orphan = Request(messages=(UserMessage(content="?"), ToolResult(call_id="c9", content="42")))
    for name in NAMES.values():
        with pytest.raises(AssertionError, match="the server refused a request"), Loopback([END]) as server:
            server.model(name, monkeypatch).complete(orphan)
        assert json.dumps(server.bodies[0])
    with pytest.raises(AssertionError, match="max_tokens"), Loopback([END]) as server:
        server.model("anthropic:test", monkeypatch, extra={"max_tokens": -1}).complete(ASK)
    with pytest.raises(AssertionError, match="1 answers were never asked for"), Loopback([END]):
        pass


@each_way
@each_dialect
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_told_in_one_line(dialect, stream, code, monkeypatch):
    with Loopback([]) as other:
        moved = Body("", headers={"location": f"{other.url}/v1/messages"}, code=code)
        with Loopback([moved]) as server:
            model = server.model(NAMES[dialect], monkeypatch, stream=stream)
            with pytest.raises(ModelError) as caught:
                model.complete(ASK)
        assert other.seen == []
    assert model.last_exchange.status == code
    assert str(caught.value).startswith(f"{NAMES[dialect]} answered {code}: it sends the request on to {other.url}/")
    assert "\n" not in str(caught.value)


def deep(levels):
    return '{"a":' * levels + "1" + "}" * levels


HOSTILE = {
    **{f"deep-{levels}": Body(f'{{"x": {deep(levels)}}}') for levels in (600, 900, 3_000, 20_000)},
    **{f"deep-error-{levels}": Body(f'{{"error": {deep(levels)}}}', code=400) for levels in (600, 900, 20_000)},
    "deep-event": Events([f"event: message_start\ndata: {deep(600)}\n\n"]),
    "deeper-event": Events([f"event: message_start\ndata: {deep(20_000)}\n\n"]),
    "type-of-error": Body({"error": {"type": {"a": 1}, "code": [1]}}, code=400),
    "type-of-event": Events([{"type": "error", "error": {"type": {"a": 1}}, "code": {"a": 1}}]),
    "no-gzip": Body("no gzip", headers={"content-encoding": "gzip"}),
    "no-utf-8": Body('{"x": "\udcff"}'),
    **{
        f"charset-{charset}-{code}": Body("{}", f"application/json; charset={charset}", code=code)
        for charset in ("hex", "zlib", "rot13", "idna", "punycode", "utf-16")
        for code in (200, 400)
    },
}


@each_way
@each_dialect
@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_is_a_model_error_in_one_line(dialect, stream, answer, monkeypatch):
    with Loopback([answer]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=stream, retries=Retries(1))
        with pytest.raises(ModelError) as caught:
            model.complete(ASK)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert model.last_exchange.model_dump_json()


def test_a_block_whose_type_is_no_text_is_no_call():
    body = {"content": [{"type": []}, {"type": {"a": 1}}]}
    assert with_sendable_arguments(body, "anthropic") == body


@pytest.mark.parametrize("attempts", [0, -1, 1])
def test_without_an_attempt_too_many_it_ends_after_the_first(attempts, monkeypatch):
    with Loopback([Status(500, "No.")]) as server, pytest.raises(ModelError, match="answered 500"):
        server.model("openai:test", monkeypatch, retries=Retries(attempts, sleep=no_sleep)).complete(ASK)


def test_a_key_written_twice_is_found_in_a_large_object_at_once():
    text = "{" + ", ".join(f'"k{number}": 1' for number in range(50_000)) + ', "k49999": 2}'
    start = time.perf_counter()
    with pytest.raises(WireError, match="the key 'k49999' is written twice"):
        read_json(text)
    assert time.perf_counter() - start < 5
