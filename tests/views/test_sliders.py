"""The sliders without a browser: a value that moves must move chart, sentence and table."""

import pytest

from agentlab.errors import AgentlabError
from agentlab.views.costs import cheapest_sentence, costs_table
from agentlab.views.growth import lines, sentence
from agentlab.views.sliders import Panel, bills_of, panel

MODEL = "claude-opus-5"
COURSE = {
    "S": 3_000,
    "U": 500,
    "a": 150,
    "r": 1_200,
    "N": 40,
    "keep": 3,
    "window": 20,
    "trigger": 20_000,
    "summary": 1_500,
    "cap": 500,
}


@pytest.fixture
def shown() -> Panel:
    return panel(MODEL, **COURSE)


def expect_computed(shown: Panel, **changed: int) -> None:
    """Chart, sentence and table must be what the package computes from these values."""
    bills = bills_of({**COURSE, **changed}, MODEL, shown.cache.value)
    drawn = lines([bill.run for bill in bills])
    assert {trace.name: list(trace.y) for trace in shown.figure.data} == {
        name: list(line) for name, line in drawn.items()
    }
    for said in (sentence(bills[0].run), cheapest_sentence(bills)):
        assert said.replace("'", "&#x27;") in shown.sentence.value
    assert costs_table(bills).html in shown.table.value


def test_there_is_a_slider_and_a_labelled_number_box_for_each_value(shown: Panel) -> None:
    assert list(shown.sliders) == list(shown.numbers) == list(COURSE)
    for name, value in COURSE.items():
        assert shown.sliders[name].value == shown.numbers[name].value == value
        assert shown.numbers[name].description.startswith(name)


def test_the_panel_starts_with_the_figures_of_the_course(shown: Panel) -> None:
    expect_computed(shown)
    assert shown.figure.data[0].y[-1] == 56_150
    assert "1,193,000" in shown.sentence.value
    assert "531,500" in shown.table.value  # 468,050 and 63,450 that the summaries read


def test_the_chart_has_no_toolbar_that_offers_to_upload_it(shown: Panel) -> None:
    assert shown.figure._config["displayModeBar"] is False


@pytest.mark.parametrize("name", COURSE)
def test_each_slider_moves_its_box_the_chart_the_sentence_and_the_table(shown: Panel, name: str) -> None:
    before = ([list(trace.y) for trace in shown.figure.data], shown.table.value)
    # One window more is no step more, because a step is two messages.
    shown.sliders[name].value += 2 * shown.sliders[name].step
    assert shown.numbers[name].value == shown.sliders[name].value
    after = ([list(trace.y) for trace in shown.figure.data], shown.table.value)
    assert after[0] != before[0]
    assert after[1] != before[1]
    expect_computed(shown, **{name: shown.sliders[name].value})


def test_the_choice_of_a_cache_changes_the_bill_and_not_the_tokens(shown: Panel) -> None:
    drawn, listed = [list(trace.y) for trace in shown.figure.data], shown.table.value
    for cache in ("none", "1h", "5m"):
        shown.cache.value = cache
        expect_computed(shown)
        assert [list(trace.y) for trace in shown.figure.data] == drawn
        assert (shown.table.value == listed) is (cache == "5m")


def test_an_hour_is_offered_only_where_its_price_is_known() -> None:
    assert [label for label, _ in panel("gpt-5.5", **COURSE).cache.options] == ["none", "5 minutes"]


def test_a_number_box_moves_its_slider(shown: Panel) -> None:
    shown.numbers["N"].value = 5
    assert shown.sliders["N"].value == 5
    assert "31,000" in shown.sentence.value
    assert len(shown.figure.data[0].x) == 5


def test_a_number_between_two_steps_of_the_slider_stays_as_it_was_typed(shown: Panel) -> None:
    shown.numbers["S"].value = 3_049
    assert (shown.numbers["S"].value, shown.sliders["S"].value) == (3_049, 3_000)
    expect_computed(shown, S=3_049)
    shown.sliders["S"].value = 3_100
    assert shown.numbers["S"].value == 3_100


def test_a_number_that_makes_no_sense_is_held_at_the_limit(shown: Panel) -> None:
    for name, lowest in (("N", 1), ("window", 1), ("cap", 50)):
        shown.numbers[name].value = -3
        assert shown.numbers[name].value == shown.sliders[name].value == lowest
    shown.numbers["r"].value = 10**9
    assert shown.numbers["r"].value == shown.sliders["r"].max


def test_the_name_of_a_line_follows_its_control(shown: Panel) -> None:
    shown.sliders["trigger"].value = 30_000
    shown.sliders["keep"].value = 5
    names = ["keep all", "clear, keep 5", "trim to 20 messages", "compact over 30,000", "cap results at 500", "trigger"]
    assert [trace.name for trace in shown.figure.data] == names


def test_a_panel_may_start_between_two_steps() -> None:
    started = panel(MODEL, **{**COURSE, "r": 1_234})
    assert (started.numbers["r"].value, started.sliders["r"].value) == (1_234, 1_250)


def test_a_value_beyond_the_usual_range_widens_its_slider() -> None:
    assert panel(MODEL, **{**COURSE, "S": 90_000}).sliders["S"].max == 90_000


@pytest.mark.parametrize(
    ("wrong", "said"), [({"N": 0}, "N is 0"), ({"r": True}, "r is True"), ({"cap": 0}, "cap is 0; expected 1 to")]
)
def test_a_panel_refuses_values_that_are_no_sizes(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(AgentlabError, match=said):
        panel(MODEL, **{**COURSE, **wrong})
