"""The settings beside the conversation on the way to another dialect: what both providers have goes along.

What cannot go along is told with the reason and the way out. Sources: the types of the SDKs anthropic 2.14 and openai
3.57; that Anthropic refuses temperature, top_p and top_k stands on its versioning page (read in an excerpt).
"""

from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.wire.reading import Json, a_limit

MOST_STOPS = 4
LONGEST_USER = 128
"""Of OpenAI: stop sequences of one request (Chat), and characters of its safety_identifier."""

OF_OPENAI = (
    "model",
    "temperature",
    "top_p",
    "stream",
    "user",
    "safety_identifier",
    "metadata",
    "service_tier",
    "store",
    "prompt_cache_key",
    "prompt_cache_retention",
)
"""What OpenAI's two dialects spell alike, besides what `Request` has a field for."""

EVERYWHERE = ("stream",)
SAMPLING = ("temperature", "top_p")
"""Anthropic had them, so a body of its older version may still hold them; OpenAI takes both."""


class Reason(NamedTuple):
    """Why a setting stays behind, and the way out."""

    why: str
    fix: str


class Settings(NamedTuple):
    """What goes into the new body, what stays behind and why, and which fields of the old one are so dealt with."""

    fields: Json
    left: dict[str, Reason]
    settled: frozenset[str]


_REFUSED = Reason(
    "Anthropic refuses it since its API version 2026-10-21",
    "say in the system prompt how plain or how free the answers may be",
)
_THINKING = Reason(
    "how much a model thinks is set otherwise at each provider",
    "set thinking and output_config.effort (Anthropic), reasoning_effort (OpenAI Chat) or reasoning (OpenAI Responses)",
)
_USAGE = Reason("the usage comes with every stream there", "nothing to do")
_NO_STOPS = Reason("OpenAI Responses has no stop sequences", "cut the text in your own code, where the sequence stands")

LEFT: dict[tuple[Dialect, str], Reason] = {
    ("anthropic", "temperature"): _REFUSED,
    ("anthropic", "top_p"): _REFUSED,
    ("anthropic", "reasoning_effort"): _THINKING,
    ("anthropic", "reasoning"): _THINKING,
    ("openai-chat", "thinking"): _THINKING,
    ("openai-chat", "output_config"): _THINKING,
    ("openai-chat", "reasoning"): _THINKING,
    ("openai-responses", "thinking"): _THINKING,
    ("openai-responses", "output_config"): _THINKING,
    ("openai-responses", "reasoning_effort"): _THINKING,
    ("openai-chat", "top_k"): Reason("OpenAI has no such setting", "use top_p"),
    ("openai-responses", "top_k"): Reason("OpenAI has no such setting", "use top_p"),
    ("openai-responses", "stop"): _NO_STOPS,
    ("openai-responses", "stop_sequences"): _NO_STOPS,
    ("anthropic", "stream_options"): _USAGE,
    ("openai-responses", "stream_options"): _USAGE,
    ("anthropic", "metadata"): Reason(
        "Anthropic's metadata holds nothing but a user_id", "keep labels of your own in your own log, by request id"
    ),
}
"""What stays behind on the way to a dialect, where a reason is known."""


def carried(body: Json, source: Dialect, target: Dialect, limit: str) -> Settings:
    """The settings of `body` as fields of `target`; `limit` is the field of the most output tokens there."""
    given: Json = {name: value for name, value in body.items() if value not in (None, [], {})}
    both_openai = "anthropic" not in (source, target)
    same = OF_OPENAI if both_openai else EVERYWHERE if target == "anthropic" else (*EVERYWHERE, *SAMPLING)
    fields: Json = {name: given[name] for name in same if name in given}
    settled = set(fields)
    left = {name: LEFT[target, name] for name in given if (target, name) in LEFT and name not in settled}
    if "model" in given and not both_openai:
        other = "an Anthropic" if target == "anthropic" else "an OpenAI"
        left["model"] = Reason(
            f"{given['model']!r} names a model of the other provider", f"name {other} model in the field model"
        )
    if source == "openai-chat" and "max_tokens" in given and "max_completion_tokens" not in given:
        # The older name of the same limit.
        fields[limit] = a_limit(given["max_tokens"], "max_tokens")
        settled.add("max_tokens")
    for name, moved, reason in (_stops(given, source, target), _user(given, source, target)):
        if reason is not None:
            left[name] = reason
        elif moved:
            fields |= moved
            settled.add(name)
            left.pop(name, None)
    return Settings(fields, left, frozenset(settled | left.keys()))


def carry_strict(tools: list[tuple[JsonValue, Json]], source: Dialect, target: Dialect) -> set[int]:
    """Make those tools strict that were, given each as it was kept and as it is written now; the numbers of those."""
    strict = set()
    for number, (kept, written) in enumerate(tools):
        if _home_of_strict(kept, source).get("strict") is True:
            _home_of_strict(written, target)["strict"] = True
            strict.add(number)
    return strict


def _home_of_strict(tool: JsonValue, dialect: Dialect) -> Json:
    whole = tool if isinstance(tool, dict) else {}
    function = whole.get("function")
    return (function if isinstance(function, dict) else {}) if dialect == "openai-chat" else whole


def _stops(given: Json, source: Dialect, target: Dialect) -> tuple[str, Json, Reason | None]:
    """The stop sequences, which Anthropic and OpenAI Chat have."""
    name = "stop_sequences" if source == "anthropic" else "stop"
    stops = given.get(name)
    if stops is None or target == "openai-responses":
        return name, {}, LEFT.get((target, name)) if stops is not None else None
    listed: JsonValue = [stops] if isinstance(stops, str) else stops
    if not isinstance(listed, list):
        return name, {}, None
    if target == "anthropic":
        return name, {"stop_sequences": listed}, None
    if len(listed) > MOST_STOPS:
        why = f"OpenAI Chat takes {MOST_STOPS} stop sequences, and these are {len(listed)}"
        return name, {}, Reason(why, "choose the ones that matter")
    return name, {"stop": listed}, None


def _user(given: Json, source: Dialect, target: Dialect) -> tuple[str, Json, Reason | None]:
    """The id of the user for whom the request is made: metadata.user_id at Anthropic, safety_identifier at OpenAI."""
    if source == "anthropic":
        metadata = given.get("metadata")
        user = metadata.get("user_id") if isinstance(metadata, dict) and metadata.keys() == {"user_id"} else None
        if isinstance(user, str) and len(user) > LONGEST_USER:
            why = f"OpenAI's safety_identifier ends at {LONGEST_USER} characters"
            return "metadata", {}, Reason(why, "send a digest of it as safety_identifier")
        return "metadata", {"safety_identifier": user} if isinstance(user, str) else {}, None
    name = "safety_identifier" if "safety_identifier" in given else "user"
    if target != "anthropic" or not isinstance(given.get(name), str):
        return name, {}, None
    return name, {"metadata": {"user_id": given[name]}}, None
