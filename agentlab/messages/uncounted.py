"""What a request holds, or leads to, that nobody here can count: each in words, with its place.

Pictures, files and encrypted blocks have no text. A stored history is not in the request at all. A tool that the
provider runs has a text that only the provider knows, and a deferred tool stays out until the model searches for it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import ForeignTool, Raw, ToolSchema
from agentlab.messages.wire.reading import Json, Loss

STORED_HISTORY = "the history that the provider has stored"
ANSWER_SCHEMA = "the schema that the answer must have"

AT_THE_TOP = {
    "previous_response_id": STORED_HISTORY,
    "conversation": STORED_HISTORY,
    "thread": STORED_HISTORY,
    "prompt": "the prompt that the provider has stored",
    "functions": "tool schemas in their old form",
    "mcp_servers": "the tools of MCP servers, which the provider fetches",
    "container": "what the provider tells the model of its container",
    "web_search_options": "what the provider's own search adds",
    "response_format": ANSWER_SCHEMA,
    "output_format": ANSWER_SCHEMA,
    "output_config": ANSWER_SCHEMA,
    "text": ANSWER_SCHEMA,
}
"""Fields of a body, of any dialect, that bring text before the model which is not counted as a part."""

SHRINKING = {
    "context_management": "the provider may clear or summarise older parts",
    "compaction": "the provider may summarise older parts",
    "truncation": "the provider may drop the oldest items",
}
"""Fields by which a provider takes away what was sent, before the model reads it."""

TOLD_FIELDS = frozenset({"input_examples", "output_schema", "name", "citations", "audio"})
"""Fields of tools, messages and blocks that the reader takes for marks, and that the model may be told."""

OWN_TEXT = frozenset({"custom", "namespace"})
"""Tools that are no plain function and yet are defined by the caller, in a text that the model is given."""


class ToldTools(NamedTuple):
    """The tools whose text the model is given from the start, and in words those that are not counted."""

    counted: tuple[ToolSchema | ForeignTool, ...]
    missing: tuple[str, ...]


def uncounted(body: Json, losses: Iterable[Loss]) -> list[str]:
    """What `body` holds beside text and tools; `losses` is what the reader of its dialect had no place for.

    A body of many pictures gets one line for all of them.
    """
    found = [(what, key) for key, what in AT_THE_TOP.items() if _brings_text(key, body.get(key))]
    for loss in dict.fromkeys(losses):
        inside = not loss.where.startswith(("the request.", "tool_choice"))
        whole_tool = loss.where.startswith("tools[") and loss.where.endswith("]")
        if inside and not whole_tool and (loss.content or loss.where.rpartition(".")[2] in TOLD_FIELDS):
            found.append((loss.what, loss.where))
    return _grouped(found)


def may_shrink(body: Json) -> list[str]:
    """The settings of `body` by which the provider may take away some of what was sent."""
    return [f"{what} ({key})" for key, what in SHRINKING.items() if body.get(key) not in (None, [], {}, "disabled")]


def told_tools(tools: Sequence[ToolSchema | ForeignTool]) -> ToldTools:
    """Divide `tools` into those that are counted as JSON and those that are not."""
    counted: list[ToolSchema | ForeignTool] = []
    missing: list[tuple[str, str]] = []
    for number, tool in enumerate(tools):
        place = f"tools[{number}]"
        wire = _wire(tool)
        if wire.get("defer_loading") is True:
            missing.append(("a tool that stays out until the model searches for it", place))
        elif isinstance(tool, ForeignTool) and str(wire.get("type")) not in OWN_TEXT:
            missing.append((f"the tool of type {wire.get('type')!r}, whose text only the provider knows", place))
        elif isinstance(tool, ForeignTool) and isinstance(members := wire.get("tools"), list):
            kept = [each for each in members if not (isinstance(each, dict) and each.get("defer_loading") is True)]
            if len(kept) < len(members):
                missing.append(("tools that stay out until the model searches for them", place))
            counted.append(ForeignTool(raw=Raw(dialect=tool.raw.dialect, value={**wire, "tools": kept})))
        else:
            counted.append(tool)
    return ToldTools(tuple(counted), tuple(_grouped(missing)))


def are_plain(tools: Sequence[ToolSchema | ForeignTool]) -> bool:
    """Whether the caller runs all of `tools`, and the model calls them directly: no server tool, no call from code."""
    return all(
        isinstance(tool, ToolSchema) and _wire(tool).get("allowed_callers") in (None, [], ["direct"]) for tool in tools
    )


def _wire(tool: ToolSchema | ForeignTool) -> Json:
    value = tool.raw.value if tool.raw is not None else None
    return value if isinstance(value, dict) else {}


def _brings_text(key: str, value: JsonValue) -> bool:
    if key == "web_search_options":
        return value is not None  # {} asks for a search as it comes
    if value in (None, [], {}):
        return False
    fields = value if isinstance(value, dict) else {}
    match key:
        case "thread":
            return fields.get("type") != "create"
        case "container":
            return bool(fields.get("skills"))
        case "response_format" | "output_format":
            return fields.get("type") == "json_schema"
        case "output_config" | "text":
            form = fields.get("format")
            return isinstance(form, dict) and form.get("type") == "json_schema"
        case _:
            return True


def _grouped(found: Iterable[tuple[str, str]]) -> list[str]:
    """One line for all places of the same thing."""
    places: dict[str, list[str]] = {}
    for what, place in found:
        places.setdefault(what, []).append(place)
    return [f"{what} ({first}{f' and {len(more):,} more' if more else ''})" for what, (first, *more) in places.items()]
