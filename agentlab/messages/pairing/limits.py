"""What a provider takes as name, id, number and size (N1 to N5), the tool list (A6, A10), and text (A9, M2)."""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.history import History, malformed
from agentlab.messages.pairing.rules import finding, shown
from agentlab.messages.wire.aliases import LIMITS
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding

NAME_IN_ANTHROPIC_HISTORY = 200
TOOLS = 128
MESSAGES = 100_000
BODY_BYTES = 32 * 1024 * 1024
OUTPUT_CHARACTERS = 10_485_760


def call_findings(dialect: Dialect, where: str, call_id: JsonValue, name: JsonValue) -> Iterator[Finding]:
    """N1 and N2 for a call in a history; what is no text is left to M1."""
    if dialect == "anthropic":
        # Its specification gives the name in a history a length and no pattern: a tool may have been renamed since.
        if isinstance(name, str) and not 1 <= len(name) <= NAME_IN_ANTHROPIC_HISTORY:
            most = NAME_IN_ANTHROPIC_HISTORY
            yield finding("N1", f"{where}.name", f"the name {shown(name)} {_length(name, most)}")
    else:
        yield from _name_findings(dialect, f"{where}.name", name)
    yield from id_findings(dialect, f"{where}.{'call_id' if dialect == 'openai-responses' else 'id'}", call_id)


def _name_findings(dialect: Dialect, where: str, name: JsonValue) -> Iterator[Finding]:
    limits = LIMITS[dialect]
    if isinstance(name, str) and not (limits.name.fullmatch(name) and len(name) <= limits.name_length):
        yield finding("N1", where, f"the name {shown(name)} {_refused(name, limits.name, limits.name_length)}")


def id_findings(dialect: Dialect, where: str, call_id: JsonValue) -> Iterator[Finding]:
    """N2 for an id."""
    limits = LIMITS[dialect]
    if not isinstance(call_id, str):
        return
    longest = limits.call_id_length
    if not limits.call_id.fullmatch(call_id) or (longest is not None and len(call_id) > longest):
        yield finding("N2", where, f"the id {shown(call_id)} {_refused(call_id, limits.call_id, longest)}")


def _refused(text: str, allowed: re.Pattern[str], longest: int | None) -> str:
    """Why a name or an id is refused: it is empty, or has a character that is not allowed, or too many."""
    odd = next((character for character in text if not allowed.fullmatch(character)), None)
    if odd is not None:
        return f"has the character {odd!r}; a-z A-Z 0-9 _ - are taken"
    return _length(text, longest)


def _length(text: str, longest: int | None) -> str:
    return "is empty" if not text else f"has {len(text)} characters; {longest} are the most"


def tool_findings(history: History) -> Iterator[Finding]:
    """N1, N3, A6 and A10 for the list of tools."""
    listed = history.body.get("tools")
    if listed is None:
        return
    if not isinstance(listed, list):
        yield finding("M1", "tools", f"this must be a list, not {shown(listed)}")
        return
    seen: dict[str, str] = {}
    for number, tool in enumerate(listed):
        where = f"tools[{number}]"
        if not isinstance(tool, dict):
            yield from malformed(tool, where, {})
            continue
        yield from _chosen_name(tool, where, history.dialect)
        name = tool.get("name")
        if history.dialect == "anthropic" and isinstance(name, str):
            if name in seen:
                yield finding("A6", where, f"{seen[name]} has the name {shown(name)} too")
            seen.setdefault(name, where)
    if history.dialect == "openai-chat" and len(listed) > TOOLS:
        yield finding("N3", "tools", f"there are {len(listed):,} tools")
    deferred = [isinstance(tool, dict) and tool.get("defer_loading") is True for tool in listed]
    if history.dialect == "anthropic" and listed and all(deferred):
        yield finding("A10", "tools", f"all tools ({len(listed)}) have defer_loading true")


def _chosen_name(tool: Json, where: str, dialect: Dialect) -> Iterator[Finding]:
    """N1 for a name that the caller chose; tools that the provider runs have fixed names."""
    kind = tool.get("type")
    if dialect == "openai-chat":
        inner = tool.get(kind) if isinstance(kind, str) else None
        if isinstance(inner, dict):
            yield from _name_findings(dialect, f"{where}.{kind}.name", inner.get("name"))
    elif kind in ((None, "custom") if dialect == "anthropic" else ("function", "custom")):
        yield from _name_findings(dialect, f"{where}.name", tool.get("name"))


def size_findings(history: History) -> Iterator[Finding]:
    """N4, and A9 or M2 for every text of the body: one walk, without recursion, whatever the nesting."""
    rule = "A9" if history.dialect == "anthropic" else "M2"
    size = 0
    open_values: list[tuple[JsonValue, _Path | None]] = [(history.body, None)]
    while open_values:
        value, path = open_values.pop()
        if isinstance(value, str):
            size += len(json.dumps(value, ensure_ascii=False))
            if not value.isascii():
                size += len(value.encode("utf-8", "surrogatepass")) - len(value)
                if _half_pair(value):
                    yield finding(rule, _spelt(path), f"the text holds half a surrogate pair: {shown(value)}")
        elif isinstance(value, dict):
            size += 1 + 2 * len(value)
            for key, inner in value.items():
                open_values += [(inner, (path, key))]
                size += len(key) + 2
                if _half_pair(key):
                    yield finding(rule, _spelt(path), f"the key {shown(key)} holds half a surrogate pair")
        elif isinstance(value, list | tuple):
            size += 1 + len(value)
            open_values += [(inner, (path, number)) for number, inner in enumerate(value)]
        else:
            # A whole number's digits, about: Python does not write one of more than some thousand.
            size += value.bit_length() // 3 + 1 if isinstance(value, int) else len(str(value))
    if history.dialect == "anthropic" and size > BODY_BYTES:
        yield finding("N4", "the body", f"it has about {size / 1024 / 1024:.1f} MB")
    if history.dialect == "anthropic" and len(history.elements) > MESSAGES:
        yield finding("N4", history.where, f"there are {len(history.elements):,} messages")


# The way to a value, innermost step first: written out only for a finding, because deep nesting has long ones.
_Path = tuple[Any, str | int]


def _spelt(path: _Path | None) -> str:
    steps = []
    while path is not None:
        path, step = path
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps)).lstrip(".") or "the body"


def _half_pair(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
