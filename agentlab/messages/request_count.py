"""A request divided into its parts (system, tools, user, assistant, tool results), each with its tokens."""

from collections.abc import Sequence
from typing import Literal, TypeGuard, get_args

from pydantic import JsonValue

from agentlab.messages.claude import read_name, tool_prompt
from agentlab.messages.conversation import (
    AssistantMessage,
    Dialect,
    Message,
    Request,
    SystemMessage,
    ToolResult,
    UserMessage,
)
from agentlab.messages.counters import count_message, count_tools
from agentlab.messages.tokenizers import Tokenizer, tokenizer_for
from agentlab.messages.uncounted import are_plain, may_shrink, told_tools, uncounted
from agentlab.messages.wire import to_wire
from agentlab.messages.wire.aliases import NONE
from agentlab.messages.wire.body import read
from agentlab.messages.wire.reading import Notes, a_list, an_object
from agentlab.shapes import Frozen, Quantity

PartName = Literal["system", "tools", "user", "assistant", "tool_results", "provider_adds"]
PARTS: tuple[PartName, ...] = get_args(PartName)

TOOLS_AS_JSON = "the schemas counted as JSON, because how the provider writes them for its model is not published"
CALLS_AS_JSON = "calls counted as name and JSON, because how the provider writes them is not published"
OWN_PARTS = "counted from the text of messages that have parts or fields of their own"
CHAT_FRAMES = (
    "3 tokens a message, its role, and 3 for the reply: a formula published for older chat models, "
    "seen to hold for one recorded call of gpt-4o"
)


class Part(Frozen):
    """One part of a request and its tokens. `provider_adds` is what the provider puts around what was sent."""

    name: PartName
    tokens: Quantity


class RequestCount(Frozen):
    """The tokens of a request. The parts add up to the total; ``not_counted`` says what nobody could count.

    Where something is not counted the total is the least that the request has: it has no band, and ``lowest`` is the
    low end of that sum, None where no error is known. ``may_shrink`` names the settings by which the provider may take
    away some of what was sent.
    """

    model: str | None
    tokenizer: str
    tokenizer_source: str
    parts: tuple[Part, ...]
    total: Quantity
    lowest: int | float | None = None
    not_counted: tuple[str, ...] = ()
    may_shrink: tuple[str, ...] = ()

    @property
    def at_least(self) -> bool:
        """Whether the total is a least: something in the request is not counted."""
        return bool(self.not_counted)

    def tokens(self, name: PartName) -> int | float:
        """Tokens of one part; 0 for one that is not there."""
        return next((part.tokens.value for part in self.parts if part.name == name), 0)

    def share(self, name: PartName) -> float:
        """A part's share of the total, from 0 to 1."""
        return self.tokens(name) / self.total.value if self.total.value else 0.0


def count_body(body: JsonValue, dialect: Dialect, model: str | None = None) -> RequestCount:
    """Count a request body of `dialect`; what it holds that is no text is named in ``not_counted``.

    The model is the one in the body if none is given. Raises `WireError` for a body that is none of the dialect.
    """
    notes = Notes()
    request = read(body, dialect, NONE, notes)
    whole = an_object(body, "the request")
    chosen = model if model is not None else model_in(whole)
    count = count_parts(request, chosen, dialect, left_out=uncounted(whole, notes.losses))
    return count.model_copy(update={"may_shrink": tuple(may_shrink(whole))})


def model_in(body: JsonValue) -> str | None:
    """The model that a body names; None where it names none."""
    named = body.get("model") if isinstance(body, dict) else None
    return named if isinstance(named, str) and named else None


def count_parts(
    request: Request,
    model: str | None = None,
    dialect: Dialect | None = None,
    *,
    tokenizer: Tokenizer | None = None,
    left_out: Sequence[str] = (),
) -> RequestCount:
    """Count each part of `request` as `model` would read it, and what the provider adds where that is published.

    `tokenizer` replaces the one that the model's name leads to. `dialect` is the wire format that it is sent in, if
    that is known; `left_out` names what the request no longer holds.
    """
    counter = tokenizer or tokenizer_for(model)
    by_part = _messages_by_part(request)
    tools = told_tools(request.tools)
    parts = [
        _texts(
            "system", counter, by_part["system"], system=request.system, kept=_has_system_of_parts(request, dialect)
        ),
        Part(
            name="tools",
            tokens=counter.tokens(
                count_tools(tools.counted, counter.count),
                exact=not request.tools,
                why=TOOLS_AS_JSON if tools.counted else "none of them is counted" if request.tools else "",
            ),
        ),
        *(_texts(name, counter, by_part[name]) for name in ("user", "assistant", "tool_results")),
    ]
    added, unpublished = _provider_adds(request, model, dialect, counter)
    if added is not None:
        parts.append(Part(name="provider_adds", tokens=added))
    missing = (*left_out, *tools.missing, *unpublished)
    total = add([part.tokens for part in parts], "the sum of the parts")
    lowest = None
    if missing:
        lowest = total.value if all(_is_sure(part.tokens) for part in parts) else total.low
        source = "the sum of the parts that are counted; the request has more"
        total = total.model_copy(update={"low": None, "high": None, "source": source})
    return RequestCount(
        model=model,
        tokenizer=counter.name,
        tokenizer_source=counter.source,
        parts=tuple(parts),
        total=total,
        lowest=lowest,
        not_counted=missing,
    )


