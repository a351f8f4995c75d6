"""OpenAI Responses: `POST /responses`. The conversation is a list of items; calls and results are items too.

All items that a model gave out in a row (messages with a type, calls, reasoning) are one assistant message here. A
plain assistant message without a type, as a caller writes it, begins a new one.
"""

from collections.abc import Iterable, Sequence

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
    BEHIND_A_CALL,
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
    is_one_of,
    joined_text,
    of_type,
    same_json,
)

DIALECT = "openai-responses"
MESSAGES = "input"
LIMIT = "max_output_tokens"
KNOWN = ("instructions", "tools", "tool_choice", "parallel_tool_calls", "input", LIMIT)
TEXT = frozenset({"input_text", "output_text", "text"})
OUTPUT_ONLY = frozenset({"function_call", "reasoning"})


def read_messages(elements: Sequence[JsonValue], where: str, notes: Notes) -> list[Piece]:
    """Each message with the items that it is made of; an assistant message may have many."""
    pieces: list[Piece] = []
    run: list[tuple[str, Json]] = []

    def close_run() -> None:
        if run:
            pieces.append(Piece(_read_assistant(run, notes), [item for _, item in run]))
            run.clear()

    for number, element in enumerate(elements):
        place = f"{where}[{number}]"
        item = an_object(element, place)
        kind = item.get("type")
        assistant = item.get("role") == "assistant" and kind in (None, "message")
        if assistant or is_one_of(kind, OUTPUT_ONLY):
            if assistant and kind is None:
                close_run()
            run.append((place, item))
            continue
        close_run()
        pieces.append(Piece(_read_item(item, place, notes), [element]))
    close_run()
    return pieces


def _read_item(item: Json, place: str, notes: Notes) -> Message:
    kind = item.get("type")
    if kind is None and "id" in item and "role" not in item and "content" not in item:
        kind = "item_reference"  # the one item that may leave its type out
    if kind in (None, "message"):
        notes.rest(place, item, ("type", "role", "content"))
        text = joined_text(item.get("content"), f"{place}.content", TEXT, notes)
        role = item.get("role")
        if role == "user":
            return UserMessage(content=text)
        if role in ("system", "developer"):
            return SystemMessage(content=text)
        raise WireError(f"{place}.role must be user, assistant, system or developer, not {role!r}")
    if kind == "function_call_output":
        notes.rest(place, item, ("type", "call_id", "output"))
        text, is_error = error_from_text(joined_text(item.get("output"), f"{place}.output", TEXT, notes))
        return ToolResult(call_id=a_text(item.get("call_id"), f"{place}.call_id"), content=text, is_error=is_error)
    if not isinstance(kind, str):
        raise WireError(f"{place}.type must be text, not {kind!r}")
    notes.lose(place, f"the item of type {kind!r}", content=True)
    return ForeignMessage(raw=Raw(dialect="openai-responses", value=[item]))


def _read_assistant(run: Sequence[tuple[str, Json]], notes: Notes) -> Message:
    texts = []
    calls = []
    for place, item in run:
        if item.get("type") == "function_call":
            notes.rest(place, item, ("type", "call_id", "name", "arguments"))
            call_id, name = a_text(item.get("call_id"), f"{place}.call_id"), a_text(item.get("name"), f"{place}.name")
            calls.append(ToolCall(id=call_id, name=name, arguments=arguments_of(item.get("arguments"))))
        elif item.get("type") in (None, "message"):
            notes.rest(place, item, ("type", "role", "content"))
            texts.append(joined_text(item.get("content"), f"{place}.content", TEXT, notes, glue=""))
            if calls and texts[-1]:
                notes.lose(place, BEHIND_A_CALL, content=False)
        else:
            notes.lose(place, f"the {of_type('item', item)}", content=True)
    if not texts and not calls:
        return ForeignMessage(raw=Raw(dialect="openai-responses", value=[item for _, item in run]))
    return AssistantMessage(content="".join(texts), tool_calls=tuple(calls))


def write_message(message: Message, before: Message | None) -> list[JsonValue]:
    """The items of `message`. An empty assistant text keeps two assistant messages in a row apart."""
    match message:
        case ToolResult():
            output = error_as_text(message.content, is_error=message.is_error)
            return [{"type": "function_call_output", "call_id": message.call_id, "output": output}]
        case AssistantMessage():
            calls: list[JsonValue] = [_write_call(call) for call in message.tool_calls]
            if message.content or not calls or isinstance(before, AssistantMessage | ForeignMessage):
                return [{"role": "assistant", "content": message.content}, *calls]
            return calls
        case SystemMessage():
            return [{"role": "developer", "content": message.content}]
        case UserMessage():
            return [{"role": "user", "content": message.content}]
    return []


