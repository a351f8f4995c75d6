"""The one parser of tool arguments. What a model wrote is text until this module has read it."""

import json
import math
from typing import NamedTuple

from pydantic import JsonValue

MAX_DEPTH = 64
"""Deepest nesting that is read. Ours, not a provider's: real tool arguments stay below ten."""

TOO_LARGE = 10**4300
"""Python writes no longer whole number as text (sys.int_info.default_max_str_digits)."""


class ParsedArguments(NamedTuple):
    """Either ``values`` (an object that is safe to use) or a ``problem`` told to the model."""

    values: dict[str, JsonValue] | None
    problem: str | None


class _RefusedError(Exception):
    """Internal: carries the problem out of the JSON reader's callbacks."""


def parse_arguments(raw: JsonValue) -> ParsedArguments:
    """Read the arguments of a tool call, as text or as the object that a provider delivered.

    Nothing is guessed or repaired: no text is cut or completed, JSON inside a JSON string stays text, a number keeps
    its type. Blank text, or nothing at all (None), is the empty object, because models write that for a tool
    without parameters. Refused: what is no object, NaN and infinity (1e999 too), a key that is written
    twice, half a surrogate pair, nesting beyond `MAX_DEPTH`.
    """
    try:
        if raw is None:
            return ParsedArguments({}, None)
        if isinstance(raw, str):
            value = _read(raw)
        else:
            value = raw
        if not isinstance(value, dict):
            raise _RefusedError(f"the arguments must be one JSON object, not {_kind(value)}")
        _refuse_what_json_cannot_hold(value)
    except _RefusedError as refused:
        return ParsedArguments(None, str(refused))
    return ParsedArguments(value, None)


def _read(text: str) -> JsonValue:
    if not text.strip():
        return {}
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_object_without_twins, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" starting at")
        raise _RefusedError(f"the arguments are not valid JSON: {what} at character {error.pos}") from None
    except RecursionError:
        raise _RefusedError(f"the arguments are nested deeper than {MAX_DEPTH} levels") from None
    except ValueError:
        # CPython refuses to read integers of more than 4,300 digits.
        raise _RefusedError("the arguments hold a number with too many digits") from None
    return value


def _object_without_twins(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in values:
            raise _RefusedError(f"the key {key!r} is written twice")
        values[key] = value
    return values


def _no_constant(name: str) -> JsonValue:
    raise _RefusedError(f"{name} is not a JSON number")


def _refuse_what_json_cannot_hold(value: JsonValue) -> None:
    open_values: list[tuple[JsonValue, int]] = [(value, 1)]
    while open_values:
        current, depth = open_values.pop()
        if depth > MAX_DEPTH:
            raise _RefusedError(f"the arguments are nested deeper than {MAX_DEPTH} levels")
        if isinstance(current, str):
            _refuse_bad_text(current)
        elif isinstance(current, dict):
            for key, inner in current.items():
                _refuse_bad_text(key)
                open_values.append((inner, depth + 1))
        elif isinstance(current, list):
            open_values.extend((inner, depth + 1) for inner in current)
        elif type(current) is int and abs(current) >= TOO_LARGE:
            raise _RefusedError("the arguments hold a number with too many digits")
        elif isinstance(current, float) and not math.isfinite(current):
            raise _RefusedError("the arguments hold a number that is not finite")


def _refuse_bad_text(text: str) -> None:
    if not isinstance(text, str):
        raise _RefusedError(f"the key {text!r} is not text")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise _RefusedError("the arguments hold half a surrogate pair, which is not valid text")


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list"