def add(quantities: Sequence[Quantity], source: str) -> Quantity:
    """The sum, an estimate, because no sum of parts is what a provider counts for the whole.

    Its band is the sum of the bands, where each estimate has one; that is wide, for errors rarely all lie on one side.
    """
    value = sum(each.value for each in quantities)
    if any(each.origin != "exact" and each.low is None and each.value for each in quantities):
        return Quantity(value=value, unit="tokens", origin="estimated", source=source)
    low = sum(each.value if each.low is None else each.low for each in quantities)
    high = sum(each.value if each.high is None else each.high for each in quantities)
    band = (None, None) if low == high else (low, high)
    return Quantity(value=value, unit="tokens", origin="estimated", source=source, low=band[0], high=band[1])


def _messages_by_part(request: Request) -> dict[PartName, list[Message]]:
    sorted_out: dict[PartName, list[Message]] = {name: [] for name in PARTS}
    for message in request.messages:
        match message:
            case SystemMessage():
                sorted_out["system"].append(message)
            case UserMessage():
                sorted_out["user"].append(message)
            case AssistantMessage():
                sorted_out["assistant"].append(message)
            case ToolResult():
                sorted_out["tool_results"].append(message)
    return sorted_out


def _texts(
    name: PartName, counter: Tokenizer, messages: Sequence[Message], *, system: str = "", kept: bool = False
) -> Part:
    counted = counter.count(system) + sum(count_message(message, counter.count) for message in messages)
    why = []
    if any(isinstance(message, AssistantMessage) and message.tool_calls for message in messages):
        why.append(CALLS_AS_JSON)
    if kept or any(message.raw is not None for message in messages):
        why.append(OWN_PARTS)
    return Part(name=name, tokens=counter.tokens(counted, exact=not why, why="; ".join(why)))


def _has_system_of_parts(request: Request, dialect: Dialect | None) -> bool:
    """Whether a chat's system message was kept as it came, because it says more than its text."""
    if request.raw is None or dialect != "openai-chat":
        return False
    bare = request.model_copy(update={"raw": None})
    return _chat_messages(request)[:1] != _chat_messages(bare)[:1]


def _chat_messages(request: Request) -> list[JsonValue]:
    return a_list(to_wire(request, "openai-chat").body["messages"], "messages")


def _provider_adds(
    request: Request, model: str | None, dialect: Dialect | None, counter: Tokenizer
) -> tuple[Quantity | None, list[str]]:
    """What the provider puts around what was sent, where that is published; and in words what of it is not."""
    if dialect == "openai-chat" and not _is_claude(model):
        roles = [str(message.get("role")) for message in _chat_messages(request) if isinstance(message, dict)]
        frames = 3 * len(roles) + sum(counter.count(role) for role in roles) + 3
        return counter.tokens(frames, exact=False, why=CHAT_FRAMES), []
    frames_missing = ["what the provider adds around each message: not published"] if request.messages else []
    if not request.tools or not (_is_claude(model) or dialect == "anthropic"):
        return None, frames_missing
    prompt = "the system prompt that the provider adds to tools"
    if not _is_claude(model):
        return None, [f"{prompt}: its size depends on the model, and none of Claude is named", *frames_missing]
    if not are_plain(request.tools):
        why = "the documented number does not hold with tools that the provider runs or defines, or that code calls"
        return None, [f"{prompt}: {why}", *frames_missing]
    added = tool_prompt(model, request.tool_choice)
    if added is None:
        return None, [f"{prompt}: no number is known for {model}", *frames_missing]
    return added, frames_missing


def _is_sure(tokens: Quantity) -> bool:
    return tokens.origin == "exact" or not tokens.value


def _is_claude(model: str | None) -> TypeGuard[str]:
    return model is not None and read_name(model) is not None
