"""The closed forms, against the course's figures and against plain sums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context import growth
from agentlab.errors import AgentlabError

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
sizes = st.integers(0, 5_000)
steps = st.integers(1, 60)


@pytest.mark.parametrize(
    ("N", "last", "total"), [(5, 8_900, 31_000), (10, 15_650, 95_750), (20, 29_150, 326_500), (40, 56_150, 1_193_000)]
)
def test_the_figures_of_the_course(N: int, last: int, total: int) -> None:
    assert growth.request_size(**COURSE, k=N) == last
    assert growth.total(**COURSE, N=N) == total


def test_twice_the_steps_cost_3_65_times_the_tokens() -> None:
    assert round(growth.total(**COURSE, N=40) / growth.total(**COURSE, N=20), 2) == 3.65


def test_the_figures_of_the_course_for_clearing() -> None:
    assert growth.total_clearing(**COURSE, N=40, keep=3, placeholder=20) == 407_120


@given(sizes, sizes, sizes, sizes, steps)
def test_total_is_the_sum_of_the_requests(S: int, U: int, a: int, r: int, N: int) -> None:
    assert growth.total(S, U, a, r, N) == sum(S + U + (k - 1) * (a + r) for k in range(1, N + 1))


@given(sizes, sizes, sizes, sizes, steps, st.integers(0, 70), st.integers(0, 50))
def test_total_with_clearing_is_the_sum_over_every_result_of_every_request(
    S: int, U: int, a: int, r: int, N: int, keep: int, placeholder: int
) -> None:
    slow = 0
    for k in range(1, N + 1):
        results = [r if age < keep else placeholder for age in range(k - 1)]
        slow += S + U + len(results) * a + sum(results)
    assert growth.total_clearing(S, U, a, r, N, keep, placeholder) == slow


@given(sizes, sizes, sizes, sizes, steps, st.integers(0, 130))
def test_total_with_a_window_is_the_sum_over_the_steps_that_fit(
    S: int, U: int, a: int, r: int, N: int, window: int
) -> None:
    slow = 0
    for k in range(1, N + 1):
        history = [size for _ in range(k - 1) for size in (a, r)]
        while len(history) > window:
            del history[:2]
        slow += S + U + sum(history)
    assert growth.total_trimming(S, U, a, r, N, window) == slow


@given(sizes, sizes, st.integers(0, 400), st.integers(0, 400), st.integers(0, 12_000))
def test_first_over_is_the_first_request_above_the_trigger(S: int, U: int, a: int, r: int, trigger: int) -> None:
    k = growth.first_over(S, U, a, r, trigger)
    if k is None:
        assert a + r == 0
        assert trigger >= S + U
    else:
        assert S + U + (k - 1) * (a + r) > trigger
        assert k == 1 or S + U + (k - 2) * (a + r) <= trigger


def test_a_request_of_exactly_the_trigger_is_not_over_it() -> None:
    assert growth.first_over(**COURSE, trigger=29_150) == 21


@pytest.mark.parametrize(
    "value", [-1, 1.0, float("nan"), float("inf"), True, "3", None, pytest.param(10**5_000, id="huge"), [1] * 500]
)
@pytest.mark.parametrize("name", ["S", "U", "a", "r", "N"])
def test_what_is_no_size_is_refused_in_one_short_line(name: str, value: object) -> None:
    with pytest.raises(AgentlabError) as refused:
        growth.total(**{**COURSE, "N": 10, name: value})  # type: ignore[arg-type]
    line = str(refused.value)
    assert line.startswith(f"{name} is ")
    assert "\n" not in line
    assert len(line) < 120


@pytest.mark.parametrize("N", [0, growth.MAX_STEPS + 1])
def test_a_run_has_one_request_at_least_and_an_end(N: int) -> None:
    with pytest.raises(AgentlabError, match="N is"):
        growth.total(**COURSE, N=N)
