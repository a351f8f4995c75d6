"""OpenAI Chat Completions: `POST /chat/completions`. Each result is a message, and arguments are a JSON text."""

from collections.abc import Sequence

from pydantic import JsonValue

from agentlab.messages.conversation import (
    AssistantMessage,
    ForeignMessage,
    Message,
    Raw,
    Reply,
    StopReason,
    SystemMessage,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSchema,
    UserMessage,
)
from agentlab.messages.wire import openai_fields
from agentlab.messages.wire.reading import (
    Json,
    Notes,
    Piece,
    WireError,
    a_list,
    a_text,
    an_object,
    arguments_as_text,
    arguments_of,
    error_as_text,
    error_from_text,
    joined_text,
    of_type,
    same_json,
)

DIALECT = "openai-chat"
MESSAGES = "messages"
LIMIT = "max_completion_tokens"
KNOWN = ("tools", "tool_choice", "parallel_tool_calls", "messages", LIMIT)
TEXT = frozenset({"text"})

STOPS = {
    "tool_calls": StopReason.TOOL,
    "stop": StopReason.END,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
}


def read_messages(elements: Sequence[JsonValue], where: str, notes: Notes) -> list[Piece]:
    """Each message with the one wire message that it is."""
    return [
        Piece(_read_message(an_object(element, f"{where}[{number}]"), f"{where}[{number}]", notes), [element])
        for number, element in enumerate(elements)
    ]


def _read_message(message: Json, where: str, notes: Notes) -> Message:
    role = message.get("role")
    place = f"{where}.content"
    if role == "assistant":
        notes.rest(where, message, ("role", "content", "tool_calls"))
        return _read_assistant(message, where, notes)
    if role == "tool":
        notes.rest(where, message, ("role", "content", "tool_call_id"))
        text, is_error = error_from_text(joined_text(message.get("content"), place, TEXT, notes))
        call_id = a_text(message.get("tool_call_id"), f"{where}.tool_call_id")
        return ToolResult(call_id=call_id, content=text, is_error=is_error)
    if role == "function":
        # The older form of a result names no call by its id, so no other dialect can pair it.
        notes.lose(where, "the message of role 'function'", content=True)
        return ForeignMessage(raw=Raw(dialect="openai-chat", value=[message]))
    notes.rest(where, message, ("role", "content"))
    if role == "user":
        return UserMessage(content=joined_text(message.get("content"), place, TEXT, notes))
    if role in ("system", "developer"):
        return SystemMessage(content=joined_text(message.get("content"), place, TEXT, notes))
    raise WireError(f"{where}.role must be system, developer, user, assistant, tool or function, not {role!r}")


def _read_assistant(message: Json, where: str, notes: Notes) -> AssistantMessage:
    calls = []
    for number, item in enumerate(a_list(message.get("tool_calls") or [], f"{where}.tool_calls")):
        place = f"{where}.tool_calls[{number}]"
        call = an_object(item, place)
        if call.get("type", "function") != "function":
            notes.lose(place, f"the {of_type('call', call)}", content=True)
            continue
        notes.rest(place, call, ("id", "type", "function"))
        function = an_object(call.get("function"), f"{place}.function")
        notes.rest(f"{place}.function", function, ("name", "arguments"))
        call_id = a_text(call.get("id"), f"{place}.id")
        name = a_text(function.get("name"), f"{place}.function.name")
        calls.append(ToolCall(id=call_id, name=name, arguments=arguments_of(function.get("arguments"))))
    content = joined_text(message.get("content"), f"{where}.content", TEXT, notes, glue="")
    return AssistantMessage(content=content, tool_calls=tuple(calls))


def write_message(message: Message, before: Message | None) -> list[JsonValue]:
    """The one wire message of `message`. Text in the middle that instructs has the role developer."""
    match message:
        case ToolResult():
            content = error_as_text(message.content, is_error=message.is_error)
            return [{"role": "tool", "tool_call_id": message.call_id, "content": content}]
        case AssistantMessage():
            return [_write_assistant(message)]
        case SystemMessage():
            return [{"role": "developer", "content": message.content}]
        case UserMessage():
            return [{"role": "user", "content": message.content}]
    return []


