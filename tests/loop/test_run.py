"""The loop, one conversation a test: what it asks for, what it is told, where that leads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invoice_tool import CLERK, Clock, Erp, make_dispatcher, post_call, post_contract, read_contract
from pydantic import ValidationError

from agentlab.dispatch.dispatcher import Tool, ToolError
from agentlab.errors import AgentlabError
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import drive, run_task
from agentlab.loop.effects import Archive, Archived, Compact, Compacted, Decide
from agentlab.loop.machine import TERMINALS, TRANSITIONS, Event, State
from agentlab.loop.run import run
from agentlab.messages.conversation import (
    AssistantMessage,
    Reply,
    Request,
    StopReason,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from agentlab.messages.models import ModelError, Rules, Scripted

ROOMY = Budgets(model_calls=50, tokens=1_000_000, seconds=1_000.0)
USAGE = Usage(input_tokens=100, output_tokens=10)
END = Reply(content="done", stop=StopReason.END, usage=USAGE)


def asks(*calls, content="", stop=StopReason.TOOL):
    return Reply(content=content, tool_calls=calls, stop=stop, usage=USAGE)


def task(steps, *, budgets=ROOMY, dispatcher=None, **more):
    """Run a script to its end; hand back the result and the audit events that were emitted."""
    audits = []
    with Scripted(steps) as model:
        result = run_task(
            "Post the invoices.",
            run_id="run-1",
            budgets=budgets,
            model=model,
            dispatcher=dispatcher or make_dispatcher(),
            caller=CLERK,
            clock=more.pop("clock", Clock()),
            on_audit=audits.append,
            **more,
        )
    assert audits == [result.audit]
    return result


def walked(result):
    return [(each.state, each.event) for each in result.transitions]


def results(result):
    return [each.content for each in result.messages if each.role == "tool"]


def poll_tool(answers):
    contract = read_contract(name="poll", description="Poll.", repeatable=True)
    replies = iter(answers)
    return Tool(contract, lambda arguments, caller: next(replies))


def test_one_tool_call_takes_two_model_calls_and_ends_answered():
    result = task([asks(post_call()), END])
    assert result.state is State.ANSWERED
    assert result.answer == "done"
    assert [each.role for each in result.messages] == ["user", "assistant", "tool", "assistant"]
    assert (result.totals.model_calls, result.totals.tool_calls) == (2, 1)
    assert (result.totals.input_tokens, result.totals.output_tokens, result.totals.tokens_origin) == (
        200,
        20,
        "measured",
    )
    assert walked(result) == [
        (State.REASONING, Event.REPLY),
        (State.CHOOSING, Event.TOOL_CALL),
        (State.VALIDATING, Event.VALID),
        (State.DECIDING, Event.ALLOWED),
        (State.CALLING, Event.RESULT),
        (State.REASONING, Event.REPLY),
        (State.CHOOSING, Event.ANSWER),
    ]


def test_each_request_carries_the_whole_conversation():
    with Scripted([asks(post_call()), END]) as model:
        run_task("Post.", run_id="r", budgets=ROOMY, model=model, dispatcher=make_dispatcher(), caller=CLERK)
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert [each.role for each in second.messages[len(first.messages) :]] == ["assistant", "tool"]
    assert first.tools == second.tools == (post_contract().schema_for_model,)


def test_an_invalid_and_a_denied_call_cost_a_step_and_the_model_is_told_why():
    dispatcher = make_dispatcher(roles=("ap_lead",))
    result = task([asks(post_call(amount_cents="1")), asks(post_call(2)), END], dispatcher=dispatcher)
    assert (State.VALIDATING, Event.INVALID) in walked(result)
    assert (State.DECIDING, Event.DENIED) in walked(result)
    assert result.totals.model_calls == 3
    assert result.totals.tool_calls == 0
    assert "amount_cents" in results(result)[0]
    assert "may not call" in results(result)[1]


def test_a_denial_that_looks_like_abuse_ends_the_run():
    dispatcher = make_dispatcher(roles=("ap_lead",), denial_ends_run=True)
    result = task([asks(post_call())], dispatcher=dispatcher)
    assert result.state is State.FAILED
    assert (State.DECIDING, Event.ABUSE) in walked(result)


def test_an_approval_lets_the_decision_be_taken_again_and_the_call_runs_once():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)

    def lead(decision):
        dispatcher.approvals.decide(decision.call_id, "lead", True)
        return "approved"

    result = task([asks(post_call(amount_cents=600_000)), END], dispatcher=dispatcher, ask_person=lead)
    assert [each for each in walked(result) if each[0] in (State.DECIDING, State.AWAITING_APPROVAL)] == [
        (State.DECIDING, Event.APPROVAL_NEEDED),
        (State.AWAITING_APPROVAL, Event.APPROVED),
        (State.DECIDING, Event.ALLOWED),
    ]
    assert len(erp.posted) == 1


def test_a_yes_that_no_store_knows_runs_nothing():
    erp = Erp()
    result = task(
        [asks(post_call(amount_cents=600_000)), END],
        dispatcher=make_dispatcher(erp=erp),
        ask_person=lambda _: "approved",
    )
    assert result.state is State.ANSWERED
    assert erp.posted == []
    assert (State.DECIDING, Event.DENIED) in walked(result)


@pytest.mark.parametrize(("answer", "outcome"), [("denied", "denied"), ("expired", "expired")])
def test_a_no_and_no_answer_are_two_different_records(answer, outcome):
    dispatcher = make_dispatcher()
    result = task([asks(post_call(amount_cents=600_000)), END], dispatcher=dispatcher, ask_person=lambda _: answer)
    assert (State.AWAITING_APPROVAL, Event.NOT_APPROVED) in walked(result)
    assert [each.outcome for each in dispatcher.ledger.receipts()] == ["pending", outcome]


def test_time_spent_waiting_for_a_person_is_no_part_of_the_time_budget():
    clock = Clock()

    def slow(decision):
        clock.now += 10_000
        return "expired"

    budgets = Budgets(model_calls=5, tokens=10_000, seconds=60)
    result = task(
        [asks(post_call(amount_cents=600_000)), asks(post_call(2)), END], budgets=budgets, clock=clock, ask_person=slow
    )
    assert result.state is State.ANSWERED
    assert result.totals.seconds_waiting == 10_000


@pytest.mark.parametrize(
    ("budgets", "reason"),
    [
        (Budgets(model_calls=2, tokens=10_000, seconds=60), "model calls: 2 of 2 used"),
        (Budgets(model_calls=9, tokens=220, seconds=60), "tokens: 220 of 220 used"),
    ],
)
def test_a_budget_stops_the_run_says_which_one_and_returns_what_was_found(budgets, reason):
    erp = Erp()
    steps = [asks(post_call(1)), asks(post_call(2, idempotency_key="key-2"), content="One more.")]
    result = task(steps, budgets=budgets, dispatcher=make_dispatcher(erp=erp))
    assert (result.state, result.reason) == (State.BUDGET_STOP, reason)
    assert reason in result.answer
    assert "One more." in result.answer
    assert len(result.found) == len(erp.posted) == 1


def test_the_time_budget_stops_the_run():
    clock = Clock()

    def slow(request):
        clock.now += 61
        return asks(post_call())

    result = task([slow], budgets=Budgets(model_calls=9, tokens=10_000, seconds=60), clock=clock)
    assert (result.state, result.reason) == (State.BUDGET_STOP, "time: 61.0 of 60.0 seconds used")


def test_an_answer_in_hand_is_returned_even_when_it_used_up_the_budget():
    assert task([END], budgets=Budgets(model_calls=1, tokens=1, seconds=1)).state is State.ANSWERED


def test_a_model_that_never_finishes_is_stopped():
    model = Rules(lambda request: asks(post_call(len(request.messages), idempotency_key=f"k{len(request.messages)}")))
    result = run_task(
        "Post.",
        run_id="r",
        budgets=Budgets(model_calls=12, tokens=10**9, seconds=60),
        model=model,
        dispatcher=make_dispatcher(),
        caller=CLERK,
        clock=Clock(),
    )
    assert result.state is State.BUDGET_STOP
    assert result.totals.model_calls == 12
    assert result.totals.tool_calls == 11


@pytest.mark.parametrize(
    "reply",
    [
        asks(post_call(), stop=StopReason.LENGTH),
        asks(post_call(), stop=StopReason.REFUSAL),
        asks(post_call(), stop=StopReason.UNKNOWN),
        asks(post_call(), stop=StopReason.CONTEXT_FULL),
        asks(post_call(), stop=StopReason.END),
        asks(post_call(1), post_call(1, idempotency_key="key-2")),
        asks(ToolCall(id="", name="erp_post_invoice", arguments={})),
        asks(),
    ],
)
def test_nothing_of_an_unusable_reply_is_run_and_its_calls_are_closed(reply):
    erp = Erp()
    result = task([reply], dispatcher=make_dispatcher(erp=erp))
    assert result.state is State.FAILED
    assert erp.posted == []
    assert len(results(result)) == len(reply.tool_calls)


def test_a_cut_reply_is_said_to_be_cut():
    assert task([asks(post_call(), stop=StopReason.LENGTH)]).reason == "the reply was cut at its length limit"


def test_the_id_of_a_call_is_used_once_in_a_run():
    result = task([asks(post_call(1)), asks(post_call(1, idempotency_key="key-2"))])
    assert (result.state, result.reason) == (State.FAILED, "the reply uses the id of a call twice, or leaves it empty")


def test_a_paused_reply_is_resumed():
    result = task([Reply(content="...", stop=StopReason.PAUSE, usage=USAGE), END])
    assert (State.CHOOSING, Event.RESUME) in walked(result)
    assert result.state is State.ANSWERED


def test_parallel_calls_are_each_decided_and_answered_in_their_order():
    calls = (post_call(1), post_call(2, amount_cents="1"), post_call(3, idempotency_key="key-3"))
    result = task([asks(*calls), END])
    assert [each.call_id for each in result.messages if each.role == "tool"] == ["call_1", "call_2", "call_3"]
    assert [each.is_error for each in result.messages if each.role == "tool"] == [False, True, False]
    assert walked(result).count((State.REASONING, Event.OPEN_CALL)) == 2
    assert result.totals.model_calls == 2


def test_a_model_without_a_reply_fails_the_run():
    def down(request):
        raise ModelError("the provider does not answer")

    result = task([down])
    assert (result.state, result.reason) == (State.FAILED, "the provider does not answer")


def test_a_tool_that_fails_is_told_to_the_model_and_costs_a_step():
    erp = Erp()
    erp.raises = ToolError("the period is closed")
    result = task([asks(post_call()), END], dispatcher=make_dispatcher(erp=erp))
    assert (State.CALLING, Event.TOOL_FAILED) in walked(result)
    assert results(result) == ["the period is closed"]
    assert result.found == ()


def test_a_repeated_identical_call_is_not_run_and_leaves_a_receipt_all_the_same():
    dispatcher = make_dispatcher()
    result = task([asks(post_call(1)), asks(post_call(2)), END], dispatcher=dispatcher)
    assert result.totals.tool_calls == 1
    assert "repeated call" in results(result)[1]
    assert [(each.outcome, each.guard) for each in dispatcher.ledger.receipts()] == [
        ("executed", None),
        ("invalid", "repeated_call"),
    ]


def test_a_repeat_is_recognised_whatever_the_order_of_its_arguments():
    arguments = post_call().arguments
    again = ToolCall(id="2", name="erp_post_invoice", arguments=dict(reversed(arguments.items())))
    assert "repeated call" in results(task([asks(post_call()), asks(again), END]))[1]


def test_polling_is_allowed_until_the_third_repeat_with_an_unchanged_result():
    polls = [asks(ToolCall(id=str(n), name="poll", arguments={})) for n in range(6)]
    result = task([*polls, END], dispatcher=make_dispatcher(poll_tool(["busy", "busy", "50 %", "50 %", "50 %"])))
    assert results(result)[:5] == ["busy", "busy", "50 %", "50 %", "50 %"]
    assert "same result 3 times" in results(result)[5]


@pytest.mark.parametrize("broken", [RuntimeError("disk full"), KeyboardInterrupt()])
def test_an_interrupt_or_a_broken_part_ends_the_run_with_its_audit_event_and_goes_on_upwards(broken):
    audits = []

    def raises(request):
        raise broken

    with pytest.raises(type(broken)):
        run_task(
            "Post.",
            run_id="r",
            budgets=ROOMY,
            model=Rules(raises),
            dispatcher=make_dispatcher(),
            caller=CLERK,
            clock=Clock(),
            on_audit=audits.append,
        )
    assert [each.state for each in audits] == [State.CANCELLED]


def interrupt(*_, **__):
    raise KeyboardInterrupt


def approves(decision):
    return "approved"


def cancelled_at(at):
    """A run that is interrupted while it waits in the state `at`, and the audit events that it emitted."""
    dispatcher = make_dispatcher()
    decide = dispatcher.decide
    if at is State.VALIDATING:
        dispatcher.decide = interrupt
    if at is State.CALLING:
        dispatcher.run = interrupt
    ask_person = interrupt
    if at is State.DECIDING:
        decisions = iter([decide])
        dispatcher.decide = lambda *given, **more: next(decisions, interrupt)(*given, **more)
        ask_person = approves
    needs_person = at in (State.AWAITING_APPROVAL, State.DECIDING)
    model = Rules(
        interrupt if at is State.REASONING else lambda _: asks(post_call(amount_cents=600_000 if needs_person else 1))
    )
    seen = []
    audits = []
    with pytest.raises(KeyboardInterrupt):
        drive(
            _recording(_loop(is_full=lambda _: at is State.COMPACTING), seen),
            model=model,
            dispatcher=dispatcher,
            caller=CLERK,
            ask_person=ask_person,
            compact=interrupt,
            on_audit=audits.append,
        )
    return seen[0], audits


CANCELLABLE = [state for state, event in TRANSITIONS if event is Event.CANCEL]


@pytest.mark.parametrize("at", CANCELLABLE)
def test_a_cancelled_run_closes_its_open_calls_wherever_it_was(at):
    result, audits = cancelled_at(at)
    assert walked(result)[-1] == (at, Event.CANCEL)
    assert audits == [result.audit]
    assert len(results(result)) == sum(len(m.tool_calls) for m in result.messages if isinstance(m, AssistantMessage))


def _loop(**more):
    return run(Request(messages=(UserMessage(content="Post."),)), run_id="r", budgets=ROOMY, clock=Clock(), **more)


def _recording(loop, seen):
    """Pass everything through, and keep the result that the driver would swallow when it raises."""
    result = yield from loop
    seen.append(result)
    return result


def test_compaction_replaces_what_is_sent_and_keeps_what_was_said():
    short = (UserMessage(content="Summary: one invoice posted."),)
    full = iter([False, True, True])
    loop = _loop(is_full=lambda request: next(full))
    with Scripted([asks(post_call()), END]) as model:
        result = drive(
            loop, model=model, dispatcher=make_dispatcher(), caller=CLERK, compact=lambda request: Compacted(short)
        )
    assert model.requests[1].messages == short
    assert len(result.messages) == 4
    assert walked(result).count((State.REASONING, Event.CONTEXT_FULL)) == 1
    assert (State.COMPACTING, Event.COMPACTED) in walked(result)


def test_a_run_whose_context_cannot_be_compacted_fails_and_says_so():
    result = drive(_loop(is_full=lambda request: True), model=Scripted([]), dispatcher=make_dispatcher(), caller=CLERK)
    assert (result.state, result.reason) == (State.FAILED, "nothing was given that can make a summary")


def test_shortening_changes_what_is_sent_and_not_what_is_kept():
    def blank(messages):
        return tuple(m.model_copy(update={"content": "[cleared]"}) if m.role == "tool" else m for m in messages)

    with Scripted([asks(post_call()), END]) as model:
        result = drive(_loop(shorten=blank), model=model, dispatcher=make_dispatcher(), caller=CLERK)
    assert model.requests[1].messages[-1] == ToolResult(call_id="call_1", content="[cleared]")
    assert "posted" in results(result)[0]


def test_a_driver_that_sends_the_wrong_thing_is_told_so():
    loop = _loop()
    next(loop)
    assert loop.send(Compacted(())).event.state is State.CANCELLED
    with pytest.raises(AgentlabError, match="sent Compacted where the loop asked for Reply"):
        next(loop)


def test_the_loop_asks_for_one_thing_at_a_time_and_does_nothing_itself():
    loop = _loop()
    effect = next(loop)
    assert effect.request.messages == (UserMessage(content="Post."),)
    assert isinstance(loop.send(asks(post_call())), Decide)
    full = _loop(is_full=lambda request: True)
    assert isinstance(next(full), Archive)
    assert isinstance(full.send(Archived()), Compact)


def test_tokens_are_counted_here_when_the_provider_reports_none():
    result = task([Reply(content="done", stop=StopReason.END)])
    assert result.totals.tokens_origin == "estimated"
    assert result.totals.output_tokens == 1
    assert result.totals.input_tokens > 1


@pytest.mark.parametrize(
    "change",
    [{"model_calls": 0}, {"tokens": 0}, {"seconds": 0.0}, {"seconds": float("inf")}, {"seconds": float("nan")}],
)
def test_a_budget_that_bounds_nothing_is_refused(change):
    with pytest.raises(ValidationError, match="greater than zero"):
        Budgets(**({"model_calls": 1, "tokens": 1, "seconds": 1.0} | change))


call_arguments = st.fixed_dictionaries(
    {
        "invoice_id": st.sampled_from(["INV-1", "INV-2"]),
        "amount_cents": st.sampled_from([1, 120_000, 600_000, -1, "1", True]),
        "idempotency_key": st.sampled_from(["k1", "k2"]),
    }
)
replies = st.builds(
    lambda calls, stop, content: (calls, stop, content),
    st.lists(call_arguments, max_size=3),
    st.sampled_from(StopReason),
    st.sampled_from(["", "text"]),
)


@given(st.lists(replies, max_size=8), st.integers(min_value=1, max_value=6), st.sampled_from(["expired", "denied"]))
def test_whatever_the_model_says_the_run_ends_once_within_budget_and_with_every_call_answered(script, limit, person):
    erp = Erp()
    number = iter(range(1_000))
    steps = [
        asks(
            *(ToolCall(id=f"c{next(number)}", name="erp_post_invoice", arguments=a) for a in calls),
            content=text,
            stop=stop,
        )
        for calls, stop, text in script
    ]
    audits = []
    result = run_task(
        "Post.",
        run_id="r",
        budgets=Budgets(model_calls=limit, tokens=10**9, seconds=10.0),
        model=Scripted([*steps, *[END] * 2]),
        dispatcher=make_dispatcher(erp=erp),
        caller=CLERK,
        clock=Clock(),
        ask_person=lambda _: person,
        on_audit=audits.append,
    )
    assert result.state in TERMINALS
    assert audits == [result.audit]
    assert result.totals.model_calls <= limit
    asked = [call.id for m in result.messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
    assert [m.call_id for m in result.messages if isinstance(m, ToolResult)] == asked
    assert all(type(each["amount_cents"]) is int and 0 < each["amount_cents"] <= 500_000 for each in erp.posted)
    assert len({each["idempotency_key"] for each in erp.posted}) == len(erp.posted)
    assert all((t.state, t.event) in TRANSITIONS for t in result.transitions)


def test_every_transition_of_the_table_is_walked():
    erp = Erp()
    erp.raises = ToolError("closed")
    person = make_dispatcher()

    def lead(decision):
        person.approvals.decide(decision.call_id, "lead", True)
        return "approved"

    def down(request):
        raise ModelError("down")

    def no_archive(messages):
        raise AgentlabError("the disk is full")

    large = asks(post_call(amount_cents=600_000))
    full = iter([True])
    runs = [
        task([asks(post_call(1), post_call(2)), Reply(stop=StopReason.PAUSE), END]),
        task([large, END]),
        task([large, END], dispatcher=person, ask_person=lead),
        task([asks(post_call(amount_cents="1")), END]),
        task([asks(post_call()), END], dispatcher=make_dispatcher(roles=())),
        task([asks(post_call())], dispatcher=make_dispatcher(roles=(), denial_ends_run=True)),
        task([asks(post_call()), END], dispatcher=make_dispatcher(erp=erp)),
        task([asks(post_call())], budgets=Budgets(model_calls=1, tokens=10**9, seconds=1.0)),
        task([Reply(stop=StopReason.LENGTH)]),
        task([down]),
        drive(_loop(is_full=lambda _: True), model=Scripted([]), dispatcher=make_dispatcher(), caller=CLERK),
        drive(
            _loop(is_full=lambda _: next(full, False)),
            model=Scripted([END]),
            dispatcher=make_dispatcher(),
            caller=CLERK,
            compact=lambda request: Compacted(request.messages),
        ),
        *(
            drive(loop, model=Scripted([]), dispatcher=make_dispatcher(), caller=CLERK, archive=no_archive)
            for loop in (_loop(is_full=lambda _: True), _loop(shorten=lambda messages: ()))
        ),
        *(cancelled_at(state)[0] for state in CANCELLABLE),
    ]
    assert {step for each in runs for step in walked(each)} == set(TRANSITIONS)


@pytest.mark.parametrize("reply", [None, {"content": "hi"}, "hi"])
def test_a_model_that_breaks_its_promise_ends_the_run_with_one_audit_event(reply):
    audits = []
    with pytest.raises(AgentlabError, match="where the loop asked for Reply"):
        run_task(
            "Post.",
            run_id="r",
            budgets=ROOMY,
            model=Rules(lambda _: reply),
            dispatcher=make_dispatcher(),
            caller=CLERK,
            clock=Clock(),
            on_audit=audits.append,
        )
    assert [(each.state, each.reason) for each in audits] == [(State.CANCELLED, "stopped by AgentlabError")]


@pytest.mark.parametrize("answer", [None, True, "yes"])
def test_only_the_three_answers_of_a_person_are_answers(answer):
    erp = Erp()
    audits = []
    with pytest.raises(AgentlabError, match="approved, denied or expired"):
        run_task(
            "Post.",
            run_id="r",
            budgets=ROOMY,
            model=Rules(lambda _: asks(post_call(amount_cents=600_000))),
            dispatcher=make_dispatcher(erp=erp),
            caller=CLERK,
            clock=Clock(),
            ask_person=lambda _: answer,
            on_audit=audits.append,
        )
    assert [each.state for each in audits] == [State.CANCELLED]
    assert erp.posted == []


def test_a_tool_that_ends_the_program_ends_the_run_first():
    erp = Erp()
    erp.raises = SystemExit(3)
    audits = []
    with pytest.raises(SystemExit):
        run_task(
            "Post.",
            run_id="r",
            budgets=ROOMY,
            model=Rules(lambda _: asks(post_call())),
            dispatcher=make_dispatcher(erp=erp),
            caller=CLERK,
            clock=Clock(),
            on_audit=audits.append,
        )
    assert [each.state for each in audits] == [State.CANCELLED]


def test_a_refused_repeat_does_not_open_the_door_for_the_next_one():
    polls = [asks(ToolCall(id=str(n), name="poll", arguments={})) for n in range(8)]
    result = task([*polls, END], dispatcher=make_dispatcher(poll_tool(["busy"] * 3)))
    assert result.totals.tool_calls == 3


def test_the_call_that_makes_a_summary_counts_into_the_budgets():
    short = (UserMessage(content="Summary."),)
    full = iter([False, True])
    compacting = _loop(is_full=lambda _: next(full, False))
    with Scripted([asks(post_call()), END]) as model:
        result = drive(
            compacting, model=model, dispatcher=make_dispatcher(), caller=CLERK, compact=lambda _: Compacted(short)
        )
    assert result.totals.model_calls == 3
    assert result.totals.tokens_origin == "estimated"
