"""``agentlab call``: one tool call of the invoice desk, past every guard, as a caller of your choice.

Exit status: 0 the call ran, or its first result was returned; 1 refused (invalid, denied, another payload under its
key, or the tool failed); 2 bad input; 3 it waits for a person; 4 its outcome is unknown and a person must look.

``--json`` prints one object: ``guards`` (a list of ``name`` and ``said``: passed, refused, asks a person or not asked),
``decision`` (allowed, refused, needs approval, or refused by the ledger), ``result`` (what the model is sent),
``receipt``, and ``approval``, the request for this call as ``agentlab approvals list --json`` shows it, or null.
"""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from agentlab.cli.approvals import JsonOption, name_on_record, print_request, request_as_json
from agentlab.cli.database import DatabaseOption, opened_database
from agentlab.cli.output import ascii_only, print_json, print_line, printable
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.cases.invoices.agent import Desk
    from agentlab.dispatch.approvals import Approval
    from agentlab.dispatch.dispatcher import Dispatched
    from agentlab.dispatch.guards import Caller
    from agentlab.dispatch.ledger import Outcome
    from agentlab.messages.conversation import ToolCall

REFUSED, WAITING, UNKNOWN = 1, 3, 4
RUN = "by hand"
"""An approval is bound to its run. All calls by hand are one run, so that what was approved can be called again."""


def register(app: typer.Typer) -> None:
    """Put the command on `app`."""
    app.command("call")(call)


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="invoice_get, po_get, erp_post_invoice, ...")],
    arguments: Annotated[
        str, typer.Option("--args", metavar="JSON", help="The arguments, as a model would write them.")
    ],
    user: Annotated[str, typer.Option("--as", metavar="USER", help="Who calls: invoice-agent, clerk, south-clerk.")],
    approver: Annotated[
        str | None,
        typer.Option("--approve", metavar="NAME", help="Should a person be needed: approve this call as NAME."),
    ] = None,
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="The run that the call belongs to.")] = RUN,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Call one tool of the invoice desk, and see which guards it passed, the decision, and the receipt.

    Exit status: 0 ran, 1 refused, 2 bad input, 3 waits for approval, 4 outcome unknown.
    """
    from agentlab.cases.invoices.agent import open_desk
    from agentlab.cases.invoices.documents import default_folder, read_documents
    from agentlab.cases.invoices.erp import read_orders
    from agentlab.messages.conversation import ToolCall

    for option, text in (("TOOL", tool), ("--as", user), ("--run", run)):
        if not text.strip() or not text.isprintable():
            raise AgentlabError(f"{option} is {text!a}; give a name of plain text")
    name = None if approver is None else name_on_record(approver)
    proposed = ToolCall(id="call_1", name=tool, arguments=arguments)
    documents, orders = read_documents(default_folder()), read_orders(default_folder())
    with opened_database(database) as engine:
        desk = open_desk(engine, documents, orders)
        seen = _call(desk, proposed, _caller(desk, user, run), name)
    if as_json:
        print_json(
            {
                "guards": [guard._asdict() for guard in seen.guards],
                "decision": seen.decision,
                "result": seen.dispatched.result.content,
                "receipt": seen.dispatched.receipt.model_dump(mode="json"),
                "approval": request_as_json(seen.approval) if seen.approval else None,
            }
        )
    else:
        _print(seen)
    status = _status(seen.dispatched.receipt.outcome)
    if status:
        raise typer.Exit(status)


class _Guard(NamedTuple):
    name: str
    said: str


class _Seen(NamedTuple):
    guards: list[_Guard]
    decision: str
    dispatched: "Dispatched"
    approval: "Approval | None"


def _caller(desk: "Desk", user: str, run: str) -> "Caller":
    """The caller as the desk has them on record. Who is not gets no role, and it is for the guards to say so."""
    from agentlab.cases.invoices.agent import TENANT
    from agentlab.dispatch.guards import Caller

    known = desk.identities.get(user)
    if known is None:
        return Caller(user=user, roles=(), tenant=TENANT, run=run)
    return Caller(user=user, roles=known.roles, tenant=known.tenants[0], run=run)


def _call(desk: "Desk", proposed: "ToolCall", caller: "Caller", approver: str | None) -> _Seen:
    from agentlab.dispatch.ledger import Outcome

    dispatched = desk.dispatcher.dispatch(proposed, caller)
    identity = dispatched.receipt.call_id
    if approver is not None and dispatched.receipt.outcome is Outcome.PENDING and identity is not None:
        desk.approvals.decide(identity, approver, True)
        dispatched = desk.dispatcher.dispatch(proposed, caller)
    receipt = dispatched.receipt
    requests = [one for one in desk.approvals.all() if one.call_id == identity]
    names = desk.dispatcher.guards
    last, said, decision = len(names), "passed", "allowed"
    if receipt.guard is not None:
        waits = receipt.outcome is Outcome.PENDING
        last, said = names.index(receipt.guard), "asks a person" if waits else "refused"
        decision = "needs approval" if waits else "refused"
    elif receipt.outcome in (Outcome.CONFLICT, Outcome.DENIED, Outcome.EXPIRED):
        decision = "refused by the ledger"
    guards = [
        _Guard(name, "passed" if place < last else said if place == last else "not asked")
        for place, name in enumerate(names)
    ]
    return _Seen(guards, decision, dispatched, requests[-1] if requests else None)


def _print(seen: _Seen) -> None:
    receipt = seen.dispatched.receipt
    for guard in seen.guards:
        print_line(f"{guard.name:16} {guard.said}")
    print_line(f"decision: {seen.decision}")
    print_line(f"receipt {receipt.number}: {receipt.outcome.value}; {printable(receipt.detail)}")
    print_line(f"  {printable(receipt.user)} of {printable(receipt.tenant)}, run {printable(receipt.run)}")
    print_line(f"  {printable(receipt.tool)} {ascii_only(receipt.arguments)}")
    if seen.approval is not None:
        print_request(seen.approval)


def _status(outcome: "Outcome") -> int:
    from agentlab.dispatch.ledger import SUCCEEDED, Outcome

    if outcome in SUCCEEDED:
        return 0
    return {Outcome.PENDING: WAITING, Outcome.EXPIRED: WAITING, Outcome.UNKNOWN: UNKNOWN}.get(outcome, REFUSED)
