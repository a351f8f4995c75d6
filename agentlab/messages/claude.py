"""Claude's tokens without a network: an estimate. Its tokenizer is not published.

The estimate is the count of o200k_base times a factor of the model's family (data/facts/tokenizers.csv), with the
error that was measured for it. With the package ctok (Python 3.12 or later, never a dependency), which reconstructs the
tokenizer, its count stands in place of that.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from agentlab.errors import AgentlabError
from agentlab.facts import Row, cited, read_facts
from agentlab.messages.conversation import ToolChoice
from agentlab.messages.counters import TextCounter
from agentlab.shapes import Quantity

Version = tuple[int, int]


class ClaudeModel(NamedTuple):
    """What a model's name says: its tier (opus, sonnet, ...) and its version; each None where the name has none."""

    tier: str | None
    version: Version | None


class Family(NamedTuple):
    """How the tokens of some models follow from those of o200k_base.

    ``low`` and ``high`` are the relative error of the estimate, 5th and 95th percentile; ``cited`` is the source, and
    ``measured`` says whether it measured these models.
    """

    name: str
    factor: float
    low: float
    high: float
    cited: str
    measured: bool


def read_name(model: str) -> ClaudeModel | None:
    """The tier and version in a name such as claude-opus-4-7 or claude-3-5-haiku-20241022; None for other models."""
    _, found, rest = model.lower().partition("claude")
    if not found:
        return None
    words = [word for word in re.split(r"[^a-z0-9]+", rest) if word]
    tier = next((word for word in words if word.isalpha() and word not in ("preview", "latest", "instant")), None)
    # One or two digits are a part of the version, eight are a date.
    start = next((n for n, word in enumerate(words) if re.fullmatch(r"\d{1,2}", word)), None)
    if start is None:
        return ClaudeModel(tier, None)
    minor = words[start + 1] if len(words) > start + 1 else ""
    return ClaudeModel(tier, (int(words[start]), int(minor) if re.fullmatch(r"\d{1,2}", minor) else 0))


def family_of(model: str) -> Family | None:
    """The family of a Claude model; None for a model before Claude 3, for which no factor is known.

    A name without a version is taken for one of the newest family. Raises AgentlabError for a model that is no Claude.
    """
    named = read_name(model)
    if named is None:
        raise AgentlabError(f"{model} is no Claude model; its name would have claude in it")
    rows = read_facts("tokenizers")
    if named.version is None:
        return _family(rows[-1], f"the name {model} has no version; ")
    return next((_family(row) for row in rows if _holds(row, named.version)), None)


def tool_prompt(model: str, choice: ToolChoice | None = None) -> Quantity | None:
    """Tokens of the system prompt that the provider adds to a request with tools (data/facts/tool_prompt_tokens.csv).

    The provider documents the number; it holds for tools that the caller runs and the model calls directly. It is an
    estimate without a band: recorded calls of two models had a few tokens more (the column ``checked``). None where no
    number is known for this model.
    """
    named = read_name(model)
    mode = "auto" if choice is None else choice.mode
    column = "any_tool" if mode in ("any", "tool") else "auto_none"
    for row in read_facts("tool_prompt_tokens"):
        if named is not None and (row["tier"], _version(row["version"])) == named and row[column]:
            checked = f"; {row['checked']}" if row["checked"] and mode == "auto" else ""
            source = f"documented for {row['model']}, not counted here: {cited(row)}{checked}"
            return Quantity(value=int(row[column]), unit="tokens", origin="estimated", source=source)
    return None


def reconstruction(model: str) -> TextCounter | None:
    """A counter that rests on the package ctok; None where it is not installed or does not know the model."""
    named = read_name(model)
    if named is None or named.version is None or named.version < (3, 0):
        return None
    try:
        from ctok import tokenize
    except ImportError:
        return None
    return partial(_without_frame, tokenize, f"{named.version[0]}.{named.version[1]}")


def _without_frame(tokenize: Callable[[str, str], list[str]], version: str, text: str) -> int:
    # ctok counts a text as a message of its own, whose frame it writes as tokens of one name; text never has that name.
    return sum(piece != "⟨pad⟩" for piece in tokenize(text, version)) if text else 0


def _family(row: Row, note: str = "") -> Family:
    factor, low, high = float(row["factor"]), float(row["low"]), float(row["high"])
    return Family(row["family"], factor, low, high, f"{note}{cited(row)}", row["verified"] == "yes")


def _holds(row: Row, version: Version) -> bool:
    last = row["version_to"]
    return _version(row["version_from"]) <= version and (not last or version <= _version(last))


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)
