"""``agentlab run``: an agent at work on realistic input, behind its guards.

``agentlab run invoices --json`` prints one object with these keys:

- ``documents``: a list of ``document``, ``outcome``, ``why`` and ``audit``, the run's one audit event (``run_id``,
  ``state``, ``reason``, ``totals``)
- ``totals``: ``documents`` (a count for each outcome), ``states`` (a count for each terminal state), ``model_calls``,
  ``tool_calls``, ``input_tokens`` and ``output_tokens`` (``value``, ``unit``, ``origin``, ``source``,
  ``low``, ``high``)
- ``pending``: what waits for a person: ``call_id``, ``tool``, ``arguments`` (the exact object that would run),
  ``tenant``, ``run``, ``requester``, ``expires_at`` (seconds since 1970, UTC)
- ``erp_postings``: how many postings the ERP holds now
- ``not_started``: how many documents were left when Ctrl-C came; ``interrupted``: whether it came
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentlab.cli.approvals import LEAST_ID, name_on_record, named
from agentlab.cli.database import DatabaseOption, opened_database
from agentlab.cli.interrupts import interruptible
from agentlab.cli.numbers import decimal, whole
from agentlab.cli.output import print_json
from agentlab.cli.run_report import Report, print_report, report_as_json
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.cases.invoices.agent import Desk
    from agentlab.cases.invoices.documents import Document
    from agentlab.cases.invoices.outcomes import Handled
    from agentlab.dispatch.approvals import Approval
    from agentlab.loop.budgets import Budgets

RUNS = "invoices/"
"""How the runs of this case are called; other cases may share the database."""


def register(app: typer.Typer) -> None:
    """Put the group of commands on `app`."""
    cases = typer.Typer(help="Run an agent on a case: realistic input, guards, an ERP, approvals.")
    cases.callback()(lambda: None)
    cases.command("invoices")(invoices)
    app.add_typer(cases, name="run")


def invoices(
    database: DatabaseOption = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help="A folder with inbox/ and purchase_orders.csv.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="DOCUMENT", help="Handle this document; repeatable.")
    ] = None,
    approve: Annotated[
        list[str] | None, typer.Option("--approve", metavar="ID", help="Approve this waiting call; repeatable.")
    ] = None,
    deny: Annotated[
        list[str] | None, typer.Option("--deny", metavar="ID", help="Refuse this waiting call; repeatable.")
    ] = None,
    approver: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who approves or refuses. The name goes on record.")
    ] = None,
    model_calls: Annotated[int | None, whole("--model-calls", "N", "Most model calls of one run.", least=1)] = None,
    tokens: Annotated[int | None, whole("--tokens", "N", "Most tokens of one run, input and output.", least=1)] = None,
    seconds: Annotated[float | None, decimal("--seconds", "N", "Most seconds of one run.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="NAME", help="Live: anthropic:NAME, openai:NAME, openai-chat:NAME. Needs a key."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Work through the invoices of an inbox: read, propose, post, ask for approval.

    Without --model a stand-in that follows rules proposes; it needs no key. A second run posts nothing twice. Ctrl-C
    keeps what was done.
    """
    from agentlab.cases.invoices.agent import open_desk, run_batch
    from agentlab.cases.invoices.documents import default_folder, read_documents
    from agentlab.cases.invoices.erp import read_orders
    from agentlab.cases.invoices.stand_in import stand_in
    from agentlab.messages.live import model_from

    _need_a_name([*(approve or []), *(deny or [])], approver)
    budgets = _budgets(model_calls, tokens, seconds)
    proposer = stand_in() if model is None else model_from(model)
    folder = data if data is not None else default_folder()
    documents = read_documents(folder)
    chosen = _choose(documents, only or [])
    orders = read_orders(folder)
    with opened_database(database) as engine:
        desk = open_desk(engine, documents, orders)
        for approval, yes in _answers(desk, approve or [], deny or []):
            desk.approvals.decide(approval.call_id, approver or "", yes)
        handled: list[Handled] = []
        with interruptible(proposer) as watched, _progress(len(chosen)) as advance:
            for one in run_batch(chosen, model=watched, desk=desk, budgets=budgets):
                handled.append(one)
                advance()
                if watched.asked_to_stop:
                    break
        report = Report(
            handled=handled,
            pending=[one for one in desk.approvals.all() if one.state == "pending" and one.run.startswith(RUNS)],
            erp_postings=len(desk.erp.postings()),
            not_started=len(chosen) - len(handled),
            interrupted=watched.asked_to_stop,
        )
    if as_json:
        print_json(report_as_json(report))
    else:
        print_report(report, database)
    if report.interrupted:
        raise KeyboardInterrupt


def _need_a_name(answers: Sequence[str], approver: str | None) -> None:
    if answers:
        name_on_record(approver or "")
    elif approver is not None:
        raise AgentlabError("--as names who answers; add --approve ID or --deny ID")


def _budgets(model_calls: int | None, tokens: int | None, seconds: float | None) -> "Budgets":
    from agentlab.cases.invoices.agent import BUDGETS
    from agentlab.loop.budgets import Budgets

    if seconds is not None and not 0 < seconds < float("inf"):
        raise AgentlabError(f"--seconds is {seconds}; give a number above zero, like 60")
    return Budgets(
        model_calls=model_calls or BUDGETS.model_calls,
        tokens=tokens or BUDGETS.tokens,
        seconds=seconds or BUDGETS.seconds,
    )


def _choose(documents: Sequence["Document"], only: Sequence[str]) -> list["Document"]:
    names = [document.id for document in documents]
    for name in only:
        if name not in names:
            near = get_close_matches(name, names, n=2) or names[:2]
            raise AgentlabError(f"there is no document {name!r} in the inbox; there is, for example, {', '.join(near)}")
    return [document for document in documents if not only or document.id in only]


def _answers(desk: "Desk", approve: Sequence[str], deny: Sequence[str]) -> list[tuple["Approval", bool]]:
    """The call that each given id names, and the answer to it. All are found before the first answer is recorded."""
    asked = [one for one in desk.approvals.all() if one.run.startswith(RUNS)]
    answers = [(named(asked, name), True) for name in approve] + [(named(asked, name), False) for name in deny]
    called = [approval.call_id for approval, _ in answers]
    for approval, _ in answers:
        if approval.state != "pending":
            raise AgentlabError(
                f"the call {approval.call_id[:LEAST_ID]} is {approval.state} and takes no further answer; "
                "run without --approve and --deny to see what waits"
            )
        if called.count(approval.call_id) > 1:
            raise AgentlabError(f"the call {approval.call_id[:LEAST_ID]} is named twice; give it one answer")
    return answers


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], object]]:
    """A bar on stderr where that is a terminal; it is gone when the work is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("invoices"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("invoices", total=total)
        yield lambda: bar.advance(task)
