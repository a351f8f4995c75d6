"""The states of one agent run and every transition between them, as one table.

The diagram is drawn from this table and the tests count it: a transition without a test does not pass.
"""

from enum import StrEnum

from agentlab.errors import AgentlabError


class State(StrEnum):
    """Where a run is. The last four are terminal: nothing leads out of them."""

    REASONING = "reasoning"
    CHOOSING = "choosing"
    VALIDATING = "validating"
    DECIDING = "deciding"
    AWAITING_APPROVAL = "awaiting_approval"
    CALLING = "calling"
    COMPACTING = "compacting"
    ANSWERED = "answered"
    BUDGET_STOP = "budget_stop"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Event(StrEnum):
    """What happens to a run. The text of each is the label of its arrow."""

    REPLY = "the model replied"
    MODEL_FAILED = "the model gave no reply"
    CONTEXT_FULL = "the next request would pass the trigger"
    OPEN_CALL = "a call of this reply is still open"
    ANSWER = "the reply is an answer"
    TOOL_CALL = "the reply asks for a tool"
    BUDGET_USED_UP = "a budget is used up"
    UNUSABLE_REPLY = "the reply was cut, refused or malformed"
    RESUME = "the reply paused"
    VALID = "tool and arguments are valid"
    INVALID = "tool or arguments are invalid, or the call is a repeat"
    ALLOWED = "every guard allows the call"
    DENIED = "a guard denies the call"
    ABUSE = "a guard denies the call, and its contract ends the run"
    APPROVAL_NEEDED = "a person must approve"
    APPROVED = "a person approved"
    NOT_APPROVED = "a person refused, or nobody answered in time"
    RESULT = "the tool answered"
    TOOL_FAILED = "the tool failed, or its outcome is unknown"
    COMPACTED = "the history was made shorter"
    NOT_COMPACTED = "no summary could be made, and clearing was not enough"
    NOT_ARCHIVED = "the transcript could not be stored, so nothing may be removed"
    CANCEL = "somebody cancelled the run, or a part of the program broke"


TERMINALS = frozenset({State.ANSWERED, State.BUDGET_STOP, State.FAILED, State.CANCELLED})

TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.REASONING, Event.REPLY): State.CHOOSING,
    (State.REASONING, Event.MODEL_FAILED): State.FAILED,
    (State.REASONING, Event.OPEN_CALL): State.VALIDATING,
    (State.REASONING, Event.CONTEXT_FULL): State.COMPACTING,
    (State.REASONING, Event.NOT_ARCHIVED): State.FAILED,
    (State.COMPACTING, Event.COMPACTED): State.REASONING,
    (State.COMPACTING, Event.NOT_COMPACTED): State.FAILED,
    (State.COMPACTING, Event.NOT_ARCHIVED): State.FAILED,
    (State.CHOOSING, Event.ANSWER): State.ANSWERED,
    (State.CHOOSING, Event.TOOL_CALL): State.VALIDATING,
    (State.CHOOSING, Event.RESUME): State.REASONING,
    (State.CHOOSING, Event.BUDGET_USED_UP): State.BUDGET_STOP,
    (State.CHOOSING, Event.UNUSABLE_REPLY): State.FAILED,
    (State.VALIDATING, Event.VALID): State.DECIDING,
    (State.VALIDATING, Event.INVALID): State.REASONING,
    (State.DECIDING, Event.ALLOWED): State.CALLING,
    (State.DECIDING, Event.DENIED): State.REASONING,
    (State.DECIDING, Event.ABUSE): State.FAILED,
    (State.DECIDING, Event.APPROVAL_NEEDED): State.AWAITING_APPROVAL,
    # An approval runs nothing. It lets the decision be taken again, so that no call runs on a stale one.
    (State.AWAITING_APPROVAL, Event.APPROVED): State.DECIDING,
    (State.AWAITING_APPROVAL, Event.NOT_APPROVED): State.REASONING,
    (State.CALLING, Event.RESULT): State.REASONING,
    (State.CALLING, Event.TOOL_FAILED): State.REASONING,
    # A run can be cancelled wherever it waits for the world outside: a model, a guard, a person, a tool, a summary.
    (State.REASONING, Event.CANCEL): State.CANCELLED,
    (State.VALIDATING, Event.CANCEL): State.CANCELLED,
    (State.DECIDING, Event.CANCEL): State.CANCELLED,
    (State.AWAITING_APPROVAL, Event.CANCEL): State.CANCELLED,
    (State.CALLING, Event.CANCEL): State.CANCELLED,
    (State.COMPACTING, Event.CANCEL): State.CANCELLED,
}


def follow(state: State, event: Event) -> State:
    """The state after `event`. Raises AgentlabError where the table has no such transition."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise AgentlabError(f"no transition from {state.value} on {event.name}; add it to TRANSITIONS") from None


def mermaid() -> str:
    """The table as a Mermaid state diagram. Cancel is said once in a note: every waiting state has it."""
    lines = ["stateDiagram-v2", f"    [*] --> {State.REASONING.value}"]
    lines += [
        f"    {state.value} --> {target.value}: {event.value}"
        for (state, event), target in TRANSITIONS.items()
        if event is not Event.CANCEL
    ]
    waiting = ", ".join(state.value for state, event in TRANSITIONS if event is Event.CANCEL)
    lines += [f"    {state.value} --> [*]" for state in State if state in TERMINALS]
    # A note on a state that no line has named yet is an error to Mermaid, so it stands last.
    lines += [f"    note right of {State.CANCELLED.value}: reached from {waiting} when {Event.CANCEL.value}"]
    return "\n".join(lines) + "\n"
