"""Streams: their events add up to the reply that would have come in one piece, and nothing is guessed on the way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invoice_tool import Erp, post_call, run_posting
from loopback import KEY, NAMES, Events, Loopback, Status, as_events, set_keys

from agentlab.loop.machine import State
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import (
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolResult,
    ToolSchema,
    Usage,
    UserMessage,
)
from agentlab.messages.models import ModelError
from agentlab.messages.received import with_sendable_arguments
from agentlab.messages.streams import assembled
from agentlab.messages.wire import DIALECTS, WireError, reply_from_wire, reply_to_wire

LOOK = ToolSchema(name="look", description="", parameters={"type": "object"})
ASK = Request(tools=(LOOK,), messages=(UserMessage(content="What is x?"),))
END = Reply(content="done", stop=StopReason.END)

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
replies = st.builds(
    lambda content, calls, usage: Reply(
        content=content, tool_calls=calls, stop=StopReason.TOOL if calls else StopReason.END, usage=usage
    ),
    texts,
    st.lists(
        st.builds(
            ToolCall,
            id=st.uuids().map(str),
            name=st.just("look"),
            arguments=st.dictionaries(texts, st.integers() | texts, max_size=3) | st.sampled_from(["{", "[1]", "no"]),
        ),
        max_size=3,
    ).map(tuple),
    st.builds(Usage, input_tokens=st.integers(0, 99), output_tokens=st.integers(1, 99)),
)


def without_raw(reply):
    return reply.model_copy(update={"raw": None})


@each_dialect
@given(reply=replies)
def test_the_events_of_a_reply_add_up_to_that_reply(dialect, reply):
    body = reply_to_wire(reply, dialect, model="m")
    events = [event for event in as_events(body, dialect) if not isinstance(event, str)]
    whole = with_sendable_arguments(assembled(events, dialect), dialect)
    assert without_raw(reply_from_wire(whole, dialect)) == reply


@each_dialect
@given(reply=replies, data=st.data())
def test_a_stream_that_lacks_its_end_is_no_reply_wherever_it_was_cut(dialect, reply, data):
    body = reply_to_wire(reply, dialect, model="m")
    events = [event for event in as_events(body, dialect) if not isinstance(event, str)]
    ends = {
        "anthropic": lambda event: event["type"] == "message_stop",
        "openai-chat": lambda event: any(choice["finish_reason"] for choice in event["choices"]),
        "openai-responses": lambda event: event["type"] == "response.completed",
    }
    end = next(number for number, event in enumerate(events) if ends[dialect](event))
    with pytest.raises(WireError, match="ended before its reply did"):
        assembled(events[: data.draw(st.integers(0, end))], dialect)


def call_events(dialect, pieces, finish):
    """A stream with one call whose arguments arrive in these pieces, as each provider sends it."""
    if dialect == "anthropic":
        block = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
        return [
            {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            *[
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": piece},
                }
                for piece in pieces
            ],
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": {"call": "tool_use", "cut": "max_tokens"}[finish], "stop_sequence": None},
                "usage": {"output_tokens": 9},
            },
            {"type": "message_stop"},
        ]
    if dialect == "openai-chat":
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}}
        deltas = [{"role": "assistant", "tool_calls": [call]}]
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
        reason = {"call": "tool_calls", "cut": "length"}[finish]
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, "data: [DONE]\n\n"]
    item = {"type": "function_call", "id": "f", "call_id": "c1", "name": "look", "arguments": "".join(pieces)}
    response = {"id": "r", "object": "response", "output": [item], "status": "completed", "incomplete_details": None}
    if finish == "cut":
        item["status"] = "incomplete"
        response |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    kind = {"call": "response.completed", "cut": "response.incomplete"}[finish]
    deltas = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces]
    return [*deltas, {"type": kind, "response": response}]


@pytest.mark.parametrize(
    ("pieces", "finish", "arguments", "stop"),
    [
        ([], "call", {}, StopReason.TOOL),
        ([""], "call", {}, StopReason.TOOL),
        (['{"a"', ": 1}"], "call", {"a": 1}, StopReason.TOOL),
        (['{"path": "x", "te', 'xt": "he'], "cut", '{"path": "x", "text": "he', StopReason.LENGTH),
        (['{"path": "x"'], "cut", '{"path": "x"', StopReason.LENGTH),
        (["no ", "json"], "call", "no json", StopReason.TOOL),
        (['{"a": NaN}'], "call", '{"a": NaN}', StopReason.TOOL),
        (['{"a": 1e999}'], "call", '{"a": 1e999}', StopReason.TOOL),
        (["[1, 2]"], "call", "[1, 2]", StopReason.TOOL),
        (['{"a": 1, ', '"a": 2}'], "call", '{"a": 1, "a": 2}', StopReason.TOOL),
        (['{"n": 123456789012345678901}'], "call", {"n": 123456789012345678901}, StopReason.TOOL),
    ],
    ids=lambda value: None if isinstance(value, StopReason) else str(value)[:24],
)
@each_dialect
def test_arguments_are_what_arrived_and_never_a_part_of_it(dialect, pieces, finish, arguments, stop, monkeypatch):
    with Loopback([Events(call_events(dialect, pieces, finish)), END]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=True)
        reply = model.complete(ASK)
        assert (reply.tool_calls, reply.stop) == ((ToolCall(id="c1", name="look", arguments=arguments),), stop)
        assert (parse_arguments(arguments).values is None) is isinstance(arguments, str)
        # And it can be sent back: the server would refuse a body that is not of the official shape.
        result = ToolResult(call_id="c1", content="not run", is_error=True)
        model.complete(ASK.model_copy(update={"messages": (*ASK.messages, reply.message, result)}))


def test_the_sdk_makes_an_object_of_cut_arguments_and_drops_the_unfinished_key(monkeypatch):
    # Why the assembly is ours: the same stream through anthropic's own helper shows a call that the model never made.
    import anthropic

    set_keys(monkeypatch)
    events = call_events("anthropic", ['{"path": "x", "te', 'xt": "he'], "cut")
    with Loopback([Events(events)]) as server, anthropic.Anthropic(base_url=server.url, max_retries=0) as client:
        messages = [{"role": "user", "content": "?"}]
        with client.messages.stream(model="m", max_tokens=5, messages=messages) as stream:
            assert stream.get_final_message().content[0].input == {"path": "x"}
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


@each_dialect
def test_a_call_that_was_cut_is_not_run_though_its_arguments_are_whole(dialect, monkeypatch):
    erp = Erp()
    pieces = [json.dumps(post_call().arguments)]
    events = json.loads(json.dumps(call_events(dialect, pieces, "cut")).replace('"look"', '"erp_post_invoice"'))
    with Loopback([Events(events)]) as server:
        result = run_posting(server.model(NAMES[dialect], monkeypatch, stream=True), erp)
    assert (result.state, erp.posted) == (State.FAILED, [])
    assert "length" in result.reason


@each_dialect
def test_a_nan_is_refused_by_the_parser_and_told_to_the_model_which_may_mend_it(dialect, monkeypatch):
    erp = Erp()
    bad = '{"invoice_id": "INV-1", "amount_cents": NaN, "idempotency_key": "key-1"}'
    events = json.loads(json.dumps(call_events(dialect, [bad], "call")).replace('"look"', '"erp_post_invoice"'))
    mended = Reply(tool_calls=(post_call(2),), stop=StopReason.TOOL)
    with Loopback([Events(events), mended, END]) as server:
        result = run_posting(server.model(NAMES[dialect], monkeypatch, stream=True), erp)
    assert (result.state, len(erp.posted)) == (State.ANSWERED, 1)
    first = next(message for message in result.messages if message.role == "tool")
    assert first.is_error
    assert "NaN is not a JSON number" in first.content


@each_dialect
def test_a_stream_cut_in_its_middle_is_asked_for_again(dialect, monkeypatch):
    whole = call_events(dialect, ['{"a": 1}'], "call")
    cut = Events(whole[:1], cut=True)
    seen = []
    with Loopback([cut, cut, Events(whole)]) as server:
        reply = server.model(NAMES[dialect], monkeypatch, stream=True, on_exchange=seen.append).complete(ASK)
    assert reply.tool_calls[0].arguments == {"a": 1}
    events = [event for event in whole if not isinstance(event, str)]
    assert [exchange.received for exchange in seen] == [events[:1], events[:1], events]


@each_dialect
def test_a_stream_that_just_ends_is_no_reply(dialect, monkeypatch):
    with Loopback([Events(call_events(dialect, ["{}"], "call")[:1])]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=True)
        with pytest.raises(ModelError, match="sent what is no reply: the stream ended before its reply did"):
            model.complete(ASK)
    assert len(model.last_exchange.received) == 1


def error_event(dialect, kind):
    error = {"type": kind, "message": "It broke."}
    if dialect == "openai-responses":
        return {"type": "error", "code": kind, "message": "It broke.", "param": None, "sequence_number": 1}
    return {"type": "error", "error": error} if dialect == "anthropic" else {"error": {**error, "code": None}}


@each_dialect
def test_an_error_in_a_stream_is_tried_again_when_it_may_pass_and_told_when_not(dialect, monkeypatch):
    start = call_events(dialect, ["{}"], "call")[:1]
    may_pass = Events([*start, error_event(dialect, "overloaded_error")])
    final = Events([*start, error_event(dialect, "invalid_request_error")])
    with Loopback([may_pass, final]) as server, pytest.raises(ModelError, match=r"It broke\.") as caught:
        server.model(NAMES[dialect], monkeypatch, stream=True).complete(ASK)
    assert str(caught.value).endswith("gave up after 2 attempts")


@each_dialect
def test_an_error_status_before_the_stream_is_told_as_without_one(dialect, monkeypatch):
    with Loopback([Status(429, "Slow down.", "rate_limit_error"), END]) as server:
        assert server.model(NAMES[dialect], monkeypatch, stream=True).complete(ASK).content == "done"
    assert all(body["stream"] is True for body in server.bodies)


@each_dialect
def test_a_stream_of_no_json_is_no_reply(dialect, monkeypatch):
    with Loopback([Events(["event: message_start\ndata: {no json\n\n"])]) as server:
        model = server.model(NAMES[dialect], monkeypatch, stream=True)
        with pytest.raises(ModelError, match="sent what is no reply"):
            model.complete(ASK)


THINKING = {"type": "thinking", "thinking": "Hm, an x.", "signature": "c2lnbmVk"}
NEW = {"type": "brand_new_block", "payload": {"deep": [1, 2]}}


def test_thinking_and_unknown_blocks_survive_the_stream_and_go_back_to_the_letter(monkeypatch):
    body = reply_to_wire(Reply(content="So.", stop=StopReason.END), "anthropic", model="m")
    events = as_events({**body, "content": [{**THINKING, "signature": ""}, NEW, *body["content"]]}, "anthropic")
    signed = {"type": "signature_delta", "signature": THINKING["signature"]}
    stop = next(n for n, event in enumerate(events) if event["type"] == "content_block_stop")
    events.insert(stop, {"type": "content_block_delta", "index": 0, "delta": signed})
    events.insert(0, {"type": "from_the_future"})
    events.insert(4, {"type": "from_the_future", "index": 0})
    reply = reply_from_wire(assembled(events, "anthropic"), "anthropic")
    assert reply.content == "So."
    assert reply.raw.value[0]["content"] == [THINKING, NEW, {"type": "text", "text": "So."}]


def test_the_input_of_a_call_that_the_provider_runs_itself_goes_back_as_the_object_that_it_is(monkeypatch):
    events = call_events("anthropic", ['{"query": ', '"x"}'], "call")
    events[1]["content_block"] |= {"type": "server_tool_use", "name": "web_search"}
    with Loopback([Events(events)]) as server:
        reply = server.model("anthropic:test", monkeypatch, stream=True).complete(ASK)
    assert reply.tool_calls == ()
    block = {"type": "server_tool_use", "id": "c1", "name": "web_search", "input": {"query": "x"}}
    assert reply.raw.value == [{"role": "assistant", "content": [block]}]


def test_a_delta_of_an_unknown_type_is_no_reply_because_a_piece_would_be_missing():
    body = reply_to_wire(Reply(content="So.", stop=StopReason.END), "anthropic", model="m")
    events = as_events(body, "anthropic")
    events.insert(3, {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "piece": 1}})
    with pytest.raises(WireError, match="unknown type 'new_delta'"):
        assembled(events, "anthropic")


@pytest.mark.parametrize(
    ("dialect", "events"),
    [
        ("anthropic", [None]),
        ("anthropic", [{"type": "message_start", "message": "no"}]),
        ("anthropic", [{"type": "message_start", "message": {}}, {"type": "content_block_delta", "index": 3}]),
        ("anthropic", [{"type": "message_start", "message": {}}, {"type": "content_block_start", "index": "0"}]),
        ("openai-chat", ["text"]),
        ("openai-chat", [{"choices": "no"}]),
        ("openai-chat", [{"choices": [{"delta": {"tool_calls": [{"index": "one"}]}}]}]),
        ("openai-responses", [{"type": "response.completed"}]),
        ("openai-responses", [{"type": "response.completed", "response": []}]),
    ],
)
def test_events_of_another_kind_are_told_in_one_line(dialect, events):
    with pytest.raises(WireError) as caught:
        assembled(events, dialect)
    assert "\n" not in str(caught.value)


def test_a_server_that_repeats_the_name_of_a_call_or_leaves_out_its_number_is_understood():
    pieces = [
        {"id": "c1", "function": {"name": "look", "arguments": '{"a"'}},
        {"id": "c1", "function": {"name": "look", "arguments": ": 1}"}},
    ]
    chunks = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]
    body = assembled([*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}], "openai-chat")
    assert reply_from_wire(body, "openai-chat").tool_calls == (ToolCall(id="c1", name="look", arguments={"a": 1}),)


def chat_calls(*deltas):
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": calls}}]} for calls in deltas]
    body = assembled([*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}], "openai-chat")
    calls = body["choices"][0]["message"]["tool_calls"]
    return [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls]


def chat_call(id, arguments, **more):
    return {"id": id, "function": {"name": "look", "arguments": arguments}, **more}


def test_without_an_index_a_new_id_is_a_new_call():
    first, second = chat_call("c1", '{"a"'), chat_call("c2", '{"b"')
    more = {"function": {"arguments": ": 1}"}}
    both = [("c1", "look", '{"a": 1}'), ("c2", "look", '{"b": 1}')]
    assert chat_calls([first], [more], [second], [more]) == both
    assert chat_calls([first], [chat_call("c1", ": 1}")], [second], [chat_call("c2", ": 1}")]) == both
    assert chat_calls([first, second], [more, more]) == both
    assert chat_calls([chat_call("c1", "{}"), chat_call("c2", "{}")]) == [("c1", "look", "{}"), ("c2", "look", "{}")]


def test_arguments_that_come_as_an_object_are_written_as_json():
    assert chat_calls([chat_call("c1", {"x": True}, index=0)]) == [("c1", "look", '{"x": true}')]


def test_a_block_that_begins_twice_is_no_reply():
    events = call_events("anthropic", ['{"a": 1}'], "call")
    with pytest.raises(WireError, match="begins block 0 twice"):
        assembled([*events[:3], events[1], *events[3:]], "anthropic")
