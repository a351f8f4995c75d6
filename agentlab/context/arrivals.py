"""Two controls that act on a result as it arrives. Nothing sent before is edited, so a prompt cache still holds.

A cap cuts what is too large. A handle takes the place of the content and says how to load it: lightweight identifiers
stay in the context and the content is read only when it is needed (chapter 6 of the course, "Prefer handles to
payloads"). Both lose nothing where the loop keeps an archive, see `agentlab.context.archive`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentlab.context.controls import AtArrival, RequestCounter, needed
from agentlab.context.growth import whole_number
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import AssistantMessage, Message, ToolResult

CUT = "\n[The result was longer and was cut here. Ask for a smaller part of it.]"

LOAD_RESULT = "load_result"
"""The tool that brings back what a handle stands for; its one argument is ``call_id``."""

_PREVIEW_LINES = 3
_PREVIEW_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class CapResults(AtArrival):
    """A result of more than ``cap`` tokens is cut to ``cap``, the note that says so included."""

    cap: int

    def __post_init__(self) -> None:
        whole_number("cap", self.cap, at_least=1)

    @property
    def label(self) -> str:
        return f"cap results at {self.cap:,}"

    def arriving(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(min(size, self.cap) for size in sizes)

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        size = _sizes(needed(self, counter))
        return tuple(
            _cut(message, self.cap, size) if isinstance(message, ToolResult) and size(message) > self.cap else message
            for message in messages
        )


def describe(result: ToolResult) -> str:
    """What stands in the context for a result: how large it is, how to load it, and its first lines."""
    lines = [line[:_PREVIEW_CHARACTERS] for line in result.content.splitlines() if line.strip()][:_PREVIEW_LINES]
    return "\n".join(
        [
            f"[{len(result.content):,} characters are kept outside. Load them with {LOAD_RESULT}, "
            f"call_id {result.call_id}. They begin:]",
            *lines,
        ]
    )


@dataclass(frozen=True, slots=True)
class Handles(AtArrival):
    """A result of more than ``over`` tokens stays outside, and a handle of ``handle`` tokens stands for it.

    For the forecast, ``loads`` of these results are needed after all: each is loaded right after its handle, by one
    more step, whose result is whole. ``text`` writes the handle of a result, for the messages; like the placeholder of
    `ClearToolResults`, it should have the size that the forecast is told.
    """

    over: int = 1_000
    handle: int = 60
    loads: int = 0
    text: Callable[[ToolResult], str] = describe

    def __post_init__(self) -> None:
        for name in ("over", "handle", "loads"):
            whole_number(name, getattr(self, name))
        if self.handle > self.over:
            raise AgentlabError(
                f"a handle of {self.handle:,} tokens is larger than results that stay whole (over = {self.over:,}); "
                "make over larger than handle"
            )

    @property
    def label(self) -> str:
        return f"handles over {self.over:,}" + (f", {self.loads:,} loaded" if self.loads else "")

    def arriving(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        large = [i for i, size in enumerate(sizes) if size > self.over]
        loads = min(self.loads, len(large))
        # Spread evenly: the j-th load follows the large result at j/loads of the way.
        loaded = {large[(j + 1) * len(large) // loads - 1] for j in range(loads)}
        arrived: list[int] = []
        for i, size in enumerate(sizes):
            arrived.append(self.handle if size > self.over else size)
            if i in loaded:
                arrived.append(size)
        return tuple(arrived)

    def apply(
        self, messages: Sequence[Message], counter: RequestCounter | None = None, summary: str | None = None
    ) -> tuple[Message, ...]:
        size = _sizes(needed(self, counter))
        loaded = {
            call.id
            for message in messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls
            if call.name == LOAD_RESULT
        }
        return tuple(
            message.model_copy(update={"content": self.text(message)})
            if isinstance(message, ToolResult) and message.call_id not in loaded and size(message) > self.over
            else message
            for message in messages
        )


def _sizes(counter: RequestCounter) -> Callable[[ToolResult], int]:
    """The tokens that one result adds to a request."""
    empty = counter(())
    return lambda result: counter((result,)) - empty


def _cut(result: ToolResult, cap: int, size: Callable[[ToolResult], int]) -> ToolResult:
    """The longest beginning of `result` that fits, with the note where there is room for it."""

    def shortened(length: int, note: str) -> ToolResult:
        return result.model_copy(update={"content": result.content[:length] + note})

    note = CUT if size(shortened(0, CUT)) <= cap else ""
    fits, too_long = 0, len(result.content)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size(shortened(middle, note)) <= cap:
            fits = middle
        else:
            too_long = middle
    return shortened(fits, note)
