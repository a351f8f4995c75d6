"""The field tool_choice: its form in each dialect (T4), and whether it can be met (T5, T6, B8)."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.claude import read_name
from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.history import History, malformed
from agentlab.messages.pairing.rules import finding, shown
from agentlab.messages.pairing.tools import offered
from agentlab.messages.wire.forms import choice_in
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding

MODES = ("none", "auto", "required")
ANTHROPIC_TYPES = ("auto", "any", "tool", "none")
FORMS: dict[Dialect, str] = {
    "anthropic": '"tool_choice": {"type": ...} with auto, any, none, or tool and a "name" beside it',
    "openai-chat": '"tool_choice": "none", "auto", "required" or {"type": "function", "function": {"name": ...}}',
    "openai-responses": '"tool_choice": "none", "auto", "required" or {"type": "function", "name": ...}',
}
"""How a choice is written."""
LONGEST_FORM = 200

BUILT_IN = frozenset(
    {
        "file_search",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "computer",
        "computer_use_preview",
        "computer_use",
        "image_generation",
        "code_interpreter",
        "apply_patch",
        "shell",
        "programmatic_tool_calling",
    }
)
"""Types of a choice of OpenAI Responses that need nothing beside the type (openai SDK 3.57)."""


class Choice(NamedTuple):
    """What a tool_choice of the right form asks for: whether a call is forced, and tools by name, each with its place.

    ``findings`` say T4 where the form is wrong; then nothing is known of the rest.
    """

    forced: bool = False
    names: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()


def choice_findings(history: History) -> Iterator[Finding]:
    """T4 to T6 and B8 for the tool_choice of the request, if it has one."""
    given = history.body.get("tool_choice")
    if not history.body.get("tools") and not _from_elsewhere(history):
        for field in ("tool_choice", "parallel_tool_calls"):
            # In Anthropic the second is no field at all, which B4 says.
            if history.body.get(field) is not None and (field, history.dialect) != ("parallel_tool_calls", "anthropic"):
                yield finding("T6", field, f"the request has {field}, and no tools", "should")
    if given is None:
        return
    read = {"anthropic": _anthropic, "openai-chat": _chat, "openai-responses": _responses}[history.dialect]
    choice = read(given)
    yield from (_with_the_right_form(found, given, history.dialect) for found in choice.findings)
    if choice.names and history.body.get("tools") and not _from_elsewhere(history):
        names = _names(history)
        for where, name in choice.names:
            if name not in names:
                yield finding("T5", where, f"no tool of the request has the name {shown(name)}", "should")
    if choice.forced and history.dialect == "anthropic":
        yield from _refused_by_model(history.body.get("model"))


def _anthropic(given: JsonValue) -> Choice:
    if not isinstance(given, dict):
        return _wrong("tool_choice", f"it must be an object with a type, not {shown(given)}")
    kind = given.get("type")
    if kind not in ANTHROPIC_TYPES:
        return _wrong("tool_choice.type", f"it must be auto, any, tool or none{_not(given, 'type')}")
    if kind != "tool":
        return Choice(forced=kind == "any")
    name = given.get("name")
    if not isinstance(name, str):
        return _wrong("tool_choice.name", f"it must name a tool{_not(given, 'name')}")
    return Choice(forced=True, names=(("tool_choice.name", name),))


def _chat(given: JsonValue) -> Choice:
    if not isinstance(given, dict):
        return _mode(given)
    kind = given.get("type")
    if kind not in ("function", "custom", "allowed_tools"):
        return _wrong("tool_choice.type", f"it must be function, custom or allowed_tools{_not(given, 'type')}")
    inner, where = given.get(str(kind)), f"tool_choice.{kind}"
    if not isinstance(inner, dict):
        there = " (a name beside the type is the form of OpenAI Responses)" if "name" in given else ""
        return _wrong(where, f"it must be an object{_not(given, str(kind))}{there}")
    return _allowed(inner, where) if kind == "allowed_tools" else _named(inner, where)


def _responses(given: JsonValue) -> Choice:
    if not isinstance(given, dict):
        return _mode(given)
    kind = given.get("type")
    if kind == "allowed_tools":
        return _allowed(given, "tool_choice")
    if kind in ("function", "custom"):
        if kind in given:
            return _wrong(f"tool_choice.{kind}", "the name must stand beside the type; this is the form of OpenAI Chat")
        return _named(given, "tool_choice")
    if kind == "mcp":
        return Choice(forced=True, findings=tuple(_as_t4(malformed(given, "tool_choice", {"server_label": str}))))
    if isinstance(kind, str) and kind in BUILT_IN:
        return Choice(forced=True)
    if isinstance(kind, str) and kind not in ANTHROPIC_TYPES:
        unknown = finding(
            "T4", "tool_choice.type", f"the type {shown(kind)} is not one of those that are known", "should"
        )
        return Choice(findings=(unknown,))
    return _wrong("tool_choice.type", f"it must be function, custom, allowed_tools, mcp or a tool of OpenAI's"
                  f"{_not(given, 'type')}")  # fmt: skip


def _mode(given: JsonValue) -> Choice:
    if given not in MODES:
        return _wrong("tool_choice", f"it must be none, auto, required or an object, not {shown(given)}")
    return Choice(forced=given == "required")


def _named(holder: Json, where: str) -> Choice:
    name = holder.get("name")
    if not isinstance(name, str):
        return _wrong(f"{where}.name", f"it must name a tool{_not(holder, 'name')}")
    return Choice(forced=True, names=((f"{where}.name", name),))


def _allowed(holder: Json, where: str) -> Choice:
    """The tools to choose from; one of OpenAI's own is named by its type, and is left alone here."""
    mode, tools = holder.get("mode"), holder.get("tools")
    if mode not in ("auto", "required"):
        return _wrong(f"{where}.mode", f"it must be auto or required{_not(holder, 'mode')}")
    if not isinstance(tools, list):
        return _wrong(f"{where}.tools", f"it must be a list{_not(holder, 'tools')}")
    names = []
    for number, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        inner = tool.get(kind) if isinstance(tool, dict) and kind in ("function", "custom") else None
        holder_of_name = inner if isinstance(inner, dict) else tool
        name = holder_of_name.get("name") if isinstance(holder_of_name, dict) else None
        if kind in ("function", "custom") and isinstance(name, str):
            names.append((f"{where}.tools[{number}]", name))
    return Choice(forced=mode == "required", names=tuple(names))