def _write_assistant(message: AssistantMessage) -> Json:
    if not message.tool_calls:
        return {"role": "assistant", "content": message.content}
    calls: list[JsonValue] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_as_text(call.arguments)},
        }
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.content or None, "tool_calls": calls}


def read_system(body: Json, notes: Notes) -> str:
    """The system prompt: the first message, where its role is system or developer."""
    first = _first(body)
    if first.get("role") not in ("system", "developer"):
        return ""
    notes.rest("messages[0]", first, ("role", "content"))
    return joined_text(first.get("content"), "messages[0].content", TEXT, notes)


def write_system(system: str) -> Json:
    """The system prompt as a message that the writer puts first."""
    return {"messages": [{"role": "system", "content": system}]} if system else {}


def _first(body: Json) -> Json:
    messages = body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return first if isinstance(first, dict) else {}


def read_tool(tool: Json, where: str, notes: Notes) -> ToolSchema | None:
    """A function; None for a tool of another type."""
    if tool.get("type") != "function":
        return None
    function = an_object(tool.get("function"), f"{where}.function")
    notes.rest(where, tool, ("type", "function"))
    notes.rest(f"{where}.function", function, ("name", "description", "parameters"))
    return ToolSchema(
        name=a_text(function.get("name"), f"{where}.function.name"),
        description=a_text(function.get("description", ""), f"{where}.function.description"),
        parameters=an_object(function.get("parameters", {}), f"{where}.function.parameters"),
    )


def write_tool(tool: ToolSchema) -> Json:
    """A tool definition: nested under function."""
    function: Json = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def read_choice(body: Json, notes: Notes) -> tuple[ToolChoice | None, bool | None]:
    """The tool choice, and whether parallel calls are allowed."""
    return openai_fields.read_choice(body, notes, inside="function")


def write_choice(choice: ToolChoice | None, parallel: bool | None) -> Json:
    """The tool choice, and the switch for parallel calls beside it."""
    return openai_fields.write_choice(choice, parallel, inside="function")


def read_reply(body: Json, notes: Notes) -> Reply:
    """The first choice of a completion. A refusal arrives with the reason "stop" and a field of its own."""
    choices = a_list(body.get("choices"), "choices")
    if not choices:
        raise WireError("choices is empty; a reply has at least one")
    choice = an_object(choices[0], "choices[0]")
    sent = an_object(choice.get("message"), "choices[0].message")
    # The provider adds fields that say nothing (annotations: [], audio: null) and that it does not want back.
    wire = {key: value for key, value in sent.items() if value not in (None, []) or key == "content"}
    message = _read_assistant(wire, "choices[0].message", notes)
    reason = choice.get("finish_reason")
    stop = STOPS.get(reason, StopReason.UNKNOWN) if isinstance(reason, str) else StopReason.UNKNOWN
    if sent.get("refusal"):
        stop = StopReason.REFUSAL
    usage = openai_fields.read_usage(body, "prompt", "completion")
    same = same_json([wire], write_message(message, None))
    raw = None if same else Raw(dialect="openai-chat", value=[wire])
    return Reply(content=message.content, tool_calls=message.tool_calls, stop=stop, usage=usage, raw=raw)


def write_reply(reply: Reply, elements: list[JsonValue], model: str, reply_id: str) -> Json:
    """A completion as the provider sends it; `elements` is its message as written or kept."""
    names = {reason: name for name, reason in STOPS.items()}
    message = an_object(elements[0], "message") if elements else {"role": "assistant", "content": None}
    stop = names.get(reply.stop, reply.stop.value)
    choice: Json = {"index": 0, "message": {"refusal": None, **message}, "finish_reason": stop, "logprobs": None}
    body: Json = {"id": reply_id, "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}
    return {**body, **openai_fields.write_usage(reply.usage, "prompt", "completion")}
