"""Plausible wrong answers to the exercises of lesson 04. Each must be called wrong, for a reason of its own."""

from agentlab.context import growth
from agentlab.context.controls import ClearToolResults, Combined, Compact, KeepAll, TrimTurns


def last_request_only(S, U, a, r, N):
    return S + U + (N - 1) * (a + r)


def n_times_n(S, U, a, r, N):
    return N * (S + U) + (a + r) * N * N // 2


def first_request_carries_a_step(S, U, a, r, N):
    return sum(S + U + k * (a + r) for k in range(1, N + 1))


def fixed_part_only_once(S, U, a, r, N):
    return S + U + (a + r) * N * (N - 1) // 2


def no_half(S, U, a, r, N):
    return N * (S + U) + (a + r) * N * (N - 1)


def nothing_is_resent(S, U, a, r, N):
    return N * (S + U + a + r)


def only_results_are_resent(S, U, a, r, N):
    return N * (S + U) + r * N * (N - 1) // 2


def a_float(S, U, a, r, N):
    return N * (S + U) + (a + r) * N * (N - 1) / 2


def numbers_of_one_agent(S, U, a, r, N):
    return N * 3_500 + 1_350 * N * (N - 1) // 2


def nothing_returned(S, U, a, r, N):
    print(growth.total(S, U, a, r, N))  # noqa: T201 - printing instead of returning is the mistake


def one_too_early(S, U, a, r, trigger):
    return growth.first_over(S, U, a, r, trigger) - 1


def at_or_over(S, U, a, r, trigger):
    k = 1
    while k < 10_000 and S + U + (k - 1) * (a + r) < trigger:
        k += 1
    return k if k < 10_000 else None


def first_request_cannot_be_over(S, U, a, r, trigger):
    return (trigger - S - U) // (a + r) + 2


def nothing_ever_stands_still(S, U, a, r, trigger):
    return 1 if trigger < S + U else (trigger - S - U) // (a + r) + 2


def stops_at_a_hundred_steps(S, U, a, r, trigger):
    return next((k for k in range(1, 101) if S + U + (k - 1) * (a + r) > trigger), None)


def task_forgotten(S, U, a, r, trigger):
    # With the large agent of the lesson U is too small to change the answer.
    return growth.first_over(S, 0, a, r, trigger)


SIZES = {"S": 2_000, "U": 100, "a": 80, "r": 700}
TOTALS = {N: growth.total(**SIZES, N=N) for N in (5, 10, 20)}
FIRST = growth.first_over(**SIZES, trigger=9_000)

WRONG = {
    "04.1": {
        "the last request instead of the sum": last_request_only,
        "N * N instead of N * (N - 1)": n_times_n,
        "off by one in k": first_request_carries_a_step,
        "S + U forgotten on later requests": fixed_part_only_once,
        "the half forgotten": no_half,
        "linear growth": nothing_is_resent,
        "a forgotten": only_results_are_resent,
        "a float": a_float,
        "the numbers of the example": numbers_of_one_agent,
        "printed, not returned": nothing_returned,
    },
    "04.2": {
        "off by one": one_too_early,
        ">= instead of >": at_or_over,
        "the first request forgotten": first_request_cannot_be_over,
        "division by zero": nothing_ever_stands_still,
        "a search that stops": stops_at_a_hundred_steps,
        "U forgotten": task_forgotten,
    },
    "04.3": {
        "a size is missing": ({"S": 2_000, "a": 80, "r": 700}, TOTALS, 9_000, FIRST),
        "a size is a text": ({**SIZES, "S": "2000"}, TOTALS, 9_000, FIRST),
        "last requests instead of totals": (
            SIZES,
            {N: growth.request_size(**SIZES, k=N) for N in (5, 10, 20)},
            9_000,
            FIRST,
        ),
        "totals of another agent": (SIZES, {5: 31_000, 10: 95_750, 20: 326_500}, 9_000, FIRST),
        "a trigger that is no number of tokens": (SIZES, TOTALS, 0.8, FIRST),
        "the step before": (SIZES, TOTALS, 9_000, FIRST - 1),
    },
    "04.4": {
        "nothing is removed": KeepAll,
        "too few results stay": lambda: ClearToolResults(keep=3),
        "a window drops the calls": lambda: TrimTurns(window=10),
        "a summary takes the place of the results": lambda: Compact(trigger=20_000, summary=1_500),
        "a number instead of a control": lambda: 5,
        "a summary takes the place of the calls": lambda: Combined((KeepAll(), Compact(trigger=18_000, summary=1_500))),
    },
}