def _write_call(call: ToolCall) -> Json:
    arguments = arguments_as_text(call.arguments)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def read_system(body: Json, notes: Notes) -> str:
    """The system prompt, from the field instructions."""
    instructions = body.get("instructions")
    return "" if instructions is None else a_text(instructions, "instructions")


def write_system(system: str) -> Json:
    """The field of the system prompt, if there is one."""
    return {"instructions": system} if system else {}


def read_tool(tool: Json, where: str, notes: Notes) -> ToolSchema | None:
    """A function; None for a tool of another type."""
    if tool.get("type") != "function":
        return None
    notes.rest(where, tool, ("type", "name", "description", "parameters", "strict"))
    if tool.get("strict") not in (None, False):
        notes.lose(f"{where}.strict", "the field strict", content=False)
    description, parameters = tool.get("description"), tool.get("parameters")
    return ToolSchema(
        name=a_text(tool.get("name"), f"{where}.name"),
        description="" if description is None else a_text(description, f"{where}.description"),
        parameters={} if parameters is None else an_object(parameters, f"{where}.parameters"),
    )


def write_tool(tool: ToolSchema) -> Json:
    """A tool definition: flat. Strict is said, because left out it means that the provider tries it by itself."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "strict": False,
    }


def read_choice(body: Json, notes: Notes) -> tuple[ToolChoice | None, bool | None]:
    """The tool choice, and whether parallel calls are allowed."""
    return openai_fields.read_choice(body, notes, inside=None)


def write_choice(choice: ToolChoice | None, parallel: bool | None) -> Json:
    """The tool choice, and the switch for parallel calls beside it."""
    return openai_fields.write_choice(choice, parallel, inside=None)


def read_reply(body: Json, notes: Notes) -> Reply:
    """A response: its status, the reason it is incomplete and the kinds of its items together say why it ended."""
    elements = a_list(body.get("output"), "output")
    message = one_reply(piece.message for piece in read_messages(elements, "output", notes))
    same = same_json(elements, write_message(message, None))
    raw = None if same else Raw(dialect="openai-responses", value=elements)
    stop = _read_stop(body, has_calls=bool(message.tool_calls), elements=elements)
    usage = openai_fields.read_usage(body, "input", "output")
    return Reply(content=message.content, tool_calls=message.tool_calls, stop=stop, usage=usage, raw=raw)


def one_reply(messages: Iterable[Message]) -> AssistantMessage:
    """All that the model says in these, in one message: an item that only the provider knows may part its texts."""
    own = [message for message in messages if isinstance(message, AssistantMessage)]
    calls = tuple(call for message in own for call in message.tool_calls)
    return AssistantMessage(content="".join(message.content for message in own), tool_calls=calls)


def _read_stop(body: Json, *, has_calls: bool, elements: list[JsonValue]) -> StopReason:
    status = body.get("status")
    if status == "incomplete":
        details = body.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        reasons = {"max_output_tokens": StopReason.LENGTH, "content_filter": StopReason.REFUSAL}
        return reasons.get(reason, StopReason.UNKNOWN) if isinstance(reason, str) else StopReason.UNKNOWN
    if status != "completed":
        return StopReason.UNKNOWN
    if any(_refuses(element) for element in elements):
        return StopReason.REFUSAL
    return StopReason.TOOL if has_calls else StopReason.END


def _refuses(element: JsonValue) -> bool:
    content = element.get("content") if isinstance(element, dict) else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts)


def write_reply(reply: Reply, elements: list[JsonValue], model: str, reply_id: str) -> Json:
    """A response as the provider sends it; `elements` are its items as written or kept."""
    incomplete = {StopReason.LENGTH: "max_output_tokens", StopReason.REFUSAL: "content_filter"}
    status = "completed" if reply.stop in (StopReason.TOOL, StopReason.END) else "incomplete"
    body: Json = {
        "id": reply_id,
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": status,
        "error": None,
        "incomplete_details": (
            None if status == "completed" else {"reason": incomplete.get(reply.stop, reply.stop.value)}
        ),
        "output": [_as_output(an_object(element, "item"), f"{reply_id}_{n}") for n, element in enumerate(elements)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    return {**body, **openai_fields.write_usage(reply.usage, "input", "output")}


def _as_output(item: Json, item_id: str) -> Json:
    """An item as it comes out: with an id, a status, and its text as a part."""
    if item.get("type") == "function_call":
        return {"id": f"fc_{item_id}", "status": "completed", **item}
    if item.get("role") == "assistant" and isinstance(item.get("content"), str):
        part: JsonValue = {"type": "output_text", "text": item["content"], "annotations": [], "logprobs": []}
        marks: Json = {"id": f"msg_{item_id}", "type": "message", "status": "completed"}
        return {**marks, "role": "assistant", "content": [part]}
    return item
