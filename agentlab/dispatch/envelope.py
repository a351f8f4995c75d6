"""The result envelope: what a tool delivered, what it says about it, and what went wrong, each in a place of its own.

A result that is too long is cut, and the envelope says so: how much is shown of how much, and the handle under which
the rest can be fetched. What the model is sent is always whole text or whole JSON; a cut never lands inside it.
"""

from bisect import bisect_right
from collections.abc import Callable
from typing import Literal, NamedTuple

from pydantic import JsonValue

from agentlab.canonical import canonical_json
from agentlab.dispatch.ledger import SUCCEEDED, Outcome, storable
from agentlab.shapes import Frozen

Keep = Callable[[str], str]
"""Keeps a whole result, and returns the handle under which its owner can fetch it."""

_PROTOCOL = frozenset({Outcome.INVALID})
_POLICY = frozenset({Outcome.DENIED, Outcome.PENDING, Outcome.EXPIRED, Outcome.CONFLICT})


class Explained(NamedTuple):
    """What a tool returns that has something to say about its data (a unit, a gap, how old it is)."""

    data: JsonValue
    explanation: str


class Cut(Frozen):
    """How many characters are shown of how many, and the handle of the whole; None where nobody kept it."""

    shown: int
    of: int
    handle: str | None


class ErrorState(Frozen):
    """Why there is no data. ``kind``: the call was malformed (protocol), not permitted (policy), or it failed."""

    kind: Literal["protocol", "policy", "execution"]
    outcome: Outcome
    message: str


class Envelope(Frozen):
    """One result. Where ``error`` is set there is no data; where ``cut`` is set ``data`` is the start, as text."""

    data: JsonValue = None
    explanation: str = ""
    error: ErrorState | None = None
    cut: Cut | None = None


class Packed(NamedTuple):
    """An envelope, and the text that the model is sent of it."""

    envelope: Envelope
    content: str


def pack(value: JsonValue | Explained, most: int, keep: Keep | None) -> Packed:
    """Put what a tool returned into its envelope, and write it in at most `most` characters (Unicode code points).

    Data alone is written as itself: text as text, anything else as canonical JSON. With an explanation it is an object
    with ``data`` and ``explanation``. Past `most` it is an object with ``start``, ``cut`` and ``explanation``, and
    `keep` is given the whole. Raises AgentlabError for what is no JSON.
    """
    data, explanation = value if isinstance(value, Explained) else (value, "")
    data = storable(data) if isinstance(data, str) else data
    whole = data if isinstance(data, str) else canonical_json(data)
    content = canonical_json({"data": data, "explanation": explanation}) if explanation else whole
    if len(content) <= most:
        return Packed(Envelope(data=data, explanation=explanation), content)
    handle = None if keep is None else keep(whole)
    explanation = _start(f"{_advice(handle)} {explanation}".strip(), most // 2)
    frame = _written("", len(whole), len(whole), handle, explanation)
    start = _start(whole, most - len(frame) + len('""'))
    cut = Cut(shown=len(start), of=len(whole), handle=handle)
    content = _written(start, cut.shown, cut.of, handle, explanation)
    return Packed(Envelope(data=start, explanation=explanation, cut=cut), content)


def _written(start: str, shown: int, of: int, handle: str | None, explanation: str) -> str:
    cut: JsonValue = {"shown": shown, "of": of, "unit": "characters", "handle": handle}
    return canonical_json({"start": start, "cut": cut, "explanation": explanation})


def _start(text: str, room: int) -> str:
    """As much of the start of `text` as takes at most `room` characters when it is written as JSON."""
    longest = range(min(len(text), room) + 1)
    return text[: bisect_right(longest, room, key=lambda length: len(canonical_json(text[:length]))) - 1]


def error_of(outcome: Outcome, message: str) -> Envelope:
    """The envelope of a call that has no result to show."""
    if outcome in SUCCEEDED:
        raise ValueError(f"{outcome.value} is no error")
    kind: Literal["protocol", "policy", "execution"] = "execution"
    if outcome in _PROTOCOL:
        kind = "protocol"
    elif outcome in _POLICY:
        kind = "policy"
    return Envelope(error=ErrorState(kind=kind, outcome=outcome, message=message))


def _advice(handle: str | None) -> str:
    if handle is None:
        return "This result was cut and the rest was not kept: ask for less."
    return "This result was cut: fetch the rest with the handle, or ask for less."
