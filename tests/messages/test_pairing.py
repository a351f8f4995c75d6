"""The rules on the order of messages: each has a history that breaks it and one, a step away, that does not."""

import copy
import json

import pytest
from conversations import spoken
from hypothesis import given, settings
from hypothesis import strategies as st
from pairing_cases import (
    BOTH,
    HALF,
    PAIR,
    TASK,
    A,
    C,
    R,
    assistant,
    chat_calls,
    chat_result,
    function,
    item,
    output,
    result,
    say,
    summary,
    text,
    think,
    tool,
    use,
    user,
)
from pairing_cases import CASES as ORDER_CASES
from request_cases import REQUEST_CASES

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Compact, KeepAll, TrimTurns
from agentlab.messages.conversation import AssistantMessage, Request, ToolCall, ToolResult, ToolSchema, UserMessage
from agentlab.messages.pairing import RULES, check
from agentlab.messages.wire import DIALECTS, WireError, convert, from_wire, to_wire

CASES = [*ORDER_CASES, *REQUEST_CASES]
each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def rules(findings, level=None):
    return {finding.rule for finding in findings if level in (None, finding.level)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.why}")
def test_each_rule_speaks_of_what_breaks_it_and_of_nothing_a_step_away(case):
    breaking, sound = case.histories()
    broken = [finding for finding in check(breaking, case.dialect) if finding.rule == case.rule]
    assert broken, f"{case.rule} is silent"
    assert all(finding.level == case.level and finding.where and finding.message for finding in broken)
    assert {case.fix in finding.fix for finding in broken} == {True}
    assert check(sound, case.dialect) == []


def test_each_rule_has_a_case():
    # A8 needs the history as it was received, so it has tests of its own.
    assert {case.rule for case in CASES} | {"A8"} == RULES.keys()


def test_each_rule_says_how_well_it_is_known():
    for rule in RULES.values():
        assert rule.source
        assert rule.evidence == "unverified" or rule.says or rule.evidence in ("specified", "documented", "sdk")


def test_a_finding_says_so_where_its_rule_is_not_verified():
    assert [rule.id for rule in RULES.values() if rule.evidence == "unverified"] == ["A5", "T5"]
    for case in CASES:
        for finding in check(case.histories()[0], case.dialect):
            unverified = finding.rule in ("A5", "T5") or (finding.rule, case.dialect) == ("B6", R)
            assert ("not verified" in finding.message) == unverified


BETWEEN = [say(), chat_calls("a", "b"), chat_result("a"), say("hurry"), chat_result("b")]
AGAIN = [say(), chat_calls("a"), chat_result("a"), say("hurry"), chat_result("a")]
SAID = [
    (C, BETWEEN, "C2", "its call 'b' is in messages[1].tool_calls[1], and messages[3] (role user) stands between"),
    (C, AGAIN, "C2", "the call 'a' was answered before, in messages[2]"),
    (C, [say(), chat_result("a")], "C2", "no message before it has a call 'a'"),
    (R, [item("a", "x y"), output("a")], "N1", "the name 'x y' has the character ' '; a-z A-Z 0-9 _ - are taken"),
    (C, [chat_calls("a" * 41), chat_result("a" * 41)], "N2", "has 41 characters; 40 are the most"),
    (A, [TASK, assistant(use("a", "n" * 201)), user(result("a"))], "N1", "has 201 characters; 200 are the most"),
    (A, [TASK, assistant(use("")), user(result(""))], "N2", "the id '' is empty"),
    (R, [{**item("a"), "id": "fc_1"}, output("fc_1")], "R1", "input[1] has the id of this item, 'fc_1', instead"),
    (R, [{**item("a"), "id": "fc_1"}, output("fc_1")], "R2", "'fc_1' is the id of the item with its call"),
]


@pytest.mark.parametrize(("dialect", "history", "rule", "said"), SAID)
def test_a_finding_says_what_is_so(dialect, history, rule, said):
    assert any(said in found.message for found in check(history, dialect) if found.rule == rule)


def test_an_output_that_names_the_item_of_its_call_is_mended_by_the_call_id():
    history = [{**item("a"), "id": "fc_1"}, output("fc_1")]
    assert ["write the call_id" in found.fix and "'a'" in found.fix for found in check(history, R)] == [True, True]


