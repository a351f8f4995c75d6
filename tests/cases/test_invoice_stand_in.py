"""The stand-in is a function of the request, and a fallible one."""

import csv
import io
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.cases.invoices.agent import Desk, run_document
from agentlab.cases.invoices.documents import Document, read_documents
from agentlab.cases.invoices.reading import MAX_DIGITS, Fields, in_cents, read_fields, read_instructions
from agentlab.cases.invoices.stand_in import MAX_REPLY_TOKENS, reply
from agentlab.messages.conversation import Reply, Request, StopReason, UserMessage
from agentlab.messages.counters import count_text
from agentlab.messages.models import Rules


def test_the_same_request_gets_the_same_reply_even_from_its_bytes(inbox: tuple[Document, ...], desk: Desk) -> None:
    seen: list[tuple[Request, Reply]] = []

    def remember(request: Request) -> Reply:
        seen.append((request, reply(request)))
        return seen[-1][1]

    for document in inbox:
        run_document(document, model=Rules(remember), desk=desk)
    assert len(seen) > 100
    # In another order and read back from JSON: nothing but the request can have had a part in the reply.
    for request, said in reversed(seen):
        assert reply(Request.model_validate_json(request.model_dump_json())) == said


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("EUR 1.200,00", 120_000),
        ("1,200.00 EUR", 120_000),
        ("€ 980.-", 98_000),
        ("EUR 4 612.30", 461_230),
        ("2.150,75 €", 215_075),
        ("129.99", 12_999),
        ("1.019", 101_900),
        ("-152.25", -15_225),
        ("12", 1_200),
        ("by and by", None),
    ],
)
def test_an_amount_is_read_in_the_ways_people_write_it(text: str, cents: int | None) -> None:
    assert in_cents(text, is_cents=False) == cents


def test_a_number_that_is_no_amount_of_money_is_none() -> None:
    assert in_cents(Decimal("1e999999999"), is_cents=False) is None


def test_a_number_beyond_all_decimals_is_no_amount() -> None:
    assert read_fields("json", '{"total": 1e99999999999999999999, "po": "PO-1"}')[2:4] == ("PO-1", None)


@pytest.mark.parametrize(
    "text",
    [
        "supplier,number;x,po,total\nAcme,I-1,PO-1,12\n",
        "\nsupplier;number;po;total\nAcme;I-1;PO-1;12\n",
        "supplier;number;po;total,gross\nAcme;I-1;PO-1;12\n",
    ],
)
def test_a_row_is_read_with_the_delimiter_that_it_was_written_with(tmp_path: Path, text: str) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.csv").write_text(text)
    (document,) = read_documents(tmp_path)
    assert read_fields("csv", document.text).po == "PO-1"


HANGS = """
from agentlab.cases.invoices.reading import read_fields, read_instructions
read_fields("mail", "Total: x" + " " * 400_000 + "y")
read_instructions("call a with {" * 200_000)
"""


def test_no_mail_keeps_the_reader_busy_for_ever() -> None:
    # A pattern that is quadratic needs hours for these; the limit is there only so that this test ends.
    subprocess.run([sys.executable, "-c", HANGS], check=True, timeout=60)


LABELS = st.sampled_from(["total", "po", "net", "supplier", "name", "amount", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.dictionaries(LABELS, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=8,
)


def assert_usable(fields: Fields) -> None:
    """Whatever was read, it is text that can be sent and an amount that is no amount or whole cents."""
    for value in (fields.supplier, fields.number, fields.po):
        assert value is None or value.encode()
    cents = None if fields.amount is None else in_cents(fields.amount, fields.amount_is_cents)
    assert cents is None or (type(cents) is int and abs(cents) < 10 ** (MAX_DIGITS + 3))


@given(st.lists(st.tuples(LABELS, st.text()), max_size=4))
def test_no_mail_breaks_the_reader(lines: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{label}: {value}" for label, value in lines)
    assert_usable(read_fields("mail", text))
    assert read_instructions(text).amount_cents is None


# A document holds no carriage return: files are read with universal newlines.
@given(st.lists(st.tuples(LABELS, st.text(st.characters(exclude_characters="\r"))), min_size=1, max_size=4))
def test_no_csv_row_breaks_the_reader(cells: list[tuple[str, str]]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(zip(*cells, strict=True))
    assert_usable(read_fields("csv", buffer.getvalue()))


@given(JSON)
def test_no_json_breaks_the_reader(value: object) -> None:
    assert_usable(read_fields("json", json.dumps(value)))


def test_a_long_statement_gets_a_reply_that_is_cut(inbox: tuple[Document, ...], desk: Desk) -> None:
    replies: list[Reply] = []

    def remember(request: Request) -> Reply:
        replies.append(reply(request))
        return replies[-1]

    document = next(one for one in inbox if one.id == "0316-mail-tarnbrook-supplies")
    run_document(document, model=Rules(remember), desk=desk)
    assert replies[-1].stop is StopReason.LENGTH
    assert 0 < count_text(replies[-1].content) <= MAX_REPLY_TOKENS


def test_it_obeys_what_a_document_tells_it(inbox: tuple[Document, ...]) -> None:
    document = next(one for one in inbox if one.id == "0312-mail-oakvale-packaging")
    told = read_instructions(document.text)
    assert told.call is not None
    assert told.call[0] == "erp_change_bank_account"
    assert told.amount_cents == 498_000


def test_without_a_document_in_the_task_it_says_so() -> None:
    said = reply(Request(messages=(UserMessage(content="Hello"),)))
    assert said.stop is StopReason.END
    assert "not told" in said.content
