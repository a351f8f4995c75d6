"""A request in three dialects: every part of the real bodies is shown, and what differs is marked, nothing else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.messages.conversation import (
    AssistantMessage,
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolResult,
    ToolSchema,
    UserMessage,
)
from agentlab.messages.wire import DIALECTS, to_wire
from agentlab.views.sequence import sequence
from agentlab.views.tokens import messages_table
from agentlab.views.wire import TITLES, side_by_side

TOOL = ToolSchema(name="invoice_get", description="Fetch one.", parameters={"type": "object", "properties": {}})
CALL = ToolCall(id="call_1", name="invoice_get", arguments={"invoice_id": "INV-1042"})
RESULT = ToolResult(call_id="call_1", content="approved")
FIRST = Request(system="Be brief.", tools=(TOOL,), messages=(UserMessage(content="Status?"),))
SECOND = FIRST.model_copy(update={"messages": (*FIRST.messages, AssistantMessage(tool_calls=(CALL,)), RESULT)})


def plain(lines):
    """The JSON that the lines spell, without marks."""
    return "".join(token.text for line in lines for token in line)


def row(shown, part):
    return next(row for row in shown.rows if row.part == part)


def marked(html):
    return re.findall(r"<mark[^>]*>([^<]*)</mark>", html)


def test_the_parts_come_in_the_order_of_the_request():
    assert [row.part for row in side_by_side(SECOND).rows] == ["system", "tools", "user", "call", "result"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_part_is_the_json_that_is_sent(dialect):
    body = to_wire(SECOND, dialect).body
    shown = [json.loads("{" + plain(row.lines[dialect]) + "}") for row in side_by_side(SECOND).rows]
    sent = {}
    for part in shown:
        for field, value in part.items():
            sent[field] = [*sent[field], *value] if field in sent else value
    assert sent == body


def test_arguments_are_marked_because_one_dialect_has_an_object_and_two_have_text():
    text = side_by_side(SECOND).text
    assert '*"input"*: {*"invoice_id"*: *"INV-1042"*}' in text
    assert r'*"arguments"*: *"{\"invoice_id\": \"INV-1042\"}"*' in text


def test_what_all_dialects_share_is_not_marked():
    shared = row(side_by_side(SECOND), "call").shared
    assert {'value "call_1"', "field name", 'value "invoice_get"'} <= shared
    assert "field input" not in shared


def test_an_error_shows_as_a_flag_in_one_dialect_and_in_the_text_of_the_others():
    failed = RESULT.model_copy(update={"is_error": True})
    lines = row(side_by_side(Request(messages=(failed,))), "result").lines
    assert '"is_error": true' in plain(lines["anthropic"])
    for dialect in ("openai-chat", "openai-responses"):
        assert "is_error" not in plain(lines[dialect])
        assert "error" in plain(lines[dialect])


def test_results_that_follow_each_other_are_one_part():
    other = ToolResult(call_id="call_2", content="paid")
    lines = row(side_by_side(Request(messages=(RESULT, other))), "result").lines
    counts = {dialect: plain(found).count('"role"') for dialect, found in lines.items()}
    assert counts == {"anthropic": 1, "openai-chat": 2, "openai-responses": 0}


def test_html_marks_by_an_underline_too_and_names_rows_and_columns():
    shown = side_by_side(SECOND)
    assert all(f'<th scope="col" style="text-align:left">{title}</th>' in shown.html for title in TITLES.values())
    assert shown.html.count('<th scope="row"') == len(shown.rows)
    assert "text-decoration:underline" in shown.html
    assert '"tool_use"' in marked(shown.html)
    assert '"invoice_get"' not in marked(shown.html)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_no_text_of_a_message_becomes_markup(words):
    html = side_by_side(Request(messages=(UserMessage(content=f"<b>{words}</b>"),))).html
    assert "<b>" not in html
    assert html.count("<mark") == html.count("</mark>")


def test_an_empty_request_has_no_rows_and_still_a_form():
    shown = side_by_side(Request(messages=()))
    assert shown.rows == ()
    assert "<tbody></tbody>" in shown.html


def test_the_sequence_names_what_the_table_counts_and_shows_the_call_between():
    asks = Reply(tool_calls=(CALL,), stop=StopReason.TOOL)
    exchange = [FIRST, asks, SECOND, Reply(content="Approved.", stop=StopReason.END)]
    diagram, table = sequence(exchange)
    assert table == messages_table(exchange)
    arrows = re.findall(r"C->>M: (\d) request: at least (\d+)|M-->>C: (\d) reply: at least (\d+)", diagram)
    assert [next(filter(None, (a[1], a[3]))) for a in arrows] == [row[-1] for row in table.rows]
    assert diagram.index("M-->>C: 2") < diagram.index("C->>T: invoice_get") < diagram.index("C->>M: 3")


def test_a_call_without_a_result_is_not_drawn_as_run():
    diagram, _ = sequence([FIRST, Reply(tool_calls=(CALL,), stop=StopReason.TOOL), FIRST])
    assert "C->>T" not in diagram
