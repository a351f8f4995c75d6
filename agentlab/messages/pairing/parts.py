"""The fields and parts of each message: what a dialect takes in which place, and what may not be empty (M4 to M6)."""

from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from agentlab.messages.pairing.history import Element, History
from agentlab.messages.pairing.openai_responses import OUTPUTS
from agentlab.messages.pairing.rules import finding
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding

FIELDS = ("role", "content")
"""All fields of a message of Anthropic (its specification, and the types of its SDK 2.14)."""

NO_NULL: dict[str, tuple[str, ...]] = {
    "function_call": ("id", "status", "namespace"),
    "reasoning": ("content", "status"),
}
"""Fields of an item of OpenAI Responses that may be left out but not be null, by the item's type. A dump has them."""

_INPUT = ("input_text", "input_image", "input_file")


def part_findings(history: History) -> Iterator[Finding]:
    """M4 to M6 for every message or item."""
    for element in history.elements:
        if history.dialect == "anthropic":
            yield from _anthropic(element, is_last=element is history.elements[-1])
        elif history.dialect == "openai-chat":
            yield from _chat(element)
        else:
            yield from _responses(element)


def empty_texts(content: JsonValue, where: str) -> Iterator[Finding]:
    """M6 for each empty text block of a content of Anthropic; a result's content is looked into."""
    for number, part in enumerate(content if isinstance(content, list) else []):
        if not isinstance(part, dict):
            continue
        place = f"{where}[{number}]"
        if part.get("type") == "text" and part.get("text") == "":
            yield finding("M6", f"{place}.text", "this text block is empty")
        elif part.get("type") == "tool_result":
            yield from empty_texts(part.get("content"), f"{place}.content")


def _anthropic(element: Element, *, is_last: bool) -> Iterator[Finding]:
    others = [field for field in element.value if field not in FIELDS]
    if others:
        yield finding("M4", element.where, f"this message has more fields than role and content: {', '.join(others)}")
    content = element.value.get("content")
    if content in ("", []) and not (is_last and element.kind == "assistant"):
        yield finding("M6", f"{element.where}.content", f"the content of this {element.kind} message is empty")
    yield from empty_texts(content, f"{element.where}.content")


def _chat(element: Element) -> Iterator[Finding]:
    value, where = element.value, element.where
    if "tool_calls" in value and value["tool_calls"] in (None, []):
        state = "null" if value["tool_calls"] is None else "empty"
        fix = "leave the field tool_calls out of a message without calls"
        yield finding("M6", f"{where}.tool_calls", f"the list of calls is {state}", fix=fix)
    if value.get("content") == [] and element.kind != "tool":  # M3 tells of a tool message's
        yield finding("M6", f"{where}.content", f"the content of this {element.kind} message has no part")


def _responses(element: Element) -> Iterator[Finding]:
    value, kind = element.value, element.kind
    nulls = [field for field in NO_NULL.get(kind, ()) if field in value and value[field] is None]
    if nulls:
        message = f"these fields are null, where the specification takes no null: {', '.join(nulls)}"
        yield finding("M4", element.where, message, "should", "leave out what is null: model_dump(exclude_none=True)")
    if kind == "message":
        yield from _parts(value, "content", element.where, assistant=value.get("role") == "assistant")
    elif kind in OUTPUTS:
        yield from _parts(value, "output", element.where, assistant=False)


def _parts(value: Json, field: str, where: str, *, assistant: bool) -> Iterator[Finding]:
    content = value.get(field)
    whose = "of the assistant" if assistant else "in an output" if field == "output" else f"of the {value['role']}"
    right = "output_text" if assistant else "input_text"
    for number, part in enumerate(content if isinstance(content, list) else []):
        kind = part.get("type") if isinstance(part, dict) else None
        level: Literal["must", "should"] | None = None
        if kind == "text" or (kind in ("output_text", "refusal") and not assistant):
            level = "must"
        elif kind in _INPUT and assistant:
            level = "should"
        if level is not None:
            fix = f"write the type {right}" if kind in ("text", "input_text", "output_text") else None
            yield finding("M5", f"{where}.{field}[{number}].type", f"a part {whose} has the type {kind}", level, fix)
