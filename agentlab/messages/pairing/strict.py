"""What a provider demands of a tool's schema when strict is true: S1 to S3, each at its place inside the schema."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.pairing.rules import finding, shown
from agentlab.messages.wire.reading import MAX_NESTING, Json
from agentlab.shapes import Finding

UNSUPPORTED = ("minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems", "oneOf")
"""Keywords that Anthropic's documentation names as refused. minItems is taken as 0 or 1."""
UNLISTED = (
    "exclusiveMinimum",
    "exclusiveMaximum",
    "uniqueItems",
    "contains",
    "prefixItems",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "not",
    "if",
)
"""Keywords that are neither in its list of what is refused nor in that of what is taken."""
FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")

_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_TOO_MUCH_PATTERN = re.compile(r"\(\?<?[=!]|\\[1-9bB]|\(\?P=")

Steps = tuple[str | int, ...]


class _Place(NamedTuple):
    """A schema inside the schema, and the steps to it."""

    steps: Steps
    schema: Json


def strict_findings(schema: Json, where: str, of: str) -> Iterator[Finding]:
    """S1 to S3 for a schema that `of` ("anthropic" or "openai") is asked to hold to.

    Of OpenAI's limits only S1 and S2 are checked; what else it takes of JSON Schema is not published as a list that
    could be. Time grows with the size of the schema alone; what is nested deeper than `MAX_NESTING` is told, not read.
    """
    rule = "S3" if of == "anthropic" else "S1"
    places: list[_Place] = []
    for place in _schemas(schema):
        if len(place.steps) > MAX_NESTING:
            message = f"the schema is nested deeper than {MAX_NESTING} levels; the rest of it was not checked"
            yield finding(rule, where, message, "should")
            break
        places.append(place)
        at = where + _spelt(place.steps)
        yield from _objects(place.schema, at, of)
        if of == "anthropic":
            yield from _keywords(place.schema, at)
    if of == "anthropic":
        yield from _references(places, where)


def _schemas(schema: Json) -> Iterator[_Place]:
    """The schema and those inside it, without recursion; a value of an enum or an example is no schema."""
    open_places = [_Place((), schema)]
    while open_places:
        place = open_places.pop()
        yield place
        inside: list[tuple[Steps, JsonValue]] = []
        for key, value in place.schema.items():
            if key in _NAMED and isinstance(value, dict):
                inside += [((key, name), inner) for name, inner in value.items()]
            elif (key in _MANY or key == "items") and isinstance(value, list):
                inside += [((key, number), inner) for number, inner in enumerate(value)]
            elif key in _ONE:
                inside.append(((key,), value))
        open_places += [
            _Place((*place.steps, *steps), inner) for steps, inner in reversed(inside) if isinstance(inner, dict)
        ]


def _objects(schema: Json, at: str, of: str) -> Iterator[Finding]:
    kind, properties = schema.get("type"), schema.get("properties")
    if not (kind == "object" or (isinstance(kind, list) and "object" in kind) or isinstance(properties, dict)):
        return
    closed = schema.get("additionalProperties")
    if closed is not False:
        has = f"it is {shown(closed)}" if "additionalProperties" in schema else "it is missing"
        yield finding("S1", f"{at}.additionalProperties", f"this must be false, and {has}")
    if of == "openai" and isinstance(properties, dict):
        required = schema.get("required")
        named = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
        missing = [name for name in properties if name not in named]
        if missing:
            yield finding("S2", f"{at}.required", f"these properties are not in it: {shown(', '.join(missing))}")


def _keywords(schema: Json, at: str) -> Iterator[Finding]:
    for key in schema:
        if key in UNSUPPORTED:
            yield finding("S3", f"{at}.{key}", f"the keyword {key} is not taken in a strict schema")
        elif key in UNLISTED:
            yield finding("S3", f"{at}.{key}", f"the keyword {key} is not in the list of what is taken", "should")
    least, enum = schema.get("minItems"), schema.get("enum")
    if least is not None and least not in (0, 1):
        yield finding("S3", f"{at}.minItems", f"only 0 and 1 are taken in a strict schema, not {shown(least)}")
    if isinstance(enum, list) and any(isinstance(value, dict | list) for value in enum):
        yield finding("S3", f"{at}.enum", "an object or a list is not taken as a value of enum")
    form, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(form, str) and form not in FORMATS:
        yield finding("S3", f"{at}.format", f"the format {shown(form)} is not in the list of what is taken", "should")
    if isinstance(pattern, str) and _TOO_MUCH_PATTERN.search(pattern):
        what = f"the pattern {shown(pattern)} looks around, refers back, or has a word boundary"
        yield finding("S3", f"{at}.pattern", what, "should")


def _references(places: list[_Place], where: str) -> Iterator[Finding]:
    """S3 for a $ref out of the schema, and for one that leads back to where it stands."""
    inner: list[tuple[Steps, Steps]] = []
    for place in places:
        reference = place.schema.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            at = f"{where}{_spelt(place.steps)}.$ref"
            yield finding("S3", at, f"{shown(reference)} is outside of the schema")
        elif isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            inner.append((place.steps, _steps(reference)))
    # From target to target: what a reference points at may hold a reference itself. A circle is a recursive schema.
    targets = {target for _, target in inner}
    leads: dict[Steps, set[Steps]] = {target: set() for target in targets}
    for steps, target in inner:
        for length in range(len(steps) + 1):
            if _text_steps(steps[:length]) in targets:
                leads[_text_steps(steps[:length])].add(target)
    circling = _on_circles(leads)
    for steps, target in inner:
        if target in circling:
            yield finding("S3", f"{where}{_spelt(steps)}.$ref", "the schema is recursive: this leads back to itself")


def _on_circles(leads: dict[Steps, set[Steps]]) -> set[Steps]:
    """The targets that are on a circle, or between two, or lead into one and are led to by one."""
    left = {target: set(follow) for target, follow in leads.items()}
    for _ in range(2):  # first without those that lead nowhere, then, the arrows turned round, without the beginnings
        before: dict[Steps, set[Steps]] = {target: set() for target in left}
        for target, follow in left.items():
            for next_target in follow:
                before[next_target].add(target)
        ends = [target for target, follow in left.items() if not follow]
        while ends:
            end = ends.pop()
            del left[end]
            for target in before[end]:
                left[target].discard(end)
                if not left[target]:
                    ends.append(target)
        left = {target: before[target] & left.keys() for target in left}
    return set(left)


def _steps(reference: str) -> Steps:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in reference.split("/")[1:])


def _text_steps(steps: Steps) -> Steps:
    return tuple(str(step) for step in steps)


def _spelt(steps: Steps) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
