"""What each part of a request costs, and what the number is worth."""

import sys
from types import ModuleType

import pytest
from conversations import requests
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import AgentlabError
from agentlab.facts import read_facts
from agentlab.messages import claude
from agentlab.messages.conversation import AssistantMessage, Request, ToolCall, ToolChoice, ToolSchema, UserMessage
from agentlab.messages.counters import count_request, count_text, count_tools
from agentlab.messages.detect import detect
from agentlab.messages.request_count import PARTS, add, count_body, count_parts
from agentlab.messages.tokenizers import bare_name, tokenizer_for
from agentlab.messages.wire import DIALECTS, WireError, to_wire
from agentlab.shapes import Quantity

MODELS = [None, "gpt-5.2", "gpt-4", "gpt-6-sol", "claude-opus-4-5", "claude-opus-4-7", "claude-fable-5-2", "claude-2.1"]
TOOL = ToolSchema(name="due", description="List what is due.", parameters={"type": "object"})
CALL = ToolCall(id="1", name="due", arguments={})


@pytest.fixture(autouse=True)
def no_ctok(monkeypatch):
    """The same counts whether or not somebody has installed ctok."""
    monkeypatch.setitem(sys.modules, "ctok", None)


@given(requests(), st.sampled_from(MODELS), st.none() | st.sampled_from(DIALECTS))
def test_the_parts_add_up_to_the_total_and_none_is_negative(request, model, dialect):
    count = count_parts(request, model, dialect)
    assert sum(part.tokens.value for part in count.parts) == count.total.value
    assert all(part.tokens.value >= 0 for part in count.parts)
    assert [part.name for part in count.parts] == list(PARTS[: len(count.parts)])
    assert sum(count.share(name) for name in PARTS) == pytest.approx(1.0 if count.total.value else 0.0)
    assert all(part.tokens.source for part in count.parts)


@given(requests(), st.sampled_from(MODELS), st.none() | st.sampled_from(DIALECTS))
def test_where_something_is_not_counted_the_total_is_a_least_without_a_band(request, model, dialect):
    count = count_parts(request, model, dialect)
    assert count.at_least is bool(count.not_counted)
    if count.at_least:
        assert (count.total.low, count.total.high) == (None, None)
        assert count.lowest is None or count.lowest <= count.total.value
    else:
        assert count.lowest is None


@given(requests())
def test_without_what_a_provider_adds_the_parts_are_the_count_of_the_request(request):
    assert count_parts(request, "gpt-5.2").total.value == count_request(request)


@given(requests(), st.sampled_from(MODELS))
def test_an_estimate_lies_in_its_band_and_the_total_in_the_sum_of_the_bands(request, model):
    count = count_parts(request, model)
    for quantity in [*(part.tokens for part in count.parts), count.total]:
        assert (quantity.low is None) == (quantity.high is None)
        assert quantity.low is None or quantity.low <= quantity.value <= quantity.high
        assert quantity.low is None or quantity.origin == "estimated"


@given(requests(), st.sampled_from(DIALECTS))
def test_a_body_counts_as_the_request_that_it_is(request, dialect):
    body = to_wire(request, dialect).body
    count, same = count_body(body, dialect, "gpt-5.2"), count_parts(request, "gpt-5.2", dialect)
    # Names and ids are exchanged on the wire, an error becomes text, and texts beside results are joined.
    assert count.tokens("system") + count.tokens("user") == same.tokens("system") + same.tokens("user")


def test_the_text_of_a_listed_model_is_exact_and_what_is_not_published_is_an_estimate():
    called = AssistantMessage(tool_calls=(CALL,))
    request = Request(system="Be brief.", tools=(TOOL,), messages=(UserMessage(content="What is due?"), called))
    count = count_parts(request, "gpt-5.2")
    origins = {part.name: part.tokens.origin for part in count.parts}
    assert origins == {
        "system": "exact",
        "tools": "estimated",
        "user": "exact",
        "assistant": "estimated",
        "tool_results": "exact",
    }
    assert count.total.origin == "estimated"
    assert "not published" in next(part.tokens.source for part in count.parts if part.name == "tools")
    assert count.not_counted == ("what the provider adds around each message: not published",)


@pytest.mark.parametrize("model", [None, "gpt-6-sol", "llama", "davinci"])
def test_a_model_without_a_known_tokenizer_is_an_estimate_by_o200k(model):
    tokenizer = tokenizer_for(model)
    assert (tokenizer.origin, tokenizer.error) == ("estimated", None)
    assert tokenizer.count("hello world") == 2
    assert (model or "no model named") in tokenizer.name


