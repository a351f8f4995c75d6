"""What a request holds that nobody can count is named with its place, and what is counted is not named."""

import pytest
from raw_bodies import BODIES

from agentlab.messages.conversation import ForeignTool, Raw, Request, ToolSchema, UserMessage
from agentlab.messages.counters import count_tools
from agentlab.messages.detect import body_of
from agentlab.messages.request_count import count_body, count_parts
from agentlab.messages.uncounted import are_plain, told_tools

CLAUDE = "claude-opus-4-7"
AROUND = "what the provider adds around each message: not published"
STORED = "the history that the provider has stored"
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


def missing(dialect: str, **fields: object) -> list[str]:
    """What is not counted of a small body with these fields, without what is never published."""
    body = body_of([{"role": "user", "content": "hi"}], dialect) | fields
    return [what for what in count_body(body, dialect, "gpt-4o").not_counted if what != AROUND]


@pytest.mark.parametrize(
    ("dialect", "field", "value", "what"),
    [
        ("openai-responses", "previous_response_id", "resp_1", STORED),
        ("openai-responses", "conversation", {"id": "conv_1"}, STORED),
        ("openai-responses", "prompt", {"id": "pmpt_1"}, "the prompt that the provider has stored"),
        ("openai-responses", "text", {"format": SCHEMA}, "the schema that the answer must have"),
        ("anthropic", "thread", {"type": "continue", "previous_message_id": "msg_1"}, STORED),
        ("anthropic", "mcp_servers", [{"url": "https://example.org"}], "the tools of MCP servers"),
        ("anthropic", "output_config", {"format": SCHEMA}, "the schema that the answer must have"),
        ("anthropic", "container", {"skills": [{"skill_id": "pdf"}]}, "its container"),
        ("openai-chat", "response_format", SCHEMA, "the schema that the answer must have"),
        ("openai-chat", "functions", [{"name": "f"}], "tool schemas in their old form"),
        ("openai-chat", "web_search_options", {"search_context_size": "low"}, "search"),
    ],
)
def test_what_a_field_brings_before_the_model_is_named(dialect, field, value, what):
    (said,) = missing(dialect, **{field: value})
    assert what in said
    assert said.endswith(f"({field})")


@pytest.mark.parametrize(
    ("dialect", "fields"),
    [
        ("openai-responses", {"previous_response_id": None, "conversation": None, "text": {"verbosity": "low"}}),
        ("openai-responses", {"store": True, "include": ["reasoning.encrypted_content"], "temperature": 0.5}),
        ("anthropic", {"thread": {"type": "create"}, "mcp_servers": [], "container": "container_1"}),
        ("anthropic", {"output_config": {"effort": "low"}, "max_tokens": 9, "tool_choice": {"type": "any", "x": 1}}),
        ("openai-chat", {"response_format": {"type": "json_object"}, "function_call": "auto", "audio": {"voice": "a"}}),
    ],
)
def test_settings_bring_nothing(dialect, fields):
    assert missing(dialect, **fields) == []


def test_an_empty_field_for_a_search_still_asks_for_it():
    assert len(missing("openai-chat", web_search_options={})) == 1


@pytest.mark.parametrize(("dialect", "name", "body"), BODIES, ids=lambda value: value if isinstance(value, str) else "")
def test_each_block_and_item_that_is_no_text_is_named_by_its_type(dialect, name, body):
    said = " ".join(count_body(body, dialect).not_counted)
    if name == "everything":
        types = {
            "anthropic": ["image", "document", "thinking", "redacted_thinking", "server_tool_use", "hologram"],
            "openai-chat": ["image_url", "input_audio", "file", "refusal", "scent", "custom"],
            "openai-responses": ["input_image", "input_file", "reasoning", "compaction", "item_reference", "mcp_call"],
        }[dialect]
        assert all(f"type '{each}'" in said for each in types)
    assert ("tools[" in said) is any(each in said for each in ("whose text only the provider", "stays out"))


def test_many_of_a_kind_get_one_line():
    body = {"messages": [{"role": "user", "content": [PICTURE, {"type": "text", "text": "See."}, PICTURE, PICTURE]}]}
    said = count_body(body, "anthropic", CLAUDE).not_counted
    assert said == ("the part of type 'image' (messages[0].content[0] and 2 more)", AROUND)


def anthropic(*tools: object, **choice: object) -> object:
    body = {"model": CLAUDE, "messages": [{"role": "user", "content": "hi"}], "tools": list(tools), **choice}
    return count_body(body, "anthropic")


LOOK = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}


