"""``agentlab approvals``: what waits for a person, and the person's answer.

``list --json`` prints a list, ``approve`` and ``deny`` with ``--json`` one object, of these keys: ``number``,
``call_id``, ``attempt``, ``tool``, ``contract`` (a digest), ``arguments`` (the exact object that runs), ``tenant``,
``run``, ``requester``, ``state`` (pending, approved, denied, expired or used), ``requested_at``, ``expires_at``,
``approver``, ``decided_at``, ``used_at``. Times are seconds since 1970, UTC.

Exit status: 0, or 2 where the answer was not taken (no such request, not pending, no name, the requester's own name).
"""

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue

from agentlab.cli.database import DatabaseOption, opened_database
from agentlab.cli.output import ascii_only, print_json, print_line, printable
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.dispatch.approvals import Approval

LEAST_ID = 8
"""Fewer digits could name a call that nobody meant."""

SHORT_ID = 12
"""Digits of a call's id that are shown; they are enough to name it."""

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The call's id, or its first digits, as list shows it.")]
AsOption = Annotated[str, typer.Option("--as", metavar="NAME", help="Who answers. The name goes on record.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def register(app: typer.Typer) -> None:
    """Put the group of commands on `app`."""
    group = typer.Typer(help="Show what waits for a person's approval, and answer it.")
    group.callback()(lambda: None)
    group.command("list")(list_requests)
    group.command("approve")(approve)
    group.command("deny")(deny)
    app.add_typer(group, name="approvals")


def list_requests(
    database: DatabaseOption = None,
    all_states: Annotated[
        bool, typer.Option("--all", help="Also those that were answered, used, or have expired.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the calls that wait for a person, each with exactly what would run."""
    from agentlab.dispatch.approvals import Approvals

    with opened_database(database) as engine:
        requests = [one for one in Approvals(engine).all() if all_states or one.state == "pending"]
    if as_json:
        print_json([request_as_json(one) for one in requests])
        return
    for one in requests:
        print_request(one)
    if any(one.state == "pending" for one in requests):
        where = _database_words(database)
        print_line(f"To approve: agentlab approvals approve ID --as YOUR_NAME{where}")
        print_line(f"To refuse:  agentlab approvals deny ID --as YOUR_NAME{where}")
    elif not requests:
        print_line("Nobody has asked for approval." if all_states else "Nothing waits for a person.")


def approve(
    identity: IdArgument, approver: AsOption, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Say yes to exactly this call. The yes is good once, until it expires, and for nothing else."""
    _answer(identity, approver, True, database, as_json)


def deny(
    identity: IdArgument, approver: AsOption, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Say no to exactly this call. It stays refused."""
    _answer(identity, approver, False, database, as_json)


def named(requests: "Sequence[Approval]", name: str) -> "Approval":
    """The newest request for the one call whose id begins with `name`. Raises AgentlabError for none or several."""
    if len(name) < LEAST_ID:
        raise AgentlabError(f"{name!r} is too short to name a call; give at least {LEAST_ID} digits of its id")
    found = {one.call_id: one for one in requests if one.call_id.startswith(name)}
    if len(found) != 1:
        how_many = "no call" if not found else f"{len(found)} calls"
        raise AgentlabError(f"{how_many} with the id {name!r} asked for approval; copy it as it was shown")
    return next(iter(found.values()))


def name_on_record(approver: str) -> str:
    """The name, if it can be shown as it stands. Raises AgentlabError otherwise."""
    if not approver.strip():
        raise AgentlabError("an approval goes on record with a name; add --as NAME")
    if not approver.isprintable():
        raise AgentlabError(f"--as is {approver!a}, which cannot be shown on record; give a name of plain text")
    return approver


def request_as_json(request: "Approval") -> dict[str, JsonValue]:
    """A request as the keys above."""
    return {**request.model_dump(mode="json"), "arguments": json.loads(request.arguments)}


def print_request(request: "Approval") -> None:
    """Print a request for a person: what runs stands there to the letter, and nothing in it acts on the terminal."""
    until = datetime.fromtimestamp(request.expires_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    answered = f", by {printable(request.approver)}" if request.approver else ""
    print_line(f"{request.call_id[:SHORT_ID]}  {request.state}{answered}, good until {until}")
    print_line(
        f"  {printable(request.requester)} of {printable(request.tenant)} asks in the run {printable(request.run)} "
        f"for {printable(request.tool)}, with exactly"
    )
    print_line(f"  {ascii_only(json.dumps(json.loads(request.arguments)))}")


def _answer(identity: str, approver: str, yes: bool, database: str | None, as_json: bool) -> None:
    from agentlab.dispatch.approvals import Approvals

    name = name_on_record(approver)
    with opened_database(database) as engine:
        approvals = Approvals(engine)
        answered = approvals.decide(named(approvals.all(), identity).call_id, name, yes)
    if as_json:
        print_json(request_as_json(answered))
    else:
        print_request(answered)


def _database_words(database: str | None) -> str:
    from agentlab.store import shown_url

    return "" if database is None else f" --database {shlex.quote(shown_url(database))}"
