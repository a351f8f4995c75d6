"""What the calculator predicts, the loop does: the same object forecasts and acts, token for token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invoice_tool import CLERK, Clock, make_dispatcher

from agentlab.context.controls import ClearToolResults, Combined, Compact, KeepAll, TrimTurns
from agentlab.context.parts import SUMMARY_HEADING
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.dispatcher import Tool
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.machine import State
from agentlab.messages.conversation import Reply, Request, StopReason, ToolCall
from agentlab.messages.models import Rules

PLACEHOLDER = "[gone]"


def run_with(control, S, U, a, r, N):
    """A run of N requests with parts of exactly these sizes; returns the sizes of its requests and of its summaries.

    A size is a number of characters of content; a call's name and arguments weigh nothing here.
    """
    contract = ToolContract(
        name="look",
        version="1",
        description="Look.",
        roles=("ap_clerk",),
        side_effect=SideEffect.READ_ONLY,
        input_schema={"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]},
    )
    look = Tool(contract, lambda arguments, caller: "r" * r)
    sizes: list[int] = []
    summaries: list[int] = []

    def size(request: Request) -> int:
        return len(request.system) + sum(len(message.content) for message in request.messages)

    def model(request: Request) -> Reply:
        sizes.append(size(request))
        if len(sizes) == N:
            return Reply(content="done", stop=StopReason.END)
        call = ToolCall(id=f"c{len(sizes)}", name="look", arguments={"page": len(sizes)})
        return Reply(content="a" * a, tool_calls=(call,), stop=StopReason.TOOL)

    def summarise(request: Request) -> str:
        summaries.append(size(request))
        return "s" * (control_summary(control) - len(SUMMARY_HEADING))

    result = run_task(
        "u" * U,
        system="s" * S,
        run_id="r",
        budgets=Budgets(model_calls=2 * N, tokens=10**9, seconds=10.0),
        model=Rules(model),
        dispatcher=make_dispatcher(look),
        caller=CLERK,
        clock=Clock(),
        control=control,
        summarise=summarise,
        count=size,
    )
    assert result.state is State.ANSWERED
    return tuple(sizes), summaries


def control_summary(control):
    parts = control.controls if isinstance(control, Combined) else (control,)
    return next((part.summary for part in parts if isinstance(part, Compact)), 0)


clearing = st.builds(
    ClearToolResults, keep=st.integers(0, 4), placeholder=st.just(len(PLACEHOLDER)), text=st.just(PLACEHOLDER)
)
trimming = st.builds(TrimTurns, window=st.integers(2, 9))
compacting = st.builds(
    Compact, trigger=st.integers(0, 2_000), summary=st.integers(len(SUMMARY_HEADING) + 1, len(SUMMARY_HEADING) + 200)
)
controls = (
    st.just(KeepAll())
    | clearing
    | trimming
    | compacting
    | st.builds(lambda *each: Combined(each), clearing, compacting)
    | st.builds(lambda *each: Combined(each), clearing, trimming)
)


@given(controls, st.integers(0, 50), st.integers(1, 50), st.integers(0, 30), st.integers(0, 60), st.integers(1, 14))
def test_the_loop_sends_what_the_forecast_says(control, S, U, a, r, N):
    forecast = control.forecast(S, U, a, r, N)
    sizes, summaries = run_with(control, S, U, a, r, N)
    assert sizes == forecast.requests
    assert (len(summaries), sum(summaries)) == (forecast.compactions, forecast.summary_input)


@pytest.mark.parametrize(
    ("control", "last", "total"),
    [(KeepAll(), 15_650, 95_750), (ClearToolResults(3, 6, PLACEHOLDER), 8_486, None)],
)
def test_the_sources_example_runs_as_computed(control, last, total):
    sizes, _ = run_with(control, 3_000, 500, 150, 1_200, 10)
    assert sizes[-1] == last
    assert total is None or sum(sizes) == total
