"""Strict validation of a value against a JSON Schema: nothing is coerced, every problem is named with its place."""

from typing import Any

from pydantic import JsonValue

from agentlab.canonical import canonical_json
from agentlab.errors import AgentlabError

Schema = dict[str, JsonValue]

_EXACT = "x-agentlab-exact-integer"
_VALUES_NOT_SCHEMAS = frozenset({"const", "enum", "default", "examples"})
_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


class CompiledSchema:
    """A schema, compiled once. `problems(value)` is the empty list for a value that fits."""

    def __init__(self, schema: Schema) -> None:
        """Raises AgentlabError where `schema` is no valid JSON Schema, or refers outside itself."""
        import jsonschema_rs

        canonical_json(schema)
        strict = _schema_with_exact_integers(schema)
        try:
            self._validator = jsonschema_rs.validator_for(strict, keywords={_EXACT: _ExactInteger}, offline=True)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise AgentlabError(f"this is no valid JSON Schema: {str(error).splitlines()[0]}") from None

    def problems(self, value: JsonValue) -> list[str]:
        """Every problem at once, each as `place: what is wrong`, in a form that a model can act on."""
        return sorted(f"{_place(error.instance_path)}: {error.message}" for error in self._validator.iter_errors(value))


class _ExactInteger:
    """JSON Schema calls 1.0 an integer. Money counted in cents must not pass through a float, so this does not."""

    def __init__(self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]) -> None:
        pass

    def validate(self, instance: Any) -> None:
        if isinstance(instance, float) and instance.is_integer():
            raise ValueError(f"{instance!r} is not written as a whole number")


def _with_exact_integers(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_with_exact_integers(item) for item in value]
    return _schema_with_exact_integers(value) if isinstance(value, dict) else value


def _schema_with_exact_integers(schema: Schema) -> Schema:
    strict: Schema = {}
    for keyword, value in schema.items():
        if keyword in _VALUES_NOT_SCHEMAS:
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


def _place(path: list[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".") or "arguments"
