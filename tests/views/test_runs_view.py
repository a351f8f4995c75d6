"""One run seen: its table of steps, and its steps on the map of all states."""

import re

import pytest

from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.dispatcher import Dispatcher, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.machine import TRANSITIONS, Event
from agentlab.messages.conversation import Reply, StopReason, ToolCall
from agentlab.messages.models import Scripted
from agentlab.store import open_store
from agentlab.views.runs import map_of_states, transitions_table


@pytest.fixture(scope="module")
def result():
    """A run that asks for a tool that is not there, and then answers."""
    engine = open_store("sqlite://")
    approvals = Approvals(engine, lambda: 0.0)
    call = ToolCall(id="call_1", name="no_such_tool", arguments={})
    model = Scripted([Reply(tool_calls=(call,), stop=StopReason.TOOL), Reply(content="I cannot.", stop=StopReason.END)])
    return run_task(
        "Do it.",
        run_id="run-1",
        budgets=Budgets(model_calls=5, tokens=10_000, seconds=60),
        model=model,
        dispatcher=Dispatcher([], four_guards(approvals), Ledger(engine, lambda: 0.0), approvals),
        caller=Caller(user="clerk", roles=(), tenant="acme", run="run-1"),
        clock=lambda: 0.0,
    )


def test_the_table_has_each_step_of_the_run_in_order(result):
    rows = transitions_table(result).rows
    assert [(row[1], row[4]) for row in rows] == [(one.state.value, one.target.value) for one in result.transitions]
    assert rows[2][3] == "unknown tool 'no_such_tool'; use one of the tools you were given"


def test_the_map_has_every_arrow_of_the_table_once_and_no_other(result):
    drawn = re.findall(r'^    (\w+) -->(?:\|"[^"]+"\|)? (\w+)', map_of_states(result), re.MULTILINE)
    expected = {(state.value, to.value) for (state, event), to in TRANSITIONS.items() if event is not Event.CANCEL}
    assert sorted(drawn) == sorted(expected)


def test_the_steps_of_the_run_are_numbered_on_its_arrows(result):
    drawn = map_of_states(result)
    assert '    reasoning -->|"1, 4"| choosing\n' in drawn
    assert '    validating -->|"3"| reasoning\n' in drawn
    assert "    choosing --> failed\n" in drawn
    assert "    class reasoning,choosing,validating,answered passed\n" in drawn
    assert "accDescr: All states of the loop but cancelled; run-1 took 5 steps and ended as answered." in drawn
