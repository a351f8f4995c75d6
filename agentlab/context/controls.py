"""The controls that keep a history small. One object predicts on sizes and acts on messages.

``control.forecast(S, U, a, r, N)`` tells what a run will send. ``control.apply(messages)`` does the
same thing to a real history; with messages of exactly those sizes the two agree token for token.
A loop asks a control before each request:

    messages = control.apply(messages)
    if control.due(messages, counter):           # only compaction is ever due
        messages = control.apply(messages, summary=...)   # a model call, made elsewhere
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agentlab.context.forecast import Forecast, History, simulate
from agentlab.context.growth import whole_number
from agentlab.context.parts import SUMMARY_HEADING, Summary, is_summary, joined, split
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

    @abstractmethod
    def shrink(self, history: History) -> History:
        """The sizes that are left of `history` before a request is sent."""

    @abstractmethod
    def apply(self, messages: Sequence[Message], summary: str | None = None) -> tuple[Message, ...]:
        """The messages that are left of `messages` before a request is sent.

        `summary` is the text that replaces the history where `due` asked for it; other controls pass it by.
        `TrimTurns`, and `Compact` with a summary, must find the task: they raise AgentlabError for a history without
        a user message. The others need none, and return an empty history as it is.
        """

    def due(self, messages: Sequence[Message], counter: RequestCounter) -> bool:
        """True where a summary must be made before the request that would carry `messages`."""
        return False

    def forecast(self, S: int, U: int, a: int, r: int, N: int) -> Forecast:
        """What a run of N requests sends, all sizes in tokens. Raises AgentlabError for sizes that are no sizes."""
        return simulate(self.shrink, S, U, a, r, N)


@dataclass(frozen=True, slots=True)
class KeepAll(Control):
    """Nothing is removed: I(k) = S + U + (k - 1)(a + r)."""

    @property
    def label(self) -> str:
        return "keep all"

    def shrink(self, history: History) -> History:
        return history

    def apply(self, messages: Sequence[Message], summary: str | None = None) -> tuple[Message, ...]:
        return tuple(messages)


@dataclass(frozen=True, slots=True)
class ClearToolResults(Control):
    """All but the last ``keep`` tool results are replaced by a placeholder, from the first step on.

    ``placeholder`` is its size in tokens, for the forecast; ``text`` is what it says, for the messages. Nothing checks
    that they agree, because a size depends on who counts: count `text` as your model does, or the forecast is off
    by the difference for every cleared result. Calls and pairs stay as they are.
    """

    keep: int = 3
    placeholder: int = 20
    text: str = CLEARED

    def __post_init__(self) -> None:
        whole_number("keep", self.keep)
        whole_number("placeholder", self.placeholder)

    @property
    def label(self) -> str:
        return f"clear, keep {self.keep:,}"

    def shrink(self, history: History) -> History:
        cleared = max(history.cleared, history.steps - self.keep)
        return replace(history, cleared=cleared, placeholder=self.placeholder)

    def apply(self, messages: Sequence[Message], summary: str | None = None) -> tuple[Message, ...]:
        results = [i for i, message in enumerate(messages) if isinstance(message, ToolResult)]
        old = set(results[: max(0, len(results) - self.keep)])
        return tuple(
            message.model_copy(update={"content": self.text}) if i in old else message
            for i, message in enumerate(messages)
        )


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
        room = self.window - (1 if history.compactions else 0)
        steps = min(history.steps, room // 2)
        gone = history.steps - steps
        return replace(history, steps=steps, cleared=max(0, history.cleared - gone))

    def apply(self, messages: Sequence[Message], summary: str | None = None) -> tuple[Message, ...]:
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
        return replace(
            history,
            steps=0,
            cleared=0,
            summary=self.summary,
            compactions=history.compactions + 1,
            summary_input=history.summary_input + history.tokens,
            summary_output=history.summary_output + self.summary,
            summary_largest=max(history.summary_largest, history.tokens),
        )

    def due(self, messages: Sequence[Message], counter: RequestCounter) -> bool:
        _, parts = split(messages)
        return any(not part.pinned for part in parts) and counter(tuple(messages)) > self.trigger

    def apply(self, messages: Sequence[Message], summary: str | None = None) -> tuple[Message, ...]:
        if summary is None:
            return tuple(messages)
        head, parts = split(messages)
        notes = Summary(content=SUMMARY_HEADING + summary)
        asked = [part for part in parts if part.pinned and not is_summary(part.messages[0])]
        return joined((*head, notes), asked)


@dataclass(frozen=True, slots=True)
class Combined(Control):
    """Several controls, one after the other before each request. Compaction is one of them at most, and the last.

    The forecast knows one size of placeholder, so all clearings have the same. Raises AgentlabError otherwise.
    """

    controls: tuple[Control, ...]

    def __post_init__(self) -> None:
        single = self._single()
        if any(isinstance(control, Compact) for control in single[:-1]):
            raise AgentlabError("compaction must be the last control, and the only one of its kind; put it at the end")
        sizes = sorted({control.placeholder for control in single if isinstance(control, ClearToolResults)})
        if len(sizes) > 1:
            listed = " and ".join(f"{size:,}" for size in sizes)
            raise AgentlabError(f"the clearings have placeholders of {listed} tokens; give all of them the same one")

    def _single(self) -> list[Control]:
        """The controls in their order, those inside a combination one by one."""
        return [
            part
            for control in self.controls
            for part in (control._single() if isinstance(control, Combined) else [control])
        ]

    @property
    def label(self) -> str:
        return " + ".join(control.label for control in self.controls) or KeepAll().label

    def shrink(self, history: History) -> History:
        for control in self.controls:
            history = control.shrink(history)
        return history

    def due(self, messages: Sequence[Message], counter: RequestCounter) -> bool:
        for control in self.controls:
            if control.due(messages, counter):
                return True
            messages = control.apply(messages)
        return False

    def apply(self, messages: Sequence[Message], summary: str | None = None) -> tuple[Message, ...]:
        for control in self.controls:
            messages = control.apply(messages, summary)
        return tuple(messages)
