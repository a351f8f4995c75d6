"""What the generic form does not know goes back to its own provider to the letter, and is told of on another way."""

import contextlib
import copy
import json
import re

import pytest
from raw_bodies import BODIES

from agentlab.context.controls import ClearToolResults, KeepAll
from agentlab.messages.wire import DIALECTS, WireError, convert, from_wire, to_wire

each_body = pytest.mark.parametrize(
    ("dialect", "body"), [pytest.param(d, b, id=f"{d}: {name}") for d, name, b in BODIES]
)


@each_body
def test_a_body_goes_back_to_its_provider_to_the_letter(dialect, body):
    sent = json.loads(json.dumps(body))
    back = to_wire(from_wire(sent, dialect), dialect)
    assert json.dumps(back.body, sort_keys=True) == json.dumps(body, sort_keys=True)
    assert back.aliases == ({}, {})
    assert sent == body


@each_body
def test_a_message_goes_back_with_its_fields_in_the_order_in_which_they_came(dialect, body):
    back = to_wire(from_wire(body, dialect), dialect).body
    for field, value in body.items():
        assert json.dumps(back[field]) == json.dumps(value)


@each_body
def test_the_generic_form_survives_its_own_json(dialect, body):
    request = from_wire(body, dialect)
    again = type(request).model_validate_json(request.model_dump_json())
    assert to_wire(again, dialect).body == body


@each_body
def test_each_message_alone_goes_back_to_the_letter(dialect, body):
    name = "input" if dialect == "openai-responses" else "messages"
    for element in body[name] if isinstance(body[name], list) else []:
        alone = {name: [element]}
        assert to_wire(from_wire(alone, dialect), dialect).body == alone


@each_body
def test_a_control_that_changes_nothing_leaves_the_body_as_it_is(dialect, body):
    request = from_wire(body, dialect)
    kept = KeepAll().apply(ClearToolResults(keep=99).apply(request.messages))
    assert to_wire(request.model_copy(update={"messages": kept}), dialect).body == body


