"""What may run, and what text becomes: the tables are read off the readers, so that they cannot drift from them."""

import json

import pytest

from agentlab.messages.conversation import StopReason
from agentlab.messages.wire import DIALECTS
from agentlab.messages.wire.anthropic import STOPS as ANTHROPIC
from agentlab.messages.wire.openai_chat import STOPS as CHAT
from agentlab.views.replies import arguments_table, cut_table, stop_table, stops


def rows():
    return {row[0]: row for row in stop_table().rows}


def test_there_is_a_row_for_every_stop_reason():
    assert list(rows()) == [reason.value for reason in StopReason]


def test_only_one_stop_reason_runs_calls():
    assert [name for name, row in rows().items() if "run the calls" in row[-1]] == ["tool"]
    assert rows()["length"][-1] == rows()["refusal"][-1] == rows()["unknown"][-1] == "end; run nothing"


def test_every_stop_that_the_readers_know_is_in_the_table():
    read = stops()
    assert set(ANTHROPIC) <= set(read["anthropic"])
    assert set(CHAT) <= set(read["openai-chat"])
    for dialect, known in (("anthropic", ANTHROPIC), ("openai-chat", CHAT)):
        assert {said: read[dialect][said] for said in known} == known


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("tool", ("tool_use", "tool_calls", "completed with a function_call")),
        ("length", ("max_tokens", "length", "incomplete: max_output_tokens")),
        ("context_full", ("model_context_window_exceeded", "-", "-")),
        ("unknown", ("anything else",) * len(DIALECTS)),
    ],
)
def test_a_row_says_what_each_provider_calls_it(reason, said):
    assert rows()[reason][1:-1] == said


def test_the_parser_refuses_what_python_reads_too_kindly():
    texts = ['{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}', '["a"]', '"{}"', "null"]
    for text, (_, loads, parsed) in zip(texts, arguments_table(texts).rows, strict=True):
        assert loads == repr(json.loads(text))
        assert parsed.startswith("refused: ")


def test_what_is_an_object_is_shown_as_it_is_and_blank_text_is_the_empty_object():
    table = arguments_table(['{"a": 1}', "", "  "])
    assert [row[2] for row in table.rows] == ["{'a': 1}", "{}", "{}"]
    assert [row[0] for row in table.rows] == ['{"a": 1}', "(empty)", "(blank)"]


def test_a_text_that_is_cut_or_too_deep_is_an_error_to_both_readers_or_shown_short():
    deep = '{"a":' * 65 + "1" + "}" * 65
    (cut, cut_loads, cut_parsed), (shown, _, deep_parsed) = arguments_table(['{"a": "x', deep]).rows
    assert cut == '{"a": "x'
    assert cut_loads.startswith("error: ")
    assert cut_parsed.startswith("refused: the arguments are not valid JSON")
    assert "nested deeper" in deep_parsed
    assert len(shown) < len(deep)


def test_a_partial_reader_makes_arguments_of_what_the_parser_refuses():
    cuts = ('{"id": "INV-1', '{"id": 1, "cents": 12', '{"id": 1, "cents": 120000, "hold": tru')
    rows = cut_table(cuts).rows
    assert [row[1] for row in rows] == ["{}", "{'id': 1, 'cents': 12}", "{'id': 1, 'cents': 120000}"]
    assert all(row[2].startswith("refused: ") for row in rows)


def test_of_a_long_text_that_was_cut_its_end_is_shown():
    text = '{"a": "' + "x" * 60 + '", "b": 1'
    ((shown, partly, _),) = cut_table([text]).rows
    assert shown.startswith("... ")
    assert shown.endswith('x", "b": 1')
    assert "'b': 1" in partly
