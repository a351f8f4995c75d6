"""The controls that keep a history small. One object predicts on sizes and acts on messages.

``control.forecast(S, U, a, r, N)`` tells what a run will send. ``control.apply(messages, counter)`` does the
same thing to a real history; with messages of exactly those sizes the two agree token for token.
A loop asks a control before each request, and goes on with what it returns:

    messages = control.apply(messages, counter)
    if control.due(messages, counter):                    # only compaction is ever due
        messages = control.apply(messages, counter, summary=...)   # a model call, made elsewhere
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentlab.context.forecast import Forecast, History, Results, result_sizes, simulate
from agentlab.context.growth import check_sizes, whole_number
from agentlab.context.parts import SUMMARY_HEADING, Cleared, Summary, is_summary, joined, split
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import Message, ToolResult

RequestCounter = Callable[[tuple[Message, ...]], int]
"""Tokens of the request that would carry these messages, its system prompt and tool schemas included."""

CLEARED = "[An older result was here. Call the tool again if you need it.]"


class Control(ABC):
    """What all controls can do. Each is immutable and pure: it returns a new history and archives nothing itself."""

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name with the parameters, for a table or a legend."""

    def arriving(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes of a run's results as they enter the history; more of them where a step is added to fetch one."""
        return sizes

    @abstractmethod
    def shrink(self, history: History) -> History:
        """The sizes that are left of `history` before a request is sent."""

    @abstractmethod
    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        """The messages that are left of `messages` before a request is sent.

        `counter` is needed where sizes decide, see `needs_counter`. `summary` is the text that replaces the history
        where `due` asked for it; other controls pass it by. `TrimTurns`, and `Compact` with a summary, must find the
        task: they raise AgentlabError for a history without a user message. The others need none, and return an empty
        history as it is.
        """

    def due(self, messages: Sequence[Message], counter: RequestCounter) -> bool:
        """True where a summary must be made before the request that would carry `messages`."""
        return False

    def single(self) -> "list[Control]":
        """The controls of a combination in their order, those inside another one each by itself; else this one."""
        return [self]

    def forecast(self, S: int, U: int, a: int, r: Results, N: int) -> Forecast:
        """What a run of N requests sends, all sizes in tokens; `r` is one size or the sizes of its N - 1 results.

        Raises AgentlabError for sizes that are no sizes.
        """
        check_sizes(S, U, a, 0, N)
        return simulate(self.shrink, S + U, a, self.arriving(result_sizes(r, N)))


class AtArrival(Control):
    """A control that acts on a result when it arrives and never on what was sent before."""

    def shrink(self, history: History) -> History:
        return history


def needed(control: Control, counter: RequestCounter | None) -> RequestCounter:
    """`counter`, for a control that cannot act without one. Raises AgentlabError where there is none."""
    if counter is None:
        raise AgentlabError(f"'{control.label}' decides by size; give apply() a counter of the request's tokens")
    return counter


@dataclass(frozen=True, slots=True)
class KeepAll(Control):
    """Nothing is removed: I(k) = S + U + (k - 1)(a + r)."""

    @property
    def label(self) -> str:
        return "keep all"

    def shrink(self, history: History) -> History:
        return history

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        return tuple(messages)


@dataclass(frozen=True, slots=True)
class ClearToolResults(Control):
    """All but the last ``keep`` tool results are replaced by a placeholder.

    Nothing is cleared before a request is over ``trigger`` tokens, nor where that would save less than ``at_least``
    tokens of it; with 0 and 0 results are cleared on every step. ``placeholder`` is the size of what replaces a result,
    for the forecast; ``text`` is what it says, for the messages. Nothing checks that they agree, because a size depends
    on who counts: count `text` as your model does, or the forecast is off by the difference for every cleared result.
    Calls and pairs stay as they are.
    Source: Anthropic's context editing, clear_tool_uses_20250919 (trigger 100,000 and keep 3 are its defaults).
    """

    keep: int = 3
    placeholder: int = 20
    text: str = CLEARED
    trigger: int = 0
    at_least: int = 0

    def __post_init__(self) -> None:
        for name in ("keep", "placeholder", "trigger", "at_least"):
            whole_number(name, getattr(self, name))

    @property
    def label(self) -> str:
        over = f" over {self.trigger:,}" if self.trigger else ""
        batch = f" by {self.at_least:,}" if self.at_least else ""
        return f"clear{over}{batch}, keep {self.keep:,}"

    def shrink(self, history: History) -> History:
        cleared = history.clear(history.end - self.keep, self.placeholder)
        return cleared if self._worth(history.tokens, cleared.tokens) else history

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        results = [i for i, message in enumerate(messages) if isinstance(message, ToolResult)]
        old = set(results[: max(0, len(results) - self.keep)])
        cleared = tuple(
            Cleared(**{**dict(message), "content": self.text})
            if i in old and not isinstance(message, Cleared)
            else message
            for i, message in enumerate(messages)
        )
        if not self.trigger and not self.at_least:
            return cleared
        count = needed(self, counter)
        return cleared if self._worth(count(tuple(messages)), count(cleared)) else tuple(messages)

    def _worth(self, before: int, after: int) -> bool:
        if self.trigger and before <= self.trigger:
            return False
        return not self.at_least or before - after >= self.at_least


@dataclass(frozen=True, slots=True)
class TrimTurns(Control):
    """Only the last ``window`` messages after the task stay, in whole steps (in a finished turn: whole turns).

    A step is an assistant message and all its results, so a window of 20 holds ten steps of one call.
    """

    window: int = 20

    def __post_init__(self) -> None:
        whole_number("window", self.window, at_least=1)

    @property
    def label(self) -> str:
        return f"trim to {self.window:,} messages"

    def shrink(self, history: History) -> History:
        # A summary is one of the messages after the task, and it stays.
        room = self.window - (1 if history.summarised else 0)
        return history.drop(history.end - room // 2)

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        head, parts = split(messages)
        room = self.window - sum(len(part.messages) for part in parts if part.pinned)
        kept = []
        for part in reversed(parts):
            if not part.pinned:
                room -= len(part.messages)
            if part.pinned or room >= 0:
                kept.append(part)
        return joined(head, kept[::-1])


@dataclass(frozen=True, slots=True)
class Compact(Control):
    """When the next request would exceed ``trigger`` tokens, a summary of ``summary`` tokens replaces the history.

    The summarising call reads the whole pending request. It happens at most once before a request, and never before
    the first, where there is nothing to summarise. ``summary`` counts the message as it is sent, heading included.
    """

    trigger: int
    summary: int = 1_500

    def __post_init__(self) -> None:
        whole_number("trigger", self.trigger)
        whole_number("summary", self.summary)

    @property
    def label(self) -> str:
        return f"compact over {self.trigger:,}"

    def shrink(self, history: History) -> History:
        if history.steps == 0 or history.tokens <= self.trigger:
            return history
        return history.summarise(self.summary)

    def due(self, messages: Sequence[Message], counter: RequestCounter) -> bool:
        _, parts = split(messages)
        return any(not part.pinned for part in parts) and counter(tuple(messages)) > self.trigger

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        if summary is None:
            return tuple(messages)
        head, parts = split(messages)
        notes = Summary(content=SUMMARY_HEADING + summary)
        asked = [part for part in parts if part.pinned and not is_summary(part.messages[0])]
        return joined((*head, notes), asked)


@dataclass(frozen=True, slots=True)
class Combined(Control):
    """Several controls, one after the other before each request.

    What acts on results as they arrive comes first; compaction is one of them at most, and the last. The forecast knows
    one size of placeholder, so all clearings have the same. Raises AgentlabError otherwise.
    """

    controls: tuple[Control, ...]

    def __post_init__(self) -> None:
        single = self.single()
        arrivals = [isinstance(control, AtArrival) for control in single]
        if sorted(arrivals, reverse=True) != arrivals:
            raise AgentlabError("a cap and handles act on results as they arrive; put them before the other controls")
        if any(isinstance(control, Compact) for control in single[:-1]):
            raise AgentlabError("compaction must be the last control, and the only one of its kind; put it at the end")
        sizes = sorted({control.placeholder for control in single if isinstance(control, ClearToolResults)})
        if len(sizes) > 1:
            listed = " and ".join(f"{size:,}" for size in sizes)
            raise AgentlabError(f"the clearings have placeholders of {listed} tokens; give all of them the same one")
        if tuple(sizes) != self.arriving(tuple(sizes)):
            raise AgentlabError(
                f"a placeholder of {sizes[0]:,} tokens would itself be cut, or kept outside; make it smaller"
            )

    def single(self) -> list[Control]:
        return [part for control in self.controls for part in control.single()]

    @property
    def label(self) -> str:
        return " + ".join(control.label for control in self.controls) or KeepAll().label

    def arriving(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        for control in self.controls:
            sizes = control.arriving(sizes)
        return sizes

    def shrink(self, history: History) -> History:
        for control in self.controls:
            history = control.shrink(history)
        return history

    def due(self, messages: Sequence[Message], counter: RequestCounter) -> bool:
        for control in self.controls:
            if control.due(messages, counter):
                return True
            messages = control.apply(messages, counter)
        return False

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        for control in self.controls:
            messages = control.apply(messages, counter, summary)
        return tuple(messages)
