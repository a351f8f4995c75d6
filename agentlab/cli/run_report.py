"""What ``agentlab run invoices`` prints: for a person, and for a program."""

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agentlab.cli.approvals import SHORT_ID
from agentlab.cli.output import ascii_only, print_line, print_table, printable

if TYPE_CHECKING:
    from agentlab.cases.invoices.outcomes import Handled
    from agentlab.dispatch.approvals import Approval


class Report(NamedTuple):
    """The batch when it has ended. Its fields are described in `agentlab.cli.run`."""

    handled: "Sequence[Handled]"
    pending: "Sequence[Approval]"
    erp_postings: int
    not_started: int
    interrupted: bool


def print_report(report: Report, database: str | None) -> None:
    """Print the table, the totals, and what waits for a person, with the command that answers it."""
    from agentlab.cases.invoices.outcomes import UNHANDLED, batch_totals
    from agentlab.views.tables import counted

    rows = [(printable(one.document), one.outcome.value, printable(one.why)) for one in report.handled]
    print_table(("invoice", "outcome", "why"), rows)
    totals = batch_totals(report.handled)
    documents, runs = counted(len(report.handled), "document"), counted(len(report.handled), "run")
    print_line("")
    print_line(f"{documents}: {_each(totals.documents)}")
    print_line(f"{runs} ended: {_each(totals.states)}; one audit event each, shown by --json")
    print_line(f"{counted(totals.model_calls, 'model call')}, {counted(totals.tool_calls, 'tool call')}")
    read, written = totals.input_tokens, totals.output_tokens
    print_line(f"{read.value:,} tokens in, {written.value:,} out; {read.origin}: {read.source}")
    print_line(f"The ERP holds {counted(report.erp_postings, 'posting')}.")
    left = [printable(one.document) for one in report.handled if one.outcome in UNHANDLED]
    if left:
        print_line(f"Not handled, somebody must look: {', '.join(left)}")
    if report.interrupted:
        print_line(f"Stopped: {counted(report.not_started, 'document')} not started. Run it again to go on.")
    for approval in report.pending:
        _print_pending(approval, database)


def report_as_json(report: Report) -> dict[str, Any]:
    """The report as one JSON object; its keys are listed in `agentlab.cli.run`."""
    from agentlab.cases.invoices.outcomes import batch_totals

    return {
        "documents": [one.model_dump(mode="json") for one in report.handled],
        "totals": batch_totals(report.handled).model_dump(mode="json"),
        "pending": [_pending_as_json(approval) for approval in report.pending],
        "erp_postings": report.erp_postings,
        "not_started": report.not_started,
        "interrupted": report.interrupted,
    }


def _print_pending(approval: "Approval", database: str | None) -> None:
    from agentlab.cases.invoices.erp import money
    from agentlab.store import shown_url

    arguments = json.loads(approval.arguments)
    exact = ascii_only(json.dumps(arguments))
    amount = money(arguments["amount_cents"], ascii_only(arguments["currency"]))
    short = approval.call_id[:SHORT_ID]
    where = "" if database is None else f" --database {shlex.quote(shown_url(database))}"
    print_line("")
    print_line(
        f"Waiting for a person: {approval.requester} of {approval.tenant} asks to run {approval.tool} "
        f"for {amount}, with exactly"
    )
    print_line(f"  {exact}")
    print_line(f"  to approve: agentlab run invoices --approve {short} --as YOUR_NAME{where}")
    print_line(f"  to refuse:  agentlab run invoices --deny {short} --as YOUR_NAME{where}")


def _pending_as_json(approval: "Approval") -> dict[str, Any]:
    shown = {"call_id", "tool", "tenant", "run", "requester", "expires_at"}
    fields = approval.model_dump(mode="json", include=shown)
    return {**fields, "arguments": json.loads(approval.arguments)}


def _each(counts: dict[Any, int]) -> str:
    # Outcomes are phrases and states are names of code: a person reads the same words for both.
    return ", ".join(f"{count:,} {name.value.replace('_', ' ')}" for name, count in counts.items()) or "none"