def test_a_result_is_only_to_be_moved_where_it_answers_no_other_call():
    chat = [say(), chat_calls("a"), chat_result("a"), chat_calls("a"), say()]
    assert ["move" in found.fix for found in check(chat, C)] == [False]
    history = [*PAIR, assistant(use("a")), user(text())]
    assert ["move" in found.fix for found in check(history, A) if found.rule == "A1"] == [False]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (A, {"messages": PAIR, "tools": [tool("crm.look")]}),
        (C, {"messages": [say(), chat_calls("a" * 41), chat_result("a" * 41)]}),
        (R, {"input": [say(), item("a" * 65, "x y"), output("a" * 65)]}),
    ],
)
def test_what_the_way_out_of_a_name_or_an_id_promises_holds(dialect, body):
    assert rules(check(body, dialect)) <= {"N1", "N2"} != set()
    mended = to_wire(from_wire(body, dialect), dialect)
    assert check(mended.body, dialect) == []
    assert to_wire(from_wire(mended.body, dialect, mended.aliases), dialect).body == mended.body


SPLIT = [TASK, BOTH, user(result("a")), user(result("b"))]
ASKED_TWICE = [TASK, assistant(use("a")), assistant(use("b")), user(result("a"), result("b"))]


@pytest.mark.parametrize("history", [SPLIT, ASKED_TWICE])
def test_what_the_provider_joins_is_an_error_when_strict_and_a_warning_otherwise(history):
    strict, lenient = check(history, "anthropic"), check(history, "anthropic", strict=False)
    assert rules(strict, "must") == {"A1", "A2"}
    assert rules(lenient, "must") == set()
    assert [f.model_copy(update={"level": "must"}) for f in lenient] == strict


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.why}")
def test_strict_and_lenient_differ_in_nothing_else(case):
    for history in case.histories():
        assert check(history, case.dialect) == check(history, case.dialect, strict=False)


def test_text_between_split_results_is_an_error_in_both_readings():
    history = [TASK, BOTH, user(result("a")), user(text()), user(result("b"))]
    assert "A3" in rules(check(history, "anthropic", strict=False), "must")
    assert rules(check(history, "anthropic"), "must") == {"A1", "A2", "A3"}


LONG = [TASK, assistant(think(), use("a")), user(result("a")), assistant(think("so"), text("42"))]
SURE = user(text("sure?"))


@pytest.mark.parametrize(
    "latest",
    [
        assistant(think("so", "forged"), text("42")),
        assistant(text("42")),
        assistant(think("so"), think("so"), text("42")),
        assistant(think("else"), text("42")),
        assistant({"type": "redacted_thinking", "data": "x"}, text("42")),
    ],
)
def test_thinking_of_the_latest_turn_that_was_changed_is_found(latest):
    sent = [*LONG[:-1], latest, SURE]
    assert rules(check(sent, "anthropic", before=LONG)) == {"A8"}
    assert check(sent, "anthropic") == []


@pytest.mark.parametrize(
    "sent",
    [
        [*LONG, SURE],
        [TASK, assistant(use("a")), *LONG[2:], SURE],  # the thinking of an older turn may go
        [TASK, assistant(text("something else")), user(text())],  # not the turn that was received
        [TASK],
    ],
)
def test_thinking_that_was_left_alone_or_is_not_the_latest_is_no_finding(sent):
    assert check(sent, "anthropic", before=LONG) == []


def test_thinking_is_compared_for_the_turn_with_the_same_calls():
    received = LONG[:2]
    changed = [TASK, assistant(think("other"), use("a")), user(result("a"))]
    assert rules(check(changed, "anthropic", before={"messages": received})) == {"A8"}


def test_summaries_of_the_threshold_edit_may_be_many_and_stand_anywhere():
    history = [TASK, assistant(summary("old")), TASK, assistant(summary("new"), text()), SURE]
    body = {"messages": history, "context_management": {"edits": [{"type": "compact_20260112"}]}}
    assert check(body, "anthropic") == []
    sealed = json.loads(json.dumps(history).replace('"signature": "sig"', '"encrypted_content": "e"'))
    assert check(sealed, "anthropic") == []
    unknown = json.loads(json.dumps(history).replace(', "signature": "sig"', ""))
    assert {(f.rule, f.level) for f in check(unknown, "anthropic")} == {("A11", "should")}


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("anthropic", {"thread": {"type": "continue", "previous_message_id": "m"}, "messages": [user(result("a"))]}),
        ("openai-responses", {"previous_response_id": "resp_1", "input": [output("a")]}),
        ("openai-responses", {"conversation": "conv_1", "input": [output("a")]}),
        ("openai-responses", [{"id": "fc_1"}, output("a")]),
        ("openai-responses", [{"type": "item_reference", "id": "fc_1"}, output("a")]),
    ],
)
def test_a_result_may_answer_a_call_that_the_provider_holds(dialect, body):
    assert check(body, dialect) == []


