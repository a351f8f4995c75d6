"""Random conversations as real ones are built: a task, then calls with all their results, texts, instructions."""

from hypothesis import strategies as st

from agentlab.messages.conversation import (
    AssistantMessage,
    Request,
    SystemMessage,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSchema,
    UserMessage,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# Among them what looks like our own spelling of an error, so that nothing rests on luck.
contents = text | st.sampled_from(
    ["", '{"error": "x"}', ' {"error": "x"}', '{"error":"x"}', '{"error": 1}', "Error: no", '{"error": "\\u00e9"}']
)
names = st.sampled_from(["look", "post", "files.read", "files_read", "a" * 70, "b" * 130, "ü", "x y"]) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(text, json_values, max_size=3)
unparsable = st.sampled_from(["{", "[1]", "null", '{"a": NaN}', '{"a": 1, "a": 2}', '"{}"', "no json"])
arguments = objects | unparsable | st.just({"_unparsed_arguments": "{"}) | st.just({"_unparsed_arguments": {"a": 1}})


@st.composite
def requests(draw):
    """A request that every provider takes, but for who says nothing: each call answered at once, ids unique, a choice
    among the tools. `spoken` is without the empty messages."""
    messages = [UserMessage(content=draw(contents))]
    ids = iter(
        draw(
            st.lists(
                st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50) | st.uuids().map(str),
                min_size=12,
                max_size=12,
                unique=True,
            )
        )
    )
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            calls = tuple(
                ToolCall(id=next(ids), name=draw(names), arguments=draw(arguments))
                for _ in range(draw(st.integers(1, 3)))
            )
            messages.append(AssistantMessage(content=draw(contents), tool_calls=calls))
            messages += [
                ToolResult(call_id=call.id, content=draw(contents), is_error=draw(st.booleans())) for call in calls
            ]
            if draw(st.booleans()):
                messages.append(UserMessage(content=draw(contents)))
        else:
            messages.append(AssistantMessage(content=draw(contents)))
            messages.append(draw(st.builds(UserMessage, content=contents) | st.builds(SystemMessage, content=contents)))
    tools = tuple(
        ToolSchema(name=name, description=draw(contents), parameters={"type": "object", "properties": draw(objects)})
        for name in draw(st.lists(names, max_size=3, unique=True))
    )
    choices = [ToolChoice(mode=mode) for mode in ("auto", "any", "none") if tools]
    choices += [ToolChoice(mode="tool", name=tool.name) for tool in tools]
    return Request(
        system=draw(contents),
        tools=tools,
        messages=tuple(messages),
        tool_choice=draw(st.sampled_from([None, *choices])),
        max_output_tokens=draw(st.none() | st.integers(16, 9_999)),
    )


def spoken():
    """As `requests`, where everyone says something: an empty message is refused by Anthropic."""
    return requests().map(
        lambda request: request.model_copy(update={"messages": tuple(_said(message) for message in request.messages)})
    )


def _said(message):
    silent = not message.content and not getattr(message, "tool_calls", ()) and message.role != "tool"
    return message.model_copy(update={"content": "?"}) if silent else message