def leaves(value, path=""):
    """Every piece of data of a body with its place; type and role are how a dialect spells, no data."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("type", "role"):
                yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]")
    elif value not in (None, "", False):
        yield path, value


def pieces(value):
    """Every text and number in a value, in texts that are JSON too."""
    found = set()
    for _, leaf in leaves(value):
        found.add(str(leaf))
        if isinstance(leaf, str):
            try:
                inner = json.loads(leaf)
            except ValueError:
                continue
            if isinstance(inner, dict | list):
                found |= pieces(inner)
    return found


# Said in other words there; the laws of the wire formats hold them together.
TRANSLATED = {
    ("tool_choice", "required"),
    ("parallel_tool_calls", True),
    ("tool_choice.disable_parallel_tool_use", True),
    ("input[3].arguments", "{ }"),  # the same object, spelt {}
}


@pytest.mark.parametrize("target", DIALECTS)
@each_body
def test_nothing_is_dropped_on_the_way_to_another_dialect_without_a_finding(dialect, body, target):
    converted = convert(copy.deepcopy(body), dialect, target)
    arrived = pieces(converted.body)
    told = ["messages[2].content[1].is_error"] if any(f.rule == "W4" for f in converted.findings) else []
    told += [finding.where for finding in converted.findings]
    for path, leaf in leaves(body):
        if (path, leaf) not in TRANSLATED and not pieces({"x": leaf}) & arrived and not _in_a_text(leaf, arrived):
            assert any(re.match(re.escape(where) + r"($|[.\[])", path) for where in told), (path, leaf)


def _in_a_text(leaf, arrived):
    """Texts of several parts arrive joined; arguments that are no object arrive as they are, in one."""
    return isinstance(leaf, str) and any(leaf in text for text in arrived)


@pytest.mark.parametrize("target", DIALECTS)
@each_body
def test_what_arrives_in_another_dialect_is_plain_there(dialect, body, target):
    if target == dialect:
        return
    arrived = convert(body, dialect, target).body
    third = next(other for other in DIALECTS if other not in (dialect, target))
    settings = {name for name in arrived if name not in ("messages", "input", "tools", "tool_choice")}
    found = convert(arrived, target, third).findings
    assert not [finding for finding in found if finding.rule in ("W1", "W2") and finding.where not in settings]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic", {"messages": [], "max_tokens": 1024.0}),
        ("openai-chat", {"messages": [], "max_completion_tokens": "10"}),
        ("openai-chat", {"messages": [], "parallel_tool_calls": "false"}),
        ("openai-responses", {"input": [], "max_output_tokens": True}),
        ("anthropic", {"messages": [], "tool_choice": {"type": "auto", "disable_parallel_tool_use": "false"}}),
    ],
)
def test_a_setting_of_the_wrong_type_is_refused_and_not_dropped(dialect, body):
    with pytest.raises(WireError, match="must be"):
        from_wire(body, dialect)


@pytest.mark.parametrize("kind", [[], {}, 7, None, True])
def test_a_part_or_item_of_an_odd_type_raises_nothing_but_a_wire_error(kind):
    bodies = {
        "anthropic": {"messages": [{"role": "user", "content": [{"type": kind, "text": "x"}]}]},
        "openai-chat": {"messages": [{"role": "user", "content": [{"type": kind, "text": "x"}]}]},
        "openai-responses": {"input": [{"type": kind, "role": "user", "content": "x"}]},
    }
    for dialect, body in bodies.items():
        with contextlib.suppress(WireError):
            assert to_wire(from_wire(body, dialect), dialect).body == body


def test_an_order_that_only_the_source_allows_is_told_by_the_rules_of_the_target():
    result = {"type": "function_call_output", "call_id": "a", "output": "42"}
    body = {"previous_response_id": "resp_1", "input": [result]}
    assert {finding.rule for finding in convert(body, "openai-responses", "openai-chat").findings} == {"W1", "C2"}
    assert {finding.rule for finding in convert(body, "openai-responses", "anthropic").findings} >= {"W1", "A2"}


ODD_TYPES = [[], {}, 5, True]


@pytest.mark.parametrize("odd", ODD_TYPES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_part_whose_type_is_no_text_is_noted_as_lost(dialect, odd):
    name = "input" if dialect == "openai-responses" else "messages"
    body = {name: [{"role": "user", "content": [{"type": odd, "text": "x"}]}]}
    assert to_wire(from_wire(body, dialect), dialect).body == body
    target = next(other for other in DIALECTS if other != dialect)
    assert ("W1", f"{name}[0].content[0]") in [(f.rule, f.where) for f in convert(body, dialect, target).findings]


@pytest.mark.parametrize("odd", ODD_TYPES)
def test_an_item_whose_type_is_no_text_is_refused(odd):
    with pytest.raises(WireError, match=r"input\[0\]\.type must be text"):
        from_wire({"input": [{"type": odd, "call_id": "1"}]}, "openai-responses")


@pytest.mark.parametrize(
    ("dialect", "field", "values", "named"),
    [
        ("anthropic", "max_tokens", [1024.0, "10", True], "max_tokens must be a whole number"),
        ("openai-chat", "max_completion_tokens", [1024.0, "10", []], "max_completion_tokens must be a whole number"),
        ("openai-responses", "max_output_tokens", [1024.0, "10"], "max_output_tokens must be a whole number"),
        ("openai-chat", "parallel_tool_calls", ["false", 0], "parallel_tool_calls must be true or false"),
        ("openai-responses", "parallel_tool_calls", ["false", 0], "parallel_tool_calls must be true or false"),
        (
            "anthropic",
            "tool_choice",
            [{"type": "auto", "disable_parallel_tool_use": odd} for odd in ("false", 0)],
            "tool_choice.disable_parallel_tool_use must be true or false",
        ),
    ],
)
def test_a_setting_of_the_wrong_kind_is_refused_and_null_is_not(dialect, field, values, named):
    body = {"input" if dialect == "openai-responses" else "messages": []}
    for value in values:
        with pytest.raises(WireError, match=named):
            from_wire({**body, field: value}, dialect)
    from_wire({**body, field: None}, dialect)


CALLED = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("dialect", "body", "where"),
    [
        (
            "openai-chat",
            {"messages": [{"role": "assistant", "content": None, "function_call": CALLED}]},
            "messages[0].function_call",
        ),
        (
            "openai-chat",
            {"messages": [{"role": "assistant", "content": None, "refusal": "No."}]},
            "messages[0].refusal",
        ),
        ("openai-chat", {"messages": [], "functions": [{"name": "f"}]}, "functions"),
        ("openai-chat", {"messages": [], "function_call": {"name": "f"}}, "function_call"),
        ("openai-responses", {"input": [], "previous_response_id": "r"}, "previous_response_id"),
        ("openai-responses", {"input": [], "prompt": {"id": "p"}}, "prompt"),
        ("openai-responses", {"input": [], "conversation": "c"}, "conversation"),
        ("openai-chat", {"messages": [], "thread": "t"}, "thread"),
    ],
)
def test_a_field_that_holds_content_is_lost_as_content(dialect, body, where):
    (found,) = [found for found in convert(body, dialect, "anthropic").findings if found.rule == "W1"]
    assert (found.level, found.where) == ("must", where)


def chat(arguments="{}", content="42"):
    function = {"name": "look", "arguments": arguments}
    return {
        "max_completion_tokens": 16,
        "messages": [
            {"role": "user", "content": "?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "a", "content": content},
        ],
    }


def test_a_text_that_is_read_as_an_error_is_told_of():
    (found,) = convert(chat(content='{"error": "none found"}'), "openai-chat", "anthropic").findings
    assert (found.rule, found.level, found.where) == ("W4", "should", "result of 'a'")
    assert "read as an error" in found.message
    assert convert(chat(content="none found"), "openai-chat", "anthropic").findings == ()
    assert (
        convert(chat(content='{"error": "none found"}'), "openai-chat", "openai-responses").body["input"][-1]["output"]
        == '{"error": "none found"}'
    )


def test_arguments_that_are_no_object_are_told_of_where_they_must_be_one():
    (found,) = convert(chat(arguments='{"a": 1'), "openai-chat", "anthropic").findings
    assert (found.rule, found.level, found.where) == ("W5", "should", "call 'a'")
    assert convert(chat(arguments='{"a": 1'), "openai-chat", "openai-responses").findings == ()


def test_a_broken_name_hides_no_broken_order():
    call = {"type": "function_call", "call_id": "a", "name": "look at", "arguments": "{}"}
    results = [{"type": "function_call_output", "call_id": call_id, "output": "42"} for call_id in "ab"]
    body = {"conversation": "conv_1", "input": [{"role": "user", "content": "?"}, call, *results]}
    rules = {finding.rule for finding in convert(body, "openai-responses", "openai-chat").findings}
    assert rules == {"W1", "W3", "C2"}


def test_a_text_behind_a_call_loses_its_place_and_says_so():
    use = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    content = [{"type": "text", "text": "A"}, use, {"type": "text", "text": "B"}]
    result = {"type": "tool_result", "tool_use_id": "a", "content": "42"}
    body = {"messages": [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]}
    (found,) = convert(body, "anthropic", "openai-chat").findings
    assert (found.rule, found.where) == ("W2", "messages[0].content[2]")
    call = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "B"}]}
    output = {"type": "function_call_output", "call_id": "a", "output": "42"}
    (found,) = convert({"input": [call, text, output]}, "openai-responses", "openai-chat").findings
    assert (found.rule, found.where) == ("W2", "input[1]")
