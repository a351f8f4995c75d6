"""What is checked: a wire body, a bare list of wire messages or items, or generic messages written as wire first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import (
    AssistantMessage,
    Dialect,
    ForeignMessage,
    ForeignTool,
    Message,
    Request,
    SystemMessage,
    ToolResult,
    ToolSchema,
    UserMessage,
)
from agentlab.messages.pairing.rules import finding, shown
from agentlab.messages.wire import WireError, to_wire
from agentlab.messages.wire.reading import Json, a_list, an_object
from agentlab.shapes import Finding

Checkable = Request | Sequence[Message] | Mapping[str, JsonValue] | Sequence[JsonValue]
Tools = Sequence[ToolSchema | ForeignTool | JsonValue]

LIST: dict[Dialect, str] = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input"}
_GENERIC = (UserMessage, AssistantMessage, ToolResult, SystemMessage, ForeignMessage)
# Parts and fields that only one dialect has: a body of another one must not pass for a clean body of this one.
_MARKS: dict[str, Dialect] = {
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "image_url": "openai-chat",
    "input_text": "openai-responses",
    "output_text": "openai-responses",
}


class History(NamedTuple):
    """A request on the wire. ``elements`` are its messages or items, ``where`` what their list is called.

    ``elsewhere`` is True where the provider holds the beginning of the conversation, so that a result may answer a
    call that is not in here.
    """

    dialect: Dialect
    body: Json
    elements: list[Json]
    where: str
    elsewhere: bool


def read_history(given: Checkable, dialect: Dialect, tools: Tools | None = None) -> History:
    """The history that `given` is. Raises WireError for what cannot be read as `dialect` at all."""
    body = _body(given, dialect)
    if tools is not None:
        body = {**body, "tools": [wire for tool in tools for wire in _wire_tools(tool, dialect)]}
    name = LIST[dialect]
    if name not in body:
        other = next((key for key in ("messages", "input", "contents") if key in body), None)
        there = f"; it has {other}, so it may be of another dialect" if other else ""
        raise WireError(f"the body has no field {name}, where {dialect} has the conversation{there}")
    listed = body[name]
    if dialect == "openai-responses" and isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    elements = [an_object(element, f"{name}[{number}]") for number, element in enumerate(a_list(listed, name))]
    for number, element in enumerate(elements):
        _refuse_other_dialect(element, f"{name}[{number}]", dialect)
    return History(dialect, body, elements, name, _held_elsewhere(body))


def _body(given: Checkable, dialect: Dialect) -> Json:
    if isinstance(given, Request):
        return to_wire(given, dialect).body
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise WireError("a request body (an object) or a list of its messages is needed; this is neither")
    generic = tuple(message for message in given if isinstance(message, _GENERIC))
    if not generic:
        return {LIST[dialect]: [element for element in given if not isinstance(element, _GENERIC)]}
    if len(generic) < len(given):
        raise WireError("this list mixes generic messages with others; give one kind")
    return to_wire(Request(messages=generic), dialect).body


def _wire_tools(tool: ToolSchema | ForeignTool | JsonValue, dialect: Dialect) -> list[JsonValue]:
    if isinstance(tool, ToolSchema | ForeignTool):
        return a_list(to_wire(Request(messages=(), tools=(tool,)), dialect).body.get("tools", []), "tools")
    return [tool]


def _refuse_other_dialect(element: Json, where: str, dialect: Dialect) -> None:
    other: Dialect | None = "openai-chat" if dialect != "openai-chat" and "tool_calls" in element else None
    content = element.get("content")
    for part in content if isinstance(content, list) else []:
        mark = part.get("type") if isinstance(part, dict) else None
        if isinstance(mark, str) and _MARKS.get(mark, dialect) != dialect:
            other = _MARKS[mark]
    if other is not None:
        raise WireError(f"{where} is written in {other}, not in {dialect}")


def _held_elsewhere(body: Json) -> bool:
    thread = body.get("thread")
    continued = isinstance(thread, dict) and thread.get("type") == "continue"
    return continued or any(body.get(key) is not None for key in ("previous_response_id", "conversation"))


def malformed(value: JsonValue, where: str, fields: Mapping[str, type]) -> Iterator[Finding]:
    """M1 for each of `fields` that `value` lacks or has of another type."""
    if not isinstance(value, dict):
        yield finding("M1", where, f"this must be an object, not {shown(value)}")
        return
    for key, kind in fields.items():
        if not isinstance(value.get(key), kind):
            names: dict[type, str] = {str: "text", dict: "an object", list: "a list"}
            has = f"it is {shown(value[key])}" if key in value else "it is missing"
            yield finding("M1", f"{where}.{key}", f"this must be {names[kind]}, and {has}")
