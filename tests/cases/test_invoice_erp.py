"""The ERP keeps its own rules, whoever calls it and however often."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from agentlab.cases.invoices.erp import Erp, PurchaseOrder, money
from agentlab.dispatch.dispatcher import ToolError

ORDERS = (
    PurchaseOrder(po="PO-1", tenant="ours", supplier="Anvil", amount_cents=1000, currency="EUR"),
    PurchaseOrder(po="PO-2", tenant="ours", supplier="Anvil", amount_cents=2000, currency="EUR"),
    PurchaseOrder(po="PO-3", tenant="theirs", supplier="Bolt", amount_cents=1000, currency="EUR"),
    PurchaseOrder(po="PO-4", tenant="ours", supplier="Cog", amount_cents=1000, currency="USD"),
)
GOOD = {"tenant": "ours", "po": "PO-1", "invoice": "A-1", "amount_cents": 1000, "currency": "EUR", "key": "anvil:A-1"}


@pytest.fixture
def erp(engine: Engine, clock: Callable[[], float]) -> Erp:
    system = Erp(engine, clock)
    system.load(ORDERS)
    return system


@pytest.mark.parametrize(
    ("cents", "currency", "written"),
    [
        (0, "EUR", "EUR 0.00"),
        (5, "EUR", "EUR 0.05"),
        (-15_225, "EUR", "EUR -152.25"),
        (-5, "USD", "USD -0.05"),
        (123_456_789, "EUR", "EUR 1,234,567.89"),
    ],
)
def test_an_amount_is_written_as_people_write_it(cents: int, currency: str, written: str) -> None:
    assert money(cents, currency) == written


def test_the_same_posting_with_the_same_key_returns_the_first_one(erp: Erp) -> None:
    first = erp.post(**GOOD)
    assert erp.post(**GOOD) == first
    assert erp.postings() == [first]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"po": "PO-9"}, "no purchase order PO-9"),
        ({"po": "PO-3"}, "no purchase order PO-3"),
        ({"po": "PO-4"}, "only EUR is posted"),
        ({"currency": "USD"}, "only EUR is posted"),
        ({"po": "PO-1\x00"}, r"the po 'PO-1\\x00' holds characters that no record takes"),
        ({"key": "\ud800"}, "the key '.ud800' holds characters"),
        ({"amount_cents": 999}, "is for EUR 10.00, the invoice for EUR 9.99"),
        ({"amount_cents": -1000}, "is for EUR 10.00, the invoice for EUR -10.00"),
    ],
)
def test_a_rule_refuses_and_nothing_is_booked(erp: Erp, change: dict[str, object], says: str) -> None:
    with pytest.raises(ToolError, match=says):
        erp.post(**{**GOOD, **change})
    assert erp.postings() == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"key": "another"}, "invoice A-1 of Anvil is already posted as no. 1"),
        ({"key": "another", "po": "PO-2", "amount_cents": 2000}, "invoice A-1 of Anvil is already posted"),
        ({"key": "another", "invoice": "A 1"}, "purchase order PO-1 is already invoiced by A-1"),
        ({"amount_cents": 2000, "po": "PO-2", "invoice": "A-2"}, "was used for another posting"),
    ],
)
def test_a_second_posting_of_one_invoice_order_or_key_is_refused(
    erp: Erp, change: dict[str, object], says: str
) -> None:
    first = erp.post(**GOOD)
    with pytest.raises(ToolError, match=says):
        erp.post(**{**GOOD, **change})
    assert erp.postings() == [first]


def test_a_document_is_parked_once_and_the_first_reason_stays(erp: Erp) -> None:
    erp.park("doc", "ours", "no amount")
    assert erp.park("doc", "ours", "something else").reason == "no amount"
    assert [one.reason for one in erp.parked()] == ["no amount"]


def test_a_text_that_no_database_takes_is_no_order_and_still_a_reason(erp: Erp) -> None:
    assert erp.order("PO-1\x00") is None
    assert erp.tenant_of("\ud800") is None
    assert erp.park("doc", "ours", "no\x00amount").reason == "no\\x00amount"


def test_loading_again_replaces_what_changed_and_keeps_the_postings(erp: Erp) -> None:
    first = erp.post(**GOOD)
    erp.load([ORDERS[1].model_copy(update={"amount_cents": 2500})])
    changed = erp.order("PO-2")
    assert changed is not None
    assert changed.amount_cents == 2500
    assert erp.order("PO-1") == ORDERS[0]
    assert erp.postings() == [first]
