"""From one dialect to another, with a finding for everything that cannot be carried over."""

from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect, ToolResult
from agentlab.messages.wire.aliases import NONE
from agentlab.messages.wire.body import read, to_wire
from agentlab.messages.wire.reading import Json, Loss, Notes, an_object
from agentlab.shapes import Finding


class Converted(NamedTuple):
    """A request in another dialect, and what did not survive the way."""

    body: Json
    findings: tuple[Finding, ...]


def convert(body: JsonValue, source: Dialect, target: Dialect) -> Converted:
    """A request body of `source` as one of `target`, with a finding for everything that cannot be carried over.

    W1 content that the generic form has no place for is left out (must). W2 a setting or mark is left out (should).
    W3 a name or id was exchanged (should). W4 an error flag became text (should).
    """
    notes = Notes()
    request = read(body, source, NONE, notes)
    if source == target:
        return Converted(an_object(body, "the request"), ())
    wire = to_wire(request, target)
    findings = [_lost(loss, target) for loss in dict.fromkeys(notes.losses)]
    for kind, exchanged in (("tool", wire.aliases.names), ("call id", wire.aliases.call_ids)):
        findings += [
            _should("W3", f"{kind} {before!r}", f"{target} refuses it; it is now {after!r}", "keep a table of both")
            for before, after in exchanged.items()
        ]
    if target != "anthropic":
        errors = [m for m in request.messages if isinstance(m, ToolResult) and m.is_error]
        message = f"{target} has no flag for an error; the text of the result now says so"
        findings += [_should("W4", f"result of {m.call_id!r}", message, "nothing to do") for m in errors]
    return Converted(wire.body, tuple(findings))


def _lost(loss: Loss, target: Dialect) -> Finding:
    message = f"{loss.what} has no place in {target} and was left out"
    if loss.content:
        return Finding(rule="W1", level="must", where=loss.where, message=message, fix="say it there in another way")
    return _should("W2", loss.where, message, f"set what corresponds to it in {target}, if it matters")


def _should(rule: str, where: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, level="should", where=where, message=message, fix=fix)
