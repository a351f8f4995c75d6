"""What arrives from a provider, before it is read as a reply: strict JSON, and arguments that can be sent back.

The SDKs do not validate replies, and servers that only resemble a provider send arguments as the wrong kind of JSON.
"""

import json
from collections import Counter
from collections.abc import Callable

from pydantic import JsonValue

from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import Dialect
from agentlab.messages.wire.anthropic import UNPARSED
from agentlab.messages.wire.reading import Json, WireError, an_object, arguments_as_text, arguments_of, not_too_deep

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Anthropic's blocks that have an input, whoever runs them."""


def read_json(text: str) -> Json:
    """The object that `text` is. Raises `WireError` for what is no JSON (NaN too), no object, or has a key twice."""
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError:
        raise WireError("it is nested too deeply") from None
    except ValueError as error:
        raise WireError(f"it is no valid JSON: {error}") from None
    not_too_deep(value, "it")
    return an_object(value, "it")


def with_sendable_arguments(body: Json, dialect: Dialect) -> Json:
    """`body`, a reply of `dialect`, with the arguments of each call as the kind of JSON that the dialect sends.

    What a reply holds goes back in the next request to the letter; arguments of the wrong kind would be refused there.
    """
    if dialect == "anthropic":
        return {**body, "content": _each(body.get("content"), _anthropic_call)}
    if dialect == "openai-chat":
        return {**body, "choices": _each(body.get("choices"), _choice)}
    return {**body, "output": _each(body.get("output"), _responses_call)}


def is_text(value: JsonValue) -> bool:
    """Whether all of `value` can be written as UTF-8. JSON can spell half a surrogate pair, which cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _anthropic_call(block: Json) -> Json:
    given, kind = block.get("input"), block.get("type")
    if (
        not isinstance(kind, str)
        or kind not in CALLS
        or (isinstance(given, dict) and parse_arguments(given).values is not None)
    ):
        return block
    arguments = _object_or_text(given)
    return {**block, "input": arguments if isinstance(arguments, dict) else {UNPARSED: arguments}}


def _object_or_text(given: JsonValue) -> JsonValue:
    """As `arguments_of`, with the text escaped, so that half a surrogate pair in it can be sent back, and refused."""
    arguments = arguments_of(given)
    return arguments if isinstance(arguments, dict) or isinstance(given, str) else json.dumps(given)


def _choice(choice: Json) -> Json:
    message = choice.get("message")
    if not isinstance(message, dict) or not message.get("tool_calls"):
        return choice
    return {**choice, "message": {**message, "tool_calls": _each(message["tool_calls"], _chat_call)}}


def _chat_call(call: Json) -> Json:
    function = call.get("function")
    return {**call, "function": _as_text(function)} if isinstance(function, dict) else call


def _responses_call(item: Json) -> Json:
    return _as_text(item) if item.get("type") == "function_call" else item


def _as_text(call: Json) -> Json:
    given = call.get("arguments")
    return call if isinstance(given, str) else {**call, "arguments": arguments_as_text(_object_or_text(given))}


def _each(value: JsonValue, change: Callable[[Json], Json]) -> JsonValue:
    if not isinstance(value, list):
        return value
    return [change(item) if isinstance(item, dict) else item for item in value]


def _object(pairs: list[tuple[str, JsonValue]]) -> Json:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice!r} is written twice")
    return value


def _no_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON number")
