"""A set of tools with and without tool search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.closed import totals
from agentlab.context.controls import ClearToolResults, KeepAll
from agentlab.context.curves import curve
from agentlab.context.toolset import ToolSearch, ToolSet
from agentlab.errors import AgentlabError

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
sizes = st.integers(0, 400)


@given(
    st.builds(
        lambda tools, definition, **given: ToolSearch(ToolSet(tools, definition), **given),
        st.integers(9, 90),
        sizes,
        search_tool=sizes,
        searches=st.integers(0, 30),
        found=st.integers(0, 9),
        loaded=st.integers(0, 9),
    ),
    sizes,
    sizes,
    sizes,
    sizes,
    st.integers(1, 60),
)
def test_the_closed_form_with_searches_is_the_sum_of_the_forecast(
    search: ToolSearch, S: int, U: int, a: int, r: int, N: int
) -> None:
    run = KeepAll().forecast(*search.with_searches(S, U, a, r, N))
    sums = search.totals(S, U, a, r, N)
    assert (sums.total, sums.last, sums.largest, sums.same) == (run.total, run.last, run.largest, sum(run.same))
    assert (sums.output, sums.model_calls) == (run.output, run.model_calls)


def test_every_result_stays_and_each_search_comes_before_the_step_that_needs_it() -> None:
    search = ToolSearch(ToolSet(50, 100), search_tool=300, searches=3, found=5, loaded=2)
    assert search.with_searches(1_000, 10, 1, (1, 2, 3, 4, 5, 6), 7) == (
        1_000 + 300 + 200,
        10,
        1,
        (500, 1, 2, 500, 3, 4, 500, 5, 6),
        10,
    )
    assert search.with_searches(0, 0, 0, 1, 1) == (500, 0, 0, (), 1)


def test_searches_go_with_any_control() -> None:
    search = ToolSearch(ToolSet(50, 1_100), search_tool=500, searches=4)
    run = search.with_searches(**COURSE, N=40)
    control = ClearToolResults(keep=3, placeholder=20)
    assert curve(control, *run) == control.forecast(*run)
    # What was found is a result like others, and is cleared with them.
    assert control.forecast(*run).last == 3_500 + 500 + 43 * 150 + 3 * 1_200 + 40 * 20


def test_without_a_search_all_definitions_are_in_every_request() -> None:
    tools = ToolSet(50, 1_100)
    with_tools = KeepAll().forecast(**{**COURSE, "S": 3_000 + tools.tokens}, N=40)
    assert with_tools.total - KeepAll().forecast(**COURSE, N=40).total == 40 * 55_000


def test_with_nothing_found_and_no_search_only_the_search_tool_is_added() -> None:
    search = ToolSearch(ToolSet(50, 1_100), search_tool=500, searches=0)
    assert search.totals(**COURSE, N=40) == totals(KeepAll(), **{**COURSE, "S": 3_500}, N=40)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ToolSet(-1, 5), "tools is -1"),
        (lambda: ToolSet(10**6, 10**6), "tools x definition is 1000000000000"),
        (lambda: ToolSearch(ToolSet(4, 9), search_tool=1, found=5), "found is 5, but there are 4 tools"),
        (lambda: ToolSearch(ToolSet(9, 9), search_tool=1, loaded=10), "loaded is 10, but there are 9 tools"),
        (lambda: ToolSearch(ToolSet(9, 9), search_tool=True), "search_tool is True"),
        (lambda: ToolSearch(ToolSet(9, 9), search_tool=1, searches=10**6), "searches is 1000000"),
        (lambda: ToolSearch(ToolSet(9, 9), search_tool=1).totals(1, 1, 1, 1, 0), "N is 0"),
    ],
)
def test_a_tool_set_that_makes_no_sense_is_refused_in_one_line(make, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AgentlabError, match=f"^{said}") as refused:
        make()
    assert "\n" not in str(refused.value)
