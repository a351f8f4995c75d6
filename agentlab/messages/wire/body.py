"""Whole bodies, both ways: the dialect modules read and write their parts; what differs from our spelling is kept."""

from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import (
    AssistantMessage,
    Dialect,
    ForeignMessage,
    ForeignTool,
    Message,
    Raw,
    Reply,
    Request,
    ToolResult,
    ToolSchema,
)
from agentlab.messages.wire import anthropic, openai_chat, openai_responses
from agentlab.messages.wire.aliases import NONE, Aliases, aliases_for, rename
from agentlab.messages.wire.reading import (
    Json,
    Notes,
    Piece,
    a_limit,
    a_list,
    an_object,
    not_too_deep,
    of_type,
    same_json,
    same_text,
)

MODULES: dict[Dialect, ModuleType] = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}

LIMITS: dict[Dialect, str] = {dialect: speak.LIMIT for dialect, speak in MODULES.items()}
"""The field of the most tokens of output."""


class Wire(NamedTuple):
    """A request as JSON of one dialect, and the names and ids that had to be exchanged for it."""

    body: Json
    aliases: Aliases


def to_wire(request: Request, dialect: Dialect) -> Wire:
    """The JSON body that `dialect` takes for `request`. Its model is the caller's to add, unless it was read."""
    body = _write(request, dialect)
    if request.raw is not None and request.raw.dialect == dialect:
        body = _with_what_was_kept(body, request, dialect)
    names, call_ids = _names_and_ids(request)
    aliases = aliases_for(names, call_ids, dialect)
    return Wire(rename(body, dialect, aliases), aliases)


def from_wire(body: JsonValue, dialect: Dialect, aliases: Aliases = NONE) -> Request:
    """The request that this JSON body of `dialect` is. Raises `WireError` where it is none of that dialect."""
    return read(body, dialect, aliases, Notes())


def reply_from_wire(body: JsonValue, dialect: Dialect, aliases: Aliases = NONE) -> Reply:
    """The reply that this JSON body of `dialect` is. `aliases` are those of the request that it answers."""
    whole = an_object(body, "the reply")
    not_too_deep(body, "the reply")
    reply: Reply = MODULES[dialect].read_reply(rename(whole, dialect, aliases.reversed()), Notes())
    return reply


def reply_to_wire(
    reply: Reply, dialect: Dialect, *, model: str, reply_id: str = "reply_1", aliases: Aliases = NONE
) -> Json:
    """The JSON body in which `dialect` sends `reply`: what a stand-in for a provider answers with."""
    elements = _write_messages([reply.message], dialect)
    body: Json = MODULES[dialect].write_reply(reply, elements, model, reply_id)
    return rename(body, dialect, aliases)


def read(body: JsonValue, dialect: Dialect, aliases: Aliases, notes: Notes) -> Request:
    """As `from_wire`, noting in `notes` what the generic form has no place for."""
    speak = MODULES[dialect]
    not_too_deep(body, "the request")
    whole = rename(an_object(body, "the request"), dialect, aliases.reversed())
    elements = whole.get(speak.MESSAGES)
    if isinstance(elements, str) and dialect == "openai-responses":
        # A single text may stand for the whole input.
        elements = [{"role": "user", "content": elements}]
    elements = a_list(elements, speak.MESSAGES)
    has_system = dialect == "openai-chat" and bool(elements) and _instructs(elements[0])
    system = speak.read_system(whole, notes)
    choice, parallel = speak.read_choice(whole, notes)
    tools = a_list(whole.get("tools") or [], "tools")
    notes.rest("the request", whole, speak.KNOWN)
    request = Request(
        system=system,
        tools=tuple(
            _read_tool(an_object(t, f"tools[{n}]"), f"tools[{n}]", dialect, notes) for n, t in enumerate(tools)
        ),
        messages=_read_messages(elements, int(has_system), dialect, notes),
        tool_choice=choice,
        parallel_tool_calls=parallel,
        max_output_tokens=a_limit(whole.get(speak.LIMIT), speak.LIMIT),
    )
    kept = _what_differs(whole, _write(request, dialect), speak.MESSAGES)
    sent, written = elements[: int(has_system)], _head(request, dialect)
    if not same_text(sent, written):
        kept[_HEAD] = [sent, written]
    return request.model_copy(update={"raw": Raw(dialect=dialect, value=kept)}) if kept else request


def _write(request: Request, dialect: Dialect) -> Json:
    speak = MODULES[dialect]
    tools = [wire for tool in request.tools if (wire := _write_tool(tool, dialect)) is not None]
    return {
        **({} if dialect == "openai-chat" else speak.write_system(request.system)),
        **({"tools": tools} if tools else {}),
        **speak.write_choice(request.tool_choice, request.parallel_tool_calls),
        speak.MESSAGES: [*_head(request, dialect), *_write_messages(request.messages, dialect)],
        **({} if request.max_output_tokens is None else {speak.LIMIT: request.max_output_tokens}),
    }


def _head(request: Request, dialect: Dialect) -> list[JsonValue]:
    """The system prompt where it is the first message (OpenAI Chat); elsewhere it has a field, and this is empty.

    An empty one keeps an instruction that happens to come first in the conversation from being read back as the prompt.
    """
    if dialect != "openai-chat":
        return []
    if request.system:
        return a_list(openai_chat.write_system(request.system)["messages"], "messages")
    first = _write_messages(request.messages[:1], dialect)[:1]
    return [{"role": "system", "content": ""}] if first and _instructs(first[0]) else []