def test_the_frames_of_a_chat_are_those_that_a_recorded_call_had():
    # 14 prompt tokens is what the live API reported for this request to gpt-4o-2024-08-06 (tests of openai 3.57).
    body = {
        "model": "gpt-4o-2024-08-06",
        "messages": [{"role": "user", "content": "What's the weather like in SF?"}],
    }
    count = count_body(body, "openai-chat")
    assert (count.tokens("user"), count.tokens("provider_adds"), count.total.value) == (7, 7, 14)
    assert count.parts[-1].tokens.origin == "estimated"
    assert count.not_counted == ()


def test_a_system_message_of_several_parts_is_not_called_exact():
    parts = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    for content, origin in [("Be brief.", "exact"), (parts, "estimated")]:
        body = {"model": "gpt-4o", "messages": [{"role": "system", "content": content}]}
        assert count_body(body, "openai-chat").parts[0].tokens.origin == origin


def test_what_is_no_text_is_named_and_not_counted():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "See."}, image]}]}
    count = count_body(body, "anthropic", "claude-opus-4-7")
    assert len(count.not_counted) == 2
    assert count.not_counted[0] == "the part of type 'image' (messages[0].content[1])"
    assert count.tokens("user") == round(1.47 * count_text("See."))


def test_a_body_of_another_dialect_is_refused():
    with pytest.raises(WireError, match="input must be a list"):
        count_body({"messages": []}, "openai-responses")


# --- Claude ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "tier", "version"),
    [
        ("claude-opus-4-7", "opus", (4, 7)),
        ("claude-opus-5", "opus", (5, 0)),
        ("claude-fable-5-2", "fable", (5, 2)),
        ("claude-haiku-4-5-20251001", "haiku", (4, 5)),
        ("claude-sonnet-4-20250514", "sonnet", (4, 0)),
        ("claude-3-5-haiku-20241022", "haiku", (3, 5)),
        ("claude-3-opus-latest", "opus", (3, 0)),
        ("us.anthropic.claude-opus-4-6-v1:0", "opus", (4, 6)),
        ("claude-sonnet-4@20250514", "sonnet", (4, 0)),
        ("anthropic:claude-sonnet-5", "sonnet", (5, 0)),
        ("claude-mythos-preview", "mythos", None),
        ("claude-2.1", None, (2, 1)),
    ],
)
def test_a_name_of_claude_says_tier_and_version(model, tier, version):
    assert claude.read_name(model) == (tier, version)


@pytest.mark.parametrize("model", ["gpt-5.2", "o3", "", "opus-4-7"])
def test_other_names_are_no_claude(model):
    assert claude.read_name(model) is None
    with pytest.raises(AgentlabError, match="no Claude model"):
        claude.family_of(model)


@pytest.mark.parametrize(
    ("model", "factor", "verified"),
    [
        ("claude-3-opus-20240229", 1.21, True),
        ("claude-opus-4-6", 1.21, True),
        ("claude-opus-4-7", 1.47, True),
        ("claude-opus-5", 1.47, True),
        ("claude-fable-5-1", 1.47, False),
        ("claude-sonnet-5-5", 1.47, False),
        ("claude-mythos-preview", 1.47, False),
    ],
)
def test_a_family_has_its_factor_and_says_where_nobody_measured_it(model, factor, verified):
    family = claude.family_of(model)
    assert (family.factor, family.low, family.high) == (factor, -0.22, 0.15)
    assert ("unverified" not in family.cited) is verified


def test_a_claude_before_3_has_no_factor_and_no_band():
    assert claude.family_of("claude-2.1") is None
    assert tokenizer_for("claude-2.1").error is None


def test_the_band_is_where_the_true_count_lies_not_the_error_around_the_estimate():
    tokenizer = tokenizer_for("claude-opus-4-7")
    quantity = tokenizer.tokens(1_000)
    assert (quantity.low, quantity.value, quantity.high) == (1_278, 1_470, 1_885)  # 1,470 / 1.15 and 1,470 / 0.78


@pytest.mark.parametrize("row", read_facts("tool_prompt_tokens"), ids=lambda row: row["model"])
def test_each_row_of_the_tool_prompts_is_found_by_the_name_of_its_model(row):
    model = f"claude-{row['tier']}-{row['version'].replace('.', '-')}"
    for mode, column in [("auto", "auto_none"), ("none", "auto_none"), ("any", "any_tool"), ("tool", "any_tool")]:
        found = claude.tool_prompt(model, ToolChoice(mode=mode, name="due" if mode == "tool" else None))
        if row[column]:
            assert (found.value, found.origin) == (int(row[column]), "estimated")
            assert "documented" in found.source
            assert row["date"] in found.source
            assert ("recorded calls" in found.source) is (mode == "auto" and bool(row["checked"]))
        else:
            assert row["verified"] == "no"
            assert found is None


