"""The agent loop: a generator that yields what it needs done and is sent what came of it.

It does no I/O, so a test of it is a conversation, and one loop serves every driver: plain Python, await, a notebook
that steps through it, a journal. Each state of `agentlab.loop.machine` is one small function below; it returns the
event that happened, and the table says where that leads.
"""

from collections.abc import Callable, Generator
from typing import TypeVar

from agentlab.dispatch.dispatcher import REPEATED_CALL, Dispatched
from agentlab.dispatch.guards import Allow, Deny, NeedsApproval
from agentlab.dispatch.ledger import Outcome
from agentlab.errors import AgentlabError
from agentlab.loop.budgets import Budgets, used_up
from agentlab.loop.effects import (
    Answer,
    Archive,
    Archived,
    AskApproval,
    CallModel,
    CallTool,
    Cancel,
    Compact,
    Compacted,
    Decide,
    Decided,
    Effect,
    Emit,
    ModelFailed,
    NotArchived,
    NotCompacted,
    PersonSays,
)
from agentlab.loop.machine import TERMINALS, TRANSITIONS, Event, State, follow
from agentlab.loop.progress import Clock, History, Progress, RunResult, Transition
from agentlab.messages.conversation import Reply, Request, StopReason, ToolResult

T = TypeVar("T")


class _CancelledError(Exception):
    """Internal: the driver answered with `Cancel`."""


Happened = tuple[Event, str]
Step = Generator[Effect, Answer, Happened]


def run(
    start: Request,
    *,
    run_id: str,
    budgets: Budgets,
    clock: Clock,
    repeatable: frozenset[str] = frozenset(),
    shorten: Callable[[History], History] = lambda messages: messages,
    is_full: Callable[[Request], bool] = lambda request: False,
) -> Generator[Effect, Answer, RunResult]:
    """Run one task to one of the four terminals.

    `start` is the first request: system prompt, tool schemas and the task. `clock` gives seconds and is only ever
    subtracted. `repeatable` names the tools whose contract allows an identical call again. `shorten` removes history
    from what is sent (clearing, trimming) and `is_full` says when a summary is due; the result keeps every message.
    Before either acts, the loop asks for the whole transcript to be stored, and fails where that is not done.

    A budget is looked at once a reply. A reply that already answers is returned even when it used up the last of one.
    An exception in here (a driver or a model that breaks its promise) ends the run as cancelled, with its audit event,
    and is then raised.
    """
    progress = Progress(run_id, start, budgets, clock, shorten, is_full, repeatable, began=clock())
    for message in start.messages:
        progress.add(message)
    state = State.REASONING
    detail = ""
    broken: Exception | None = None
    while state not in TERMINALS:
        try:
            event, detail = yield from _STEPS[state](progress)
        except _CancelledError as cancelled:
            event, detail = Event.CANCEL, str(cancelled)
        except Exception as error:  # raised again below, once the run has left its audit event
            if (state, Event.CANCEL) not in TRANSITIONS:
                raise
            broken = error
            event, detail = Event.CANCEL, f"stopped by {type(error).__name__}"
        progress.count()
        target = follow(state, event)
        progress.transitions.append(Transition(state=state, event=event, target=target, detail=detail))
        state = target
    result = _end(progress, state, detail)
    yield Emit(result.audit)
    if broken is not None:
        raise broken
    return result


def _ask(effect: Effect) -> Generator[Effect, Answer, Answer]:
    answer = yield effect
    if isinstance(answer, Cancel):
        raise _CancelledError(answer.reason)
    return answer


def _reasoning(progress: Progress) -> Step:
    if progress.open_calls:
        return Event.OPEN_CALL, progress.open_calls[0].name
    shorter = progress.shorten(tuple(progress.context))
    if shorter != tuple(progress.context):
        problem = yield from _archive(progress)
        if problem:
            return Event.NOT_ARCHIVED, problem
        progress.context = list(shorter)  # what a control has removed stays removed
    request = progress.request()
    if not progress.compacted and progress.is_full(request):
        return Event.CONTEXT_FULL, ""
    progress.compacted = False
    answer = yield from _ask(CallModel(request))
    if isinstance(answer, ModelFailed):
        return Event.MODEL_FAILED, answer.reason
    reply = _expect(answer, Reply)
    progress.count_reply(request, reply)
    progress.reply = reply
    progress.add(reply.message)
    progress.open_calls = list(reply.tool_calls)
    return Event.REPLY, reply.stop.value


def _archive(progress: Progress) -> Generator[Effect, Answer, str]:
    """Have the whole transcript stored; why it is not, or ""."""
    answer = yield from _ask(Archive(tuple(progress.messages)))
    if isinstance(answer, NotArchived):
        return answer.reason
    _expect(answer, Archived)
    return ""


def _compacting(progress: Progress) -> Step:
    problem = yield from _archive(progress)
    if problem:
        return Event.NOT_ARCHIVED, problem
    request = progress.request()
    answer = yield from _ask(Compact(request))
    if isinstance(answer, NotCompacted):
        return Event.NOT_COMPACTED, answer.reason
    compacted = _expect(answer, Compacted)
    shorter = compacted.messages
    progress.count_summary(request, compacted)
    progress.context = list(shorter)
    # Once for each request: a summary that is still too long must not be summarised for ever.
    progress.compacted = True
    left = f"{len(shorter)} messages left"
    return Event.COMPACTED, f"{left}; old results cleared, because {compacted.instead}" if compacted.instead else left


