"""Token counts in a notebook: tables and sentences are computed, from requests and from dated facts."""

import csv
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import AgentlabError
from agentlab.facts import cited, read_facts
from agentlab.messages.conversation import (
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolResult,
    ToolSchema,
    UserMessage,
)
from agentlab.messages.counters import count_text
from agentlab.messages.request_count import count_parts
from agentlab.paths import data_folder
from agentlab.views import tokens as view

TOOL = ToolSchema(name="due", description="List what is due.", parameters={"type": "object"})
CALL = ToolCall(id="1", name="due", arguments={"month": 11})
FIRST = Request(system="Be brief.", tools=(TOOL,), messages=(UserMessage(content="What is due?"),))
ASKS = Reply(tool_calls=(CALL,), stop=StopReason.TOOL)
RESULT = ToolResult(call_id="1", content="INV-7, INV-9")
SECOND = FIRST.model_copy(update={"messages": (*FIRST.messages, ASKS.message, RESULT)})
ANSWER = Reply(content="Two invoices.", stop=StopReason.END)
FOUR = [FIRST, ASKS, SECOND, ANSWER]


@pytest.fixture(autouse=True)
def no_ctok(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctok", None)


def numbers(row):
    return [int(cell.replace(",", "")) for cell in row[1:]]


@pytest.mark.parametrize(("model", "dialect"), [(None, None), ("gpt-4o", "openai-chat"), ("claude-opus-4-7", None)])
def test_the_rows_of_the_four_messages_add_up(model, dialect):
    table = view.messages_table(FOUR, model, dialect)
    assert [row[0] for row in table.rows] == ["1. request", "2. reply", "3. request", "4. reply"]
    # A reply has no frame that is published, so what is counted is never all.
    assert table.columns[-1] == "at least"
    for row in table.rows:
        *parts, total = numbers(row)
        assert sum(parts) == total > 0


def test_the_second_request_carries_the_first_one_the_call_and_the_result():
    table = view.messages_table(FOUR)
    first, reply, second, _ = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (second["system"], second["tools"], second["user"]) == (first["system"], first["tools"], first["user"])
    assert second["assistant"] == reply["assistant"]
    assert second["tool results"] == str(count_text(RESULT.content))
    added = int(second["at least"]) - int(first["at least"])
    assert added == int(reply["at least"]) + count_text(RESULT.content)


def test_the_sentence_names_what_is_new_and_what_all_requests_send():
    said = view.messages_sentence(FOUR)
    first, second = count_parts(FIRST).total.value, count_parts(SECOND).total.value
    assert said.startswith(f"Message 3 has at least {second} tokens, of which {count_text(RESULT.content)} are new")
    assert said.endswith(f"The 2 requests together send at least {first + second}.")
    assert view.messages_sentence([FIRST]) == "There is one request; nothing is sent twice."


def test_a_table_of_parts_shows_share_band_and_origin_and_ends_with_the_total():
    count = count_parts(FIRST, "claude-opus-4-7")
    table = view.parts_table(count)
    assert [row[0] for row in table.rows][-2:] == ["provider adds", "at least"]
    tools = next(row for row in table.rows if row[0] == "tools")
    assert tools[1:3] == (f"{count.tokens('tools'):,}", f"{count.share('tools'):.0%}")
    assert tools[3] == view.band(count.parts[1].tokens) != ""
    assert table.rows[-1][1] == f"{count.total.value:,}"


def test_an_exact_count_has_no_band():
    rows = view.parts_table(count_parts(FIRST, "gpt-5.2")).rows
    assert next(row for row in rows if row[0] == "user")[3:] == ("", "exact")


def test_the_sentence_of_one_request_names_the_share_of_schemas_and_the_largest_part():
    count = count_parts(FIRST, "gpt-5.2")
    said = view.parts_sentence(count)
    assert f"{count.tokens('tools')} of them ({count.share('tools'):.0%} of what is counted) are tool schemas" in said
    assert said.startswith(f"The request has at least about {count.total.value} tokens; ")
    assert "The largest part is tools" in said
    assert "probably" not in said
    bare = FIRST.model_copy(update={"tools": ()})
    assert "or more)" in view.parts_sentence(count_parts(bare, "claude-opus-4-7"))
    assert view.parts_sentence(count_parts(Request(messages=()))) == "The request is empty."


def test_a_sum_of_which_nothing_is_missing_is_a_total_and_one_token_is_not_two():
    chat = count_parts(Request(messages=(UserMessage(content="hi"),)), "gpt-4o", "openai-chat")
    assert view.parts_table(chat).rows[-1][0] == "total"
    assert view.parts_sentence(chat).startswith(f"The request has about {chat.total.value} tokens; ")
    one = count_parts(Request(messages=(UserMessage(content="hi"),)), "gpt-4o")
    assert view.parts_table(one).rows[-1][:2] == ("at least", "1")
    assert view.parts_sentence(one).startswith("The request has at least 1 token; ")
    about = count_parts(Request(messages=(UserMessage(content="hi"),)), "gpt-6-sol")
    assert view.parts_sentence(about).startswith("The request has at least about 1 token; ")


def test_a_request_of_which_nothing_can_be_counted_is_not_called_empty():
    count = count_parts(Request(messages=()), left_out=("the part of type 'image'",))
    assert view.parts_sentence(count) == "Nothing of the request can be counted here."


def test_the_notes_name_the_counter_and_all_that_is_not_published():
    said = " ".join(view.notes(count_parts(FIRST, "gpt-5.2")))
    assert "o200k_base is the encoding of gpt-5.2" in said
    assert "Tools: the schemas counted as JSON" in said
    assert "without a band" in said
    assert "nine of ten" in " ".join(view.notes(count_parts(FIRST, "claude-opus-4-7")))
    alone = count_parts(Request(messages=(UserMessage(content="hi"),)), "gpt-5.2")
    assert not any("band" in note for note in view.notes(alone))


sizes = st.integers(0, 10**9)


@given(sizes, sizes, sizes)
def test_the_share_of_schemas_lies_between_0_and_1_and_grows_with_the_tools(tools, schema_tokens, history_tokens):
    share = view.schema_share(tools, schema_tokens, history_tokens)
    assert 0 <= share.share <= 1
    assert share.request == tools * schema_tokens + history_tokens
    assert view.schema_share(tools + 1, schema_tokens, history_tokens).share >= share.share
    assert f"{share.share:.0%}" in view.share_sentence(share)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_sentence_names_the_least_number_of_tools_that_are_half_of_the_request(schema_tokens, history_tokens):
    said = view.share_sentence(view.schema_share(1, schema_tokens, history_tokens))
    half = int(said.partition("From ")[2].partition(" ")[0].replace(",", ""))
    assert view.schema_share(half, schema_tokens, history_tokens).share >= 0.5
    assert view.schema_share(half - 1, schema_tokens, history_tokens).share < 0.5


@pytest.mark.parametrize("wrong", [-1, 1.5, True, None, "9"])
@pytest.mark.parametrize("place", ["tools", "schema_tokens", "history_tokens"])
def test_a_size_that_is_none_is_named(wrong, place):
    with pytest.raises(AgentlabError, match=f"{place} is"):
        view.schema_share(**({"tools": 1, "schema_tokens": 1, "history_tokens": 1} | {place: wrong}))


def test_the_table_of_shares_is_the_calculator_at_several_numbers_of_tools():
    table = view.share_table(500, 5_000, tools=(10, 30))
    assert table.rows == (("10", "5,000", "10,000", "50%"), ("30", "15,000", "20,000", "75%"))


def test_the_published_sizes_come_from_the_facts_with_date_and_doubt():
    table = view.published_table()
    facts = read_facts("schema_bloat")
    assert [row[0] for row in table.rows] == [fact["what"] for fact in facts]
    assert [row[-1] for row in table.rows] == [cited(fact) for fact in facts]
    assert all(
        ("unverified" in row[-1]) is (fact["verified"] == "no") for row, fact in zip(table.rows, facts, strict=True)
    )
    suite = next(row for row in table.rows if row[0] == "one workspace suite")
    assert suite[1:4] == ("49", "22,000", "449")
    # "100 or more" tools give no size of one tool, and nothing published gives none either.
    assert [row[3] for row in table.rows if row[0] != "one workspace suite"] == ["", "", "", ""]


@pytest.mark.parametrize("file", sorted((data_folder() / "facts").glob("*.csv")), ids=lambda file: file.name)
def test_each_fact_has_a_source_a_date_and_says_whether_it_is_verified(file):
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, strict=True))
    assert rows
    for row in rows:
        assert None not in row
        assert None not in row.values()
        assert row["source"]
        assert row["date"][:4].isdigit()
        assert row["verified"] in ("yes", "no")
    assert file.name in (data_folder() / "facts" / "README.md").read_text(encoding="utf-8")


def test_facts_that_are_not_there_are_named():
    with pytest.raises(AgentlabError, match="the facts prices_of_yore cannot be read"):
        read_facts("prices_of_yore")
