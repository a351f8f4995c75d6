"""Anthropic Messages: `POST /v1/messages`. Results are blocks in a user message, and an error has a flag of its own."""

from collections.abc import Sequence

from pydantic import JsonValue

from agentlab.messages.conversation import (
    AssistantMessage,
    Message,
    Raw,
    Reply,
    StopReason,
    SystemMessage,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSchema,
    Usage,
    UserMessage,
)
from agentlab.messages.wire.reading import (
    BEHIND_A_CALL,
    Json,
    Notes,
    Piece,
    WireError,
    a_list,
    a_switch,
    a_text,
    an_object,
    arguments_of,
    believable,
    joined_parts,
    joined_text,
    same_json,
)

DIALECT = "anthropic"
MESSAGES = "messages"
LIMIT = "max_tokens"
KNOWN = ("system", "tools", "tool_choice", "messages", LIMIT)
TEXT = frozenset({"text"})
UNPARSED = "_unparsed_arguments"
"""A call's input must be an object here; arguments that are none travel inside one under this key."""

STOPS = {
    "tool_use": StopReason.TOOL,
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
    "compaction": StopReason.COMPACTION,
}


def read_messages(elements: Sequence[JsonValue], where: str, notes: Notes) -> list[Piece]:
    """Each message with its blocks: a wire message of the user holds a message for each of its results."""
    pieces: list[Piece] = []
    for number, element in enumerate(elements):
        place = f"{where}[{number}]"
        message = an_object(element, place)
        notes.rest(place, message, ("role", "content"))
        role = message.get("role")
        content = message.get("content")
        if role == "assistant":
            pieces.append(Piece(_read_assistant(content, f"{place}.content", notes), [element]))
        elif role == "user":
            read = _read_user(content, f"{place}.content", notes)
            pieces += [
                Piece(part, [{**message, "content": held}], joined=number > 0)
                for number, (part, held) in enumerate(read)
            ]
        elif role == "system":
            pieces.append(
                Piece(SystemMessage(content=joined_text(content, f"{place}.content", TEXT, notes)), [element])
            )
        else:
            raise WireError(f"{place}.role must be user, assistant or system, not {role!r}")
    return pieces


def _read_assistant(content: JsonValue, where: str, notes: Notes) -> AssistantMessage:
    if isinstance(content, str):
        return AssistantMessage(content=content)
    texts: list[tuple[str, JsonValue]] = []
    calls: list[ToolCall] = []
    for number, part in enumerate(a_list(content, where)):
        place = f"{where}[{number}]"
        block = an_object(part, place)
        if block.get("type") != "tool_use":
            texts.append((place, block))
            if calls and block.get("type") == "text":
                notes.lose(place, BEHIND_A_CALL, content=False)
            continue
        notes.rest(place, block, ("type", "id", "name", "input"))
        given = block.get("input")
        if isinstance(given, dict) and given.keys() == {UNPARSED}:
            given = given[UNPARSED]
            arguments = given if isinstance(given, str | dict) else arguments_of(given)
        else:
            arguments = arguments_of(given)
        call_id, name = a_text(block.get("id"), f"{place}.id"), a_text(block.get("name"), f"{place}.name")
        calls.append(ToolCall(id=call_id, name=name, arguments=arguments))
    return AssistantMessage(content=joined_parts(texts, TEXT, notes, glue=""), tool_calls=tuple(calls))


def _read_user(content: JsonValue, where: str, notes: Notes) -> list[tuple[Message, JsonValue]]:
    """The messages of a content, each with its own part of it."""
    if isinstance(content, str):
        return [(UserMessage(content=content), content)]
    read: list[tuple[Message, JsonValue]] = []
    others: list[tuple[str, JsonValue]] = []

    def close_others() -> None:
        read.append((UserMessage(content=joined_parts(others, TEXT, notes)), [block for _, block in others]))
        others.clear()

    for number, part in enumerate(a_list(content, where)):
        place = f"{where}[{number}]"
        block = an_object(part, place)
        if block.get("type") != "tool_result":
            others.append((place, block))
            continue
        if others:
            close_others()
        notes.rest(place, block, ("type", "tool_use_id", "content", "is_error"))
        flag = block.get("is_error")
        if flag is not None and not isinstance(flag, bool):
            raise WireError(f"{place}.is_error must be true or false")
        call_id = a_text(block.get("tool_use_id"), f"{place}.tool_use_id")
        text = joined_text(block.get("content"), f"{place}.content", TEXT, notes)
        read.append((ToolResult(call_id=call_id, content=text, is_error=bool(flag)), [block]))
    if others or not read:
        close_others()
    return read


def write_message(message: Message, before: Message | None) -> list[JsonValue]:
    """The wire message of `message`; of one that joins the one before it, with its blocks alone."""
    match message:
        case ToolResult():
            block: Json = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.content}
            if message.is_error:
                block["is_error"] = True
            return [{"role": "user", "content": [block]}]
        case UserMessage() if before is not None and joins(before, message):
            return [{"role": "user", "content": _text_blocks(message.content)}]
        case UserMessage() | SystemMessage():
            return [{"role": message.role, "content": message.content}]
        case AssistantMessage():
            return [{"role": "assistant", "content": _blocks(message) if message.tool_calls else message.content}]
    return []