def _choosing(progress: Progress) -> Step:
    reply = _expect(progress.reply, Reply)
    problem = _unusable(reply, progress.call_ids)
    if problem:
        return Event.UNUSABLE_REPLY, problem
    if reply.stop is StopReason.END:
        return Event.ANSWER, ""
    budget = used_up(progress.budgets, progress.totals)
    if budget:
        return Event.BUDGET_USED_UP, budget
    if reply.stop is not StopReason.TOOL:
        return Event.RESUME, reply.stop.value
    progress.call_ids.update(call.id for call in reply.tool_calls)
    return Event.TOOL_CALL, ", ".join(call.name for call in reply.tool_calls)
    yield  # a generator like the other steps, though choosing asks nothing of the world


def _validating(progress: Progress) -> Step:
    call = progress.open_calls[0]
    answer = yield from _ask(Decide(call, progress.repeat(call)))
    progress.decided = _expect(answer, Decided)
    verdict = progress.decided.decision.verdict
    if isinstance(verdict, Deny) and verdict.invalid:
        # A refused repeat is no result of the call: remembering it would let the next repeat through.
        progress.close_call(_refusal(progress.decided), remember=progress.decided.decision.guard != REPEATED_CALL)
        return Event.INVALID, verdict.reason
    return Event.VALID, call.name


def _deciding(progress: Progress) -> Step:
    if progress.decided is None:
        answer = yield from _ask(Decide(progress.open_calls[0]))
        progress.decided = _expect(answer, Decided)
    decision = progress.decided.decision
    if isinstance(decision.verdict, Allow):
        return Event.ALLOWED, decision.proposal.call.name
    if isinstance(decision.verdict, NeedsApproval) and not progress.asked:
        return Event.APPROVAL_NEEDED, decision.verdict.call_id
    # A person said yes and the guards still want a person: the yes was for another call. Nobody is asked twice.
    reason = (
        decision.verdict.reason if isinstance(decision.verdict, Deny) else "denied: the approval is not for this call"
    )
    progress.close_call(_refusal(progress.decided))
    return (Event.ABUSE if decision.ends_run else Event.DENIED), reason


def _awaiting_approval(progress: Progress) -> Step:
    decision = _expect(progress.decided, Decided).decision
    asked_at = progress.clock()
    try:
        answer = yield from _ask(AskApproval(decision))
    finally:
        waited = progress.totals.seconds_waiting + progress.clock() - asked_at
        progress.count(seconds_waiting=waited)
    said = _expect(answer, PersonSays)
    if said.answer == "approved":
        progress.decided = None
        progress.asked = True
        return Event.APPROVED, ""
    refusal = said.result or ToolResult(call_id="", content=f"not approved: {said.answer}", is_error=True)
    progress.close_call(refusal)
    return Event.NOT_APPROVED, said.answer


def _calling(progress: Progress) -> Step:
    decision = _expect(progress.decided, Decided).decision
    answer = yield from _ask(CallTool(decision))
    dispatched = _expect(answer, Dispatched)
    progress.count(tool_calls=progress.totals.tool_calls + 1)
    progress.close_call(dispatched.result)
    if dispatched.receipt.outcome in (Outcome.EXECUTED, Outcome.REPLAYED):
        progress.found.append(dispatched.result.content)
        return Event.RESULT, dispatched.receipt.outcome.value
    return Event.TOOL_FAILED, dispatched.receipt.outcome.value


_STEPS: dict[State, Callable[[Progress], Step]] = {
    State.REASONING: _reasoning,
    State.COMPACTING: _compacting,
    State.CHOOSING: _choosing,
    State.VALIDATING: _validating,
    State.DECIDING: _deciding,
    State.AWAITING_APPROVAL: _awaiting_approval,
    State.CALLING: _calling,
}


def _end(progress: Progress, state: State, reason: str) -> RunResult:
    """Close what is open and say what was found: a history with an unanswered call is refused by every provider."""
    while progress.open_calls:
        closing = f"not run: the run ended as {state.value}"
        progress.close_call(ToolResult(call_id="", content=closing, is_error=True))
    said = [message.content for message in progress.messages if message.role == "assistant" and message.content]
    last = said[-1] if said else ""
    if state is State.ANSWERED:
        answer = progress.reply.content if progress.reply else ""
    else:
        answer = f"The run stopped without an answer ({state.value}: {reason})." + (
            f" Last said: {last}" if last else ""
        )
    return RunResult(
        run_id=progress.run_id,
        state=state,
        reason=reason,
        answer=answer,
        found=tuple(progress.found),
        messages=tuple(progress.messages),
        totals=progress.totals,
        transitions=tuple(progress.transitions),
    )


def _unusable(reply: Reply, used_ids: set[str]) -> str | None:
    """Why nothing of this reply may be acted on, or None. A reply that was cut never has its calls run."""
    if reply.stop is StopReason.LENGTH:
        return "the reply was cut at its length limit"
    if reply.stop in (StopReason.CONTEXT_FULL, StopReason.REFUSAL, StopReason.UNKNOWN):
        return f"the reply ended with {reply.stop.value}"
    if reply.stop is StopReason.TOOL and not reply.tool_calls:
        return "the reply stopped for a tool and names none"
    if reply.stop is not StopReason.TOOL and reply.tool_calls:
        return f"the reply names tools and ended with {reply.stop.value}"
    ids = [call.id for call in reply.tool_calls]
    if len(set(ids)) < len(ids) or used_ids & set(ids) or "" in ids:
        return "the reply uses the id of a call twice, or leaves it empty"
    return None


def _refusal(decided: Decided) -> ToolResult:
    return decided.refusal or ToolResult(call_id="", content="refused", is_error=True)


def _expect(answer: object, kind: type[T]) -> T:
    if not isinstance(answer, kind):
        raise AgentlabError(f"the driver sent {type(answer).__name__} where the loop asked for {kind.__name__}")
    return answer
