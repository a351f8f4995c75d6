"""The counts of a reply: what a provider reports is believed only where it can be true."""

import pytest
from pydantic import ValidationError

from agentlab.messages.conversation import Reply, StopReason, Usage
from agentlab.messages.wire import DIALECTS, reply_from_wire, reply_to_wire

NAMES = {
    "openai-chat": ("prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"),
    "openai-responses": ("input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"),
}


def reply_with(usage, dialect):
    body = reply_to_wire(Reply(content="x", stop=StopReason.END), dialect, model="m")
    return reply_from_wire({**body, "usage": usage}, dialect).usage


def openai(dialect, given=100, made=9, cached=0, written=0, reasoning=0):
    """A usage; a value of None is left out."""
    names = NAMES[dialect]
    parts = {"cached_tokens": cached, "cache_write_tokens": written}
    fields = {names[0]: given, names[1]: made, names[2]: parts, names[3]: {"reasoning_tokens": reasoning}}
    return {name: value for name, value in fields.items() if value is not None}


UNBELIEVABLE = [
    {"given": 15, "cached": 100},
    {"given": 15, "cached": 10, "written": 6},
    {"made": 3, "reasoning": 4},
    {"given": -1},
    {"made": -1},
    {"cached": -1},
    {"given": "100"},
    {"given": 100.0},
    {"given": True},
    {"made": [9]},
    {"cached": "0"},
    {"given": None},
    {"made": None},
]


@pytest.mark.parametrize("changes", UNBELIEVABLE, ids=str)
@pytest.mark.parametrize("dialect", NAMES)
def test_openai_counts_that_cannot_be_true_are_no_usage(dialect, changes):
    assert reply_with(openai(dialect, **changes), dialect) is None


@pytest.mark.parametrize("dialect", NAMES)
def test_openai_counts_that_can_be_true_are_the_usage(dialect):
    said = reply_with(openai(dialect, cached=90, written=10, reasoning=9), dialect)
    assert said == Usage(
        input_tokens=100, output_tokens=9, cache_read_tokens=90, cache_write_tokens=10, reasoning_tokens=9
    )
    plain = {name: value for name, value in openai(dialect).items() if not name.endswith("_details")}
    assert reply_with(plain, dialect) == Usage(input_tokens=100, output_tokens=9)
    assert reply_with({**plain, NAMES[dialect][2]: {"cached_tokens": None}}, dialect) == reply_with(plain, dialect)


@pytest.mark.parametrize(
    "changes",
    [
        {"input_tokens": -85},
        {"input_tokens": None},
        {"cache_read_input_tokens": -1},
        {"cache_read_input_tokens": True},
        {"cache_creation_input_tokens": "5"},
        {"output_tokens": 1.5},
        {"output_tokens_details": {"thinking_tokens": 6}},
    ],
    ids=str,
)
def test_anthropic_counts_that_cannot_be_true_are_no_usage(changes):
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 85}
    assert reply_with(usage, "anthropic") == Usage(input_tokens=95, output_tokens=5, cache_read_tokens=85)
    assert reply_with({**usage, **changes}, "anthropic") is None


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("usage", [None, [], "100", {}, 5])
def test_what_is_no_usage_is_none(dialect, usage):
    assert reply_with(usage, dialect) is None


def test_no_usage_can_be_made_whose_parts_are_more_than_the_whole():
    with pytest.raises(ValidationError, match="cannot be more"):
        Usage(input_tokens=15, output_tokens=1, cache_read_tokens=100)
    with pytest.raises(ValidationError, match="cannot be more"):
        Usage(input_tokens=15, output_tokens=1, reasoning_tokens=2)
