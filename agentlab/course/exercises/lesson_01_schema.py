"""Exercise 01.2, the schema of a tool of your own: its check, and what the providers' strict modes would say."""

import re
from collections.abc import Iterator
from typing import Any

from agentlab.course.checks import wrong
from agentlab.dispatch.schemas import CompiledSchema
from agentlab.errors import AgentlabError
from agentlab.messages.wire.aliases import LIMITS

_TOP = "the top"
_SAFE_LENGTH = min(limits.name_length for limits in LIMITS.values())
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_UNSUPPORTED = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "oneOf",
)


def check_own_tool(tool: Any, good: Any, bad: Any) -> str:
    """The tool is fit for all three providers, its schema takes the good call and refuses the bad one."""
    _definition(tool)
    parameters = tool["parameters"]
    for place, part in _objects(parameters):
        _object(place, part)
    try:
        schema = CompiledSchema(parameters)
    except AgentlabError as error:
        why = "a provider refuses a request with a schema that is none"
        wrong(called="my_tool['parameters']", came_back=str(error), expected="a valid JSON Schema", why=why)
    problems = schema.problems(good)
    if problems:
        why = "your schema refuses your own good call; the model would be told to mend what is right"
        wrong(called=f"my_good_call {good!r}", came_back="; ".join(problems), expected="no problem", why=why)
    if not isinstance(bad, dict) or not bad:
        why = "a call that is plausible teaches something: an object with arguments, one of them wrong"
        wrong(called="my_bad_call", came_back=bad, expected="an object with arguments", why=why)
    refused = schema.problems(bad)
    if not refused:
        why = (
            "the schema lets it through, so only code behind it could stop it; say more in the schema (a type, an "
            "enum, a required field), or choose a call that a schema can refuse"
        )
        wrong(called=f"my_bad_call {bad!r}", came_back="no problem", expected="a problem", why=why)
    return " ".join([f"The schema refuses the bad call: {'; '.join(refused)}.", *_strict_hints(parameters)])


def _definition(tool: Any) -> None:
    if not isinstance(tool, dict) or set(tool) != {"name", "description", "parameters"}:
        why = "these three are what the model sees of a tool; roles, limits and code are none of its business"
        if isinstance(tool, dict) and ("function" in tool or "input_schema" in tool):
            why = (
                "that is the form of one provider, which wraps the same three (`function` in OpenAI Chat) or calls the "
                "parameters input_schema (Anthropic); leave the wrapping to the wire format"
            )
        wrong(called="my_tool", came_back=tool, expected="a dict with name, description and parameters", why=why)
    name, description = tool["name"], tool["description"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        why = "all three providers take letters, digits, _ and -; a dot or a space in the name is a 400"
        wrong(called="my_tool['name']", came_back=name, expected="letters, digits, _ and - only", why=why)
    if len(name) > _SAFE_LENGTH:
        why = f"{len(name)} characters: the provider with the lowest limit takes {_SAFE_LENGTH}"
        wrong(called="my_tool['name']", came_back=name, expected=f"at most {_SAFE_LENGTH} characters", why=why)
    if name == "invoice_get":
        why = "that is the tool of the lesson; take one that your own system has or needs"
        wrong(called="my_tool['name']", came_back=name, expected="a tool of your own", why=why)
    if not isinstance(description, str) or len(description.split()) < 5:
        why = "the model chooses by this text: say what the tool does, and whether it changes anything"
        wrong(called="my_tool['description']", came_back=description, expected="five words or more", why=why)


def _object(place: str, part: dict[str, Any]) -> None:
    called = f"my_tool['parameters'], {place}"
    if place == _TOP and part.get("type") != "object":
        why = "arguments are one object; every provider demands it at the top"
        if "type" not in part and part and all(isinstance(value, dict) for value in part.values()):
            why = (
                "these look like the fields themselves; wrap them: a schema has the type object, and its fields stand "
                "under properties"
            )
        wrong(called=called, came_back=part.get("type", part), expected="type 'object'", why=why)
    if not _is_object(part):
        why = "it has properties, so it is an object; without the type it takes a number or a text as well"
        wrong(called=called, came_back=part.get("type", "no type"), expected="type 'object'", why=why)
    if part.get("additionalProperties") is not False:
        why = "without additionalProperties false the model may add approved=true, and the schema lets it through"
        if place != _TOP:
            why = "closing an object does not close those nested in it; each needs an additionalProperties of its own"
        came_back = part.get("additionalProperties", "no additionalProperties")
        wrong(called=called, came_back=came_back, expected="additionalProperties False", why=why)
    properties, required = part.get("properties"), part.get("required")
    if not isinstance(properties, dict) or not properties:
        why = "a tool without arguments has nothing to check; choose one that takes some"
        wrong(called=called, came_back=properties, expected="properties with at least one field", why=why)
    if not isinstance(required, list):
        why = "without a list of required fields every field is optional, and an empty call is a valid one"
        wrong(called=called, came_back=required, expected="a list of required names", why=why)
    unknown = [name for name in required if name not in properties]
    if unknown:
        why = "a required field that has no schema can never be sent: nothing else than the properties is allowed"
        wrong(called=f"{called}, required", came_back=unknown, expected="names of properties", why=why)
    for name, field in properties.items():
        if not isinstance(field, dict) or not str(field.get("description", "")).strip():
            why = "a field without a description is filled by guessing: say what it is, its unit, an example"
            wrong(called=f"{called}.{name}", came_back=field, expected="a description", why=why)
        if not any(keyword in field for keyword in ("type", "enum", "const", "anyOf", "$ref")):
            why = "a field without a type takes anything: text for a number, a list for a name"
            wrong(called=f"{called}.{name}", came_back=field, expected="a type (or an enum, const, anyOf)", why=why)


def _is_object(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _objects(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema itself and every object schema inside it, each with its place."""
    if not isinstance(schema, dict):
        wrong(called="my_tool['parameters']", came_back=schema, expected="a dict", why="a JSON Schema is an object")
    for place, part in _schemas(schema, _TOP):
        if place == _TOP or _is_object(part) or "properties" in part:
            yield place, part


def _schemas(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield place, schema
    for group in ("properties", "$defs"):
        inner = schema.get(group)
        for name, part in inner.items() if isinstance(inner, dict) else ():
            if isinstance(part, dict):
                yield from _schemas(part, _below(place, name))
    listed = [schema.get("items")]
    for group in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(group)
        listed += parts if isinstance(parts, list) else []
    for part in listed:
        if isinstance(part, dict):
            yield from _schemas(part, f"inside {place}")


def _below(place: str, name: str) -> str:
    return name if place == _TOP else f"{place}.{name}"


def _strict_hints(parameters: dict[str, Any]) -> list[str]:
    """What the providers' strict modes would say of a schema that is right as it is.

    From OpenAI's own error text and Anthropic's documentation of August 2026; not all that they refuse is looked for.
    """
    optional = [
        _below(place, name)
        for place, part in _objects(parameters)
        for name in part.get("properties", {})
        if name not in part.get("required", [])
    ]
    keywords = sorted({word for _, part in _schemas(parameters, "") for word in part if word in _UNSUPPORTED})
    hints = []
    if optional:
        hints.append(
            f"Hint: OpenAI's strict mode demands every property in required; make {', '.join(optional)} nullable."
        )
    if keywords:
        hints.append(
            f"Hint: Anthropic's strict mode refuses {', '.join(keywords)}; say it in the description and check it "
            "in code."
        )
    return hints or [
        "Hint: no field is optional (OpenAI's strict mode would refuse that), and no limit such as minimum or "
        "maxLength is used (Anthropic's would)."
    ]
