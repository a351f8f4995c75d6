"""The rules on tools, schemas and fields, against the official shapes, the SDKs, and bodies that are written."""

import json
from typing import Literal

import pydantic
import pytest
from conversations import json_values, spoken
from hypothesis import given
from hypothesis import strategies as st
from official import violations
from pairing_cases import (
    PAIR,
    TASK,
    A,
    C,
    R,
    assistant,
    chat_calls,
    chat_result,
    flat,
    function,
    item,
    output,
    result,
    say,
    search,
    tool,
    use,
    user,
)
from raw_bodies import BODIES
from request_cases import OBJECT, choosing, nested, of, strict, without

from agentlab.errors import AgentlabError
from agentlab.messages.pairing import check
from agentlab.messages.pairing.fields import OF_ANOTHER
from agentlab.messages.wire import DIALECTS, to_wire


def musts(body, dialect, **options):
    return sorted({f.rule for f in check(body, dialect, **options) if f.level == "must"})


# What we write, and what real clients write


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=spoken(), limit=st.integers(16, 9_999))
def test_what_we_write_passes_our_own_check_as_a_whole(dialect, request, limit):
    body = to_wire(request.model_copy(update={"max_output_tokens": limit}), dialect).body
    assert check({"model": "m", **body}, dialect) == []
    assert [(f.rule, f.where) for f in check(body, dialect, whole=True)] == [("B9", "model")]


LACKS = {
    ("anthropic", "everything"): [],
    # An assistant message without content.
    ("anthropic", "plain"): ["M6"],
    # The user's text stands before the result, and there is no limit.
    ("anthropic", "results"): ["A3", "B1"],
    ("anthropic", "blocks alone"): ["B1"],
    ("openai-chat", "everything"): [],
    # An empty list of calls.
    ("openai-chat", "arguments"): ["M6"],
    ("openai-chat", "tools of one name"): [],
    ("openai-responses", "text"): [],
    ("openai-responses", "everything"): [],
    ("openai-responses", "plain"): [],
}
"""The rules that these bodies break, which were written to be odd."""


@pytest.mark.parametrize(("dialect", "name", "body"), BODIES)
def test_the_raw_bodies_break_no_rule_but_those_that_are_known(dialect, name, body):
    assert musts({"model": "m", **body}, dialect) == LACKS[dialect, name]


# The official shapes

ASK = {A: {"model": "m", "max_tokens": 9, "messages": [TASK]}, C: {"model": "m", "messages": [say()]},
       R: {"model": "m", "input": "x"}}  # fmt: skip


def asking(dialect, **fields):
    return {**ASK[dialect], **fields}


