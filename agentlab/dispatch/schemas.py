"""Strict validation of a value against a JSON Schema: nothing is coerced, every problem is named with its place.

The texts are for a model to act on: where, what must stand there, and what stood there. What a caller sent is repeated
only in short, so that one wrong argument cannot fill the next request.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from agentlab.canonical import canonical_json
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

Schema = dict[str, JsonValue]

MOST_PROBLEMS = 20
"""Problems that are told in full; of more, only the number. A list of a thousand wrong items is one mistake."""

SHOWN = 60
"""Characters that are shown of a value, or of a name, that came from outside."""

_EXACT = "x-agentlab-exact-integer"
VALUES_NOT_SCHEMAS = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are plain values, whatever they look like."""

_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SAYS_WHAT_ELSE_IS_ALLOWED = frozenset({"additionalProperties", "unevaluatedProperties"})
_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_LIMITS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
}


class CompiledSchema:
    """A schema, compiled once. `problems(value)` is the empty list for a value that fits."""

    def __init__(self, schema: Schema, *, closed: bool = False) -> None:
        """`closed`: keys that the schema does not name are refused, unless it says itself what else is allowed.

        JSON Schema allows them where nothing is said, and a tool that ignores what it does not know would run a call
        with ``approved: true`` in it. Raises AgentlabError where `schema` is no valid JSON Schema, or refers outside
        itself.
        """
        import jsonschema_rs

        canonical_json(schema)
        strict = _schema_with_exact_integers(schema)
        if closed and not _SAYS_WHAT_ELSE_IS_ALLOWED & strict.keys():
            strict["unevaluatedProperties"] = False
        try:
            self._validator = jsonschema_rs.validator_for(
                strict, keywords={_EXACT: _ExactInteger}, offline=True, mask="this value"
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise AgentlabError(f"this is no valid JSON Schema: {str(error).splitlines()[0]}") from None

    def problems(self, value: JsonValue) -> list[str]:
        """Every problem at once, each as ``place: what is wrong``; past `MOST_PROBLEMS`, how many more there are."""
        if self._validator.is_valid(value):
            return []
        found = sorted(line for error in self._validator.iter_errors(value) for line in _lines(error))
        more = len(found) - MOST_PROBLEMS
        return found if more <= 0 else [*found[:MOST_PROBLEMS], f"and {more} more problems"]

    def broken_rules(self, value: JsonValue) -> list[str]:
        """The places *in the schema* that `value` breaks; nothing of the value itself is repeated.

        For what a tool returned: a result that could not be checked must not reach a model as part of an error either.
        """
        if self._validator.is_valid(value):
            return []
        rules = {"/".join(map(str, error.schema_path)) for error in self._validator.iter_errors(value)}
        return sorted(rule.replace(_EXACT, "type") for rule in rules)


class _ExactInteger:
    """JSON Schema calls 1.0 an integer. Money counted in cents must not pass through a float, so this does not."""

    def __init__(self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]) -> None:
        pass

    def validate(self, instance: Any) -> None:
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError(f"must be written as a whole number, not {instance!r}")


def _with_exact_integers(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_with_exact_integers(item) for item in value]
    return _schema_with_exact_integers(value) if isinstance(value, dict) else value


def _schema_with_exact_integers(schema: Schema) -> Schema:
    strict: Schema = {}
    for keyword, value in schema.items():
        if keyword in VALUES_NOT_SCHEMAS:
            strict[keyword] = value
        elif keyword in _MAPS_OF_SCHEMAS and isinstance(value, dict):
            strict[keyword] = {name: _with_exact_integers(inner) for name, inner in value.items()}
        else:
            strict[keyword] = _with_exact_integers(value)
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "integer" in kinds and "number" not in kinds:
        strict[_EXACT] = True
    return strict


def _lines(error: "ValidationError") -> Iterator[str]:
    """What one error of the validator says, one line for each thing to mend."""
    kind: Any = error.kind
    path = error.instance_path
    match kind.name:
        case "required":
            yield f"{_place([*path, kind.property])}: is missing and must be given"
        case "additionalProperties" | "unevaluatedProperties":
            for name in kind.unexpected:
                yield f"{_place([*path, name])}: is not known here; leave it out"
        case "type":
            allowed = " or ".join(_KINDS.get(each, each) for each in kind.types)
            yield f"{_place(path)}: must be {allowed}, not {_shown(error.instance)}"
        case "enum":
            allowed = ", ".join(map(canonical_json, kind.options))
            yield f"{_place(path)}: must be one of {allowed}, not {_shown(error.instance)}"
        case limit if limit in _LIMITS:
            yield f"{_place(path)}: {_LIMITS[limit].format(kind.limit)}, not {_shown(error.instance)}"
        case "anyOf" | "oneOf" if kind.context:
            forms = (" and ".join(line for inner in form for line in _lines(inner)) for form in kind.context)
            yield f"{_place(path)}: fits none of the allowed forms ({'; or '.join(forms)})"
        case _ if not isinstance(error.instance, dict | list) and error.message.startswith("this value"):
            yield f"{_place(path)}: {error.message}; it is {_shown(error.instance)}"
        case _:
            yield f"{_place(path)}: {error.message}"


def _shown(value: object) -> str:
    """What stood there, short, so that 1, "1" and true look different."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {canonical_json(value)}"
        case str():
            return f"the text {_short(canonical_json(value))}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"the number {_short(str(value))}"


def _place(path: Sequence[str | int]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{_short(part)}" for part in path)
    return "".join(parts).lstrip(".") or "arguments"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"
