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
from agentlab.messages.wire.reading import Json, a_list
from agentlab.shapes import Finding

Checkable = Request | Sequence[Message] | Mapping[str, JsonValue] | Sequence[JsonValue]
Tools = Sequence[ToolSchema | ForeignTool | JsonValue]

LIST: dict[Dialect, str] = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input"}
# The role function of OpenAI Chat is deprecated and still specified.
ROLES: dict[Dialect, tuple[str, ...]] = {
    "anthropic": ("user", "assistant", "system"),
    "openai-chat": ("system", "developer", "user", "assistant", "tool", "function"),
    "openai-responses": ("user", "assistant", "system", "developer"),
}
_GENERIC = (UserMessage, AssistantMessage, ToolResult, SystemMessage, ForeignMessage)
# Parts and items that only one dialect has: a body of another one must not pass for a clean body of this one.
_MARKS: dict[str, Dialect] = {
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "image_url": "openai-chat",
    "input_text": "openai-responses",
    "output_text": "openai-responses",
    "function_call": "openai-responses",
    "function_call_output": "openai-responses",
}


class Element(NamedTuple):
    """A message or item: the how manyth it is, where it stands, its JSON, and what it is.

    ``kind`` is a message's role; in OpenAI Responses the type of the item ("message" for one).
    """

    number: int
    where: str
    value: Json
    kind: str


class History(NamedTuple):
    """A request on the wire. ``elements`` are its messages or items, ``where`` what their list is called.

    ``malformed`` says M1 of those that are left out of ``elements``, because nothing can be read from them. ``whole``
    is True where nothing will be added to the body before it is sent. ``elsewhere`` is True where the provider holds
    the beginning of the conversation, so that a result may answer a call that is not in here.
    """

    dialect: Dialect
    body: Json
    elements: list[Element]
    malformed: list[Finding]
    where: str
    whole: bool
    elsewhere: bool


def read_history(given: Checkable, dialect: Dialect, tools: Tools | None = None, whole: bool = False) -> History:
    """The history that `given` is. Raises WireError for what cannot be read as `dialect` at all.

    A body that names its model is whole, whatever `whole` says; a bare list never is.
    """
    body = _body(given, dialect)
    whole = isinstance(given, Mapping) and (whole or "model" in body)
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
    elements, odd = _elements(a_list(listed, name), name, dialect)
    return History(dialect, body, elements, odd, name, whole, _held_elsewhere(body))


def _elements(listed: list[JsonValue], name: str, dialect: Dialect) -> tuple[list[Element], list[Finding]]:
    marks = [_mark(value, dialect) for value in listed]
    foreign = next((number for number, mark in enumerate(marks) if mark not in (None, dialect)), None)
    if foreign is not None and dialect not in marks:
        # Nothing in here is of this dialect alone, and something is of another: the dialect is wrong, not the message.
        raise WireError(f"{name}[{foreign}] is written in {marks[foreign]}, not in {dialect}")
    elements: list[Element] = []
    odd: list[Finding] = []
    for number, (value, mark) in enumerate(zip(listed, marks, strict=True)):
        where = f"{name}[{number}]"
        if not isinstance(value, dict):
            odd += malformed(value, where, {})
        elif mark not in (None, dialect):
            odd.append(finding("M1", where, f"this is written in {mark}, not in {dialect}"))
        else:
            kind = _item_kind(value) if dialect == "openai-responses" else value.get("role")
            wrong = _wrong_kind(value, kind, where, dialect)
            if wrong is None:
                elements.append(Element(number, where, value, str(kind)))
            else:
                odd.append(wrong)
    return elements, odd


def _item_kind(item: Json) -> JsonValue:
    kind = item.get("type")
    if kind is not None:
        return kind
    return "item_reference" if "role" not in item and "content" not in item and "id" in item else "message"


def _wrong_kind(value: Json, kind: JsonValue, where: str, dialect: Dialect) -> Finding | None:
    if dialect == "openai-responses" and not isinstance(kind, str):
        return finding("M1", f"{where}.type", f"this must be text, not {shown(kind)}")
    roles, role = ROLES[dialect], value.get("role")
    if (dialect != "openai-responses" or kind == "message") and role not in roles:
        has = f"not {shown(role)}" if "role" in value else "and it is missing"
        return finding("M1", f"{where}.role", f"this must be {', '.join(roles[:-1])} or {roles[-1]}, {has}")
    return None


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


def _mark(element: JsonValue, dialect: Dialect) -> Dialect | None:
    """The dialect that alone has something that is in this message; another than `dialect` before `dialect` itself."""
    if not isinstance(element, dict):
        return None
    content = element.get("content")
    parts = [part.get("type") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    kinds = [*parts, element.get("type")]
    found = {_MARKS[kind] for kind in kinds if isinstance(kind, str) and kind in _MARKS}
    if "tool_calls" in element:
        found.add("openai-chat")
    return next(iter(sorted(found - {dialect})), dialect if dialect in found else None)


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