def joins(before: Message, message: Message) -> bool:
    """Whether `message` shares the wire message of the one before it: results do, and a user's text behind them."""
    if not isinstance(before, UserMessage | ToolResult) or not isinstance(message, UserMessage | ToolResult):
        return False
    if message.raw is not None and message.raw.dialect == DIALECT:
        # It came so. But where a control took away what stood between them, two texts stay two messages.
        return message.raw.joined and (isinstance(before, ToolResult) or isinstance(message, ToolResult))
    # An empty text block is refused, so an empty text of the user stays a message of its own.
    return isinstance(before, ToolResult) and (isinstance(message, ToolResult) or bool(message.content))


def join(elements: Sequence[JsonValue]) -> JsonValue:
    """One wire message with the blocks of all these."""
    whole: Json = {}
    blocks: list[JsonValue] = []
    for element in elements:
        message = an_object(element, "raw")
        content = message["content"]
        whole |= message
        blocks += _text_blocks(content) if isinstance(content, str) else a_list(content, "raw")
    return {**whole, "content": blocks}


def is_wrapped(arguments: JsonValue) -> bool:
    """Whether these arguments cannot be a call's input as they are, and travel inside an object."""
    return not isinstance(arguments, dict) or arguments.keys() == {UNPARSED}


def _text_blocks(text: str) -> list[JsonValue]:
    return [{"type": "text", "text": text}] if text else []


def _blocks(message: AssistantMessage) -> list[JsonValue]:
    blocks = _text_blocks(message.content)
    for call in message.tool_calls:
        arguments = call.arguments
        if is_wrapped(arguments):
            arguments = {UNPARSED: arguments}
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


def read_system(body: Json, notes: Notes) -> str:
    """The system prompt, from its own field."""
    return joined_text(body.get("system"), "system", TEXT, notes)


def write_system(system: str) -> Json:
    """The field of the system prompt, if there is one."""
    return {"system": system} if system else {}


def read_tool(tool: Json, where: str, notes: Notes) -> ToolSchema | None:
    """A tool of the caller's own; None for one that the provider runs."""
    if tool.get("type") not in (None, "custom") or "input_schema" not in tool:
        return None
    notes.rest(where, tool, ("type", "name", "description", "input_schema"))
    return ToolSchema(
        name=a_text(tool.get("name"), f"{where}.name"),
        description=a_text(tool.get("description", ""), f"{where}.description"),
        parameters=an_object(tool.get("input_schema"), f"{where}.input_schema"),
    )


def write_tool(tool: ToolSchema) -> Json:
    """A tool definition: flat, with its schema under input_schema."""
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}


def read_choice(body: Json, notes: Notes) -> tuple[ToolChoice | None, bool | None]:
    """The tool choice, and whether parallel calls are allowed."""
    choice = body.get("tool_choice")
    if choice is None:
        return None, None
    given = an_object(choice, "tool_choice")
    notes.rest("tool_choice", given, ("type", "name", "disable_parallel_tool_use"))
    off = a_switch(given.get("disable_parallel_tool_use"), "tool_choice.disable_parallel_tool_use")
    parallel = None if off is None else not off
    match given.get("type"):
        case "auto" | "any" | "none" as mode:
            return ToolChoice(mode=mode), parallel
        case "tool":
            return ToolChoice(mode="tool", name=a_text(given.get("name"), "tool_choice.name")), parallel
        case other:
            raise WireError(f"tool_choice.type must be auto, any, none or tool, not {other!r}")


def write_choice(choice: ToolChoice | None, parallel: bool | None) -> Json:
    """The tool choice; the switch for parallel calls is a part of it here."""
    if choice is None and parallel is None:
        return {}
    given: Json = {"type": choice.mode if choice else "auto"}
    if choice and choice.name is not None:
        given["name"] = choice.name
    # A choice of no tool at all has no calls to divide, and the official shape refuses the switch beside it.
    if parallel is not None and given["type"] != "none":
        given["disable_parallel_tool_use"] = not parallel
    return {"tool_choice": given}


def read_reply(body: Json, notes: Notes) -> Reply:
    """A reply, its usage with the cached parts counted in."""
    content = a_list(body.get("content"), "content")
    message = _read_assistant(content, "content", notes)
    stop = body.get("stop_reason")
    reason = STOPS.get(stop, StopReason.UNKNOWN) if isinstance(stop, str) else StopReason.UNKNOWN
    elements: list[JsonValue] = [{"role": "assistant", "content": content}]
    raw = None if same_json(_blocks(message), content) else Raw(dialect="anthropic", value=elements)
    return Reply(content=message.content, tool_calls=message.tool_calls, stop=reason, usage=_read_usage(body), raw=raw)


def _read_usage(body: Json) -> Usage | None:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    details = usage.get("output_tokens_details")
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    # input_tokens counts only what stands after the last cache breakpoint.
    parts = [0 if part is None else part for part in (read, written)] + [usage.get("input_tokens")]
    counts = [part for part in parts if type(part) is int and part >= 0]
    return believable(
        input_tokens=sum(counts) if len(counts) == len(parts) else None,
        output_tokens=usage.get("output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=details.get("thinking_tokens") if isinstance(details, dict) else None,
    )


def write_reply(reply: Reply, elements: list[JsonValue], model: str, reply_id: str) -> Json:
    """A reply as the provider sends it; `elements` is its message as written or kept."""
    names = {reason: name for name, reason in reversed(STOPS.items())}
    content = an_object(elements[0], "content")["content"] if elements else []
    blocks: JsonValue = _text_blocks(content) if isinstance(content, str) else content or []
    body: Json = {
        "id": reply_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": names.get(reply.stop, reply.stop.value),
        "stop_sequence": None,
    }
    if reply.usage is not None:
        usage = reply.usage
        body["usage"] = {
            "input_tokens": usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
            "cache_read_input_tokens": usage.cache_read_tokens,
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
        }
    return body
