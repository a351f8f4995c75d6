"""What an approval is bound to: one call is approved, one thing is changed, and the dispatcher is asked again."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.dispatch.approvals import DAY, Approvals
from agentlab.dispatch.contract import ToolContract
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger, Outcome, Receipt
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views.dispatch import MORNING, Arguments
from agentlab.views.proposals import invoice, post_invoice
from agentlab.views.records import shortened
from agentlab.views.tables import Table

APPROVED = invoice(900_000, "k-7")
CLERK = Caller(user="clerk", roles=("ap_clerk",), tenant="acme", run="run-1")


class Change(NamedTuple):
    """What is proposed after the approval: the same call, or the call with one thing changed.

    ``later``: seconds that have passed. ``before``: how often the approved call has run already.
    """

    said: str
    arguments: Arguments = APPROVED
    caller: Caller = CLERK
    contract: ToolContract | None = None
    later: float = 60.0
    before: int = 0


def changes() -> tuple[Change, ...]:
    """The same call, and one change for each thing that an approval is bound to."""
    contract = post_invoice()
    reworded = contract.model_copy(update={"description": contract.description + " Fast."})
    return (
        Change("exactly the call that was approved"),
        Change("one cent more", invoice(900_001, "k-7")),
        Change("another invoice", {**APPROVED, "invoice_id": "INV-1043"}),
        Change("another key", invoice(900_000, "k-8")),
        Change("another user", caller=CLERK.model_copy(update={"user": "second clerk"})),
        Change("another run", caller=CLERK.model_copy(update={"run": "run-2"})),
        Change("another tenant", caller=CLERK.model_copy(update={"tenant": "globex"})),
        Change("one word more in the contract", contract=reworded),
        Change("a day later", later=DAY),
        Change("once more, after it has run", before=1),
    )


def asked_after(change: Change) -> tuple[Receipt, int]:
    """The receipt of the changed call, and how often the tool ran for it; the approval was for `APPROVED`."""
    now = MORNING
    engine = open_store("sqlite://")
    try:
        approvals, ledger = Approvals(engine, lambda: now, valid_for=DAY), Ledger(engine, lambda: now)
        posted: list[Arguments] = []

        def post(arguments: Arguments, caller: Caller) -> JsonValue:
            posted.append(arguments)
            return {"status": "posted", "posting": len(posted)}

        def propose(contract: ToolContract, arguments: Arguments, caller: Caller) -> Receipt:
            dispatcher = Dispatcher([Tool(contract, post)], four_guards(approvals), ledger, approvals)
            return dispatcher.dispatch(ToolCall(id="call_1", name=contract.name, arguments=arguments), caller).receipt

        asked = propose(post_invoice(), APPROVED, CLERK)
        approvals.decide(str(asked.call_id), "lead", approve=True)
        for _ in range(change.before):
            propose(post_invoice(), APPROVED, CLERK)
        now += change.later
        ran_before = len(posted)
        receipt = propose(change.contract or post_invoice(), change.arguments, change.caller)
    finally:
        engine.dispose()
    return receipt, len(posted) - ran_before


_MEANS = {
    Outcome.EXECUTED: "runs, and uses the approval up",
    Outcome.REPLAYED: "gets the first result; nothing runs",
    Outcome.PENDING: "does not run; a person is asked anew",
}


def bound_table(asked: Sequence[Change]) -> Table:
    """One change in each row, what came of it, and the id of the call, which is what was approved or is not."""
    rows = []
    for change in asked:
        receipt, _ = asked_after(change)
        means = _MEANS.get(receipt.outcome, receipt.detail)
        rows.append((change.said, shortened(str(receipt.call_id)), receipt.outcome.value, means))
    columns = ("proposed after the approval", "call id", "outcome", "so it")
    return Table("One call was approved", columns, tuple(rows), words=columns[1:])
