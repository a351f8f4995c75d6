"""The ledger, on SQLite and on PostgreSQL: one key, one effect, and the first result for whoever repeats it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy
from invoice_tool import CLERK, Clock, Erp, make_dispatcher, post_call

from agentlab.canonical import digest
from agentlab.dispatch.dispatcher import Dispatcher, ToolError
from agentlab.dispatch.guards import propose
from agentlab.dispatch.ledger import Ledger, Outcome
from agentlab.messages.conversation import ToolCall

OTHER_PAYLOAD = post_call(amount_cents=120_001)


@pytest.fixture
def ledger(engine: sqlalchemy.Engine) -> Ledger:
    return Ledger(engine, Clock())


def test_a_repeated_key_gets_the_first_result_and_another_payload_is_refused_with_both_digests(engine):
    erp = Erp()
    dispatcher = make_dispatcher(engine=engine, erp=erp)
    first, again = (dispatcher.dispatch(post_call(number), CLERK) for number in (1, 2))
    other = dispatcher.dispatch(OTHER_PAYLOAD, CLERK)
    assert [one.receipt.outcome for one in (first, again, other)] == ["executed", "replayed", "conflict"]
    assert first.result.content == again.result.content
    for call in (post_call(), OTHER_PAYLOAD):
        assert digest(call.arguments)[:12] in other.receipt.detail
    assert len(erp.posted) == 1
    assert [one.number for one in dispatcher.ledger.receipts()] == [1, 2, 3]


def _reserve(ledger: Ledger, call: ToolCall, key: str = "key-1", use_approval=None):
    return ledger.reserve(propose(call), CLERK, key, None, use_approval)


def test_a_key_is_new_then_open_then_done(ledger):
    proposal = propose(post_call())
    assert [_reserve(ledger, post_call()).state for _ in range(2)] == ["new", "open"]
    assert [(one.key, one.user, one.run) for one in ledger.open_keys()] == [("key-1", "agent", "run-1")]
    assert ledger.finish(proposal, CLERK, "key-1", "posted", None).outcome is Outcome.EXECUTED
    done = _reserve(ledger, post_call())
    assert (done.state, done.result) == ("done", "posted")
    assert ledger.open_keys() == []
    assert _reserve(ledger, OTHER_PAYLOAD).state == "conflict"


def test_a_key_whose_approval_cannot_be_used_stays_free(ledger):
    assert _reserve(ledger, post_call(), use_approval=lambda connection: False).state == "unapproved"
    assert ledger.open_keys() == []
    assert _reserve(ledger, post_call()).state == "new"


def test_the_first_result_stays_when_a_second_attempt_comes_to_its_end(ledger):
    proposal = propose(post_call())
    _reserve(ledger, post_call())
    receipts = [ledger.finish(proposal, CLERK, "key-1", result, None) for result in ("first", "second")]
    assert [(one.outcome, one.detail) for one in receipts] == [("executed", "first"), ("replayed", "first")]


def test_a_result_for_a_key_that_was_given_back_is_recorded_as_unknown(ledger):
    proposal = propose(post_call())
    _reserve(ledger, post_call())
    assert ledger.release(proposal, CLERK, "key-1", "busy", None, None).outcome is Outcome.FAILED
    assert ledger.finish(proposal, CLERK, "key-1", "posted", None).outcome is Outcome.UNKNOWN


def test_a_finished_key_is_not_given_back_and_neither_is_its_approval(ledger):
    proposal, given_back = propose(post_call()), []
    _reserve(ledger, post_call())
    ledger.finish(proposal, CLERK, "key-1", "posted", None)
    ledger.release(proposal, CLERK, "key-1", "late", None, given_back.append)
    assert given_back == []
    assert _reserve(ledger, post_call()).state == "done"


def test_when_the_receipt_cannot_be_written_the_result_is_not_kept_either(ledger, engine):
    _reserve(ledger, post_call())
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("DROP TABLE receipts"))
    with pytest.raises(sqlalchemy.exc.SQLAlchemyError):
        ledger.finish(propose(post_call()), CLERK, "key-1", "posted", None)
    assert [one.key for one in ledger.open_keys()] == ["key-1"]


@pytest.mark.parametrize("key", ["a\x00b", "k" * 100_000, "ключ 🔑", "'; DROP TABLE effects; --"])
def test_any_text_is_a_key(engine, key):
    erp = Erp()
    dispatcher = make_dispatcher(engine=engine, erp=erp)
    calls = [post_call(number, idempotency_key=key) for number in (1, 2)]
    assert [dispatcher.dispatch(call, CLERK).receipt.outcome for call in calls] == ["executed", "replayed"]
    assert len(erp.posted) == 1


def test_a_receipt_is_written_for_names_and_arguments_that_no_database_takes(engine):
    dispatcher = make_dispatcher(engine=engine)
    for call in (
        ToolCall(id="c", name="erp_\x00post", arguments='{"a": "\ud800"}'),
        ToolCall(id="c", name="erp_post_invoice", arguments="\x00"),
        post_call(invoice_id="\x00", amount_cents=-1),
    ):
        assert dispatcher.dispatch(call, CLERK).receipt.outcome is Outcome.INVALID
    assert len(dispatcher.ledger.receipts()) == 3


def test_threads_that_share_a_dispatcher_post_each_key_once(engine):
    erp = Erp()
    dispatcher = make_dispatcher(engine=engine, erp=erp)
    ready = threading.Barrier(8)

    def work(_: int) -> list[Outcome]:
        ready.wait()
        return [
            dispatcher.dispatch(post_call(number, idempotency_key=f"key-{number}"), CLERK).receipt.outcome
            for number in range(20)
        ]

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(work, range(8)))
    assert sorted(each["idempotency_key"] for each in erp.posted) == sorted(f"key-{number}" for number in range(20))
    for race in zip(*seen, strict=True):
        assert race.count(Outcome.EXECUTED) == 1
        assert set(race) <= {Outcome.EXECUTED, Outcome.REPLAYED, Outcome.UNKNOWN}
    assert len(dispatcher.ledger.receipts()) == 8 * 20


def test_a_key_that_is_given_back_while_others_wait_for_it_is_free_for_one_of_them(engine):
    erp = Erp()
    dispatcher = make_dispatcher(engine=engine, erp=erp)
    first = threading.Event()

    def refused_once(arguments, caller):
        if not first.is_set():
            first.set()
            raise ToolError("busy")
        return erp.post(arguments, caller)

    tool = dispatcher._tools["erp_post_invoice"]._replace(function=refused_once)
    dispatcher = Dispatcher([tool], [], dispatcher.ledger, dispatcher.approvals)
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda number: dispatcher.dispatch(post_call(number), CLERK).receipt.outcome, range(8)))
    assert seen.count(Outcome.FAILED) == 1
    assert dispatcher.dispatch(post_call(), CLERK).receipt.outcome in (Outcome.EXECUTED, Outcome.REPLAYED)
    assert len(erp.posted) == 1
