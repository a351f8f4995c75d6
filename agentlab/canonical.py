"""Canonical JSON and its digest: two values have one digest exactly when they are the same JSON."""

import hashlib
import json
from typing import Any

from pydantic import JsonValue

from agentlab.errors import AgentlabError

write_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""Writes a value that is known to be JSON; `canonical_json` is for one that is not."""

_read = json.JSONDecoder().raw_decode
_CONTAINERS = (dict, list, tuple)


def canonical_json(value: JsonValue) -> str:
    """Write `value` as JSON with sorted keys and no spaces.

    ``1``, ``1.0``, ``true`` and ``"1"`` stay four different texts, because a policy that
    approved one of them has not approved the others. (RFC 8785 would write 1.0 as 1.)
    Raises AgentlabError for what JSON cannot hold: NaN, infinity, bytes, keys that are no text.
    """
    try:
        text = write_canonical(value)
        if not text.isascii():
            text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentlabError(f"this value is not JSON: {error}; send text, numbers, lists and objects") from error
    # After the writing, which has refused a value that contains itself: the walk below would not end.
    _refuse_keys_that_are_no_text(value)
    return text


def read_canonical(text: str) -> Any:
    """The value of which `text` is the canonical JSON."""
    return _read(text)[0]


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical JSON of `value`, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


def _refuse_keys_that_are_no_text(value: JsonValue) -> None:
    # json.dumps writes the key 1 and the key "1" alike, so two values would share a digest.
    open_values: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    while open_values:
        current = open_values.pop()
        if isinstance(current, dict):
            for key in current:
                if not isinstance(key, str):
                    raise AgentlabError(f"this value is not JSON: the key {key!r} is no text; use text keys")
            inner = current.values()
        else:
            inner = current
        open_values.extend([each for each in inner if isinstance(each, _CONTAINERS)])
