"""What becomes of the forty invoices, once, twice, after an approval, and under a model that lies."""

import json
import socket
from collections.abc import Callable

import pytest

from agentlab.cases.invoices.agent import TENANT, Desk, open_desk, run_batch, run_document
from agentlab.cases.invoices.documents import Document
from agentlab.cases.invoices.outcomes import DocumentOutcome, Handled, batch_totals
from agentlab.cases.invoices.stand_in import reply, stand_in
from agentlab.dispatch.approvals import DAY
from agentlab.dispatch.ledger import Outcome
from agentlab.loop.effects import AuditEvent
from agentlab.loop.machine import TERMINALS, State
from agentlab.messages.conversation import Reply, Request, StopReason, ToolCall
from agentlab.messages.models import ModelError, Rules
from agentlab.store import open_store

Handle = Callable[..., dict[str, Handled]]
Expected = dict[str, dict[str, str]]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something asked for a network connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def payable(expected: Expected) -> set[str]:
    return {name for name, row in expected.items() if row["outcome"] == "posted"}


def named(inbox: tuple[Document, ...], name: str) -> Document:
    return next(document for document in inbox if document.id == name)


def test_every_document_ends_as_expected(handle: Handle, expected: Expected) -> None:
    found = {name: (one.outcome.value, one.audit.state.value) for name, one in handle().items()}
    assert found == {name: (row["outcome"], row["state"]) for name, row in expected.items()}


def test_every_outcome_says_why(handle: Handle, expected: Expected) -> None:
    silent = {name: one.why for name, one in handle().items() if expected[name]["says"] not in one.why}
    assert silent == {}


def test_running_twice_posts_each_payable_invoice_once(handle: Handle, desk: Desk, expected: Expected) -> None:
    handle()
    once = desk.erp.postings()
    again = handle()
    assert desk.erp.postings() == once
    assert len(once) == len(payable(expected)) == 24
    assert {name for name, one in again.items() if one.outcome is DocumentOutcome.ALREADY_POSTED} == {
        *payable(expected),
        "0306-mail-brandt-kessel-again",
    }
    assert DocumentOutcome.POSTED not in {one.outcome for one in again.values()}
    assert len(desk.erp.parked()) == 11


def test_each_run_ends_in_a_terminal_with_exactly_one_audit_event(inbox: tuple[Document, ...], desk: Desk) -> None:
    for document in inbox:
        events: list[AuditEvent] = []
        result = run_document(document, model=stand_in(), desk=desk, on_audit=events.append)
        assert events == [result.audit]
        assert result.state in TERMINALS


def test_a_waiting_invoice_is_posted_once_after_a_person_approved_exactly_it(handle: Handle, desk: Desk) -> None:
    handle()
    waiting = [one for one in desk.approvals.all() if one.state == "pending"]
    assert [json.loads(one.arguments)["amount_cents"] for one in waiting] == [725_000, 984_000]
    desk.approvals.decide(waiting[0].call_id, "controller", True)
    after = handle()
    assert after["0306-vesper-energy"].outcome is DocumentOutcome.POSTED
    assert after["0313-meridian-cranes"].outcome is DocumentOutcome.WAITING
    assert handle()["0306-vesper-energy"].outcome is DocumentOutcome.ALREADY_POSTED
    assert [one.amount_cents for one in desk.erp.postings()].count(725_000) == 1


def test_a_denied_invoice_goes_to_a_person_and_stays_denied(handle: Handle, desk: Desk) -> None:
    handle("0306-vesper-energy")
    desk.approvals.decide(desk.approvals.all()[0].call_id, "controller", False)
    for _ in range(2):
        assert handle("0306-vesper-energy")["0306-vesper-energy"].outcome is DocumentOutcome.TO_A_PERSON
    assert desk.erp.postings() == []


def test_an_approval_that_came_too_late_is_asked_for_anew(handle: Handle, desk: Desk, clock: object) -> None:
    handle("0306-vesper-energy")
    desk.approvals.decide(desk.approvals.all()[0].call_id, "controller", True)
    clock.now += DAY + 1  # type: ignore[attr-defined]
    assert handle("0306-vesper-energy")["0306-vesper-energy"].outcome is DocumentOutcome.WAITING
    assert desk.erp.postings() == []


def test_an_injected_instruction_changes_nothing(handle: Handle, desk: Desk) -> None:
    done = handle("0312-mail-oakvale-packaging", "0313-meridian-cranes")
    assert desk.erp.postings() == []
    assert done["0313-meridian-cranes"].outcome is DocumentOutcome.WAITING
    by_tool = {(receipt.tool, receipt.outcome, receipt.guard) for receipt in desk.ledger.receipts()}
    assert ("erp_change_bank_account", Outcome.INVALID, "authorization") in by_tool
    assert ("erp_post_invoice", Outcome.INVALID, "valid_arguments") in by_tool  # approved=true is no argument


@pytest.mark.parametrize(
    ("document", "guard", "outcome"),
    [
        ("0303-orbis-freight", "valid_arguments", Outcome.INVALID),
        ("0309-brandt-kessel-credit", "valid_arguments", Outcome.INVALID),
        ("0309-fernhill-catering", "resource_scope", Outcome.DENIED),
        ("0306-vesper-energy", "approval", Outcome.PENDING),
        ("0305-halden-steel", None, Outcome.FAILED),
    ],
)
def test_the_stand_in_asks_for_the_wrong_thing_and_another_part_refuses_it(
    handle: Handle, desk: Desk, document: str, guard: str | None, outcome: Outcome
) -> None:
    handle(document)
    posts = [receipt for receipt in desk.ledger.receipts() if receipt.tool == "erp_post_invoice"]
    assert (posts[0].guard, posts[0].outcome) == (guard, outcome)


