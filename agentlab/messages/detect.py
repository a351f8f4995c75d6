"""Which dialect a request is in, for a person who did not say; only where one alone can read it."""

from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.tokenizers import Maker, maker_of
from agentlab.messages.wire import DIALECTS, WireError
from agentlab.messages.wire.aliases import NONE
from agentlab.messages.wire.body import read
from agentlab.messages.wire.reading import Json, Notes, an_object

FIELDS = ("system", "tool_calls")
"""Fields of one dialect alone that hold a piece of the conversation; others (max_tokens) say nothing of the dialect."""

MAKERS: dict[Dialect, Maker] = {"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai"}


class Detected(NamedTuple):
    """The dialects that read a body best (one, if it is clear), and why the others do not read it at all."""

    best: tuple[Dialect, ...]
    refused: tuple[str, ...]


def body_of(value: JsonValue, dialect: Dialect) -> Json:
    """A request body: `value` itself, or the body around a bare list of messages (items)."""
    if isinstance(value, list):
        return {"input" if dialect == "openai-responses" else "messages": value}
    return an_object(value, "the request")


def detect(value: JsonValue, model: str | None = None) -> Detected:
    """Try every dialect on a request body, or on a bare list of its messages.

    The best are those for which the fewest pieces have no meaning: OpenAI Chat can read an Anthropic body, but misses
    its calls and tools. Two may well be left, because plain text is the same in both; of those, the ones of the
    provider whose `model` it is are the best.
    """
    lost: dict[Dialect, int] = {}
    refused = []
    for dialect in DIALECTS:
        notes = Notes()
        try:
            read(body_of(value, dialect), dialect, NONE, notes)
        except WireError as error:
            refused.append(f"{dialect}: {error}")
        else:
            lost[dialect] = sum(loss.content or loss.where.rpartition(".")[2] in FIELDS for loss in notes.losses)
    best = tuple(dialect for dialect, count in lost.items() if count == min(lost.values()))
    whose = maker_of(model) if model is not None else None
    of_the_model = tuple(dialect for dialect in best if MAKERS[dialect] == whose)
    return Detected(of_the_model or best, tuple(refused))


def disagreement(dialect: Dialect, model: str | None) -> str | None:
    """In words, that `dialect` is one provider's and `model` another's; None where nothing speaks against it."""
    whose = maker_of(model) if model is not None else None
    if whose is None or whose == MAKERS[dialect]:
        return None
    return f"the request is in the dialect {dialect}, but {model} is a model of {whose}: name the one that is meant"
