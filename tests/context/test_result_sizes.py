"""Uneven results: the lognormal formulas, and draws that anyone can repeat."""

from itertools import pairwise
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.presets import preset, presets
from agentlab.context.results import Lognormal, draw_results, sizes_of
from agentlab.errors import AgentlabError
from agentlab.facts import read_facts

MEDIANS = st.floats(1, 10_000)
FACTORS = st.floats(1, 100)
PARTS = st.floats(0.01, 0.99)


@given(MEDIANS, FACTORS)
def test_a_distribution_has_the_median_and_the_mean_that_it_was_made_from(middle, factor):
    sizes = Lognormal.from_median_and_mean(middle, middle * factor)
    assert sizes.median == pytest.approx(middle)
    assert sizes.mean == pytest.approx(middle * factor)


@given(MEDIANS, FACTORS, st.floats(0.6, 0.999))
def test_a_distribution_has_the_quantile_that_it_was_made_from(middle, factor, p):
    sizes = Lognormal.from_median_and_quantile(middle, p, middle * factor)
    assert sizes.quantile(0.5) == pytest.approx(middle)
    assert sizes.quantile(p) == pytest.approx(middle * factor)


@given(MEDIANS, PARTS, PARTS)
def test_a_distribution_has_the_mean_and_the_share_that_it_was_made_from(mean, one, other):
    top, share = sorted((one, other + 0.005))
    sizes = Lognormal.from_mean_and_top_share(mean, share, top)
    assert sizes.mean == pytest.approx(mean)
    assert sizes.top_share(top) == pytest.approx(share, abs=1e-9)


def test_without_spread_every_result_is_the_median_and_no_part_has_more_than_its_share():
    sizes = Lognormal.from_median_and_mean(400, 400)
    assert set(draw_results(sizes, 50, seed=3)) == {400}
    assert sizes.top_share(0.05) == pytest.approx(0.05)


def test_the_same_seed_draws_the_same_sizes_on_every_machine():
    sizes = Lognormal.from_median_and_mean(50, 230)
    assert draw_results(sizes, 10, seed=1) == (7, 300, 175, 16, 49, 40, 99, 203, 5, 2)


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.integers(0, 60))
def test_a_longer_draw_begins_with_the_shorter_one(seed, short, more):
    sizes = Lognormal.from_median_and_mean(50, 230)
    assert draw_results(sizes, short + more, seed)[:short] == draw_results(sizes, short, seed)


def test_another_seed_draws_other_sizes():
    sizes = Lognormal.from_median_and_mean(50, 230)
    assert draw_results(sizes, 10, seed=1) != draw_results(sizes, 10, seed=2)


@pytest.mark.parametrize("each", presets(), ids=lambda each: each.name)
def test_many_draws_have_about_the_median_the_mean_and_the_tail_of_their_preset(each):
    sizes = sizes_of(each)
    drawn = sorted(size for seed in range(10) for size in draw_results(sizes, 10_000, seed))
    assert median(drawn) == pytest.approx(sizes.median, rel=0.05, abs=0.5)
    # So heavy a tail leaves even the mean of 100,000 results uncertain: its standard error is 3.5 % for sigma = 2.2.
    assert fmean(drawn) == pytest.approx(each.r, rel=0.1)
    assert drawn[int(0.95 * len(drawn))] == pytest.approx(sizes.quantile(0.95), rel=0.05)
    assert sum(drawn[-len(drawn) // 20 :]) / sum(drawn) == pytest.approx(sizes.top_share(), abs=0.06)


def test_mean_and_median_of_coding_agents_predict_the_share_of_their_largest_results_that_was_measured_apart():
    row = next(row for row in read_facts("result_sizes") if row["name"] == "coding agents")
    shares = [sizes_of(each).top_share() for each in presets() if each.label.startswith("coding agent")]
    assert min(shares) == pytest.approx(float(row["top5_low"]), abs=0.1)
    assert max(shares) == pytest.approx(float(row["top5_high"]), abs=0.1)


def test_the_support_agents_results_are_far_more_even():
    shares = {each.name: sizes_of(each).top_share() for each in presets()}
    support = shares.pop("tau-bench-airline")
    assert support == pytest.approx(0.23)
    assert support < min(shares.values()) / 2


def test_a_preset_of_which_only_the_mean_is_known_has_no_distribution():
    unknown = preset("pi").model_copy(update={"name": "nobody", "r_median": None})
    with pytest.raises(AgentlabError, match="of the results of nobody only the mean is known"):
        sizes_of(unknown)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Lognormal.from_median_and_mean(100, 50), "the mean 50 is below the median 100"),
        (lambda: Lognormal.from_median_and_mean(0, 50), "the median is 0; expected tokens above 0"),
        (lambda: Lognormal.from_median_and_mean(10, float("nan")), "the mean is nan"),
        (lambda: Lognormal.from_median_and_quantile(100, 0.95, 50), "swap the two"),
        (lambda: Lognormal.from_median_and_quantile(100, 0.5, 500), "p is 0.5; expected a part between 0.5 and 1"),
        (lambda: Lognormal.from_mean_and_top_share(100, 0.04), "share is 0.04; expected a part between 0.05 and 1"),
        (lambda: Lognormal(1, 1).quantile(1), "p is 1; expected"),
        (lambda: Lognormal(1, 1).top_share(0), "top is 0; expected"),
        (lambda: draw_results(Lognormal(1, 1), -1, seed=0), "count is -1"),
        (lambda: draw_results(Lognormal(1, 1), 1, seed=0.5), "seed is 0.5"),
    ],
)
def test_numbers_that_make_no_distribution_are_named_in_one_line(make, said):
    with pytest.raises(AgentlabError, match=said) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_higher_part_is_a_larger_size():
    sizes = sizes_of(preset("claude-code"))
    values = [sizes.quantile(p) for p in (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)]
    assert all(low < high for low, high in pairwise(values))
