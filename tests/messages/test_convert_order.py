"""Results that stand apart from their calls, tools in another dialect's form, and the order of what is told."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairing_cases import A, C, R, flat, function, item, output, say, tool

from agentlab.messages.pairing import check
from agentlab.messages.wire import convert, from_wire

SCHEMA = {"type": "object", "properties": {}}


@st.composite
def apart(draw):
    """Items of OpenAI Responses in a valid order: each output anywhere behind its call, remarks anywhere."""
    items = [say("What is 6 x 7?")]
    open_calls = []
    ids = iter("abcdefgh")
    for _ in range(draw(st.integers(0, 10))):
        step = draw(st.sampled_from(["call", "result", "remark", "foreign"]))
        if step == "call" and (call_id := next(ids, None)):
            items.append(item(call_id))
            open_calls.append(call_id)
        elif step == "result" and open_calls:
            answered = draw(st.sampled_from(open_calls))
            open_calls.remove(answered)
            items.append(output(answered, f"result of {answered}"))
        elif step == "remark":
            items.append(say(f"remark {len(items)}", draw(st.sampled_from(["user", "assistant", "developer"]))))
        elif step == "foreign":
            items.append({"type": "reasoning", "id": f"rs_{len(items)}", "summary": []})
    return [*items, *(output(call_id, f"result of {call_id}") for call_id in open_calls), say("and now?")]


def said(body, dialect):
    """What is said beside results, in its order; and who answered which call with what."""
    messages = from_wire(body, dialect).messages
    speech = [(m.role, m.content) for m in messages if m.role not in ("tool", "foreign") and m.content]
    return speech, sorted((m.call_id, m.content) for m in messages if m.role == "tool")


@pytest.mark.parametrize("target", [A, C])
@given(items=apart())
def test_results_that_stand_apart_are_put_behind_their_calls_and_all_else_keeps_its_order(target, items):
    body = {"input": items}
    assert check(body, R) == []
    made, found = convert(body, R, target)
    assert check(made, target) == []
    assert said(made, target) == said(body, R)
    assert {each.rule for each in found if each.level == "must"} <= {"W1"}


@pytest.mark.parametrize("target", [A, C])
def test_a_result_that_was_moved_is_told_and_one_that_was_not_is_not(target):
    apart_ = [say(), item("a"), item("b"), output("b"), say("hurry"), output("a"), say()]
    (told,) = convert({"input": apart_, "max_output_tokens": 16}, R, target).findings
    assert (told.rule, told.level, told.where) == ("W7", "should", "result of 'a'")
    together = [say(), item("a"), item("b"), output("b"), output("a"), say("hurry")]
    assert convert({"input": together, "max_output_tokens": 16}, R, target).findings == ()
    assert convert({"input": apart_}, R, R).findings == ()


def test_an_item_that_is_left_out_does_not_stand_between():
    items = [say(), item("a"), {"type": "web_search_call", "id": "ws_1"}, output("a"), say()]
    assert [each.rule for each in convert({"input": items}, R, C).findings] == ["W1"]


def test_a_broken_order_of_the_source_is_not_mended_on_the_way():
    made, found = convert({"input": [say(), output("a"), item("a"), say()]}, R, C)
    assert [each.rule for each in found] == []
    assert {each.rule for each in check(made, C)} == {"C1", "C2"}


FORMS = {
    A: tool("f", input_schema=SCHEMA),
    C: {"type": "function", "function": {"name": "f", "description": "", "parameters": SCHEMA}},
    R: {"type": "function", "name": "f", "description": "", "parameters": SCHEMA, "strict": False},
}
CHOICES = {
    A: {"type": "tool", "name": "f"},
    C: {"type": "function", "function": {"name": "f"}},
    R: {"type": "function", "name": "f"},
}
LISTS = {A: "messages", C: "messages", R: "input"}


@pytest.mark.parametrize("whose", [A, C, R])
@pytest.mark.parametrize(("source", "target"), [(a, b) for a in (A, C, R) for b in (A, C, R) if a != b])
def test_a_tool_and_a_choice_of_another_form_are_read_as_that_and_carried_over(source, target, whose):
    body = {LISTS[source]: [say()], "tools": [FORMS[whose]], "tool_choice": CHOICES[whose]}
    made, found = convert(body, source, target)
    assert made["tools"] == [FORMS[target]]
    assert made["tool_choice"] == CHOICES[target]
    told = [(each.rule, each.level, each.where) for each in found if each.where != "max_tokens"]
    assert told == ([] if whose == source else [("W8", "should", "tools[0]"), ("W8", "should", "tool_choice")])


def test_a_strict_tool_of_another_form_stays_strict_and_what_it_loses_is_told():
    strict = tool("f", input_schema=SCHEMA, strict=True, cache_control={"type": "ephemeral"})
    made, found = convert({"messages": [say()], "tools": [strict]}, C, A)
    assert made["tools"] == [tool("f", input_schema=SCHEMA, strict=True)]
    assert ("W2", "tools[0].cache_control") in {(each.rule, each.where) for each in found}
    assert not any("strict" in each.where for each in found)


@pytest.mark.parametrize(
    "foreign", [{"type": "web_search"}, {"name": "f"}, {"type": "web_search_20250305", "name": "w"}]
)
def test_a_tool_of_no_form_is_left_out_as_before(foreign):
    made, found = convert({"messages": [say()], "tools": [function("g"), foreign]}, C, R)
    assert [each["name"] for each in made["tools"]] == ["g"]
    assert [(each.rule, each.where) for each in found] == [("W1", "tools[1]")]


def test_the_older_form_of_a_call_is_told_as_lost_and_goes_back_to_its_own_dialect():
    older = [
        say(),
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
        say(),
    ]
    body = {"messages": older}
    assert check(body, C) == []
    assert convert(body, C, C).body == body
    found = convert(body, C, R).findings
    assert [(each.rule, each.level, each.where) for each in found] == [
        ("W1", "must", "messages[1].function_call"),
        ("W1", "must", "messages[2]"),
    ]


def test_the_findings_come_in_one_order_whatever_the_seed_of_hashing(tmp_path):
    fields = dict.fromkeys(("seed", "n", "logprobs", "logit_bias", "verbosity", "modalities", "x", "y", "z"), 1)
    call = {"type": "function_call", "id": "fc", "call_id": "c", "status": "completed", "name": "f", "arguments": "{}"}
    file = tmp_path / "body.json"
    file.write_text(json.dumps({"input": [say(), call, output("c")], "tools": [flat("f")], **fields}))
    told = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "agentlab.cli", "messages", "convert", file, "--from", R, "--to", C],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        told.append(done.stderr)
    assert told[0] == told[1]
    assert told[0].count(b"W2") == len(fields) + 2
