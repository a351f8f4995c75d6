"""What was kept of each piece: changing one leaves all others byte for byte as they came."""

import json

import pytest
from conversations import text
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.controls import CLEARED, ClearToolResults
from agentlab.messages.conversation import Request, ToolResult, UserMessage
from agentlab.messages.wire import from_wire, reply_from_wire, to_wire

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
contents = st.one_of(
    text,
    st.just([]),
    st.lists(st.just(IMAGE) | st.builds(lambda said: {"type": "text", "text": said}, text), min_size=1, max_size=3),
)
marks = st.sampled_from([{}, {"cache_control": {"type": "ephemeral"}}, {"is_error": False}, {"is_error": True}])
others = st.sampled_from([IMAGE, {"type": "text", "text": "And?"}, {"text": "odd order", "type": "text"}])


@st.composite
def bodies(draw):
    """A body with two rounds of several calls; results as a client may write them, with other blocks among them."""
    messages = [{"role": "user", "content": "?"}]
    for turn in range(2):
        ids = [f"t{turn}_{number}" for number in range(draw(st.integers(1, 4)))]
        calls = [{"type": "tool_use", "id": call_id, "name": "look", "input": {}} for call_id in ids]
        blocks = []
        for call_id in ids:
            block = {"type": "tool_result", "tool_use_id": call_id, "content": draw(contents), **draw(marks)}
            blocks.append(dict(reversed(block.items())) if draw(st.booleans()) else block)
            blocks += draw(st.lists(others, max_size=1))
        messages += [
            {"role": "assistant", "content": calls},
            draw(st.sampled_from([{"role": "user", "content": blocks}, {"content": blocks, "role": "user"}])),
        ]
    return {"max_tokens": 10, "messages": messages}


def places(body):
    return [
        (number, place)
        for number, message in enumerate(body["messages"])
        for place, block in enumerate(message["content"])
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]


@given(bodies(), st.data())
def test_changing_one_result_leaves_every_other_block_byte_for_byte_as_it_was(body, data):
    sent = json.loads(json.dumps(body))
    request = from_wire(sent, "anthropic")
    assert json.dumps(to_wire(request, "anthropic").body["messages"]) == json.dumps(body["messages"])
    results = [i for i, message in enumerate(request.messages) if isinstance(message, ToolResult)]
    chosen = data.draw(st.integers(0, len(results) - 1))
    messages = list(request.messages)
    messages[results[chosen]] = messages[results[chosen]].model_copy(update={"content": "another content"})
    written = to_wire(request.model_copy(update={"messages": tuple(messages)}), "anthropic").body["messages"]
    number, place = places(body)[chosen]
    changed = written[number]["content"][place]
    assert (changed["tool_use_id"], changed["content"]) == (
        f"t{(number - 2) // 2}_{chosen_in(body, chosen)}",
        "another content",
    )
    expected = json.loads(json.dumps(body["messages"]))
    expected[number]["content"][place] = changed
    assert [json.dumps(message["content"]) for message in written] == [json.dumps(m["content"]) for m in expected]
    assert written == expected


def chosen_in(body, chosen):
    """The number of a result within its own round."""
    number, _ = places(body)[chosen]
    return sum(1 for other, _ in places(body)[:chosen] if other == number)


def test_clearing_old_results_keeps_the_image_in_a_result_of_the_same_message():
    call = {"type": "tool_use", "name": "look", "input": {}}
    result = {"type": "tool_result", "content": [{"type": "text", "text": "seen"}, IMAGE]}
    last = {**result, "tool_use_id": "b", "cache_control": {"type": "ephemeral"}}
    body = {
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [{**call, "id": "a"}, {**call, "id": "b"}]},
            {"role": "user", "content": [{**result, "tool_use_id": "a"}, last, IMAGE]},
        ]
    }
    request = from_wire(body, "anthropic")
    cleared = request.model_copy(update={"messages": ClearToolResults(keep=1).apply(request.messages)})
    assert to_wire(cleared, "anthropic").body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": CLEARED},
        last,
        IMAGE,
    ]