def _with_the_right_form(found: Finding, given: JsonValue, dialect: Dialect) -> Finding:
    """The finding with what `given` is in this dialect, where one can read it, or else all that may stand there."""
    fields = choice_in(dialect, given)
    form = FORMS[dialect] if fields is None else json.dumps(fields)[1:-1]
    return found.model_copy(update={"fix": f"write {form if len(form) <= LONGEST_FORM else FORMS[dialect]}"})


def _wrong(where: str, message: str) -> Choice:
    return Choice(findings=(finding("T4", where, message),))


def _as_t4(findings: Iterator[Finding]) -> Iterator[Finding]:
    for found in findings:
        yield finding("T4", found.where, found.message)


def _not(holder: Json, key: str) -> str:
    return f", not {shown(holder[key])}" if key in holder else ", and it is missing"


def _names(history: History) -> set[JsonValue]:
    names: set[JsonValue] = set()
    for tool in offered(history):
        kind = tool.value.get("type")
        inner = tool.value.get(kind) if history.dialect == "openai-chat" and isinstance(kind, str) else tool.value
        name = inner.get("name") if isinstance(inner, dict) else None
        if isinstance(name, str):
            names.add(name)
    return names


def _from_elsewhere(history: History) -> bool:
    """Whether tools may come from where this check does not look: a server, a search for tools, a stored prompt."""
    fields = ("mcp_servers", "prompt", "functions")
    kinds = [str(tool.value.get("type")) for tool in offered(history)]
    searched = any(kind == "mcp" or "tool_search" in kind or "toolset" in kind for kind in kinds)
    contents = [element.value.get("content") for element in history.elements if element.kind == "system"]
    parts = [part for content in contents if isinstance(content, list) for part in content if isinstance(part, dict)]
    added = any(part.get("type") == "tool_addition" for part in parts)
    return history.elsewhere or searched or added or any(history.body.get(field) for field in fields)


def _refused_by_model(model: JsonValue) -> Iterator[Finding]:
    named = read_name(model) if isinstance(model, str) else None
    preview = named is not None and named.tier == "mythos" and "preview" in str(model).lower()
    if named is not None and (preview or (named.tier, named.version) == ("sonnet", (5, 5))):
        yield finding("B8", "tool_choice", f"it forces a call, which {shown(model)} refuses")
