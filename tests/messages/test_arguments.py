"""What each kind of argument text becomes. One row a case: this is the contract of the parser."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.messages.arguments import MAX_DEPTH, parse_arguments

ACCEPTED = [
    ("", {}),
    ("  \n\t", {}),
    (None, {}),
    ("{}", {}),
    ({}, {}),
    ('{"a": 1}', {"a": 1}),
    (' {"a": 1} \n', {"a": 1}),
    ({"a": 1}, {"a": 1}),
    ('{"n": 1234567890123456789}', {"n": 1234567890123456789}),
    ('{"n": 1.0}', {"n": 1.0}),
    ('{"n": true}', {"n": True}),
    ('{"n": null}', {"n": None}),
    ('{"a": "{\\"b\\": 1}"}', {"a": '{"b": 1}'}),
    ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
]

REFUSED = [
    ("null", "not null"),
    ("[]", "not a list"),
    ("7", "not a number"),
    ("true", "not true or false"),
    ('"text"', "not text"),
    ('"{\\"a\\": 1}"', "not text"),
    ([], "not a list"),
    (7, "not a number"),
    (False, "not true or false"),
    ('{"a": 1', "not valid JSON"),
    ('{"a": 1}}', "not valid JSON"),
    ("{'a': 1}", "not valid JSON"),
    ("invoice 7", "not valid JSON"),
    ('{"a": NaN}', "NaN"),
    ('{"a": -Infinity}', "-Infinity"),
    ('{"a": 1e999}', "not finite"),
    ('{"a": [1, {"b": -1e999}]}', "not finite"),
    ({"a": float("nan")}, "not finite"),
    ('{"a": 1, "a": 2}', "'a' is written twice"),
    ('{"x": {"a": 1, "a": 1}}', "'a' is written twice"),
    ('{"a": "\\ud800"}', "surrogate"),
    ({"a": "\udfff"}, "surrogate"),
    ({"\ud800": 1}, "surrogate"),
    ('{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "deeper than"),
    ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "deeper than"),
    ('{"a": ' + "9" * 5_000 + "}", "too many digits"),
    ({"a": [10**5_000]}, "too many digits"),
    ({"a": -(10**4_300)}, "too many digits"),
]


@pytest.mark.parametrize(("raw", "values"), ACCEPTED)
def test_an_object_is_read_as_it_stands(raw, values):
    parsed = parse_arguments(raw)
    assert parsed.problem is None
    assert repr(parsed.values) == repr(values)  # repr tells 1 from 1.0 and True, which == does not


@pytest.mark.parametrize(("raw", "problem"), REFUSED)
def test_anything_else_is_refused_with_its_reason(raw, problem):
    parsed = parse_arguments(raw)
    assert parsed.values is None
    assert problem in (parsed.problem or "")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values))
def test_every_json_object_survives_the_way_through_text(values):
    assert repr(parse_arguments(json.dumps(values)).values) == repr(values)


@given(st.text())
def test_no_text_whatever_makes_the_parser_raise(text):
    parsed = parse_arguments(text)
    assert (parsed.values is None) != (parsed.problem is None)
