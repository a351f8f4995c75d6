"""What the generic form does not know goes back to its own provider to the letter, and is told of on another way."""

import copy
import json
import re

import pytest
from raw_bodies import BODIES

from agentlab.context.controls import ClearToolResults, KeepAll
from agentlab.messages.wire import DIALECTS, convert, from_wire, to_wire

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
    told += [finding.where.removeprefix("the request.") for finding in converted.findings]
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
    assert {finding.rule for finding in convert(arrived, target, third).findings} <= {"W3", "W4"}
