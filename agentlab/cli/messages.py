"""``agentlab messages``: a request at the wire, before a provider sees it.

``agentlab messages check --json`` prints a list of findings, each with ``rule``, ``level`` (must or should), ``where``,
``message`` and ``fix``. Exit status: 0 when no finding is a must, 1 when one is, 2 when the file cannot be read.
``agentlab messages convert`` prints the new body on stdout and the findings on stderr; 1 says that content was lost.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentlab.cli.files import read_json, shown
from agentlab.cli.output import print_json, print_line, print_table
from agentlab.errors import AgentlabError
from agentlab.shapes import Finding

if TYPE_CHECKING:
    from pydantic import JsonValue

    from agentlab.messages.conversation import Dialect

_File = Annotated[
    str, typer.Argument(metavar="FILE", help="A request body, or a bare list of its messages. - is stdin.")
]
_DIALECTS = "anthropic, openai-chat or openai-responses."


def register(app: typer.Typer) -> None:
    """Put the group of commands on `app`."""
    group = typer.Typer(help="Check a request against a provider's rules; convert it to another provider's form.")
    group.callback()(lambda: None)
    group.command("check")(check)
    group.command("convert")(convert)
    app.add_typer(group, name="messages")


def check(
    file: _File,
    dialect: Annotated[str, typer.Option("--dialect", metavar="D", help=_DIALECTS)],
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Warn only of what Anthropic joins and other servers refuse.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of findings and nothing else.")] = False,
) -> None:
    """Find what a provider would refuse: results, ids, names and sizes; of a body also its tools and other fields.

    A body is taken for what is sent, so that what it lacks is missing; a bare list is checked as a conversation alone.
    Needs no key and no network. Exits with 1 if there is a finding of level must.
    """
    from agentlab.messages.pairing import check as check_request
    from agentlab.messages.wire import WireError

    known = _dialect(dialect, "--dialect")
    value = read_json(file)
    try:
        if not isinstance(value, dict | list):
            raise WireError("it is neither a request body (an object) nor a list of messages")
        findings = check_request(value, known, strict=not lenient, whole=True)
    except WireError as error:
        raise _unreadable(file, known, error) from None
    if as_json:
        print_json([finding.model_dump() for finding in findings])
    elif findings:
        _print(findings, err=False)
    else:
        print_line(f"no findings in {shown(file)} among the rules checked here for {known}: {_checked(value, known)}")
    _leave(findings)


def convert(
    file: _File,
    source: Annotated[str, typer.Option("--from", metavar="D", help=_DIALECTS)],
    target: Annotated[str, typer.Option("--to", metavar="D", help=_DIALECTS)],
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the body there, not on stdout.")
    ] = None,
) -> None:
    """Write a request in another provider's form; what cannot be carried over is told on stderr.

    A bare list of messages comes out as a body. Exits with 1 if content was lost.
    """
    import json

    from agentlab.messages.detect import body_of
    from agentlab.messages.wire import WireError
    from agentlab.messages.wire import convert as convert_body

    known, wanted = _dialect(source, "--from"), _dialect(target, "--to")
    value = read_json(file)
    try:
        converted = convert_body(body_of(value, known), known, wanted)
    except WireError as error:
        raise _unreadable(file, known, error) from None
    if output is None:
        print_json(converted.body)
    else:
        try:
            output.write_text(json.dumps(converted.body, indent=2) + "\n", encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise AgentlabError(f"{output} cannot be written: {reason}; name another file after --output") from None
    if converted.findings:
        _print(converted.findings, err=True)
    _leave(converted.findings)


def _dialect(named: str, option: str) -> "Dialect":
    from agentlab.messages.wire import DIALECTS

    for dialect in DIALECTS:
        if dialect == named:
            return dialect
    raise AgentlabError(f"{option} is {named}; it is one of {', '.join(DIALECTS)}")


def _checked(value: "JsonValue", dialect: "Dialect") -> str:
    """What was looked at: the conversation, and of a body some of its other fields."""
    conversation = "roles, fields and parts of messages, order and pairs of calls and results, ids, names, sizes"
    if isinstance(value, list):
        prefill = ", a prefill" if dialect == "anthropic" else ""
        return f"{conversation}{prefill}; no other field of a request, because this is a bare list"
    fields = (
        "tool definitions, strict schemas, tool_choice, parallel calls, model, the limit of the output, the system "
    )
    fields += "prompt, fields of other dialects"
    if dialect == "anthropic":
        fields += ", temperature, top_p, top_k, thinking.type, a prefill"
    return f"{conversation}; {fields}; no other field"


def _unreadable(file: str, dialect: "Dialect", error: AgentlabError) -> AgentlabError:
    return AgentlabError(f"{shown(file)} cannot be read as {dialect}: {error}; mend it or name its dialect")


def _print(findings: Sequence[Finding], *, err: bool) -> None:
    rows = [(finding.rule, finding.level, finding.where, finding.message, finding.fix) for finding in findings]
    print_table(("rule", "level", "where", "what", "fix"), rows, err=err)


def _leave(findings: Sequence[Finding]) -> None:
    if any(finding.level == "must" for finding in findings):
        raise typer.Exit(1)