def test_blocks_whose_message_lost_its_beginning_are_a_message_of_their_own():
    use = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "42"}
    content = [result, {"type": "text", "text": "Look:"}, IMAGE]
    body = {
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": content},
        ]
    }
    request = from_wire(body, "anthropic")
    trimmed = request.model_copy(update={"messages": (request.messages[0], request.messages[-1])})
    assert to_wire(trimmed, "anthropic").body["messages"] == [
        {"role": "user", "content": "?"},
        {"role": "user", "content": content[1:]},
    ]


CALLS = {
    "anthropic": lambda x: {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": x}, "caller": 1}],
    },
    "openai-responses": lambda x: {
        "type": "function_call",
        "id": "fc",
        "call_id": "a",
        "name": "f",
        "arguments": json.dumps({"x": x}),
    },
    "openai-chat": lambda x: {
        "role": "assistant",
        "content": None,
        "audio": {"id": "au"},
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": json.dumps({"x": x})}}],
    },
}


@pytest.mark.parametrize(("before", "after"), [(1, True), (True, 1), (1, 1.0), (0, False), (0.0, -0.0)])
@pytest.mark.parametrize("dialect", CALLS)
def test_what_was_kept_is_not_sent_when_a_number_became_a_truth_value_or_another_number(dialect, before, after):
    name = "input" if dialect == "openai-responses" else "messages"
    request = from_wire({name: [CALLS[dialect](before)]}, dialect)
    (message,) = request.messages
    assert message.raw is not None
    call = message.tool_calls[0].model_copy(update={"arguments": {"x": after}})
    changed = Request(messages=(message.model_copy(update={"tool_calls": (call,)}),))
    (read,) = from_wire(to_wire(changed, dialect).body, dialect).messages
    assert json.dumps(read.tool_calls[0].arguments) == json.dumps({"x": after})


@pytest.mark.parametrize(("before", "after"), [(1, True), (1, 1.0)])
def test_a_tool_that_was_kept_is_not_sent_when_its_schema_changed_in_kind_alone(before, after):
    given = {"name": "f", "input_schema": {"type": "object", "default": before}, "strict": True}
    request = from_wire({"messages": [], "tools": [given]}, "anthropic")
    assert to_wire(request, "anthropic").body["tools"] == [given]
    changed = request.tools[0].model_copy(update={"parameters": {"type": "object", "default": after}})
    (written,) = to_wire(request.model_copy(update={"tools": (changed,)}), "anthropic").body["tools"]
    assert json.dumps(written["input_schema"]) == json.dumps({"type": "object", "default": after})


def test_a_body_keeps_the_order_of_the_keys_in_what_its_own_writer_would_say_too():
    body = {
        "tool_choice": {"disable_parallel_tool_use": True, "type": "auto"},
        "tools": [{"input_schema": {"type": "object"}, "description": "", "name": "f"}],
        "messages": [{"content": "?", "role": "user"}],
    }
    back = to_wire(from_wire(body, "anthropic"), "anthropic").body
    for field, value in body.items():
        assert json.dumps(back[field]) == json.dumps(value)


def test_a_response_whose_texts_are_parted_by_a_search_goes_back_item_by_item():
    output = [
        {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"},
        {"type": "web_search_call", "id": "w1", "status": "completed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]},
    ]
    reply = reply_from_wire({"status": "completed", "output": output}, "openai-responses")
    request = Request(messages=(UserMessage(content="?"), reply.message))
    assert to_wire(request, "openai-responses").body["input"][1:] == output
    told = request.model_copy(update={"messages": (reply.message.model_copy(update={"content": "Lost."}),)})
    assert to_wire(told, "openai-responses").body["input"] == [{"role": "assistant", "content": "Lost."}]
