"""The laws of the wire formats, over random conversations."""

import json

import pytest
from conversations import requests
from hypothesis import given
from hypothesis import strategies as st

from agentlab.messages.conversation import (
    AssistantMessage,
    Reply,
    Request,
    StopReason,
    SystemMessage,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from agentlab.messages.wire import DIALECTS, convert, from_wire, reply_from_wire, reply_to_wire, to_wire

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def core(request):
    """What must survive any way: who said what, which calls with which arguments, which results."""
    return [message.model_dump(exclude={"raw"}) for message in request.messages]


@each_dialect
@given(request=requests())
def test_a_request_survives_the_way_to_the_wire_and_back(dialect, request):
    wire = to_wire(request, dialect)
    on_the_wire = json.loads(json.dumps(wire.body))
    assert from_wire(on_the_wire, dialect, wire.aliases) == request


@each_dialect
@given(request=requests())
def test_writing_what_was_read_gives_the_same_json(dialect, request):
    body = to_wire(request, dialect).body
    assert to_wire(from_wire(body, dialect), dialect).body == body


@pytest.mark.parametrize("there", DIALECTS)
@each_dialect
@given(request=requests())
def test_the_way_through_another_dialect_keeps_calls_results_and_order(dialect, there, request):
    first = to_wire(request, there)
    second = to_wire(from_wire(first.body, there, first.aliases), dialect)
    assert core(from_wire(second.body, dialect, second.aliases)) == core(request)


@pytest.mark.parametrize("there", DIALECTS)
@each_dialect
@given(request=requests())
def test_converting_bodies_there_and_back_keeps_the_conversation_but_for_names(dialect, there, request):
    body = to_wire(request, dialect).body
    back = convert(convert(body, dialect, there).body, there, dialect).body
    kinds = [
        [(m.role, getattr(m, "is_error", None), m.content) for m in from_wire(b, dialect).messages]
        for b in (body, back)
    ]
    assert kinds[0] == kinds[1]


replies = st.builds(
    lambda content, calls, stop, usage: Reply(
        content=content,
        tool_calls=calls,
        stop=StopReason.TOOL if calls and stop is StopReason.END else stop,
        usage=usage,
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    st.lists(
        st.builds(
            ToolCall,
            id=st.uuids().map(str),
            name=st.sampled_from(["a", "b.c", "d" * 99]),
            arguments=st.dictionaries(st.text("abc"), st.integers() | st.text("xyz")) | st.just("{broken"),
        ),
        max_size=3,
    ).map(tuple),
    st.sampled_from([StopReason.END, StopReason.LENGTH, StopReason.REFUSAL]),
    st.none()
    | st.builds(
        lambda fresh, read, written, out: Usage(
            input_tokens=fresh + read + written, output_tokens=out, cache_read_tokens=read, cache_write_tokens=written
        ),
        *[st.integers(0, 10_000)] * 4,
    ),
)


@each_dialect
@given(reply=replies)
def test_a_reply_survives_the_way_to_the_wire_and_back(dialect, reply):
    wire = to_wire(Request(messages=(UserMessage(content="?"), reply.message)), dialect)
    body = reply_to_wire(reply, dialect, model="m", aliases=wire.aliases)
    read = reply_from_wire(json.loads(json.dumps(body)), dialect, wire.aliases)
    assert read.model_copy(update={"raw": None}) == reply


@each_dialect
@given(reply=replies)
def test_a_reply_goes_into_the_next_request_as_it_came(dialect, reply):
    body = reply_to_wire(reply, dialect, model="m")
    read = reply_from_wire(body, dialect)
    request = Request(messages=(UserMessage(content="?"), read.message))
    wire = to_wire(request, dialect)
    assert core(from_wire(wire.body, dialect, wire.aliases)) == core(request)


@given(requests())
def test_an_instruction_in_the_middle_is_never_taken_for_the_system_prompt(request):
    moved = request.model_copy(update={"system": "", "messages": (SystemMessage(content="mind"), *request.messages)})
    for dialect in DIALECTS:
        wire = to_wire(moved, dialect)
        assert from_wire(wire.body, dialect, wire.aliases) == moved


def test_two_assistant_messages_in_a_row_stay_two():
    call = ToolCall(id="c", name="look", arguments={})
    messages = (
        UserMessage(content="?"),
        AssistantMessage(content="wait"),
        AssistantMessage(tool_calls=(call,)),
        ToolResult(call_id="c", content="42"),
        AssistantMessage(content=""),
        AssistantMessage(content="42"),
    )
    for dialect in DIALECTS:
        wire = to_wire(Request(messages=messages), dialect)
        assert from_wire(wire.body, dialect).messages == messages
