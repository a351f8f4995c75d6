"""What we write is of the official shape of each provider, and the loopback server knows one that is not."""

import pytest
from conversations import requests
from hypothesis import given
from official import violations

from agentlab.messages.wire import DIALECTS, to_wire

LEAST = {"anthropic": 1, "openai-chat": 1, "openai-responses": 16}
"""The fewest tokens of output that may be asked for."""


def sendable(request, dialect):
    """`request` with a model's limits, and without what no caller sends: a user who says nothing."""
    messages = [
        message.model_copy(update={"content": "?"}) if message.role == "user" and not message.content else message
        for message in request.messages
    ]
    limit = max(request.max_output_tokens or 0, LEAST[dialect])
    return request.model_copy(update={"messages": tuple(messages), "max_output_tokens": limit})


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request_=requests())
def test_every_request_that_we_write_is_of_the_official_shape(dialect, request_):
    assert violations({"model": "m", **to_wire(sendable(request_, dialect), dialect).body}, dialect) == []


USER = {"role": "user", "content": "?"}
CALL = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "42"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def anthropic(**changes):
    return {"model": "m", "max_tokens": 9, "messages": [USER], **changes}


def calling(call=CALL, result=RESULT):
    answer = {"role": "user", "content": [result]}
    return anthropic(messages=[USER, {"role": "assistant", "content": [call]}, answer])


def chat(*messages):
    return {"model": "m", "messages": [USER, *messages]}


def responses(**changes):
    return {"model": "m", "input": [USER], **changes}


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic", anthropic(tools=[{"name": "a.b", "input_schema": {"type": "object"}}])),
        ("anthropic", calling({**CALL, "input": "{}"})),
        ("anthropic", calling({**CALL, "id": "a:b"})),
        ("anthropic", calling({**CALL, "surprise": 1})),
        ("anthropic", calling(result={**RESULT, "is_error": "no"})),
        ("anthropic", anthropic(messages=[{"role": "tool", "content": "42"}])),
        ("anthropic", anthropic(messages=[{"role": "user", "content": None}])),
        ("anthropic", anthropic(max_tokens=-1)),
        ("anthropic", anthropic(max_tokens=True)),
        ("anthropic", anthropic(tools=[{"name": "look", "input_schema": {"type": "array"}}])),
        ("anthropic", {"model": "m", "messages": [USER]}),
        ("openai-chat", chat({"role": "assistant", "tool_calls": [{**CHAT_CALL, "function": {"name": "look"}}]})),
        (
            "openai-chat",
            chat({"role": "assistant", "tool_calls": [{**CHAT_CALL, "function": {"name": "x", "arguments": {}}}]}),
        ),
        ("openai-chat", chat({"role": "tool", "tool_call_id": "c1", "content": None})),
        ("openai-chat", chat({"role": "robot", "content": "x"})),
        ("openai-chat", {"model": "m", "messages": []}),
        ("openai-responses", responses(input=[{"type": "function_call_output", "output": "42"}])),
        (
            "openai-responses",
            responses(input=[{"type": "function_call", "name": "x", "arguments": {}, "call_id": "c"}]),
        ),
        ("openai-responses", responses(input=[{"type": "function_call_output", "call_id": "c" * 65, "output": ""}])),
        ("openai-responses", responses(max_output_tokens=1)),
        ("openai-responses", responses(tools=[{"type": "function", "name": "x", "strict": "yes"}])),
    ],
)
def test_a_request_of_another_shape_is_known(dialect, body):
    assert violations(body, dialect)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic", calling()),
        ("anthropic", anthropic(messages=[USER, {"role": "system", "content": "Newer than the specification."}])),
        ("openai-chat", chat({"role": "assistant", "tool_calls": [CHAT_CALL]})),
        ("openai-responses", responses(input=[{"type": "function_call_output", "call_id": "c", "output": "42"}])),
    ],
)
def test_a_request_of_the_right_shape_is_let_through(dialect, body):
    assert violations(body, dialect) == []