def test_a_tool_that_the_provider_runs_is_named_and_no_documented_number_is_claimed_with_it():
    alone, both = anthropic(LOOK), anthropic(LOOK, SEARCH)
    assert (alone.tokens("provider_adds"), both.tokens("provider_adds")) == (675, 0)
    assert both.tokens("tools") == alone.tokens("tools") > 0
    assert "the tool of type 'web_search_20250305', whose text only the provider knows (tools[1])" in both.not_counted
    assert any("does not hold with tools that the provider runs" in what for what in both.not_counted)


def test_tools_called_from_code_leave_the_documented_number_too():
    assert anthropic({**LOOK, "allowed_callers": ["direct"]}).tokens("provider_adds") == 675
    from_code = anthropic({**LOOK, "allowed_callers": ["code_execution_20260120"]})
    assert from_code.tokens("provider_adds") == 0
    assert any("that code calls" in what for what in from_code.not_counted)


def test_a_request_without_one_tool_that_is_counted_says_so():
    count = anthropic(SEARCH)
    tools = next(part.tokens for part in count.parts if part.name == "tools")
    assert (tools.value, tools.origin) == (0, "estimated")
    assert "none of them is counted" in tools.source


def test_a_deferred_tool_stays_out_of_the_sum():
    alone, both = anthropic(LOOK), anthropic(LOOK, {**LOOK, "name": "find", "defer_loading": True})
    assert both.tokens("tools") == alone.tokens("tools")
    assert "a tool that stays out until the model searches for it (tools[1])" in both.not_counted


def test_tools_that_the_caller_writes_are_counted_and_of_a_group_all_that_are_not_deferred():
    member = {"type": "function", "name": "book", "parameters": {"type": "object"}}
    late = {**member, "name": "late", "defer_loading": True}

    def group(*members: object) -> ForeignTool:
        value = {"type": "namespace", "name": "trips", "tools": list(members)}
        return ForeignTool(raw=Raw(dialect="openai-responses", value=value))

    custom = ForeignTool(raw=Raw(dialect="openai-chat", value={"type": "custom", "custom": {"name": "sql"}}))
    assert told_tools((custom, group(member))) == ((custom, group(member)), ())
    counted, out = told_tools((group(member, late),))
    assert count_tools(counted) == count_tools((group(member),))
    assert out == ("tools that stay out until the model searches for them (tools[0])",)
    assert not are_plain((custom,))


def test_examples_of_a_tool_and_the_name_of_a_speaker_are_not_counted_and_named():
    said = anthropic({**LOOK, "input_examples": [{}]}).not_counted
    assert "the field input_examples (tools[0].input_examples)" in said
    body = {"messages": [{"role": "user", "name": "clerk", "content": "hi"}]}
    assert count_body(body, "openai-chat", "gpt-4o").not_counted == ("the field name (messages[0].name)",)


def test_the_prompt_for_tools_depends_on_a_model_that_must_be_named():
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": [LOOK]}
    for model in (None, "gpt-5.2"):
        assert any("none of Claude is named" in what for what in count_body(body, "anthropic", model).not_counted)


@pytest.mark.parametrize(
    ("dialect", "field", "value", "said"),
    [
        ("anthropic", "context_management", {"edits": [{"type": "clear_tool_uses_20250919"}]}, "clear"),
        ("anthropic", "compaction", {"type": "auto"}, "summarise"),
        ("openai-responses", "truncation", "auto", "drop"),
    ],
)
def test_what_a_provider_may_take_away_is_said(dialect, field, value, said):
    body = body_of([{"role": "user", "content": "hi"}], dialect)
    (what,) = count_body({**body, field: value}, dialect).may_shrink
    assert said in what
    assert field in what
    assert count_body(body, dialect).may_shrink == count_body({**body, field: None}, dialect).may_shrink == ()
    assert count_body({**body, "truncation": "disabled"}, dialect).may_shrink == ()


def test_a_request_with_nothing_in_it_misses_nothing():
    assert count_parts(Request(messages=()), CLAUDE).not_counted == ()
    assert count_parts(Request(messages=(UserMessage(content="hi"),)), CLAUDE).not_counted == (AROUND,)
    assert are_plain((ToolSchema(name="due", description="", parameters={}),))


@pytest.mark.parametrize("kind", [{}, [], ["custom"], 5])
@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])
def test_a_tool_whose_type_is_no_text_is_named_as_not_counted(dialect: str, kind: object) -> None:
    assert any("the tool of type" in what for what in missing(dialect, tools=[{"type": kind}]))
