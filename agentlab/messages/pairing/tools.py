"""The definitions of the tools: the form of the dialect, name and schema (T1 to T3), and strict schemas (S1 to S3)."""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.history import History
from agentlab.messages.pairing.rules import finding, shown
from agentlab.messages.pairing.strict import strict_findings
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding


class Offered(NamedTuple):
    """A tool and where it is defined. ``inner`` is True for one inside a namespace of OpenAI Responses."""

    where: str
    value: Json
    inner: bool = False


def offered(history: History) -> Iterator[Offered]:
    """The tools of the request that are objects; those of a namespace follow it."""
    listed = history.body.get("tools")
    for number, tool in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(tool, dict):
            continue
        where = f"tools[{number}]"
        yield Offered(where, tool)
        inside = (
            tool.get("tools") if history.dialect == "openai-responses" and tool.get("type") == "namespace" else None
        )
        for position, inner in enumerate(inside if isinstance(inside, list) else []):
            if isinstance(inner, dict):
                yield Offered(f"{where}.tools[{position}]", inner, inner=True)


FORMS: dict[Dialect, str] = {
    "anthropic": '{"name": ..., "description": ..., "input_schema": {"type": "object", ...}}',
    "openai-chat": '{"type": "function", "function": {"name": ..., "description": ..., "parameters": {...}}}',
    "openai-responses": '{"type": "function", "name": ..., "description": ..., "parameters": {...}, "strict": ...}',
}
"""How a tool of the caller's own is written."""


def definition_findings(history: History) -> Iterator[Finding]:
    """T1 to T3, and S1 to S3 for each tool of the caller's own; what the provider runs has forms of its own."""
    for tool in offered(history):
        told = {"anthropic": _anthropic, "openai-chat": _chat, "openai-responses": _responses}[history.dialect](tool)
        form = {"fix": f"write it as {FORMS[history.dialect]}"}
        yield from (found.model_copy(update=form) if found.rule == "T1" else found for found in told)


def _anthropic(tool: Offered) -> Iterator[Finding]:
    where, value, kind = tool.where, tool.value, tool.value.get("type")
    if kind == "function" or (kind is None and "function" in value):
        yield finding("T1", where, "this tool has the form of OpenAI (type function)")
        return
    if kind is not None and not isinstance(kind, str):
        yield finding("T1", f"{where}.type", f"this must be text or left out, not {shown(kind)}")
    if kind not in (None, "custom"):
        return
    yield from _name(value, where)
    if "parameters" in value:
        yield finding("T1", f"{where}.parameters", "the schema is called parameters, as in OpenAI, not input_schema")
    elif "input_schema" not in value:
        yield finding("T2", f"{where}.input_schema", "the tool has no schema")
    if "input_schema" in value:
        yield from _schema(value["input_schema"], f"{where}.input_schema")
        yield from _strict(value, value["input_schema"], f"{where}.input_schema", of="anthropic")


def _chat(tool: Offered) -> Iterator[Finding]:
    where, value, kind = tool.where, tool.value, tool.value.get("type")
    if kind not in ("function", "custom"):
        yield finding("T1", where, f"the type is {_kind(value)}; it must be function or custom{_hint(value)}")
        return
    inner = value.get(str(kind))
    if not isinstance(inner, dict):
        yield finding("T1", f"{where}.{kind}", f"the definition must be an object under {kind}{_hint(value)}")
        return
    yield from _name(inner, f"{where}.{kind}")
    if kind == "function":
        yield from _parameters(inner, f"{where}.function", null="refused")


def _responses(tool: Offered) -> Iterator[Finding]:
    where, value, kind = tool.where, tool.value, tool.value.get("type")
    if not isinstance(kind, str):
        yield finding("T1", f"{where}.type", f"the type is {_kind(value)}; it must be text, as function{_hint(value)}")
    elif kind == "function" and "function" in value:
        yield finding("T1", where, "this tool has the form of OpenAI Chat (its definition under function)")
    elif kind in ("function", "custom", "namespace"):
        yield from _name(value, where)
    if kind == "function" and "function" not in value:
        yield from _parameters(value, where, null="taken")
        if not tool.inner and "parameters" not in value and "input_schema" not in value:
            what = "the tool has no schema; the types demand this key, null for a tool without arguments"
            yield finding("T2", f"{where}.parameters", what, "should")


def _parameters(value: Json, where: str, *, null: str) -> Iterator[Finding]:
    """The schema of a function of OpenAI, where there is one; Responses takes null for one."""
    if "input_schema" in value:
        yield finding(
            "T1", f"{where}.input_schema", "the schema is called input_schema, as in Anthropic, not parameters"
        )
    if "parameters" not in value or (value["parameters"] is None and null == "taken"):
        return
    schema = value["parameters"]
    if not isinstance(schema, dict):
        yield finding("T3", f"{where}.parameters", f"the schema must be an object, not {shown(schema)}")
        return
    if "type" in schema and schema["type"] != "object":
        what = f"the schema has the type {shown(schema['type'])} at the top, not object"
        yield finding("T3", f"{where}.parameters.type", what, "should")
    yield from _strict(value, schema, f"{where}.parameters", of="openai")


def _schema(schema: JsonValue, where: str) -> Iterator[Finding]:
    if not isinstance(schema, dict):
        yield finding("T3", where, f"the schema must be an object, not {shown(schema)}")
    elif schema.get("type") != "object":
        has = f"has the type {shown(schema['type'])}" if "type" in schema else "has no type"
        yield finding("T3", f"{where}.type", f"the schema {has} at the top; it must be object")


def _strict(tool: Json, schema: JsonValue, where: str, *, of: str) -> Iterator[Finding]:
    if tool.get("strict") is True and isinstance(schema, dict):
        yield from strict_findings(schema, where, of)


def _name(value: Json, where: str) -> Iterator[Finding]:
    if not isinstance(value.get("name"), str):
        has = f"is {shown(value['name'])}" if "name" in value else "is missing"
        yield finding("T2", f"{where}.name", f"the name must be text, and it {has}")


def _kind(value: Json) -> str:
    return shown(value["type"]) if "type" in value else "missing"


def _hint(value: Json) -> str:
    """Whose form it is, where a field tells."""
    if "input_schema" in value:
        return " (this is the form of Anthropic)"
    if "function" in value:
        return " (the definition under function is the form of OpenAI Chat)"
    return " (this is the form of OpenAI Responses)" if "name" in value and "type" in value else ""
