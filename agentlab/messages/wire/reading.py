"""Reading a provider's JSON: what every dialect needs, and the note of what the generic form has no place for."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from agentlab.errors import AgentlabError
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import Message, Usage

Json = dict[str, JsonValue]

MAX_NESTING = 200
"""Deepest nesting of a whole body. Ours, not a provider's; pydantic, which holds the messages, ends at 255."""


class WireError(AgentlabError):
    """This JSON is not of the dialect it is said to be; the message names the place and what was expected there."""


class Piece(NamedTuple):
    """A message, and the wire messages (or items) that hold it and nothing else.

    ``joined`` is True where it is the next blocks of the wire message before it, and begins none.
    """

    message: Message
    wire: list[JsonValue]
    joined: bool = False


class Loss(NamedTuple):
    """Something that only its own dialect can say. ``content`` is False for a setting or mark (an id, a cache hint)."""

    where: str
    what: str
    content: bool


CONTENT_FIELDS = frozenset(
    {"function_call", "functions", "refusal", "previous_response_id", "prompt", "conversation", "thread"}
)
"""Fields that hold, or stand for, something that was said or can be called; all others are settings and marks."""


BEHIND_A_CALL = "the place of this text behind a call"
"""A message has its text in front of its calls; the text itself is kept."""


class Notes:
    """Collects losses while a body is read."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []

    def lose(self, where: str, what: str, *, content: bool) -> None:
        """Note that `what` at `where` has no place in the generic form."""
        self.losses.append(Loss(where, what, content))

    def rest(self, where: str, value: Mapping[str, JsonValue], known: Collection[str]) -> None:
        """Note every field of `value` that is not known and says something (null says nothing)."""
        for key in value:
            if key not in known and value[key] not in (None, [], {}):
                self.lose(f"{where}.{key}", f"the field {key}", content=key in CONTENT_FIELDS)


def same_json(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same JSON, whatever the order of their keys: 1, 1.0 and true are three values.

    As `agentlab.canonical`, which refuses half a surrogate pair; here one may stand in a body that is to be checked.
    """
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def same_text(one: JsonValue, other: JsonValue) -> bool:
    """As `same_json`, with the keys in the same order."""
    return json.dumps(one) == json.dumps(other)


def an_object(value: JsonValue, where: str) -> Json:
    """`value`, which must be an object."""
    if not isinstance(value, dict):
        raise WireError(f"{where} must be an object, not {_kind(value)}")
    return value


def not_too_deep(value: JsonValue, where: str) -> None:
    """Raises WireError for what is nested deeper than `MAX_NESTING`: what holds a message could not hold it."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_NESTING):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise WireError(f"{where} is nested deeper than {MAX_NESTING} levels; no message of a provider is")


def a_list(value: JsonValue, where: str) -> list[JsonValue]:
    """`value`, which must be a list."""
    if not isinstance(value, list):
        raise WireError(f"{where} must be a list, not {_kind(value)}")
    return value


def a_text(value: JsonValue, where: str) -> str:
    """`value`, which must be text."""
    if not isinstance(value, str):
        raise WireError(f"{where} must be text, not {_kind(value)}")
    return value


def of_type(noun: str, value: Json) -> str:
    """In words, what `value` is: a `noun` of its type, or without one."""
    kind = value.get("type")
    return f"{noun} without a type" if kind is None else f"{noun} of type {kind!r}"


def is_one_of(kind: JsonValue, kinds: frozenset[str]) -> bool:
    """Whether `kind` is one of these texts; a type that is no text is none of them."""
    return isinstance(kind, str) and kind in kinds


def a_limit(value: JsonValue, where: str) -> int | None:
    """`value`, which must be a whole number or left out."""
    if value is not None and type(value) is not int:
        raise WireError(f"{where} must be a whole number, not {value!r}")
    return value


def a_switch(value: JsonValue, where: str) -> bool | None:
    """`value`, which must be true, false or left out."""
    if value is not None and not isinstance(value, bool):
        raise WireError(f"{where} must be true or false, not {value!r}")
    return value


def believable(**counts: JsonValue) -> Usage | None:
    """The usage with these counts, of which those that are no more than a part of another may be None: not told.

    None where they cannot be true: no whole numbers, negative, or more tokens in a part than in the whole.
    """
    try:
        told = {name: count for name, count in counts.items() if count is not None or name not in _PARTS}
        return Usage.model_validate(told)
    except ValidationError:
        return None


_PARTS = frozenset({"cache_read_tokens", "cache_write_tokens", "reasoning_tokens"})


def joined_text(parts: JsonValue, where: str, kinds: frozenset[str], notes: Notes, glue: str = "\n") -> str:
    """The text of a content that is text or a list of parts; parts of other kinds are noted as lost."""
    if parts is None:
        return ""
    if isinstance(parts, str):
        return parts
    placed = [(f"{where}[{number}]", part) for number, part in enumerate(a_list(parts, where))]
    return joined_parts(placed, kinds, notes, glue)


def joined_parts(placed: Iterable[tuple[str, JsonValue]], kinds: frozenset[str], notes: Notes, glue: str = "\n") -> str:
    """As `joined_text`, for parts that are not all of a content: each with its place."""
    texts = []
    for place, part in placed:
        block = an_object(part, place)
        if is_one_of(block.get("type"), kinds):
            texts.append(a_text(block.get("text"), f"{place}.text"))
            notes.rest(place, block, ("type", "text"))
        else:
            notes.lose(place, f"the {of_type('part', block)}", content=True)
    return glue.join(texts)


def arguments_of(raw: JsonValue) -> JsonValue:
    """The arguments of a call: the object that they are, or the text of what is none, so that nothing is lost."""
    values = parse_arguments(raw).values
    if values is not None:
        return values
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)


def arguments_as_text(arguments: JsonValue) -> str:
    """The arguments as a JSON text, for the dialects that send one. Text is sent as it is."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


_ERROR = '{"error": '


def error_as_text(content: str, *, is_error: bool) -> str:
    """A tool's result for a dialect without an error flag: an error is the JSON object {"error": "..."}.

    A result that is no error and happens to look like one gets a space in front, so that the two are never confused.
    """
    if is_error:
        return json.dumps({"error": content}, ensure_ascii=False)
    return f" {content}" if _looks_like_error(content) else content


def error_from_text(text: str) -> tuple[str, bool]:
    """The reverse of `error_as_text`: the content, and whether it is an error."""
    if not _looks_like_error(text):
        return text, False
    if text.startswith(" "):
        return text[1:], False
    return str(json.loads(text)["error"]), True


def _looks_like_error(text: str) -> bool:
    bare = text.lstrip(" ")
    if not bare.startswith(_ERROR):
        return False
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return False
    # Only the one spelling that error_as_text writes: a tool's own JSON, spelt otherwise, stays what it is.
    return (
        isinstance(value, dict)
        and value.keys() == {"error"}
        and isinstance(value["error"], str)
        and json.dumps(value, ensure_ascii=False) == bare
    )


def _kind(value: JsonValue) -> str:
    names = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object")
