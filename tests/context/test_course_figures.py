"""The figures of the course's chapter on context growth and of its worked example, each computed by the calculator.

S + U = 3,500 (here split 3,000 and 500, which changes nothing), a = 150, r = 1,200. The figures of single requests and
of the three controls stand in test_growth.py and test_controls.py.
"""

import pytest

from agentlab.context import growth
from agentlab.context.controls import KeepAll
from agentlab.context.toolset import ToolSearch, ToolSet
from agentlab.context.workflow import seconds, success, workflow_input
from agentlab.errors import AgentlabError

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}


def test_ten_notes_of_80_tokens_add_16_000_tokens_to_a_run_of_20_steps() -> None:
    with_notes = KeepAll().forecast(**{**COURSE, "S": COURSE["S"] + 10 * 80}, N=20)
    added = with_notes.total - KeepAll().forecast(**COURSE, N=20).total
    assert added == growth.notes_total(10, 80, 20) == 16_000


@pytest.mark.parametrize(("N", "input", "times"), [(8, 65_800, 4.67), (12, 131_100, 9.30)])
def test_the_agent_of_the_example_reads_4_67_times_what_its_workflow_does_and_9_30_times_at_the_cap(
    N: int, input: int, times: float
) -> None:
    agent = KeepAll().forecast(**COURSE, N=N).total
    workflow = workflow_input(S=3_000, U=500, r=1_200, calls=3)
    assert (agent, workflow) == (input, 14_100)
    assert round(agent / workflow, 2) == times


@pytest.mark.parametrize(("N", "agent_seconds", "times"), [(8, 28.0, 2.7), (12, 42.0, 4.0)])
def test_the_agent_of_the_example_takes_28_seconds_and_42_at_the_cap_where_its_workflow_takes_10_5(
    N: int, agent_seconds: float, times: float
) -> None:
    """A model call takes 3.0 s and a tool call 0.5 s; each iteration of the example has one of each."""
    agent, workflow = (seconds(calls, calls, 3.0, 0.5) for calls in (N, 3))
    assert (agent, workflow) == (agent_seconds, 10.5)
    assert round(agent / workflow, 1) == times


@pytest.mark.parametrize(("steps", "chance"), [(3, 0.913), (8, 0.784), (12, 0.694)])
def test_steps_that_succeed_with_0_97_each_succeed_together_with_0_97_to_their_number(
    steps: int, chance: float
) -> None:
    assert round(success(0.97, steps), 3) == chance
    by_hand = 1.0
    for _ in range(steps):
        by_hand *= 0.97
    assert success(0.97, steps) == pytest.approx(by_hand)


def test_a_search_among_50_tools_saves_more_than_85_percent_of_their_definitions() -> None:
    """About 55,000 tokens of definitions, as the documentation has it; one search, five tools found, kept to the end.

    How many tools these are is assumed: fifty, where choosing among all of them begins to go wrong.
    """
    tools = ToolSet(tools=50, definition=1_100)
    search = ToolSearch(tools, search_tool=500)
    assert tools.tokens == 55_000
    without_tools = KeepAll().forecast(**COURSE, N=20)
    run = KeepAll().forecast(*search.with_searches(**COURSE, N=20))
    own_step = run.last - without_tools.last - search.tokens - search.result
    assert own_step == COURSE["a"]
    assert (search.tokens + search.result) / tools.tokens < 0.15


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: workflow_input(1, 1, 1, -1), "calls is -1"),
        (lambda: seconds(1, 1, float("nan"), 1), "each_model_call is nan"),
        (lambda: seconds(1, 1, 1, -1), "each_tool_call is -1"),
        (lambda: success(1.1, 3), "each_step is 1.1"),
        (lambda: success(float("nan"), 3), "each_step is nan"),
        (lambda: success(0.9, -3), "steps is -3"),
    ],
)
def test_an_example_that_makes_no_sense_is_refused_in_one_line(make, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AgentlabError, match=f"^{said}; [^\n]*$"):
        make()
