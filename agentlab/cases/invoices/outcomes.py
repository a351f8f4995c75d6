"""What became of a document, read from the receipts of its run and its audit event. The model has no say in it."""

import json
from collections.abc import Sequence
from enum import StrEnum

from agentlab.cases.invoices.documents import Document
from agentlab.cases.invoices.erp import money
from agentlab.cases.invoices.tools import APPROVAL_ABOVE_CENTS
from agentlab.dispatch.ledger import Outcome, Receipt
from agentlab.loop.budgets import Totals
from agentlab.loop.effects import AuditEvent
from agentlab.loop.machine import State
from agentlab.messages.arguments import parse_arguments
from agentlab.shapes import Frozen, Quantity


class DocumentOutcome(StrEnum):
    """What became of a document. ``nothing done`` is an answer without any deed."""

    POSTED = "posted"
    ALREADY_POSTED = "already posted"
    WAITING = "waiting for approval"
    TO_A_PERSON = "to a person"
    BUDGET_STOP = "budget stop"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOTHING = "nothing done"


UNHANDLED = frozenset(
    {DocumentOutcome.BUDGET_STOP, DocumentOutcome.FAILED, DocumentOutcome.CANCELLED, DocumentOutcome.NOTHING}
)
"""The document is neither booked nor before anybody."""


class Handled(Frozen):
    """One document after its run: what became of it and why, and the run's one audit event."""

    document: str
    outcome: DocumentOutcome
    why: str
    audit: AuditEvent


class BatchTotals(Frozen):
    """All runs together. ``documents`` counts outcomes, ``states`` terminal states; token numbers say their origin."""

    documents: dict[DocumentOutcome, int]
    states: dict[State, int]
    model_calls: int
    tool_calls: int
    input_tokens: Quantity
    output_tokens: Quantity


_POSTED = {Outcome.EXECUTED: DocumentOutcome.POSTED, Outcome.REPLAYED: DocumentOutcome.ALREADY_POSTED}
_ENDED = {
    State.ANSWERED: DocumentOutcome.NOTHING,
    State.BUDGET_STOP: DocumentOutcome.BUDGET_STOP,
    State.FAILED: DocumentOutcome.FAILED,
    State.CANCELLED: DocumentOutcome.CANCELLED,
}


def judge(document: Document, receipts: Sequence[Receipt], audit: AuditEvent) -> Handled:
    """Say what became of `document`. `receipts` are those of this run, in their order.

    A posting counts however its run ended. A document that waits for approval or for a person does so even when
    its run was stopped afterwards. Otherwise the terminal state speaks.
    """
    outcome, why = _deed(receipts) or (_ENDED[audit.state], audit.reason or "the model answered without doing anything")
    return Handled(document=document.id, outcome=outcome, why=why, audit=audit)


def batch_totals(handled: Sequence[Handled]) -> BatchTotals:
    """Add up all runs."""
    totals = [one.audit.totals for one in handled]
    return BatchTotals(
        documents={outcome: count for outcome in DocumentOutcome if (count := _count(handled, outcome))},
        states={state: count for state in _ENDED if (count := sum(one.audit.state is state for one in handled))},
        model_calls=sum(one.model_calls for one in totals),
        tool_calls=sum(one.tool_calls for one in totals),
        input_tokens=_tokens(totals, sum(one.input_tokens for one in totals)),
        output_tokens=_tokens(totals, sum(one.output_tokens for one in totals)),
    )


def _deed(receipts: Sequence[Receipt]) -> tuple[DocumentOutcome, str] | None:
    posts = [receipt for receipt in receipts if receipt.tool == "erp_post_invoice"]
    for receipt in posts:
        if receipt.outcome in _POSTED:
            return _POSTED[receipt.outcome], _posting(receipt.detail)
    last = posts[-1] if posts else None
    if last and last.outcome in (Outcome.PENDING, Outcome.EXPIRED):
        asked, limit = json.loads(last.arguments), money(APPROVAL_ABOVE_CENTS)
        amount, waiting = money(asked["amount_cents"], asked["currency"]), (last.call_id or "")[:12]
        return DocumentOutcome.WAITING, f"{amount} is above the limit of {limit}; approval {waiting}"
    queued = [r for r in receipts if r.tool == "queue_for_person" and r.outcome is Outcome.EXECUTED]
    if queued:
        # The refusal itself says more than what the model made of it.
        return DocumentOutcome.TO_A_PERSON, _refusal(last) if last else str(json.loads(queued[-1].arguments)["reason"])
    return None


def _refusal(receipt: Receipt) -> str:
    """The words of the refusal; those of a schema speak of cents, so the amount as people write it goes before them."""
    arguments = parse_arguments(receipt.arguments).values or {}
    cents, currency = arguments.get("amount_cents"), arguments.get("currency")
    if receipt.outcome is not Outcome.INVALID or type(cents) is not int or not isinstance(currency, str):
        return receipt.detail
    return f"{money(cents, currency)} is not posted: {receipt.detail}"


def _posting(result: str) -> str:
    posting = json.loads(result)
    return f"{money(posting['amount_cents'])} on {posting['po']} as posting {posting['posted_as']}"


def _count(handled: Sequence[Handled], outcome: DocumentOutcome) -> int:
    return sum(one.outcome is outcome for one in handled)


def _tokens(totals: Sequence[Totals], value: int) -> Quantity:
    if all(one.tokens_origin == "measured" for one in totals):
        return Quantity(value=value, unit="tokens", origin="measured", source="usage reported with each reply")
    source = "o200k_base over texts, calls and tool schemas; what a provider adds around them is not counted"
    return Quantity(value=value, unit="tokens", origin="estimated", source=source)