def test_the_prompt_for_tools_is_added_only_where_there_are_tools():
    bare, armed = Request(messages=()), Request(tools=(TOOL,), messages=())
    assert count_parts(bare, "claude-opus-4-7").tokens("provider_adds") == 0
    assert count_parts(armed, "claude-opus-4-7").tokens("provider_adds") == 675
    unknown = count_parts(armed, "claude-fable-5-2")
    assert unknown.tokens("provider_adds") == 0
    assert any("no number is known for claude-fable-5-2" in what for what in unknown.not_counted)


def test_ctok_is_used_where_it_is_installed_and_its_frame_is_not_text(monkeypatch):
    # ctok needs Python 3.12; this stands for the one function used of it, with the frame as version 1.3.0 writes it.
    installed = ModuleType("ctok")
    installed.tokenize = lambda text, version: ["⟨pad⟩"] * 7 + [version] + text.split()
    monkeypatch.setitem(sys.modules, "ctok", installed)
    tokenizer = tokenizer_for("claude-opus-4-5")
    assert (tokenizer.name, tokenizer.origin, tokenizer.error) == ("ctok (a reconstruction)", "estimated", None)
    assert "reconstruction" in tokenizer.tokens(1).source
    assert "nothing was measured" not in tokenizer.source
    assert "nothing was measured for claude-opus-6" in tokenizer_for("claude-opus-6").source
    assert (tokenizer.count("a b"), tokenizer.count("")) == (3, 0)
    for unknown in ("claude-2.1", "claude-mythos-preview"):
        assert "ctok" not in tokenizer_for(unknown).name


def test_the_real_ctok_gives_the_counts_of_content_that_its_readme_prints(monkeypatch):
    monkeypatch.delitem(sys.modules, "ctok")
    pytest.importorskip("ctok", reason="ctok is no dependency; pip install ctok (Python 3.12 or later) to run this")
    for model, tokens in [("claude-opus-4-5", 3), ("claude-opus-4-7", 4), ("claude-sonnet-5", 4)]:
        assert tokenizer_for(model).count("hello, world") == tokens


# --- the rest -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "bare"),
    [("anthropic:claude-opus-5", "claude-opus-5"), ("openai:gpt-5", "gpt-5"), ("ft:gpt-4o:me", "ft:gpt-4o:me")],
)
def test_a_provider_in_front_of_a_name_is_no_part_of_it(model, bare):
    assert bare_name(model) == bare


def test_a_sum_with_one_estimate_of_unknown_error_has_no_band():
    exact = Quantity(value=5, unit="tokens", origin="exact", source="x")
    banded = Quantity(value=10, unit="tokens", origin="estimated", source="x", low=8, high=13)
    bare = Quantity(value=1, unit="tokens", origin="estimated", source="x")
    assert (add([exact, banded], "").low, add([exact, banded], "").high) == (13, 18)
    assert add([exact, banded, bare], "").low is None


@pytest.mark.parametrize(("low", "high"), [(1, None), (None, 3), (3, 4), (0, 1)])
def test_a_band_has_two_ends_and_holds_the_value(low, high):
    with pytest.raises(ValueError, match="band"):
        Quantity(value=2, unit="tokens", origin="estimated", source="x", low=low, high=high)


@given(requests().filter(lambda request: request.tools or any(message.role == "tool" for message in request.messages)))
def test_a_request_with_tools_or_results_is_in_one_dialect_only(request):
    for dialect in DIALECTS:
        assert detect(to_wire(request, dialect).body).best == (dialect,)


def test_a_call_without_its_result_tells_the_dialect_too():
    request = Request(messages=(UserMessage(content="hi"), AssistantMessage(tool_calls=(CALL,))))
    for dialect in DIALECTS:
        assert detect(to_wire(request, dialect).body).best == (dialect,)


def test_plain_text_may_be_of_two_dialects():
    messages = [{"role": "user", "content": "hi"}]
    assert detect({"messages": messages}).best == ("anthropic", "openai-chat")
    assert detect(messages).best == DIALECTS
    assert detect({"input": messages}).best == ("openai-responses",)
    assert detect({"messages": messages, "max_tokens": 9}).best == ("anthropic", "openai-chat")
    assert detect({"messages": messages, "system": "Be brief."}).best == ("anthropic",)
    assert detect("hi").best == ()
    assert len(detect("hi").refused) == 3


def test_the_schemas_are_counted_as_the_json_that_they_are():
    count = count_parts(Request(tools=(TOOL,), messages=()), "gpt-5.2")
    assert count.tokens("tools") == count_tools((TOOL,)) > 0
