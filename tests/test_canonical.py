"""Canonical JSON: one text, and so one digest, for one value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.canonical import canonical_json, digest
from agentlab.errors import AgentlabError

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(leaves | text, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)


@given(st.dictionaries(text, json_values))
def test_the_order_of_keys_does_not_matter(value):
    assert digest(dict(reversed(value.items()))) == digest(value)


@given(json_values, json_values)
def test_two_values_share_a_digest_only_if_they_are_written_alike(one, other):
    assert (digest(one) == digest(other)) == (canonical_json(one) == canonical_json(other))


def test_one_and_its_lookalikes_have_different_digests():
    assert len({digest(value) for value in (1, 1.0, True, "1", [1])}) == 5


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), b"bytes", {1: "x"}, [{None: 1}], {"a": "\ud800"}, {1, 2}]
)
def test_what_json_cannot_hold_is_refused_in_one_line(value):
    with pytest.raises(AgentlabError) as refused:
        canonical_json(value)
    assert "\n" not in str(refused.value)


def test_a_value_that_never_ends_is_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(AgentlabError):
        canonical_json(loop)


def test_a_value_too_deep_to_write_is_refused():
    with pytest.raises(AgentlabError):
        digest(_deep(100_000))


def _deep(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value
