"""From one dialect to another, with a finding for everything that cannot be carried over."""

from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import AssistantMessage, Dialect, Request, ToolResult, ToolSchema
from agentlab.messages.wire.aliases import NONE
from agentlab.messages.wire.anthropic import UNPARSED, is_wrapped
from agentlab.messages.wire.body import LIMITS, read, to_wire
from agentlab.messages.wire.forms import in_own_form
from agentlab.messages.wire.order import results_behind_calls
from agentlab.messages.wire.reading import Json, Loss, Notes, a_list, an_object, not_too_deep
from agentlab.messages.wire.settings import carried, carry_strict
from agentlab.shapes import Finding


class Converted(NamedTuple):
    """A request in another dialect, and what did not survive the way."""

    body: Json
    findings: tuple[Finding, ...]


def convert(body: JsonValue, source: Dialect, target: Dialect) -> Converted:
    """A request body of `source` as one of `target`, with a finding for everything that cannot be carried over.

    W1 content that the generic form has no place for is left out (must). W2 a setting or mark is left out (should).
    W3 a name or id was exchanged (should). W4 an error flag became text, or such a text a flag (should). W5 arguments
    that are no JSON object travel inside one (should). W6 a field that the new provider demands is not there (should).
    W7 a result was put right behind its call: only OpenAI Responses lets them stand apart (should). W8 a tool or the
    tool_choice was not in the form of `source` but in that of another dialect, and was read as that (should). And, with
    its own id, each rule of `agentlab.messages.pairing` that only the new body breaks (must).
    """
    given = an_object(body, "the request")
    not_too_deep(body, "the request")
    notes = Notes()
    if source == target:
        read(body, source, NONE, notes)
        return Converted(given, ())
    own = in_own_form(given, source)
    ordered, moved = _in_order(read(own.body, source, NONE, notes), source)
    wire = to_wire(ordered, target)
    settings = carried(given, source, target, LIMITS[target])
    made = {**settings.fields, **wire.body}
    strict = _made_strict(ordered, made, source, target)
    settled = {f"the request.{name}" for name in settings.settled} | strict
    losses = dict.fromkeys((*own.losses, *notes.losses))
    findings = [_lost(loss, target) for loss in losses if loss.where not in settled]
    for name, (why, fix) in settings.left.items():
        findings.append(_should("W2", name, f"not carried over to {target}: {why}", fix))
    if target == "anthropic" and made.get("max_tokens") is None:
        findings.append(_should("W6", "max_tokens", f"{target} demands it, and {source} does not", _NO_LIMIT))
    for kind, exchanged in (("tool", wire.aliases.names), ("call id", wire.aliases.call_ids)):
        findings += [
            _should("W3", f"{kind} {before!r}", f"{target} refuses it; it is now {after!r}", "keep a table of both")
            for before, after in exchanged.items()
        ]
    findings += [*_flags(ordered, source, target), *_unparsed(ordered, target)]
    findings += [_moved(call_id, target) for call_id in moved]
    findings += [_foreign(where, whose, source) for where, whose in own.foreign.items()]
    return Converted(made, (*findings, *_broken_on_the_way(body, source, made, target)))


_NO_LIMIT = "set max_tokens: the most tokens that the answer may have"


def _in_order(request: Request, source: Dialect) -> tuple[Request, tuple[str, ...]]:
    """The request with its results behind their calls, where the source lets them stand apart; which were moved."""
    if source != "openai-responses":
        return request, ()
    messages, moved = results_behind_calls(request.messages)
    return request.model_copy(update={"messages": messages}), moved


def _moved(call_id: str, target: Dialect) -> Finding:
    message = f"{target} wants it right behind its call; it was moved there, before what stood between"
    return _should(
        "W7", f"result of {call_id!r}", message, "nothing to do, unless what stood between must be read first"
    )


def _foreign(where: str, whose: Dialect, source: Dialect) -> Finding:
    message = f"this is in the form of {whose}, not of {source}; it was read as {whose} and carried over"
    return _should("W8", where, message, f"write it in the form of {source} where the request is made")


def _made_strict(request: Request, made: Json, source: Dialect, target: Dialect) -> set[str]:
    """Make the tools of `made` strict that were strict in the source; the places in the source that say so."""
    places, tools = [], []
    written = iter(a_list(made.get("tools") or [], "tools"))
    for number, tool in enumerate(request.tools):
        if isinstance(tool, ToolSchema):
            kept = tool.raw.value if tool.raw is not None else None
            tools.append((kept, an_object(next(written), "tools")))
            places.append(f"tools[{number}]{'.function' if source == 'openai-chat' else ''}.strict")
    return {places[number] for number in carry_strict(tools, source, target)}


def _flags(request: Request, source: Dialect, target: Dialect) -> list[Finding]:
    """Errors that are a flag in one of the dialects and a text in the other."""
    errors = [m for m in request.messages if isinstance(m, ToolResult) and m.is_error]
    if target != "anthropic":
        message, fix = f"{target} has no flag for an error; the text of the result now says so", "nothing to do"
    elif source != "anthropic":
        message = f"its text in {source} was read as an error; it is now flagged as one, with the bare text"
        fix = "if the tool itself wrote that JSON, put it back as the content and take out is_error"
    else:
        return []
    return [_should("W4", f"result of {m.call_id!r}", message, fix) for m in errors]


def _unparsed(request: Request, target: Dialect) -> list[Finding]:
    """Calls whose arguments Anthropic, where they must be an object, gets inside one."""
    if target != "anthropic":
        return []
    calls = [call for m in request.messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
    message = f"its arguments are no JSON object, as {target} demands; they are now the text under {UNPARSED!r}"
    fix = "answer the call with an error that says so, or take both out"
    return [_should("W5", f"call {c.id!r}", message, fix) for c in calls if is_wrapped(c.arguments)]


def _broken_on_the_way(body: JsonValue, source: Dialect, made: Json, target: Dialect) -> list[Finding]:
    """The rules that the new body breaks and the old one kept: an order, say, that only `source` allows.

    The dialects number the same order differently, so all rules of order count as one.
    """
    from agentlab.messages.pairing import check  # the checker writes requests with this package

    def kind(rule: str) -> str:
        return "order" if rule[0] in "ACR" else rule

    before = {kind(found.rule) for found in check(an_object(body, "the request"), source) if found.level == "must"}
    return [found for found in check(made, target) if found.level == "must" and kind(found.rule) not in before]


def _lost(loss: Loss, target: Dialect) -> Finding:
    message = f"{loss.what} is not carried over to {target} by this converter and was left out"
    where = loss.where.removeprefix("the request.")
    if not loss.content:
        return _should("W2", where, message, f"set what corresponds to it in {target}, if it matters")
    fix = f"put what it says into a text, or write it by hand in the form of {target}"
    if where.startswith("tools["):
        fix = f"offer a tool of your own for it, or the one that {target} has"
    return Finding(rule="W1", level="must", where=where, message=message, fix=fix)


def _should(rule: str, where: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, level="should", where=where, message=message, fix=fix)
