"""The course's proposals: eleven calls that every dispatcher of lesson 02 is tried on, and who answered each."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.dispatch.contract import ApprovalRule, RateLimit, SideEffect, Timeout, ToolContract
from agentlab.dispatch.dispatcher import Dispatched
from agentlab.dispatch.ledger import Outcome
from agentlab.views.dispatch import Arguments
from agentlab.views.records import shortened
from agentlab.views.tables import Table

LIMIT = 500_000
"""Cents; a person must approve what is above it. The course's own figure, chosen to explain."""


@cache
def post_invoice() -> ToolContract:
    """The contract of the tool that the cases are about."""
    return ToolContract(
        name="erp_post_invoice",
        version="1",
        description="Post one checked invoice to the ERP. A repeated idempotency_key posts nothing new.",
        input_schema={
            "type": "object",
            "properties": {
                "invoice_id": {"type": "string", "minLength": 1},
                "amount_cents": {"type": "integer", "exclusiveMinimum": 0},
                "idempotency_key": {"type": "string", "minLength": 1},
            },
            "required": ["invoice_id", "amount_cents", "idempotency_key"],
            "additionalProperties": False,
        },
        output_schema={
            "type": "object",
            "properties": {"status": {"type": "string"}, "posting": {"type": "integer"}},
            "required": ["status", "posting"],
            "additionalProperties": False,
        },
        roles=("ap_clerk",),
        resource="invoice_id",
        side_effect=SideEffect.CONSEQUENTIAL,
        idempotency_key="idempotency_key",
        timeout=Timeout(seconds=10),
        rate_limit=RateLimit(calls=5, seconds=60),
        approval=ApprovalRule(argument="amount_cents", above=LIMIT),
    )


class Case(NamedTuple):
    """One proposal to try on a dispatcher. ``approve``: a person first says yes to what was last asked."""

    said: str
    tool: str
    arguments: Arguments
    roles: tuple[str, ...]
    approve: bool = False


class Answer(NamedTuple):
    """What a proposal met: ``by`` names the guard that refused it, or says what became of the call."""

    by: str
    content: str
    approval_id: str | None = None


def invoice(amount_cents: JsonValue, key: str, **more: JsonValue) -> Arguments:
    """The arguments of a proposal to post the invoice INV-1042, as a model would write them."""
    return {"invoice_id": "INV-1042", "amount_cents": amount_cents, "idempotency_key": key, **more}


_POST, _CLERK = "erp_post_invoice", ("ap_clerk",)
CASES = (
    Case("120,000 cents, first call", _POST, invoice(120_000, "k-1"), _CLERK),
    Case("the same call again", _POST, invoice(120_000, "k-1"), _CLERK),
    Case("the amount is text", _POST, invoice("120000", "k-2"), _CLERK),
    Case("the amount is true", _POST, invoice(True, "k-3"), _CLERK),
    Case("an extra argument", _POST, invoice(120_000, "k-4", approved=True), _CLERK),
    Case("a negative amount", _POST, invoice(-120_000, "k-5"), _CLERK),
    Case("a caller without the role", _POST, invoice(120_000, "k-6"), ("viewer",)),
    Case("900,000 cents", _POST, invoice(900_000, "k-7"), _CLERK),
    Case("the same, approved by a person", _POST, invoice(900_000, "k-7"), _CLERK, approve=True),
    Case("950,000 cents on that approval", _POST, invoice(950_000, "k-7"), _CLERK),
    Case("an unknown tool", "erp_delete_invoice", {"invoice_id": "INV-1042"}, _CLERK),
)
"""The proposals that every dispatcher of lesson 02 is tried on, in this order."""


def play(
    cases: Sequence[Case], dispatch: Callable[[Case], Answer], approve: Callable[[str], None]
) -> tuple[Answer, ...]:
    """Propose the cases one after the other. `approve` is called with the id that was last asked for, if any was."""
    answers: list[Answer] = []
    for case in cases:
        asked = [answer.approval_id for answer in answers if answer.approval_id]
        if case.approve and asked:
            approve(asked[-1])
        answers.append(dispatch(case))
    return tuple(answers)


def answer_of(dispatched: Dispatched) -> Answer:
    """The package's own answer to one call, in the form of `play`."""
    receipt = dispatched.receipt
    asked = receipt.call_id if receipt.outcome is Outcome.PENDING else None
    return Answer(receipt.guard or receipt.outcome.value, dispatched.result.content, asked)


def proposals_table(cases: Sequence[Case]) -> Table:
    """The cases as proposals: what the model wrote, and who stands behind it. An idempotency key is shown as key."""
    columns = ("proposal", "tool", "arguments", "role of the caller")
    rows = tuple(
        (
            case.said,
            case.tool,
            ", ".join(
                f"{name.replace('idempotency_', '')} {json.dumps(value)}" for name, value in case.arguments.items()
            ),
            ", ".join(case.roles),
        )
        for case in cases
    )
    return Table("Proposals, in their order", columns, rows, words=columns[1:])


def comparison(
    cases: Sequence[Case], answers: Mapping[str, Sequence[Answer]], postings: Mapping[str, int] | None = None
) -> Table:
    """One row for each case, one column for each dispatcher: who answered, and after all what its ERP holds."""
    rows = [
        (case.said, *(given.by for given in row))
        for case, row in zip(cases, zip(*answers.values(), strict=True), strict=True)
    ]
    if postings is not None:
        rows.append(("postings in the ERP", *(str(postings[name]) for name in answers)))
    return Table("Who answered each proposal", ("proposal", *answers), tuple(rows), words=tuple(answers))


def changes(cases: Sequence[Case], before: Sequence[Answer], after: Sequence[Answer]) -> Table:
    """The cases that another dispatcher answers otherwise, and what the model now reads."""
    rows = tuple(
        (case.said, old.by, new.by, shortened(new.content))
        for case, old, new in zip(cases, before, after, strict=True)
        if old.by != new.by
    )
    columns = ("proposal", "before", "now", "what the model reads")
    return Table(f"{len(rows)} of {len(cases)} proposals now end otherwise", columns, rows, words=columns[1:])
