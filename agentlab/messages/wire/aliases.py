"""Names and ids that a provider would refuse, exchanged for ones that it takes, and back again.

An alias is the name with every forbidden character replaced, cut, and a piece of its digest behind it. It depends on
the name alone (two names whose aliases meet are told apart in the order of their spelling), so a call and its result,
and tomorrow's request, get the same one.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.wire.reading import Json


class Limits(NamedTuple):
    """What a provider takes as the name of a tool and as the id of a call (docs in data/facts are dated)."""

    name: re.Pattern[str]
    name_length: int
    call_id: re.Pattern[str]
    call_id_length: int | None


LONGEST = 200
"""Where a provider sets no limit, an alias is cut here all the same, so that it can be read."""

_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_ANY = re.compile(r"[\s\S]+")

LIMITS: dict[Dialect, Limits] = {
    # Anthropic's specification says 128 (its page of documentation still 64); ids are of the same characters, of any
    # length.
    "anthropic": Limits(_NAME, 128, _NAME, None),
    # OpenAI's errors name these: names 64, ids "string too long. Expected a string with maximum length 40".
    "openai-chat": Limits(_NAME, 64, _ANY, 40),
    "openai-responses": Limits(_NAME, 128, _ANY, 64),
}


class Aliases(NamedTuple):
    """What stands on the wire for which name and which call id. Only what had to be changed is in here."""

    names: Mapping[str, str]
    call_ids: Mapping[str, str]

    def reversed(self) -> "Aliases":
        """The way back."""
        return Aliases(
            {alias: name for name, alias in self.names.items()},
            {alias: call_id for call_id, alias in self.call_ids.items()},
        )


NONE = Aliases({}, {})


def aliases_for(names: Iterable[str], call_ids: Iterable[str], dialect: Dialect) -> Aliases:
    """The aliases that `dialect` needs for these names and ids."""
    limits = LIMITS[dialect]
    return Aliases(
        _aliases(set(names), limits.name, limits.name_length),
        _aliases(set(call_ids), limits.call_id, limits.call_id_length),
    )


def _aliases(originals: set[str], allowed: re.Pattern[str], length: int | None) -> dict[str, str]:
    fitting = {text for text in originals if allowed.fullmatch(text) and (length is None or len(text) <= length)}
    taken = set(fitting)
    aliases: dict[str, str] = {}
    for original in sorted(originals - fitting):
        attempt = 0
        while (alias := _alias(original, length or LONGEST, attempt)) in taken:
            attempt += 1
        taken.add(alias)
        aliases[original] = alias
    return aliases


def _alias(original: str, length: int, attempt: int) -> str:
    mark = hashlib.sha256(f"{attempt}:{original}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return re.sub(r"[^a-zA-Z0-9_-]", "_", original)[: length - len(mark) - 1] + "_" + mark


Change = Callable[[str], str]


def rename(body: Json, dialect: Dialect, aliases: Aliases) -> Json:
    """`body`, a request or reply of `dialect`, with every tool name and call id in its place exchanged."""
    if not aliases.names and not aliases.call_ids:
        return body

    def name(text: str) -> str:
        return aliases.names.get(text, text)

    def call_id(text: str) -> str:
        return aliases.call_ids.get(text, text)

    return {key: _renamed(key, value, name, call_id) for key, value in body.items()}


def _renamed(key: str, value: JsonValue, name: Change, call_id: Change) -> JsonValue:
    if key == "tools":
        return _each(value, lambda tool: _in_tool(tool, name))
    if key == "tool_choice":
        return _in_tool(value, name)
    if key in ("messages", "input", "output", "content"):
        return _each(value, lambda message: _in_message(message, name, call_id))
    if key == "choices":
        return _each(value, lambda choice: _with(choice, message=lambda m: _in_message(m, name, call_id)))
    return value


def _in_tool(tool: JsonValue, name: Change) -> JsonValue:
    return _with(tool, name=_text(name), function=lambda inner: _with(inner, name=_text(name)))


def _in_message(message: JsonValue, name: Change, call_id: Change) -> JsonValue:
    """A message, a block in one, or an item: the three dialects use different fields, so one walk serves all."""
    kind = message.get("type") if isinstance(message, dict) else None
    changes: dict[str, Callable[[JsonValue], JsonValue]] = {
        "tool_use_id": _text(call_id),
        "tool_call_id": _text(call_id),
        "call_id": _text(call_id),
    }
    if kind in ("tool_use", "function_call"):
        changes["name"] = _text(name)
    if kind == "tool_use":
        changes["id"] = _text(call_id)
    if kind in (None, "message"):
        changes["content"] = lambda blocks: _each(blocks, lambda block: _in_message(block, name, call_id))
        changes["tool_calls"] = lambda calls: _each(
            calls, lambda call: _with(call, id=_text(call_id), function=lambda inner: _with(inner, name=_text(name)))
        )
    return _with(message, **changes)


def _each(value: JsonValue, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    return [change(item) for item in value] if isinstance(value, list) else value


def _with(value: JsonValue, **changes: Callable[[JsonValue], JsonValue]) -> JsonValue:
    if not isinstance(value, dict):
        return value
    return {key: changes[key](inner) if key in changes else inner for key, inner in value.items()}


def _text(change: Change) -> Callable[[JsonValue], JsonValue]:
    return lambda value: change(value) if isinstance(value, str) else value
