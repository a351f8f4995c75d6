"""The stand-in is a function of the request, and a fallible one."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.cases.invoices.agent import Desk, run_document
from agentlab.cases.invoices.documents import Document
from agentlab.cases.invoices.reading import in_cents, read_fields, read_instructions
from agentlab.cases.invoices.stand_in import MAX_REPLY_TOKENS, reply
from agentlab.messages.conversation import Reply, Request, StopReason
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


@given(st.sampled_from(["csv", "mail"]), st.text())
def test_no_text_breaks_the_reader(kind: str, text: str) -> None:
    table = f"{text}\n{text}\n" if kind == "csv" and len(text.splitlines()) == 1 and '"' not in text else "a,b\n1,2\n"
    read_fields(kind, table if kind == "csv" else text)
    read_instructions(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.dictionaries(st.sampled_from(["total", "po", "net", "supplier", "name", "amount", "x"]), inner)
            | st.lists(inner)
        ),
    )
)
def test_no_json_breaks_the_reader(value: object) -> None:
    import json

    fields = read_fields("json", json.dumps(value))
    assert fields.amount is None or in_cents(fields.amount, fields.amount_is_cents) is not False


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
    from agentlab.messages.conversation import UserMessage

    said = reply(Request(messages=(UserMessage(content="Hello"),)))
    assert said.stop is StopReason.END
    assert "not told" in said.content