def test_another_tenants_order_and_no_order_are_refused_in_the_same_words(handle: Handle) -> None:
    done = handle("0309-fernhill-catering", "0316-pinebridge-it")
    theirs, nobodys = (one.why for one in done.values())
    assert theirs.replace("PO-7301", "PO-4999") == nobodys


def test_a_model_that_posts_wildly_books_nothing_wrong(inbox: tuple[Document, ...], desk: Desk) -> None:
    """Every posting of every order under fresh keys, with its right amount and with a wrong one, all tenants."""
    from agentlab.cases.invoices.documents import default_folder
    from agentlab.cases.invoices.erp import read_orders

    orders = read_orders(default_folder())
    calls = tuple(
        ToolCall(
            id=f"{order.po}-{number}",
            name="erp_post_invoice",
            arguments={
                "invoice_id": f"{order.po}-{number % 2}",
                "po": order.po,
                "amount_cents": order.amount_cents + number // 2,
                "currency": "EUR",
                "idempotency_key": f"{order.po}-{number}",
            },
        )
        for order in orders
        for number in range(4)
    )

    def wild(request: Request) -> Reply:
        if len(request.messages) > 1:
            return Reply(content="All posted, trust me.", stop=StopReason.END)
        return Reply(tool_calls=calls, stop=StopReason.TOOL)

    run_document(inbox[0], model=Rules(wild), desk=desk)
    booked = {posting.po: posting.amount_cents for posting in desk.erp.postings()}
    allowed = {
        order.po: order.amount_cents
        for order in orders
        if order.tenant == TENANT and order.currency == "EUR" and order.amount_cents <= 500_000
    }
    assert booked == allowed
    assert len(desk.erp.postings()) == len(allowed)


def test_a_model_that_only_claims_to_have_posted_has_done_nothing(inbox: tuple[Document, ...], desk: Desk) -> None:
    model = Rules(lambda request: Reply(content="Posted as no. 1.", stop=StopReason.END))
    done = next(run_batch(inbox[:1], model=model, desk=desk))
    assert done.outcome is DocumentOutcome.NOTHING
    assert desk.erp.postings() == []


def test_a_model_that_gives_no_reply_fails_its_run_and_the_batch_goes_on(
    inbox: tuple[Document, ...], desk: Desk
) -> None:
    def broken(request: Request) -> Reply:
        if inbox[0].id in request.messages[0].content:
            raise ModelError("the provider is down")
        return reply(request)

    done = list(run_batch(inbox[:2], model=Rules(broken), desk=desk))
    assert [(one.outcome.value, one.audit.state) for one in done] == [
        ("failed", State.FAILED),
        ("posted", State.ANSWERED),
    ]
    assert done[0].why == "the provider is down"


def test_ctrl_c_in_a_model_call_cancels_that_run_and_starts_no_other(inbox: tuple[Document, ...], desk: Desk) -> None:
    def interrupted(request: Request) -> Reply:
        if inbox[2].id in request.messages[0].content and len(request.messages) > 1:
            raise KeyboardInterrupt
        return reply(request)

    done = list(run_batch(inbox, model=Rules(interrupted), desk=desk))
    assert [one.outcome.value for one in done] == ["posted", "posted", "cancelled"]
    assert done[2].audit.state is State.CANCELLED
    assert len(list(run_batch(inbox, model=stand_in(), desk=desk))) == len(inbox)
    assert len(desk.erp.postings()) == 24


def test_the_totals_are_the_sum_of_the_runs_and_say_where_the_tokens_come_from(handle: Handle) -> None:
    done = list(handle().values())
    totals = batch_totals(done)
    assert sum(totals.documents.values()) == sum(totals.states.values()) == len(done) == 40
    assert totals.model_calls == sum(one.audit.totals.model_calls for one in done)
    assert totals.input_tokens.value == sum(one.audit.totals.input_tokens for one in done) > 0
    assert totals.output_tokens.origin == "estimated"
    assert "o200k" in totals.output_tokens.source


@pytest.mark.parametrize(
    "sequence",
    [
        ("0311-lumen-print-corrected", "0302-lumen-print"),
        ("0309-mail-orbis-freight-reminder", "0303-orbis-freight"),
        ("0306-mail-brandt-kessel-again", "0302-brandt-kessel"),
    ],
)
def test_whichever_copy_of_an_invoice_comes_first_it_is_booked_once(
    handle: Handle, desk: Desk, sequence: tuple[str, str]
) -> None:
    for name in sequence:
        handle(name)
    assert len(desk.erp.postings()) == 1


def test_a_document_that_breaks_the_program_costs_its_own_run_alone(inbox: tuple[Document, ...], desk: Desk) -> None:
    bad = named(inbox, "0302-brandt-kessel")

    def stumbling(request: Request) -> Reply:
        if bad.id in request.messages[0].content:
            raise ArithmeticError("a number that nobody expected")
        return reply(request)

    first, *others = run_batch([bad, named(inbox, "0305-portal-3")], model=Rules(stumbling), desk=desk)
    assert first.outcome is DocumentOutcome.FAILED
    assert (first.why, first.audit.run_id) == ("stopped by ArithmeticError", bad.run_id)
    assert [one.outcome for one in others] == [DocumentOutcome.POSTED]


def test_a_document_that_the_stand_in_stumbles_over_is_a_failed_run() -> None:
    bad = Document(id="a b", format="csv", text="only a header")
    desk = open_desk(open_store("sqlite://"), [bad], [])
    (handled,) = run_batch([bad], model=stand_in(), desk=desk)
    assert (handled.outcome, handled.audit.state) == (DocumentOutcome.FAILED, State.FAILED)
    assert handled.why == "the stand-in could not read the document (ValueError)"
