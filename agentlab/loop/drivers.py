"""Drivers: they do what the loop asks for. This one is plain Python, one thing after the other."""

import time
from collections.abc import Callable, Generator
from typing import Literal

from agentlab.context.controls import Control, KeepAll
from agentlab.dispatch.dispatcher import Decision, Dispatcher
from agentlab.dispatch.guards import Allow, Caller
from agentlab.errors import AgentlabError
from agentlab.loop.budgets import Budgets
from agentlab.loop.effects import (
    Answer,
    AskApproval,
    AuditEvent,
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
    NotCompacted,
    PersonSays,
)
from agentlab.loop.progress import Clock, RunResult
from agentlab.loop.run import run
from agentlab.messages.conversation import Message, Request, UserMessage
from agentlab.messages.counters import count_request
from agentlab.messages.models import Model, ModelError

AskPerson = Callable[[Decision], Literal["approved", "denied", "expired"]]
ShortenHistory = Callable[[Request], tuple[Message, ...]]
Summarise = Callable[[Request], str]


def nobody_answers(decision: Decision) -> Literal["expired"]:
    """The person of a run that nobody watches: the request stays open for later, and this run goes on without it."""
    return "expired"


def drive(
    loop: Generator[Effect, Answer, RunResult],
    *,
    model: Model,
    dispatcher: Dispatcher,
    caller: Caller,
    ask_person: AskPerson = nobody_answers,
    compact: ShortenHistory | None = None,
    on_audit: Callable[[AuditEvent], None] = lambda event: None,
) -> RunResult:
    """Drive `loop` to its end.

    A `ModelError` ends the run as Failed. Ctrl-C, or any exception that is no business of the run (a full disk, a
    mistake in the program), ends it as Cancelled, with its audit event, and is then raised again.
    """
    driver = _Driver(model, dispatcher, caller, ask_person, compact, on_audit)
    raised: BaseException | None = None
    answer: Answer = None
    try:
        while True:
            effect = loop.send(answer)
            try:
                answer = driver.perform(effect)
            except KeyboardInterrupt as interrupt:
                raised, answer = interrupt, Cancel("interrupted")
            except BaseException as error:
                if isinstance(effect, Emit):
                    raise
                raised, answer = error, Cancel(f"stopped by {type(error).__name__}")
    except StopIteration as end:
        result: RunResult = end.value
    if raised is not None:
        raise raised
    return result


def run_task(
    task: str,
    *,
    system: str = "",
    run_id: str,
    budgets: Budgets,
    model: Model,
    dispatcher: Dispatcher,
    caller: Caller,
    clock: Clock = time.monotonic,
    ask_person: AskPerson = nobody_answers,
    control: Control | None = None,
    summarise: Summarise | None = None,
    count: Callable[[Request], int] = count_request,
    on_audit: Callable[[AuditEvent], None] = lambda event: None,
) -> RunResult:
    """Run one task with the tools of `dispatcher`: the loop with its plain driver, in one call.

    `control` (`agentlab.context.controls`) removes history from what is sent; it is the object that forecasts the run.
    A control that compacts needs `summarise`, which turns the pending request into the text of a summary, and `count`,
    the tokens of a request.
    """
    keep = control or KeepAll()
    contracts = dispatcher.contracts
    start = Request(
        system=system,
        tools=tuple(contract.schema_for_model for contract in contracts),
        messages=(UserMessage(content=task),),
    )
    repeatable = frozenset(contract.name for contract in contracts if contract.repeatable)
    loop = run(
        start,
        run_id=run_id,
        budgets=budgets,
        clock=clock,
        repeatable=repeatable,
        shorten=keep.apply,
        is_full=lambda request: keep.due(request.messages, lambda messages: count(_with(request, messages))),
    )
    compact = None if summarise is None else _compacting(keep, summarise)
    return drive(
        loop,
        model=model,
        dispatcher=dispatcher,
        caller=caller,
        ask_person=ask_person,
        compact=compact,
        on_audit=on_audit,
    )


def _with(request: Request, messages: tuple[Message, ...]) -> Request:
    return request.model_copy(update={"messages": messages})


def _compacting(control: Control, summarise: Summarise) -> ShortenHistory:
    return lambda request: control.apply(request.messages, summary=summarise(request))


class _Driver:
    """Does one effect at a time."""

    def __init__(
        self,
        model: Model,
        dispatcher: Dispatcher,
        caller: Caller,
        ask_person: AskPerson,
        compact: ShortenHistory | None,
        on_audit: Callable[[AuditEvent], None],
    ) -> None:
        self._model = model
        self._dispatcher = dispatcher
        self._caller = caller
        self._ask_person = ask_person
        self._compact = compact
        self._on_audit = on_audit

    def perform(self, effect: Effect) -> Answer:
        match effect:
            case CallModel(request):
                try:
                    return self._model.complete(request)
                except ModelError as error:
                    return ModelFailed(str(error))
            case Decide(call, repeat):
                decision = self._dispatcher.decide(call, self._caller, repeat=repeat)
                if isinstance(decision.verdict, Allow):
                    return Decided(decision, None)
                return Decided(decision, self._dispatcher.refuse(decision).result)
            case AskApproval(decision):
                answer = self._ask_person(decision)
                if answer not in ("approved", "denied", "expired"):
                    # None, True or "yes" is no approval, and no refusal either.
                    raise AgentlabError(f"a person's answer is approved, denied or expired, not {answer!r}")
                if answer == "approved":
                    return PersonSays("approved")
                settled = self._dispatcher.not_approved(decision, answer)
                return PersonSays(answer, settled.result)
            case CallTool(decision):
                return self._dispatcher.run(decision)
            case Compact(request):
                if self._compact is None:
                    return NotCompacted("nothing was given that can make a summary")
                return Compacted(self._compact(request))
            case Emit(event):
                self._on_audit(event)
                return None
