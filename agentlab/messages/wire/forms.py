"""Tools and a tool_choice in the form of another dialect than their body's: read by the dialect that they are of."""

from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect, ToolSchema
from agentlab.messages.wire.body import MODULES
from agentlab.messages.wire.reading import Json, Loss, Notes, WireError, an_object
from agentlab.messages.wire.settings import carry_strict


class Settled(NamedTuple):
    """A body whose tools and choice are all in its own form; the places of those that were not, and whose form it was.

    ``losses`` is what those said that has no place here.
    """

    body: Json
    foreign: dict[str, Dialect]
    losses: tuple[Loss, ...]


def in_own_form(body: Json, dialect: Dialect) -> Settled:
    """`body` of `dialect` with the tools and the choice that are in another dialect's form written in its own.

    What no dialect can read stays as it is.
    """
    foreign: dict[str, Dialect] = {}
    losses: list[Loss] = []
    settled = dict(body)
    listed = body.get("tools")
    if isinstance(listed, list):
        tools: list[JsonValue] = []
        for number, tool in enumerate(listed):
            where = f"tools[{number}]"
            other = None if _tool(tool, where, dialect, Notes()) else _whose_tool(tool, where, dialect)
            own = None if other is None else _rewritten(tool, where, other, dialect)
            if other is not None and own is not None:
                foreign[where] = other
                losses += own.losses
            tools.append(tool if own is None else own.tool)
        settled["tools"] = tools
    if body.get("tool_choice") is not None and _choice(body["tool_choice"], dialect, dialect) is None:
        for other in MODULES:
            fields = _choice(body["tool_choice"], other, dialect)
            if fields is not None:
                foreign["tool_choice"] = other
                settled |= fields
                break
    return Settled(settled, foreign, tuple(losses))


def choice_in(dialect: Dialect, given: JsonValue) -> Json | None:
    """The fields of a body in which `dialect` says what the tool_choice `given` says in whichever form, or None.

    A bare word that Anthropic has as a type is read as one, and a type that OpenAI has as a bare word as that.
    """
    spellings: list[JsonValue] = [given]
    if isinstance(given, str):
        spellings.append({"type": given})
    elif isinstance(given, dict) and isinstance(given.get("type"), str):
        spellings.append(given["type"])
    for spelling in spellings:
        for whose in MODULES:
            fields = _choice(spelling, whose, dialect)
            if fields is not None:
                return fields
    return None


class _Rewritten(NamedTuple):
    tool: Json
    losses: list[Loss]


def _rewritten(tool: JsonValue, where: str, other: Dialect, dialect: Dialect) -> _Rewritten | None:
    """The tool, which is in the form of `other`, in that of `dialect`; strict goes along, what else is lost is told."""
    notes = Notes()
    read = _tool(tool, where, other, notes)
    if read is None:
        return None
    written: Json = MODULES[dialect].write_tool(read)
    is_strict = bool(carry_strict([(tool, written)], other, dialect))
    losses = [loss for loss in notes.losses if not (is_strict and loss.where.endswith(".strict"))]
    return _Rewritten(written, losses)


def _whose_tool(tool: JsonValue, where: str, dialect: Dialect) -> Dialect | None:
    others = (other for other in MODULES if other != dialect)
    return next((other for other in others if _tool(tool, where, other, Notes())), None)


def _tool(tool: JsonValue, where: str, dialect: Dialect, notes: Notes) -> ToolSchema | None:
    """The tool, if it is in the form of `dialect`."""
    try:
        read: ToolSchema | None = MODULES[dialect].read_tool(an_object(tool, where), where, notes)
    except WireError:
        return None
    return read


def _choice(given: JsonValue, whose: Dialect, dialect: Dialect) -> Json | None:
    """The fields in which `dialect` says what `given` says in the form of `whose`; None if it is not of that form."""
    notes = Notes()
    try:
        choice, parallel = MODULES[whose].read_choice({"tool_choice": given}, notes)
    except (WireError, ValueError, RecursionError):
        # Python cannot quote a value that is nested, or a number that is long, without end.
        return None
    if choice is None or notes.losses:
        return None
    fields: Json = MODULES[dialect].write_choice(choice, parallel)
    return fields
