"""What a run keeps while it goes on, and what it returns at its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentlab.canonical import canonical_json
from agentlab.context.parts import Cleared
from agentlab.loop.budgets import Budgets, Totals
from agentlab.loop.effects import AuditEvent, Compacted, Decided
from agentlab.loop.machine import Event, State
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import Message, Reply, Request, ToolCall, ToolResult, Usage
from agentlab.messages.counters import count_message, count_request
from agentlab.shapes import Frozen

Clock = Callable[[], float]
History = tuple[Message, ...]

MAX_SAME_RESULTS = 3
"""A repeatable call is refused once this many results in a row were the same: the first one and two repeats."""


class Transition(Frozen):
    """One step of the run: where it was, what happened, where that led, and the particulars."""

    state: State
    event: Event
    target: State
    detail: str


class RunResult(Frozen):
    """How a run ended. ``answer`` is the model's, or says that and why the run stopped without one.

    ``messages`` is the whole conversation, with every call answered. ``found`` holds what the tools delivered, so that
    a run that was stopped still returns what it has.
    """

    run_id: str
    state: State
    reason: str
    answer: str
    found: tuple[str, ...]
    messages: tuple[Message, ...]
    totals: Totals
    transitions: tuple[Transition, ...]

    @property
    def audit(self) -> AuditEvent:
        """The one audit event of this run."""
        return AuditEvent(run_id=self.run_id, state=self.state, reason=self.reason, totals=self.totals)


@dataclass
class Progress:
    """What changes while a run goes on. ``messages`` keeps everything; ``context`` is what the next request carries."""

    run_id: str
    start: Request
    budgets: Budgets
    clock: Clock
    shorten: Callable[[History], History]
    is_full: Callable[[Request], bool]
    repeatable: frozenset[str]
    began: float
    messages: list[Message] = field(default_factory=list)
    context: list[Message] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    transitions: list[Transition] = field(default_factory=list)
    reply: Reply | None = None
    open_calls: list[ToolCall] = field(default_factory=list)
    decided: Decided | None = None
    asked: bool = False
    compacted: bool = False
    call_ids: set[str] = field(default_factory=set)
    results: dict[str, list[ToolResult]] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)

    def request(self) -> Request:
        """The next request: everything the model is to see."""
        return Request(system=self.start.system, tools=self.start.tools, messages=tuple(self.context))

    def add(self, message: Message) -> None:
        """Append to the whole conversation and to what is sent of it."""
        self.messages.append(message)
        self.context.append(message)

    def count(self, **more: Any) -> None:
        """Set totals, and the time that has passed."""
        self.totals = self.totals.model_copy(update=more | {"seconds": self.clock() - self.began})

    def close_call(self, result: ToolResult, *, remember: bool = True) -> None:
        """Give the call at hand its result, and remember it, so that a repeat of the call is recognised."""
        call = self.open_calls.pop(0)
        # The pairing is the loop's own: whatever a driver sends, the result belongs to the call that is open.
        paired = result.model_copy(update={"call_id": call.id})
        self.add(paired)
        if remember:
            self.results.setdefault(_identity(call), []).append(paired)
        self.decided = None
        self.asked = False

    def repeat(self, call: ToolCall) -> str | None:
        """Why this call is refused as a repeat, in words for the model, or None."""
        before = self.results.get(_identity(call), [])
        if not before or not self._is_there(before[-1]):
            return None
        if call.name not in self.repeatable:
            return f"repeated call: {call.name} was called with these arguments before; use that result"
        last = {result.content for result in before[-MAX_SAME_RESULTS:]}
        if len(before) >= MAX_SAME_RESULTS and len(last) == 1:
            return f"repeated call: {call.name} gave the same result {MAX_SAME_RESULTS} times; stop asking"
        return None

    def _is_there(self, result: ToolResult) -> bool:
        """Whether the model still sees this result. One that a control removed may be asked for again."""
        return any(
            isinstance(message, ToolResult) and message.call_id == result.call_id and not isinstance(message, Cleared)
            for message in self.context
        )

    def count_reply(self, request: Request, reply: Reply) -> None:
        """Add one model call, as reported or, where nothing is reported, as counted here."""
        self._count_call(reply.usage, request, [reply.message])

    def count_summary(self, request: Request, compacted: Compacted) -> None:
        """Add the model call that made a summary: it read the pending request and wrote what is new in the history."""
        known = set(map(id, request.messages))
        self._count_call(compacted.usage, request, [m for m in compacted.messages if id(m) not in known])

    def _count_call(self, usage: Usage | None, request: Request, written: Sequence[Message]) -> None:
        totals = self.totals
        origin = totals.tokens_origin
        if usage is None:
            # A provider that reports nothing does not switch the budget off: o200k stands in for its tokenizer.
            output = sum(count_message(message) for message in written)
            usage = Usage(input_tokens=count_request(request), output_tokens=output)
            origin = "estimated"
        self.count(
            model_calls=totals.model_calls + 1,
            input_tokens=totals.input_tokens + usage.input_tokens,
            output_tokens=totals.output_tokens + usage.output_tokens,
            tokens_origin=origin,
        )


def _identity(call: ToolCall) -> str:
    arguments = parse_arguments(call.arguments).values
    return f"{call.name} {canonical_json(arguments) if arguments is not None else repr(call.arguments)}"
