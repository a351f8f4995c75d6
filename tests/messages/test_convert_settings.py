"""The settings of a request on the way to another dialect: carried where both have them, told of where not."""

import pytest
from official import violations

from agentlab.messages.wire import WireError, convert

ASK = {"role": "user", "content": "?"}
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
FIELD = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input"}
A, C, R = FIELD

CARRIED = [
    (C, R, {"model": "gpt-x", "temperature": 0.5, "top_p": 0.9, "stream": True, "user": "u", "store": True}, None),
    (R, C, {"model": "gpt-x", "metadata": {"team": "ap"}, "safety_identifier": "s", "service_tier": "auto"}, None),
    (A, C, {"temperature": 0.5, "top_p": 0.9, "stream": True}, None),
    (A, R, {"temperature": 0, "stream": False}, None),
    (C, A, {"stream": True}, None),
    (A, C, {"stop_sequences": ["a", "b"]}, {"stop": ["a", "b"]}),
    (C, A, {"stop": "a"}, {"stop_sequences": ["a"]}),
    (C, A, {"stop": ["a", "b"]}, {"stop_sequences": ["a", "b"]}),
    (A, C, {"max_tokens": 7}, {"max_completion_tokens": 7}),
    (A, R, {"max_tokens": 17}, {"max_output_tokens": 17}),
    (C, A, {"max_tokens": 7}, {"max_tokens": 7}),
    (C, R, {"max_tokens": 17}, {"max_output_tokens": 17}),
    (R, A, {"max_output_tokens": 7}, {"max_tokens": 7}),
    (A, C, {"metadata": {"user_id": "u-1"}}, {"safety_identifier": "u-1"}),
    (C, A, {"user": "u-1"}, {"metadata": {"user_id": "u-1"}}),
    (R, A, {"safety_identifier": "u-1"}, {"metadata": {"user_id": "u-1"}}),
    (C, A, {"parallel_tool_calls": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
    (C, A, {"tool_choice": "none", "parallel_tool_calls": False}, {"tool_choice": {"type": "none"}}),
    (R, A, {"tool_choice": "none", "parallel_tool_calls": True}, {"tool_choice": {"type": "none"}}),
    (
        A,
        R,
        {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        {"tool_choice": "required", "parallel_tool_calls": False},
    ),
]


@pytest.mark.parametrize(("source", "target", "given", "arrived"), CARRIED)
def test_a_setting_that_both_have_is_carried_without_a_word(source, target, given, arrived):
    body, found = convert({FIELD[source]: [ASK], **given}, source, target)
    assert body == {**(given if arrived is None else arrived), FIELD[target]: [ASK]}
    assert [each.where for each in found if each.where != "max_tokens"] == []


LEFT = [
    (A, C, {"model": "claude-x"}, "W2", "model", "a model of the other provider", "name an OpenAI model"),
    (C, A, {"model": "gpt-x"}, "W2", "model", "a model of the other provider", "name an Anthropic model"),
    (C, A, {"temperature": 0.5}, "W2", "temperature", "since its API version 2026-10-21", "system prompt"),
    (R, A, {"top_p": 0.5}, "W2", "top_p", "since its API version 2026-10-21", "system prompt"),
    (A, C, {"top_k": 5}, "W2", "top_k", "OpenAI has no such setting", "top_p"),
    (A, R, {"stop_sequences": ["x"]}, "W2", "stop_sequences", "has no stop sequences", "your own code"),
    (C, R, {"stop": "x"}, "W2", "stop", "has no stop sequences", "your own code"),
    (
        A,
        C,
        {"stop_sequences": list("abcde")},
        "W2",
        "stop_sequences",
        "4 stop sequences, and these are 5",
        "choose",
    ),
    (C, A, {"metadata": {"team": "ap"}}, "W2", "metadata", "nothing but a user_id", "your own log"),
    (A, C, {"metadata": {"user_id": "u" * 129}}, "W2", "metadata", "ends at 128 characters", "digest"),
    (C, A, {"stream_options": {"include_usage": True}}, "W2", "stream_options", "with every stream", "nothing to do"),
    (A, C, {"thinking": {"type": "adaptive"}}, "W2", "thinking", "set otherwise at each provider", "reasoning_effort"),
    (C, A, {"reasoning_effort": "low"}, "W2", "reasoning_effort", "set otherwise at each provider", "thinking"),
    (C, A, {"seed": 5}, "W2", "seed", "not carried over to anthropic", "if it matters"),
    (C, A, {"stop": 5}, "W2", "stop", "not carried over to anthropic", "if it matters"),
]


@pytest.mark.parametrize(("source", "target", "given", "rule", "where", "why", "fix"), LEFT)
def test_a_setting_that_stays_behind_is_told_with_the_reason_and_the_way_out(
    source, target, given, rule, where, why, fix
):
    body, found = convert({FIELD[source]: [ASK], **given}, source, target)
    assert body == {FIELD[target]: [ASK]}
    (told,) = [each for each in found if each.where != "max_tokens"]
    assert (told.rule, told.level, told.where) == (rule, "should", where)
    assert why in told.message
    assert fix in told.fix


@pytest.mark.parametrize("source", [C, R])
def test_anthropic_demands_a_limit_and_a_body_without_one_is_told(source):
    (told,) = convert({FIELD[source]: [ASK]}, source, A).findings
    assert (told.rule, told.level, told.where) == ("W6", "should", "max_tokens")
    limit = {C: "max_completion_tokens", R: "max_output_tokens"}[source]
    assert convert({FIELD[source]: [ASK], limit: 7}, source, A).findings == ()


def test_a_limit_under_its_older_name_must_be_a_number_and_gives_way_to_the_newer_one():
    with pytest.raises(WireError, match="max_tokens must be a whole number"):
        convert({"messages": [ASK], "max_tokens": "7"}, C, A)
    body, found = convert({"messages": [ASK], "max_tokens": 7, "max_completion_tokens": 9}, C, A)
    assert body["max_tokens"] == 9
    assert [each.where for each in found] == ["max_tokens"]


@pytest.mark.parametrize(("source", "limit"), [(A, "max_tokens"), (C, "max_completion_tokens")])
def test_a_limit_that_openai_responses_does_not_take_is_told(source, limit):
    (told,) = convert({FIELD[source]: [ASK], limit: 15}, source, R).findings
    assert (told.rule, told.level, told.where) == ("B11", "must", "max_output_tokens")
    assert convert({FIELD[source]: [ASK], limit: 16}, source, R).findings == ()


def tool_of(dialect, **more):
    match dialect:
        case "anthropic":
            return {"name": "f", "description": "", "input_schema": SCHEMA, **more}
        case "openai-chat":
            return {"type": "function", "function": {"name": "f", "description": "", "parameters": SCHEMA, **more}}
        case _:
            return {"type": "function", "name": "f", "description": "", "parameters": SCHEMA, "strict": False, **more}


@pytest.mark.parametrize("target", FIELD)
@pytest.mark.parametrize("source", FIELD)
def test_a_strict_tool_is_strict_in_every_dialect_and_one_that_is_not_stays_so(source, target):
    foreign = {"type": "web_search_20250305", "name": "web_search"} if source == A else {"type": "web_search"}
    tools = [foreign, tool_of(source), tool_of(source, strict=True)]
    body, found = convert({FIELD[source]: [ASK], "tools": tools}, source, target)
    written = [tool_of(target), tool_of(target, strict=True)]
    assert body["tools"] == (tools if source == target else written)
    told = [(each.rule, each.where) for each in found if each.where != "max_tokens" and each.rule[0] == "W"]
    assert told == ([] if source == target else [("W1", "tools[0]")])


def test_a_part_or_tool_without_a_type_is_called_so():
    asked = {"messages": [{"role": "user", "content": [{"text": "x"}]}], "tools": [{"name": "f"}], "max_tokens": 5}
    part, tool = sorted(convert(asked, A, C).findings, key=lambda found: found.where)
    assert part.message.startswith("the part without a type is not carried over to openai-chat")
    assert tool.message.startswith("the tool without a type is not carried over to openai-chat")
    assert "offer a tool of your own" in tool.fix
    assert "put what it says into a text" in part.fix


@pytest.mark.parametrize(("source", "target"), [(one, other) for one in FIELD for other in FIELD if one != other])
def test_a_full_request_of_one_dialect_is_after_the_names_are_set_an_official_one_of_the_other(source, target):
    settings = {
        A: {
            "model": "claude-x",
            "max_tokens": 64,
            "stop_sequences": ["x"],
            "metadata": {"user_id": "u"},
            "stream": True,
        },
        C: {"model": "gpt-x", "max_completion_tokens": 64, "stop": "x", "user": "u", "temperature": 1, "stream": True},
        R: {"model": "gpt-x", "max_output_tokens": 16, "user": "u", "temperature": 1, "store": False, "stream": True},
    }
    tools = [tool_of(source, strict=True)]
    body, _ = convert({FIELD[source]: [ASK], "tools": tools, **settings[source]}, source, target)
    assert violations({"model": "m", **body}, target) == []


@pytest.mark.parametrize(
    ("source", "target", "schema", "rule"),
    [
        (A, C, {**SCHEMA, "properties": {"a": {"type": "string"}}}, "S2"),
        (C, A, {**SCHEMA, "properties": {"a": {"type": "integer", "maximum": 5}}, "required": ["a"]}, "S3"),
    ],
)
def test_a_schema_that_only_the_source_takes_as_strict_is_told_by_the_rule_of_the_target(source, target, schema, rule):
    field = "input_schema" if source == A else "parameters"
    body = {FIELD[source]: [ASK], "tools": [tool_of(source, **{field: schema, "strict": True})]}
    made, found = convert(body, source, target)
    assert [(each.rule, each.level) for each in found if each.where != "max_tokens"] == [(rule, "must")]
    assert made["tools"][0].get("function", made["tools"][0])["strict"] is True
