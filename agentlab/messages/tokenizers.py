"""Which tokenizer a model has, and what a count by it is worth: exact, or an estimate with its band."""

import re
from math import floor
from typing import Literal, NamedTuple

from agentlab.messages import claude
from agentlab.messages.counters import TextCounter, count_text
from agentlab.messages.vocabulary import EncodingName, encoding_of
from agentlab.shapes import Quantity

Maker = Literal["anthropic", "openai"]
"""The two providers whose models and wire formats are known here."""


class Tokenizer(NamedTuple):
    """A counter of texts, and how its counts become tokens of the model.

    ``name`` is short and stands in the source of every count; ``source`` says it at length. The tokens are ``factor``
    times what ``count`` says. ``error`` is the relative error of that, 5th and 95th
    percentile; None where there is none (``exact``) or nobody has measured it.
    """

    name: str
    count: TextCounter
    origin: Literal["exact", "estimated"]
    source: str
    factor: float = 1.0
    error: tuple[float, float] | None = None

    def tokens(self, counted: int, *, exact: bool = True, why: str = "") -> Quantity:
        """`counted`, as ``count`` gave it, as tokens of the model.

        `exact` is False where the texts counted are not all that the model is given for this part; `why` says what it
        is then. Such a count is an estimate whatever the tokenizer, and an exact tokenizer knows no band for it.
        """
        value = round(counted * self.factor)
        source = f"{self.name}; {why}" if why else self.name
        if self.error is None or not value:
            origin = self.origin if exact else "estimated"
            return Quantity(value=value, unit="tokens", origin=origin, source=source)
        low, high = self.error
        # An estimate that is 15% too high stands for a true count of estimate / 1.15.
        band = floor(value / (1 + high)), -floor(-value / (1 + low))
        return Quantity(value=value, unit="tokens", origin="estimated", source=source, low=band[0], high=band[1])


def tokenizer_for(model: str | None = None) -> Tokenizer:
    """The tokenizer of `model`, a name such as gpt-5.2 or claude-opus-4-7, the provider in front of it or not.

    Exact for the text of OpenAI's models that tiktoken lists. Claude, a model that nobody here knows and no model at
    all are estimates, and the source says so.
    """
    if model is None:
        return _o200k("no model named")
    name = bare_name(model)
    if claude.read_name(name) is not None:
        return _claude(name)
    encoding = encoding_of(name)
    if encoding is None:
        return _o200k(f"the tokenizer of {name} is not known")
    return Tokenizer(
        encoding, _COUNTERS[encoding], "exact", f"{encoding} is the encoding of {name}, as tiktoken lists it"
    )


def bare_name(model: str) -> str:
    """The name of a model without its provider: anthropic:claude-opus-5 is claude-opus-5."""
    provider, separator, name = model.partition(":")
    return name if separator and provider in ("anthropic", "openai", "openai-chat") else model


def maker_of(model: str) -> Maker | None:
    """Whose model that is, by its name or the provider in front of it; None where neither tells."""
    provider, separator, _ = model.partition(":")
    if separator and provider in ("anthropic", "openai", "openai-chat"):
        return "anthropic" if provider == "anthropic" else "openai"
    if model.startswith(("gpt-", "chatgpt-")) or re.match(r"o\d", model) or encoding_of(model) is not None:
        return "openai"
    return "anthropic" if claude.read_name(model) is not None else None


def _claude(name: str) -> Tokenizer:
    family = claude.family_of(name)
    counter = claude.reconstruction(name)
    if counter is not None:
        source = "the package ctok, a reconstruction by third parties of Claude's tokenizer; it publishes how it fared"
        doubt = "" if family is not None and family.measured else f", and nothing was measured for {name}"
        return Tokenizer("ctok (a reconstruction)", counter, "estimated", f"{source}{doubt}")
    if family is None:
        return _o200k(f"no factor is known for {name}")
    short = f"o200k_base x {family.factor:g} (data/facts/tokenizers.csv, {family.name})"
    return Tokenizer(short, count_text, "estimated", family.cited, family.factor, (family.low, family.high))


def _o200k(reason: str) -> Tokenizer:
    return Tokenizer(f"o200k_base ({reason})", count_text, "estimated", "the model's own tokenizer may count otherwise")


def _count_cl100k(text: str) -> int:
    return count_text(text, "cl100k_base")


_COUNTERS: dict[EncodingName, TextCounter] = {"o200k_base": count_text, "cl100k_base": _count_cl100k}
