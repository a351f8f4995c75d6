"""Drivers: they do what the loop asks for. This one is plain Python, one thing after the other."""

import time
from collections.abc import Callable, Generator
from typing import Literal

from agentlab.context.archive import Archive as TranscriptArchive
from agentlab.context.controls import Control, KeepAll
from agentlab.context.fallback import Stopped, shorten
from agentlab.context.summary import Summarise
from agentlab.dispatch.dispatcher import Decision, Dispatcher
from agentlab.dispatch.guards import Allow, Caller
from agentlab.errors import AgentlabError
from agentlab.loop.budgets import Budgets
from agentlab.loop.effects import (
    Answer,
    Archive,
    Archived,
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
    NotArchived,
    NotCompacted,
    PersonSays,
)
from agentlab.loop.progress import Clock, RunResult
from agentlab.loop.run import run
from agentlab.messages.conversation import Message, Request, UserMessage
from agentlab.messages.counters import count_request
from agentlab.messages.models import Model, ModelError

AskPerson = Callable[[Decision], Literal["approved", "denied", "expired"]]
Shorten = Callable[[Request], Compacted | NotCompacted]
Store = Callable[[tuple[Message, ...]], None]


def nobody_answers(decision: Decision) -> Literal["expired"]:
    """The person of a run that nobody watches: the request stays open for later, and this run goes on without it."""
    return "expired"


def no_summary(request: Request) -> NotCompacted:
    """What happens where nothing was given that could make a history shorter."""
    return NotCompacted("nothing was given that can make a summary")


def stay_in_memory(messages: tuple[Message, ...]) -> None:
    """The archive of a run that nobody needs to survive its process: `RunResult.messages` keeps the transcript."""


def drive(
    loop: Generator[Effect, Answer, RunResult],
    *,
    model: Model,
    dispatcher: Dispatcher,
    caller: Caller,
    ask_person: AskPerson = nobody_answers,
    compact: Shorten = no_summary,
    archive: Store = stay_in_memory,
    on_audit: Callable[[AuditEvent], None] = lambda event: None,
) -> RunResult:
    """Drive `loop` to its end.

    A `ModelError` ends the run as Failed. Ctrl-C, or any exception that is no business of the run (a full disk, a
    mistake in the program), ends it as Cancelled, with its audit event, and is then raised again.
    """
    driver = _Driver(model, dispatcher, caller, ask_person, compact, archive, on_audit)
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
    archive: TranscriptArchive | None = None,
    on_audit: Callable[[AuditEvent], None] = lambda event: None,
) -> RunResult:
    """Run one task with the tools of `dispatcher`: the loop with its plain driver, in one call.

    `control` (`agentlab.context.controls`) removes history from what is sent; it is the object that forecasts the run.
    A control that compacts needs `summarise`, which turns the pending request into the text of a summary, and `count`,
    the tokens of a request. Where the summary cannot be made, results are cleared instead, see
    `agentlab.context.fallback`. `archive` stores the whole transcript before anything is removed; without one it lives
    in the result alone.
    """
    keep = control or KeepAll()
    contracts = dispatcher.contracts
    start = Request(
        system=system,
        tools=tuple(contract.schema_for_model for contract in contracts),
        messages=(UserMessage(content=task),),
    )
    repeatable = frozenset(contract.name for contract in contracts if contract.repeatable)

    def counter(messages: tuple[Message, ...]) -> int:
        return count(start.model_copy(update={"messages": messages}))

    def compact(request: Request) -> Compacted | NotCompacted:
        shortened = shorten(keep, request, counter, summarise)
        if isinstance(shortened, Stopped):
            return NotCompacted(shortened.reason)
        return Compacted(shortened.messages, instead=shortened.failed)

    loop = run(
        start,
        run_id=run_id,
        budgets=budgets,
        clock=clock,
        repeatable=repeatable,
        shorten=lambda messages: keep.apply(messages, counter),
        is_full=lambda request: keep.due(request.messages, counter),
    )
    return drive(
        loop,
        model=model,
        dispatcher=dispatcher,
        caller=caller,
        ask_person=ask_person,
        compact=compact,
        archive=stay_in_memory if archive is None else lambda messages: archive.save(run_id, messages),
        on_audit=on_audit,
    )


class _Driver:
    """Does one effect at a time."""

    def __init__(
        self,
        model: Model,
        dispatcher: Dispatcher,
        caller: Caller,
        ask_person: AskPerson,
        compact: Shorten,
        archive: Store,
        on_audit: Callable[[AuditEvent], None],
    ) -> None:
        self._model = model
        self._dispatcher = dispatcher
        self._caller = caller
        self._ask_person = ask_person
        self._compact = compact
        self._archive = archive
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
                return self._compact(request)
            case Archive(messages):
                try:
                    self._archive(messages)
                except AgentlabError as error:
                    return NotArchived(str(error))
                return Archived()
            case Emit(event):
                self._on_audit(event)
                return None
