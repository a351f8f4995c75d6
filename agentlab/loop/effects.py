"""What a run asks of the world outside, and what it can be told. The loop itself touches nothing."""

from dataclasses import dataclass
from typing import Literal

from agentlab.dispatch.dispatcher import Decision, Dispatched
from agentlab.loop.budgets import Totals
from agentlab.loop.machine import State
from agentlab.messages.conversation import Message, Reply, Request, ToolCall, ToolResult, Usage
from agentlab.shapes import Frozen


@dataclass(frozen=True)
class CallModel:
    """Send this request; answer with the `Reply`, or with `ModelFailed`."""

    request: Request


@dataclass(frozen=True)
class Decide:
    """Ask the dispatcher's guards about this call; answer with `Decided`. ``repeat`` says why it must be refused."""

    call: ToolCall
    repeat: str | None = None


@dataclass(frozen=True)
class AskApproval:
    """Ask a person about exactly this call; answer with `PersonSays`."""

    decision: Decision


@dataclass(frozen=True)
class CallTool:
    """Run this allowed call; answer with the dispatcher's `Dispatched`."""

    decision: Decision


@dataclass(frozen=True)
class Archive:
    """Store the whole transcript, before anything is removed from what is sent; `Archived` or `NotArchived`."""

    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Compact:
    """Make the history of this request shorter; answer with `Compacted`, or with `NotCompacted`."""

    request: Request


class AuditEvent(Frozen):
    """The one event that every run leaves behind, whatever its end."""

    run_id: str
    state: State
    reason: str
    totals: Totals


@dataclass(frozen=True)
class Emit:
    """Write this audit event where it is kept; the answer is not looked at."""

    event: AuditEvent


Effect = CallModel | Decide | AskApproval | CallTool | Archive | Compact | Emit


@dataclass(frozen=True)
class ModelFailed:
    """There was no reply."""

    reason: str


@dataclass(frozen=True)
class Decided:
    """The guards' decision; ``refusal`` is what the model gets when the call does not run."""

    decision: Decision
    refusal: ToolResult | None


@dataclass(frozen=True)
class PersonSays:
    """A person's answer. ``result`` is what the model gets when it is not yes."""

    answer: Literal["approved", "denied", "expired"]
    result: ToolResult | None = None


@dataclass(frozen=True)
class Archived:
    """The transcript is stored; the control may act."""


@dataclass(frozen=True)
class NotArchived:
    """The transcript is not stored, so nothing may be removed."""

    reason: str


@dataclass(frozen=True)
class Compacted:
    """The shorter history, and what the model call that made it has used (None where nothing was reported).

    ``instead`` says, where no summary could be made, why not: results were cleared then.
    """

    messages: tuple[Message, ...]
    usage: Usage | None = None
    instead: str = ""


@dataclass(frozen=True)
class NotCompacted:
    """The history could not be made shorter."""

    reason: str


@dataclass(frozen=True)
class Cancel:
    """Instead of any answer: somebody cancelled the run."""

    reason: str


Answer = (
    Reply
    | ModelFailed
    | Decided
    | PersonSays
    | Dispatched
    | Compacted
    | NotCompacted
    | Archived
    | NotArchived
    | Cancel
    | None
)