def _read_messages(elements: list[JsonValue], skip: int, dialect: Dialect, notes: Notes) -> tuple[Message, ...]:
    speak = MODULES[dialect]
    messages: list[Message] = []
    pieces: list[Piece] = speak.read_messages(elements, speak.MESSAGES, notes)[skip:]
    for message, wire, joined in pieces:
        before = messages[-1] if messages else None
        by_itself = _joins(before, message, dialect) == joined
        if not by_itself or not same_text(speak.write_message(message, before), wire):
            message = message.model_copy(update={"raw": Raw(dialect=dialect, value=wire, joined=joined)})
        messages.append(message)
    return tuple(messages)


def _write_messages(messages: Sequence[Message], dialect: Dialect) -> list[JsonValue]:
    """Each message as it was kept, or as the dialect writes it; those that join the one before share a wire message."""
    groups: list[list[JsonValue]] = []
    before: Message | None = None
    for message in messages:
        kept = _still_said(message, dialect)
        wire: list[JsonValue] = MODULES[dialect].write_message(message, before) if kept is None else kept
        if _joins(before, message, dialect):
            groups[-1] += wire
        else:
            groups += [[element] for element in wire]
        before = message
    return [group[0] if len(group) == 1 else anthropic.join(group) for group in groups]


def _joins(before: Message | None, message: Message, dialect: Dialect) -> bool:
    """Whether `message` is more blocks of the wire message before it, which only Anthropic's messages may be."""
    return dialect == "anthropic" and before is not None and anthropic.joins(before, message)


def _still_said(message: Message, dialect: Dialect) -> list[JsonValue] | None:
    """The wire form that was kept, if it still says what the message says: a control may have changed it since."""
    if message.raw is None or message.raw.dialect != dialect:
        return None
    elements = a_list(message.raw.value, "raw")
    if isinstance(message, ForeignMessage):
        return elements
    pieces: list[Piece] = MODULES[dialect].read_messages(elements, "raw", Notes())
    read = pieces[0].message if len(pieces) == 1 else openai_responses.one_reply(piece.message for piece in pieces)
    return elements if same_json(_bare(read), _bare(message)) else None


def _bare(said: Message | ToolSchema) -> JsonValue:
    bare: JsonValue = said.model_dump(exclude={"raw"})
    return bare


def _read_tool(given: JsonValue, where: str, dialect: Dialect, notes: Notes) -> ToolSchema | ForeignTool:
    tool = an_object(given, where)
    read: ToolSchema | None = MODULES[dialect].read_tool(tool, where, notes)
    raw = Raw(dialect=dialect, value=tool)
    if read is None:
        notes.lose(where, f"the {of_type('tool', tool)}", content=True)
        return ForeignTool(raw=raw)
    same = same_text(MODULES[dialect].write_tool(read), tool)
    return read if same else read.model_copy(update={"raw": raw})


def _write_tool(tool: ToolSchema | ForeignTool, dialect: Dialect) -> JsonValue:
    """The tool as JSON; None for one that another provider runs."""
    kept = tool.raw.value if tool.raw is not None and tool.raw.dialect == dialect else None
    if isinstance(tool, ForeignTool):
        return kept
    if kept is not None:
        read: ToolSchema | None = MODULES[dialect].read_tool(an_object(kept, "raw"), "raw", Notes())
        if read is not None and same_json(_bare(read), _bare(tool)):
            return kept
    written: Json = MODULES[dialect].write_tool(tool)
    return written


def _what_differs(sent: Json, written: Json, messages: str) -> Json:
    """The fields of a body that are written otherwise than they came: each with both spellings."""
    return {
        key: [value, written.get(key)]
        for key, value in sent.items()
        if not (key in written and same_text(value, written[key])) and not (key == messages and isinstance(value, list))
    }


def _with_what_was_kept(body: Json, request: Request, dialect: Dialect) -> Json:
    """`body` with each field as it came, as long as what it stands for has not changed since."""
    messages = MODULES[dialect].MESSAGES
    kept = an_object(request.raw.value if request.raw is not None else {}, "raw")
    changed: Json = {}
    for key, pair in kept.items():
        sent, written = a_list(pair, key)
        if key != _HEAD and same_json(body.get(key), written):
            changed[key] = sent
        elif key == _HEAD and same_json(_head(request, dialect), written):
            head, elements = a_list(written, key), a_list(body[messages], messages)
            changed[messages] = [*a_list(sent, key), *elements[len(head) :]]
    return {**body, **changed}


def _names_and_ids(request: Request) -> tuple[set[str], set[str]]:
    names = {tool.name for tool in request.tools if isinstance(tool, ToolSchema)}
    call_ids = {message.call_id for message in request.messages if isinstance(message, ToolResult)}
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            names |= {call.name for call in message.tool_calls}
            call_ids |= {call.id for call in message.tool_calls}
    if request.tool_choice is not None and request.tool_choice.name is not None:
        names.add(request.tool_choice.name)
    return names, call_ids


def _instructs(element: JsonValue) -> bool:
    return isinstance(element, dict) and element.get("role") in ("system", "developer")


_HEAD = "the first message"