SAID = {"type": "text", "text": "x"}
ANSWERED = {**result("a"), "is_error": False}
SHAPES = [
    *[(d, asking(d, tools=[one])) for d in DIALECTS for one in (tool("f"), function("f"), nested())],
    *[(d, asking(d, tools=[tool("f", type=None)])) for d in DIALECTS],
    *[(d, asking(d, tools=[one])) for d in (A, C) for one in (flat("f"), {"name": "f"}, {"type": "function"})],
    *[(A, asking(A, tools=[tool("f", input_schema=s)])) for s in (None, "{}", [], {}, {"type": "array"}, OBJECT)],
    *[(A, asking(A, tools=[one])) for one in (tool("f", type="custom"), without(tool("f"), "name"), tool(5))],
    *[(A, asking(A, tools=[one])) for one in ({"type": "bash_20250124", "name": "bash"}, tool("f", parameters={}))],
    *[(C, asking(C, tools=[nested(parameters=s)])) for s in (None, "{}", [], {}, OBJECT)],
    *[(C, asking(C, tools=[one])) for one in ({"type": "custom", "custom": {"name": "f"}}, {"type": "custom"})],
    *[(C, asking(C, tools=[one])) for one in ({"type": "web_search"}, {"type": "function", "function": {}})],
    *[(R, asking(R, tools=[flat("f", strict=False, parameters=s)])) for s in (None, "{}", [], OBJECT)],
    *[(R, asking(R, tools=[one])) for one in ({"type": "custom", "name": "f"}, {"type": "custom"}, {"name": "f"})],
    *[
        (d, asking(d, tools=[t], tool_choice=choice))
        for d, t in ((A, tool("f")), (C, function("f")), (R, flat("f", strict=False)))
        for choice in (
            "auto", "none", "required", "any", 5, {}, {"type": "auto"}, {"type": "any"}, {"type": "none"},
            {"type": "tool"}, {"type": "tool", "name": "f"}, {"type": "function", "name": "f"}, {"type": "function"},
            {"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "f"}},
            {"type": "allowed_tools"}, {"type": "allowed_tools", "mode": "auto", "tools": []},
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, {"type": "tarot"},
            {"type": "mcp"}, {"type": "mcp", "server_label": "s"}, {"type": "code_interpreter"},
        )
    ],
    *[(A, {**ASK[A], "max_tokens": limit}) for limit in (0, 9, -1, "9", 1.5, True, None)],
    (A, without(ASK[A], "max_tokens")),
    *[(A, asking(A, **{field: True})) for field in ("disable_parallel_tool_use", "parallel_tool_calls")],
    *[(A, asking(A, messages=[{"role": role, "content": "x"}])) for role in ("user", "tool", "developer", 5, None)],
    *[(C, asking(C, messages=[{"role": role, "content": "x"}])) for role in ("user", "developer", "robot", 5, None)],
    (C, asking(C, messages=[{"role": "function", "name": "f", "content": None}])),
    (C, asking(C, messages=[{"role": "function", "content": "x"}])),
    (C, asking(C, messages=[])),
    (C, asking(C, messages=[say(), 5])),
    *[
        (C, asking(C, messages=[say(), chat_calls("a"), chat_result("a", content)]))
        for content in (
            "",
            [],
            [{"type": "text", "text": ""}],
            [{"type": "text"}],
            [{"type": "image_url", "image_url": {"url": "u"}}],
        )
    ],
    (A, asking(A, messages=[TASK, assistant(use("a")), user(ANSWERED)])),
    *[(d, {**ASK[d], "model": model}) for d in (A, C) for model in (None, 5, "")],
    *[(A, asking(A, system=system)) for system in (5, None, "", [], {}, ["x"], [{}], [SAID], [{**SAID, "text": ""}])],
    *[(A, asking(A, **{field: "x"})) for field in OF_ANOTHER[A]],
    *[(A, asking(A, messages=[TASK, {**TASK, field: None}])) for field in ("id", "name", "usage", "model")],
    *[
        (A, asking(A, messages=[TASK, assistant(part, use("a")), user(result("a"))]))
        for part in (
            SAID, {**SAID, "text": ""}, {"type": "thinking", "thinking": "x"}, {"type": "redacted_thinking"},
            {"type": "thinking", "thinking": "x", "signature": "s"}, {"type": "redacted_thinking", "data": "x"},
        )
    ],
    *[
        (C, asking(C, messages=[say(), {"role": role, "content": content}]))
        for role in ("user", "assistant", "system") for content in ("", [], [SAID], [{**SAID, "text": ""}])
    ],
    *[(C, asking(C, messages=[say(), {**say(role="assistant"), "tool_calls": calls}])) for calls in (None, 5)],
    *[(C, asking(C, messages=[{**say(), field: "x"}])) for field in ("name", "id", "usage")],
    *[(R, asking(R, max_output_tokens=limit)) for limit in (15, 16, "16", None)],
    *[(R, asking(R, instructions=told)) for told in (5, "", None)],
]  # fmt: skip


DIFFERENT = [
    # OpenAI is only reported to refuse it: a warning.
    (C, asking(C, tools=[nested(parameters={"type": "array"})]), True),
    # The SDK documents what the API does without the key strict; the specification has it as required.
    (R, asking(R, tools=[flat("f")]), False),
    # Newer than the specification, which is of May 2026.
    (R, asking(R, tools=[flat("f", strict=None)], tool_choice={"type": "programmatic_tool_calling"}), False),
    # Refused by an API version that is newer than the specification.
    *[(A, asking(A, **{field: 1}), True) for field in ("temperature", "top_p", "top_k")],
    # What a specification of shapes cannot say: which models take what, and what goes with what.
    (A, {**ASK[A], "model": "claude-opus-5", "messages": [TASK, assistant({"type": "text", "text": "So"})]}, True),
    (A, {**ASK[A], "messages": []}, True),
    (C, asking(C, tool_choice="required"), True),
    # What the providers are reported to refuse, and their specifications let pass.
    (A, {**ASK[A], "messages": [user(), TASK]}, True),
    (A, {**ASK[A], "messages": [say(""), TASK]}, True),
    (C, asking(C, messages=[say(), {**say(role="assistant"), "tool_calls": []}]), True),
    *[(C, asking(C, **{field: "x"}), True) for field in OF_ANOTHER[C]],
    *[(R, asking(R, **{field: "x"}), True) for field in OF_ANOTHER[R]],
    (R, asking(R, input=[say(), assistant({"type": "input_text", "text": "x"})]), True),
]
"""Bodies where we and the specification differ, and whether it is we who have a finding."""


@pytest.mark.parametrize(("dialect", "body"), SHAPES)
def test_a_shape_has_a_finding_exactly_where_the_specification_refuses_it(dialect, body):
    refused = violations(body, dialect)
    assert bool(check(body, dialect)) == bool(refused), refused


PARTS = [
    {"type": "text", "text": "x"},
    {"type": "input_text", "text": "x"},
    {"type": "output_text", "text": "x", "annotations": [], "logprobs": []},
    {"type": "refusal", "refusal": "x"},
    {"type": "input_file", "file_id": "f"},
]
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
OWN_MESSAGE = {"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": PARTS[2:3]}
ITEMS = [
    *[{"role": role, "content": [part]} for role in ("user", "developer") for part in PARTS],
    {"role": "assistant", "content": [PARTS[0]]},
    *[{**OWN_MESSAGE, "content": [part]} for part in PARTS[2:4]],
    *[{**OWN_MESSAGE, **more} for more in ({}, {"phase": None})],
    *[{**REASONING, field: None} for field in ("content", "status", "encrypted_content")],
    *[{**item("a"), field: None} for field in ("id", "status", "namespace", "caller")],
    *[output("a", [part]) for part in PARTS if part["type"] != "refusal"],
]
"""Items of OpenAI Responses whose parts or nulls are right or wrong."""


@pytest.mark.parametrize("one", ITEMS)
def test_a_part_or_a_null_has_a_finding_exactly_where_the_specification_refuses_it(one):
    listed = [one] if "role" in one or one["type"] == "reasoning" else [item("a"), output("a")]
    listed = [one if one["type"] == each.get("type") else each for each in listed] if "call_id" in one else listed
    body = asking(R, input=listed)
    refused = violations(body, R, any_of=True)
    assert bool(check(body, R)) == bool(refused), refused


@pytest.mark.parametrize(("dialect", "body", "ours"), DIFFERENT)
def test_the_exceptions_are_exceptions(dialect, body, ours):
    assert bool(check(body, dialect)) == ours
    assert bool(violations(body, dialect)) != ours


TOOL = {A: tool("f"), C: function("f"), R: flat("f")}


@pytest.mark.parametrize(
    ("dialect", "choice", "right"),
    [
        (A, "auto", {"type": "auto"}),
        (A, "required", {"type": "any"}),
        (A, "any", {"type": "any"}),
        (A, {"type": "required"}, {"type": "any"}),
        (A, {"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        (C, "any", "required"),
        (C, {"type": "auto"}, "auto"),
        (C, {"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        (C, {"type": "function", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        (R, {"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        (R, {"type": "none"}, "none"),
    ],
)
def test_a_choice_in_another_form_is_told_as_it_is_written_here(dialect, choice, right):
    (found,) = check(choosing(dialect, choice, TOOL[dialect]), dialect)
    assert found.fix == f'write "tool_choice": {json.dumps(right)}'
    assert check(choosing(dialect, right, TOOL[dialect]), dialect) == []


# Strict schemas: the SDKs' own helpers

leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "null"},
        {"type": "integer", "minimum": 1},
        {"type": "number", "exclusiveMaximum": 2},
        {"type": "number", "multipleOf": 2},
        {"type": "string", "maxLength": 9},
        {"type": "string", "format": "uuid"},
        {"type": "string", "format": "regex"},
        {"type": "string", "enum": [{}]},
        {"type": "array", "items": {"type": "null"}, "minItems": 1},
        {"type": "array", "items": {"type": "null"}, "minItems": 2},
        {"type": "array", "items": {"type": "null"}, "uniqueItems": True},
        {"enum": ["a", 1, None]},
        {"type": "boolean", "title": "minimum", "description": "maxLength"},
    ]
)


def objects(inner):
    """Schemas of objects, some of them open, whose properties are of `inner`; some are named as keywords are."""
    properties = st.dictionaries(st.sampled_from(["a", "minimum", "oneOf"]), inner, max_size=2)
    closed = st.sampled_from([{"additionalProperties": value} for value in (False, False, False, True)] + [{}])
    return st.builds(lambda p, c: {"type": "object", "properties": p, **c}, properties, closed)


def lists_choices_and_objects(inner):
    some = st.lists(inner, min_size=1, max_size=2)
    choices = st.builds(lambda key, of_these: {key: of_these}, st.sampled_from(["anyOf", "oneOf", "allOf"]), some)
    return inner.map(lambda items: {"type": "array", "items": items}) | choices | objects(inner)


schemas = st.recursive(leaves, lists_choices_and_objects, max_leaves=4)


@given(objects(schemas))
def test_a_schema_has_a_finding_exactly_where_the_sdk_of_anthropic_changes_it(schema):
    transformed = pytest.importorskip("anthropic").transform_schema(schema)
    assert bool(check(strict(A, schema), A)) == (transformed != schema)
    assert check(strict(A, transformed), A) == []


class Line(pydantic.BaseModel):
    amount: float
    note: str | None = None


class Invoice(pydantic.BaseModel):
    """What schemas of pydantic are made of: nesting, lists, choices, optional fields."""

    number: str
    lines: list[Line]
    state: Literal["new", "paid"] = "new"


def test_a_tool_that_the_sdk_of_openai_makes_strict_is_taken_and_the_bare_schema_is_not():
    made = pytest.importorskip("openai").pydantic_function_tool(Invoice)
    assert made["function"]["strict"] is True
    assert check(of(C, made), C) == []
    found = check(strict(C, Invoice.model_json_schema()), C)
    assert {(f.rule, f.where.partition("parameters")[2]) for f in found} == {
        ("S1", ".additionalProperties"),
        ("S2", ".required"),
        ("S1", ".$defs.Line.additionalProperties"),
        ("S2", ".$defs.Line.required"),
    }


def test_a_schema_that_is_not_strict_may_say_anything():
    loose = {"type": "object", "properties": {"a": {"oneOf": [{"minimum": 1}]}}}
    for switch in ({}, {"strict": False}):
        assert check(of(A, tool("f", input_schema=loose, **switch)), A) == []
        assert check(of(R, flat("f", parameters=loose, **switch)), R) == []


# What is told as unseen, and what is left alone


@pytest.mark.parametrize(
    ("dialect", "more"),
    [
        (A, {"mcp_servers": [{"type": "url", "name": "docs", "url": "https://example.org"}]}),
        (A, {"tools": [tool("f"), {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}]}),
        (A, {"messages": [*PAIR, {"role": "system", "content": [{"type": "tool_addition"}]}]}),
        (A, {"thread": {"type": "continue", "previous_message_id": "m"}}),
        (C, {"functions": [{"name": "g"}]}),
        (R, {"tools": [flat("f"), {"type": "mcp", "server_label": "docs"}]}),
        (R, {"prompt": {"id": "p"}}),
    ],
)
def test_a_tool_that_may_come_from_elsewhere_is_not_missed(dialect, more):
    choice = {
        A: {"type": "tool", "name": "g"},
        C: {"type": "function", "function": {"name": "g"}},
        R: {"type": "function", "name": "g"},
    }[dialect]
    assert [f.rule for f in check(choosing(dialect, choice), dialect)] == ["T5"]
    assert check({**choosing(dialect, choice), **more}, dialect) == []


@pytest.mark.parametrize(
    ("model", "level"),
    [
        ("claude-opus-4-6", "must"),
        ("claude-sonnet-5-5", "must"),
        ("anthropic.claude-opus-4-7-v1:0", "must"),
        ("claude-haiku-4-5", None),
        ("claude-opus-4-20250514", None),
        ("claude-3-5-haiku-20241022", None),
        ("claude-mythos-preview", "should"),
        ("m", "should"),
        (None, "should"),
    ],
)
def test_a_prefill_is_refused_by_newer_models_and_doubted_for_a_model_that_is_not_known(model, level):
    body = {"max_tokens": 9, "messages": [TASK, assistant({"type": "text", "text": "It is"})]}
    body |= {} if model is None else {"model": model}
    assert [(f.rule, f.level) for f in check(body, A)] == ([("B3", level)] if level else [])


@pytest.mark.parametrize(
    "last",
    [
        assistant(search()),  # the server paused
        assistant({"type": "text", "text": "x"}, search()),
        assistant({"type": "compaction", "content": None}),  # a pause behind a compaction
    ],
)
def test_a_turn_that_goes_back_as_it_came_is_no_prefill(last):
    assert check({"model": "claude-opus-5", "max_tokens": 9, "messages": [TASK, last]}, A) == []


def test_an_open_call_at_the_end_is_told_once():
    assert [f.rule for f in check([TASK, assistant(use("a"))], A)] == ["A1"]


def test_what_is_missing_of_a_body_is_missing_only_where_nothing_will_be_added():
    history = {"messages": PAIR}
    assert check(history, A) == check(PAIR, A, whole=True) == []
    assert musts(history, A, whole=True) == ["B1", "B9"]
    assert musts({"model": "m", **history}, A) == ["B1"]
    assert musts({"messages": [say()]}, C, whole=True) == ["B9"]
    assert [f.level for f in check({"input": "x"}, R, whole=True)] == ["should"]
    assert check({"input": "x", "prompt": {"id": "p"}}, R, whole=True) == []


# Nothing that is given is a traceback


def deep(levels=50_000):
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


HISTORIES = {A: PAIR, C: [say(), chat_calls("a"), chat_result("a")], R: [say()]}


@pytest.mark.parametrize(
    "value", [deep(), 10**5_000, {"x": deep()}], ids=["deep", "a long number", "deep in an object"]
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_nested_or_counts_without_end_is_a_finding_in_any_place(dialect, value):
    listed, history = "input" if dialect == R else "messages", HISTORIES[dialect]
    for broken in (value, {"role": value, "content": "x"}, {"role": "user", "content": value}):
        assert musts({listed: [*history, broken]}, dialect) == ["M1"]
    assert musts({listed: history, "tools": [{"name": value}]}, dialect)
    assert musts({listed: history, "tool_choice": {"type": value}}, dialect) == ["T4"]


def test_a_deep_schema_that_is_strict_is_read_as_far_as_it_may_be_and_told_of():
    schema = OBJECT
    for _ in range(50_000):
        schema = {**OBJECT, "properties": {"q": schema}}
    found = check(strict(A, schema), A)
    assert [(f.rule, f.level) for f in found] == [("S3", "should")]
    assert "nested deeper" in found[0].message


def test_thinking_that_is_too_deep_to_be_compared_is_one_error():
    sent, came = ([assistant({"type": "thinking", "thinking": deep(), "signature": "s"})] for _ in range(2))
    with pytest.raises(AgentlabError, match="nested too deeply"):
        check(sent, A, before=came)


@given(value=json_values, data=st.data())
def test_any_value_in_any_field_of_a_tool_or_a_choice_is_a_finding_or_nothing(value, data):
    dialect = data.draw(st.sampled_from(DIALECTS))
    made = {A: tool("f", strict=True, input_schema=OBJECT), C: nested(strict=True, parameters=OBJECT),
            R: flat("f", strict=True, parameters=OBJECT)}[dialect]  # fmt: skip
    body = json.loads(json.dumps(choosing(dialect, {"type": "function", "function": {"name": "f"}}, made)))
    place, key = body, data.draw(st.sampled_from(["tools", "tool_choice"]))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
        place = place[key]
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
    place[key] = value
    assert all(finding.message and finding.fix and "\n" not in finding.message for finding in check(body, dialect))
