"""Time-outs and retries: a tool is waited for as long as its contract says, and one layer alone tries again."""

import contextvars
import threading

import pytest
from invoice_tool import CLERK, Clock, Erp, make_dispatcher, post_call, post_contract, read_contract

from agentlab.dispatch.contract import Retry, Timeout
from agentlab.dispatch.deadlines import Deadline, DeadlinePassedError, call_within
from agentlab.dispatch.dispatcher import Dispatcher, Tool, ToolError
from agentlab.dispatch.ledger import Outcome
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall


def dispatcher_over(contract, function, **settings):
    base = make_dispatcher()
    return Dispatcher([Tool(contract, function)], [], base.ledger, base.approvals, **settings)


def too_late(work, seconds):
    """The tool has done its work, and its answer came too late."""
    work()
    raise DeadlinePassedError


READ = ToolCall(id="c", name="read", arguments={})


def test_a_tool_that_never_answers_is_waited_for_no_longer_than_its_contract_says():
    ended = threading.Event()
    contract = read_contract(timeout=Timeout(seconds=0.01))
    dispatched = dispatcher_over(contract, lambda arguments, caller: ended.wait()).dispatch(READ, CLERK)
    ended.set()
    assert dispatched.receipt.outcome is Outcome.FAILED
    assert dispatched.receipt.detail == "the tool failed: timeout, no answer within 0.01 seconds"


def test_a_timeout_of_a_tool_that_acts_is_an_unknown_outcome_and_is_not_tried_again():
    erp = Erp()
    dispatcher = dispatcher_over(post_contract(timeout=Timeout(seconds=5)), erp.post, within=too_late)
    first, again = (dispatcher.dispatch(post_call(), CLERK) for _ in range(2))
    assert (first.receipt.outcome, again.receipt.outcome) == (Outcome.UNKNOWN, Outcome.UNKNOWN)
    assert "timeout, no answer within 5 seconds" in first.receipt.detail
    assert len(erp.posted) == 1


def test_a_timeout_of_the_tools_own_is_not_taken_for_the_dispatchers():
    def slow_line(arguments, caller):
        raise TimeoutError

    detail = dispatcher_over(read_contract(timeout=Timeout(seconds=60)), slow_line).dispatch(READ, CLERK).receipt.detail
    assert detail == "the tool failed: the tool broke off (TimeoutError)"


def test_a_cancellable_tool_is_told_its_deadline_and_says_that_it_stopped():
    clock = Clock()

    def stops(arguments, caller, deadline):
        clock.now += 5
        if deadline.left() <= 0:
            raise ToolError("stopped at the deadline; nothing was posted")

    contract = post_contract(timeout=Timeout(seconds=5, cancellable=True))
    dispatcher = dispatcher_over(contract, stops, clock=clock)
    stopped = dispatcher.dispatch(post_call(), CLERK)
    assert (stopped.receipt.outcome, stopped.result.content) == (
        Outcome.FAILED,
        "stopped at the deadline; nothing was posted",
    )
    assert dispatcher.dispatch(post_call(), CLERK).receipt.outcome is Outcome.FAILED


def test_what_a_tool_raises_or_returns_comes_through_the_wait_as_it_is():
    name = contextvars.ContextVar("name", default="nobody")
    name.set("clerk")
    assert call_within(name.get, 60) == "clerk"
    with pytest.raises(KeyboardInterrupt):
        call_within(lambda: (_ for _ in ()).throw(KeyboardInterrupt), 60)


def test_a_deadline_counts_down_by_its_clock():
    clock = Clock(10.0)
    deadline = Deadline(12.5, clock)
    clock.now = 12.0
    assert deadline.left() == 0.5


@pytest.mark.parametrize(("timeout", "says"), [(None, "arguments and caller"), (True, "caller and deadline")])
def test_a_function_that_cannot_be_called_as_its_contract_says_is_refused_at_the_start(timeout, says):
    contract = read_contract(timeout=Timeout(seconds=1, cancellable=True) if timeout else None)
    with pytest.raises(AgentlabError, match=says):
        dispatcher_over(contract, lambda arguments: None)


class Flaky:
    """Breaks off a number of times, then answers; keeps what it was called with."""

    def __init__(self, *raised):
        self.raised = list(raised)
        self.calls = []

    def __call__(self, arguments, caller):
        self.calls.append(dict(arguments))
        arguments.clear()
        if self.raised:
            raise self.raised.pop(0)
        return "posted"


def test_the_dispatcher_tries_again_only_where_the_contract_gives_the_retries_to_it():
    for retry, calls, outcome in [
        (Retry(layer="dispatcher", attempts=3), 3, Outcome.EXECUTED),
        (Retry(layer="dispatcher", attempts=2), 2, Outcome.FAILED),
        (Retry(layer="tool", attempts=3), 1, Outcome.FAILED),
        (Retry(), 1, Outcome.FAILED),
    ]:
        flaky, pauses = Flaky(OSError(), OSError()), []
        dispatcher = dispatcher_over(read_contract(retry=retry), flaky, pause=pauses.append)
        assert dispatcher.dispatch(READ, CLERK).receipt.outcome is outcome
        assert len(flaky.calls) == calls
        assert pauses == [0.1, 0.2][: calls - 1]


def test_each_attempt_is_given_the_arguments_that_were_decided_on():
    flaky = Flaky(OSError())
    contract = post_contract(retry=Retry(layer="dispatcher", attempts=2), target_honours_key=True)
    dispatcher = dispatcher_over(contract, flaky, pause=lambda seconds: None)
    assert dispatcher.dispatch(post_call(), CLERK).receipt.outcome is Outcome.EXECUTED
    assert flaky.calls[0] == flaky.calls[1] == post_call().arguments


def test_a_tool_error_is_an_answer_and_is_never_tried_again():
    flaky = Flaky(ToolError("closed"))
    contract = post_contract(retry=Retry(layer="dispatcher", attempts=3), target_honours_key=True)
    assert dispatcher_over(contract, flaky).dispatch(post_call(), CLERK).receipt.outcome is Outcome.FAILED
    assert len(flaky.calls) == 1


def test_a_tool_error_after_an_attempt_that_broke_off_leaves_the_outcome_unknown():
    contract = post_contract(retry=Retry(layer="dispatcher", attempts=3), target_honours_key=True)
    dispatcher = dispatcher_over(contract, Flaky(OSError(), ToolError("closed")), pause=lambda seconds: None)
    dispatched = dispatcher.dispatch(post_call(), CLERK)
    assert dispatched.receipt.outcome is Outcome.UNKNOWN
    assert "an earlier attempt has left no result" in dispatched.result.content
    reading = dispatcher_over(
        read_contract(retry=Retry(layer="dispatcher", attempts=2)),
        Flaky(OSError(), ToolError("closed")),
        pause=lambda seconds: None,
    )
    assert reading.dispatch(READ, CLERK).receipt.outcome is Outcome.FAILED
