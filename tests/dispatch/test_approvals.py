"""Approvals, on SQLite and on PostgreSQL: one exact call, one person, one time, once."""

import pytest
import sqlalchemy
from invoice_tool import CLERK, Clock, Erp, make_dispatcher, post_call, post_contract

from agentlab.dispatch.dispatcher import Dispatcher, Tool
from agentlab.dispatch.ledger import Outcome
from agentlab.dispatch.tables import tables
from agentlab.errors import AgentlabError
from agentlab.store import open_store

DAY = 86_400.0
BIG = post_call(amount_cents=600_000)


@pytest.fixture
def erp() -> Erp:
    return Erp()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def dispatcher(engine: sqlalchemy.Engine, erp: Erp, clock: Clock) -> Dispatcher:
    return make_dispatcher(engine=engine, erp=erp, clock=clock)


def ask(dispatcher: Dispatcher, caller=CLERK) -> str:
    pending = dispatcher.dispatch(BIG, caller).receipt
    assert pending.outcome is Outcome.PENDING
    return pending.call_id


def outcome(dispatcher: Dispatcher, call=BIG, caller=CLERK) -> Outcome:
    return dispatcher.dispatch(call, caller).receipt.outcome


def test_pending_approved_used_denied_and_expired_are_five_records(dispatcher, clock):
    runs = {name: CLERK.model_copy(update={"run": name}) for name in ("pending", "approved", "denied", "expired")}
    ids = {name: ask(dispatcher, caller) for name, caller in runs.items() if name != "pending"}
    dispatcher.approvals.decide(ids["expired"], "lead", True)
    clock.now += DAY
    for name in ("approved", "denied"):
        ids[name] = ask(dispatcher, runs[name])
    clock.now += 1
    dispatcher.approvals.decide(ids["approved"], "lead", True)
    dispatcher.approvals.decide(ids["denied"], "head", False)
    ids["pending"] = ask(dispatcher, runs["pending"])
    latest = {one.run: one for one in dispatcher.approvals.all()}
    assert {run: one.state for run, one in latest.items()} == {run: run for run in runs}
    assert {run: one.approver for run, one in latest.items()} == {
        "pending": None,
        "approved": "lead",
        "denied": "head",
        "expired": "lead",
    }
    assert {run: one.decided_at for run, one in latest.items()} == {
        "pending": None,
        "approved": 1_000 + DAY + 1,
        "denied": 1_000 + DAY + 1,
        "expired": 1_000,
    }
    assert outcome(dispatcher, BIG, runs["approved"]) is Outcome.EXECUTED
    assert dispatcher.approvals.state(ids["approved"]) == "used"
    assert dispatcher.approvals.state("no such id") == "absent"


def test_a_request_that_expired_stays_on_record_beside_the_next_one(dispatcher, clock):
    identity = ask(dispatcher)
    dispatcher.approvals.decide(identity, "lead", True)
    clock.now += DAY
    assert ask(dispatcher) == identity
    assert [(one.attempt, one.state, one.approver) for one in dispatcher.approvals.all()] == [
        (1, "expired", "lead"),
        (2, "pending", None),
    ]
    # The first yes is void, also for somebody whose clock goes wrong.
    clock.now -= DAY
    assert dispatcher.approvals.state(identity) == "pending"
    assert outcome(dispatcher) is Outcome.PENDING


def test_an_expired_request_takes_no_answer_and_an_answer_is_not_changed(dispatcher, clock):
    identity = ask(dispatcher)
    clock.now += DAY
    with pytest.raises(AgentlabError, match="is expired, not pending"):
        dispatcher.approvals.decide(identity, "lead", True)
    dispatcher.approvals.decide(ask(dispatcher), "lead", False)
    with pytest.raises(AgentlabError, match="is denied, not pending"):
        dispatcher.approvals.decide(identity, "head", True)
    assert dispatcher.approvals.all()[-1].approver == "lead"