def test_items_that_the_provider_runs_itself_need_no_output():
    items = [say(), {"type": "web_search_call", "id": "ws_1", "status": "completed"}, {"type": "reasoning", "id": "r"}]
    assert check(items, "openai-responses") == []


@pytest.mark.parametrize(
    ("given", "dialect", "named"),
    [
        (None, "anthropic", "a request body"),
        ("text", "anthropic", "a request body"),
        ({}, "anthropic", "messages"),
        ({"input": []}, "openai-chat", "input"),
        ({"messages": []}, "openai-responses", "messages"),
        ({"messages": {}}, "anthropic", "messages must be a list"),
        ([say(), chat_calls("a")], "anthropic", "openai-chat"),
        ([say(), chat_calls("a")], "openai-responses", "openai-chat"),
        (PAIR, "openai-chat", "messages[1] is written in anthropic"),
        (PAIR, "openai-responses", "input[1] is written in anthropic"),
        ([item("a")], "openai-chat", "messages[0] is written in openai-responses"),
        ([UserMessage(content="x"), say()], "anthropic", "mixes"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_dialect_at_all_is_refused_in_one_line(given, dialect, named):
    with pytest.raises(WireError) as refused:
        check(given, dialect)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    ),
    st.data(),
)
def test_any_value_in_any_place_of_a_body_is_a_finding_or_one_line(value, data):
    dialect = data.draw(st.sampled_from(DIALECTS))
    body = json.loads(json.dumps({A: {"messages": LONG, "tools": [tool("f")]},
                                  C: {"messages": [say(), chat_calls("a"), chat_result("a")], "tools": [function("f")]},
                                  R: {"input": [say(), item("a"), output("a")]}}[dialect]))  # fmt: skip
    place, key = body, data.draw(st.sampled_from(list(body)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
        place = place[key]
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
    place[key] = value
    said = ""
    findings = []
    try:
        findings = check(body, dialect, before=body)
    except WireError as refused:
        said = str(refused)
    assert "\n" not in said
    assert all(finding.rule in RULES for finding in findings)


def test_deep_nesting_and_half_pairs_in_a_finding_do_no_harm():
    deep: object = HALF
    for _ in range(50_000):
        deep = [deep]
    history = [user({"type": HALF, HALF: deep}), user(result(HALF))]
    findings = check(history, "anthropic")
    assert rules(findings) == {"A2", "A3", "A9", "N2"}
    json.dumps([finding.model_dump() for finding in findings]).encode("utf-8")


# Laws over random histories


@each_dialect
@given(request=spoken())
def test_every_history_in_order_is_free_of_findings(dialect, request):
    assert check(request, dialect) == []
    wire = to_wire(request, dialect)
    assert check(wire.body, dialect, before=wire.body) == []
    assert check(request.messages, dialect, tools=request.tools) == []


def told(request):
    """Calls and results in their order, without names and ids, which a dialect may have exchanged."""
    return [
        (
            message.content,
            getattr(message, "is_error", None),
            [call.arguments for call in getattr(message, "tool_calls", ())],
        )
        for message in request.messages
    ]


@pytest.mark.parametrize("there", DIALECTS)
@each_dialect
@settings(max_examples=30)
@given(request=spoken())
def test_a_history_in_order_stays_so_in_another_dialect_and_back(dialect, there, request):
    body = to_wire(request, dialect).body
    away = convert(body, dialect, there).body
    back = convert(away, there, dialect).body
    assert check(away, there) == check(back, dialect) == []
    assert told(from_wire(away, there)) == told(from_wire(back, dialect)) == told(request)


controls = st.one_of(
    st.just(KeepAll()),
    st.builds(ClearToolResults, keep=st.integers(0, 3)),
    st.builds(ClearToolResults, keep=st.integers(0, 3), trigger=st.integers(1, 99), at_least=st.integers(0, 9)),
    st.builds(TrimTurns, window=st.integers(1, 8)),
    st.just(Compact(trigger=0)),
    st.builds(CapResults, cap=st.integers(1, 20)),
    st.builds(Handles, over=st.integers(5, 20), handle=st.just(5)),
)


def characters(messages):
    return sum(len(message.content) for message in messages)


@each_dialect
@settings(max_examples=50)
@given(request=spoken(), applied=st.lists(controls, min_size=1, max_size=4))
def test_no_control_breaks_the_order_however_often_it_is_applied(dialect, request, applied):
    messages = request.messages
    for control in applied:
        messages = control.apply(messages, characters, summary="done so far")
        assert check(messages, dialect) == []


REMOVED = {A: {"A1"}, C: {"C1"}, R: {"R1"}}
TWICE = {A: {"A5"}, C: {"C2"}, R: {"R2"}}
TO_THE_FRONT = {A: {"A1", "A2"}, C: {"C1", "C2"}, R: {"R1", "R2"}}
TO_THE_END = {A: {"A1", "A2"}, C: {"C1", "C2"}, R: set()}


@each_dialect
@settings(max_examples=50)
@given(request=spoken(), data=st.data())
def test_a_result_removed_doubled_or_moved_gives_the_rule_that_it_breaks(dialect, request, data):
    call = ToolCall(id="the call", name="look", arguments={})
    messages = [*request.messages, AssistantMessage(tool_calls=(call,)), ToolResult(call_id=call.id, content="42")]
    at = data.draw(st.sampled_from([n for n, message in enumerate(messages) if isinstance(message, ToolResult)]))
    without = messages[:at] + messages[at + 1 :]
    assert rules(check(without, dialect)) == REMOVED[dialect]
    assert rules(check([*messages[: at + 1], *messages[at:]], dialect)) == TWICE[dialect]
    assert rules(check([messages[at], *without], dialect)) == TO_THE_FRONT[dialect]
    late = [*without, AssistantMessage(content="and now"), messages[at]]
    assert rules(check(late, dialect)) == TO_THE_END[dialect]


def test_generic_messages_are_checked_as_they_would_be_written():
    request = Request(
        messages=(
            UserMessage(content="?"),
            AssistantMessage(tool_calls=(ToolCall(id="c:1", name="x.y", arguments=5),)),
        ),
        tools=(ToolSchema(name="x.y", description="", parameters={"type": "object"}),),
    )
    for dialect, rule in ((A, "A1"), (C, "C1"), (R, "R1")):
        assert rules(check(request, dialect)) == rules(check(request.messages, dialect)) == {rule}


def test_a_check_changes_nothing():
    body = {"messages": copy.deepcopy(SPLIT), "tools": [tool("f"), tool("f")]}
    check(body, "anthropic", tools=[tool("g")], before=body)
    assert body == {"messages": SPLIT, "tools": [tool("f"), tool("f")]}


# The history checker inside OpenAI's SDK


@pytest.fixture(scope="module")
def sdk_refuses():
    """Whether the SDK refuses to replay a history.

    The name is private, and used all the same, because no public checker of these orders exists: an oracle that was
    written by the provider is worth a test that a later release may have to drop (openai is pinned below 4).
    """
    runner = pytest.importorskip("openai.lib.responses_tool_runner")
    oracle = getattr(runner, "_history_calls", None)
    if oracle is None:
        pytest.skip("this release of openai has no _history_calls any more")

    def refuses(items):
        try:
            oracle(copy.deepcopy(items), [{"type": "function", "name": "look"}])
        except ValueError:
            return True
        return False

    return refuses


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from("abc").map(item)
        | st.sampled_from("abcd").map(output)
        | st.just(say())
        | st.just(say(role="assistant")),
        min_size=1,
        max_size=7,
    )
)
def test_what_the_sdk_refuses_to_replay_has_a_finding_and_nothing_else_has(sdk_refuses, items):
    assert bool(check(items, "openai-responses")) == sdk_refuses(items)


@pytest.mark.parametrize(
    "items",
    [
        [{**item("a"), "arguments": "[1]"}, output("a")],  # what is in the arguments is the parser's business
        [{**item("a"), "arguments": "{"}, output("a")],
        [{**item("a"), "arguments": '{"x": NaN}'}, output("a")],
        [{**item("a"), "name": "unknown"}, output("a")],  # the dispatcher's
        [{**item("a"), "status": "incomplete"}, output("a")],  # the loop's
    ],
)
def test_what_the_sdk_refuses_for_another_reason_than_order_is_no_finding_here(sdk_refuses, items):
    assert sdk_refuses(items)
    assert check(items, "openai-responses") == []