def test_an_open_request_and_its_answer_survive_a_restart(url, erp):
    engine = open_store(url)
    identity = ask(make_dispatcher(engine=engine, erp=erp))
    engine.dispose()
    engine = open_store(url)
    make_dispatcher(engine=engine).approvals.decide(identity, "lead", True)
    engine.dispose()
    engine = open_store(url)
    assert outcome(make_dispatcher(engine=engine, erp=erp)) is Outcome.EXECUTED
    engine.dispose()
    assert len(erp.posted) == 1


def test_an_approval_that_is_tried_again_on_a_later_turn_or_in_a_later_run_pays_nothing(dispatcher, erp):
    dispatcher.approvals.decide(ask(dispatcher), "lead", True)
    assert outcome(dispatcher) is Outcome.EXECUTED
    later_run = CLERK.model_copy(update={"run": "run-2"})
    another_key = post_call(amount_cents=600_000, idempotency_key="key-2")
    assert outcome(dispatcher) is Outcome.REPLAYED
    assert outcome(dispatcher, another_key) is Outcome.PENDING
    assert outcome(dispatcher, another_key, later_run) is Outcome.PENDING
    assert len(erp.posted) == 1


def test_the_approval_of_one_run_is_none_for_the_same_call_of_another(dispatcher, erp):
    dispatcher.approvals.decide(ask(dispatcher), "lead", True)
    assert outcome(dispatcher, BIG, CLERK.model_copy(update={"run": "run-2"})) is Outcome.PENDING
    assert erp.posted == []


def test_a_second_resume_of_an_approved_call_pays_once(engine, erp, clock):
    # Two processes hold the same approved decision, as after a restart that came too early.
    first, second = (make_dispatcher(engine=engine, erp=erp, clock=clock) for _ in range(2))
    first.approvals.decide(ask(first), "lead", True)
    decisions = first.decide(BIG, CLERK), second.decide(BIG, CLERK)
    answers = first.run(decisions[0]), second.run(decisions[1]), second.run(decisions[1])
    assert [one.receipt.outcome for one in answers] == [Outcome.EXECUTED, Outcome.REPLAYED, Outcome.REPLAYED]
    assert len({one.result.content for one in answers}) == 1
    assert len(erp.posted) == 1


def test_a_yes_that_is_withdrawn_by_time_between_decision_and_run_is_recorded_as_expired(dispatcher, erp, clock):
    dispatcher.approvals.decide(ask(dispatcher), "lead", True)
    decision = dispatcher.decide(BIG, CLERK)
    clock.now += DAY
    unguarded = Dispatcher([Tool(post_contract(), erp.post)], [], dispatcher.ledger, dispatcher.approvals)
    # Nobody said no: no record may read as if somebody had.
    assert outcome(unguarded) is Outcome.EXPIRED
    assert dispatcher.run(decision).receipt.outcome is Outcome.PENDING
    assert erp.posted == []


def test_a_call_that_was_denied_and_is_asked_again_is_refused_without_asking_anybody(dispatcher, erp):
    dispatcher.approvals.decide(ask(dispatcher), "lead", False)
    again = dispatcher.dispatch(BIG, CLERK).receipt
    assert (again.outcome, again.guard) == (Outcome.DENIED, "approval")
    assert len(dispatcher.approvals.all()) == 1
    # One cent less, or another key, is another call: a person is asked about it, and the no stands beside it.
    for changed in (post_call(amount_cents=599_999), post_call(amount_cents=600_000, idempotency_key="key-2")):
        assert outcome(dispatcher, changed) is Outcome.PENDING
    assert [one.state for one in dispatcher.approvals.all()] == ["denied", "pending", "pending"]
    assert erp.posted == []


@pytest.mark.parametrize(
    "change",
    [{"arguments": '{"amount_cents":1}'}, {"tenant": "south"}, {"requester": "x"}, {"run": "x"}, {"tool": "x"}],
)
def test_a_request_that_was_edited_in_the_database_stands_for_nothing(dispatcher, engine, change):
    identity = ask(dispatcher)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.update(tables().approvals).values(**change))
    for use in (
        lambda: dispatcher.approvals.decide(identity, "lead", True),
        dispatcher.approvals.all,
        lambda: dispatcher.dispatch(BIG, CLERK),
    ):
        with pytest.raises(AgentlabError, match="was changed after it was made"):
            use()
