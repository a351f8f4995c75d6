"""The sliders without a browser: a value that moves must move chart, sentence and table."""

import pytest

from agentlab.errors import AgentlabError
from agentlab.views.growth import grow
from agentlab.views.sliders import Panel, panel

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200, "N": 40, "trigger": 20_000}


@pytest.fixture
def shown() -> Panel:
    return panel(**COURSE)


def test_there_is_a_slider_and_a_labelled_number_box_for_each_value(shown: Panel) -> None:
    assert list(shown.sliders) == list(shown.numbers) == list(COURSE)
    for name, value in COURSE.items():
        assert shown.sliders[name].value == shown.numbers[name].value == value
        assert shown.numbers[name].description.startswith(name)


def test_the_panel_starts_with_the_figures_of_the_course(shown: Panel) -> None:
    assert shown.figure.data[0].y[-1] == 56_150
    assert "1,193,000" in shown.sentence.value
    assert "468,050" in shown.table.value


def test_the_chart_has_no_toolbar_that_offers_to_upload_it(shown: Panel) -> None:
    assert shown.figure._config["displayModeBar"] is False


@pytest.mark.parametrize("name", COURSE)
def test_each_slider_moves_its_box_the_chart_the_sentence_and_the_table(shown: Panel, name: str) -> None:
    before = ([list(trace.y) for trace in shown.figure.data], shown.sentence.value, shown.table.value)
    shown.sliders[name].value += shown.sliders[name].step
    assert shown.numbers[name].value == shown.sliders[name].value
    after = ([list(trace.y) for trace in shown.figure.data], shown.sentence.value, shown.table.value)
    assert after[0] != before[0]
    assert after[1] != before[1]
    expected = grow(**{**COURSE, name: shown.sliders[name].value})
    assert after[0][0] == list(expected.keep_all.requests)
    assert f"{expected.keep_all.total:,}" in shown.table.value


def test_a_number_box_moves_its_slider(shown: Panel) -> None:
    shown.numbers["N"].value = 5
    assert shown.sliders["N"].value == 5
    assert "31,000" in shown.sentence.value
    assert len(shown.figure.data[0].x) == 5


def test_a_number_between_two_steps_of_the_slider_stays_as_it_was_typed(shown: Panel) -> None:
    shown.numbers["S"].value = 3_049
    assert (shown.numbers["S"].value, shown.sliders["S"].value) == (3_049, 3_000)
    assert f"{grow(**{**COURSE, 'S': 3_049}).keep_all.total:,}" in shown.sentence.value
    shown.sliders["S"].value = 3_100
    assert shown.numbers["S"].value == 3_100


def test_a_number_that_makes_no_sense_is_held_at_the_limit(shown: Panel) -> None:
    shown.numbers["N"].value = -3
    assert shown.numbers["N"].value == shown.sliders["N"].value == 1
    shown.numbers["r"].value = 10**9
    assert shown.numbers["r"].value == shown.sliders["r"].max


def test_the_name_of_the_compacted_line_follows_the_trigger(shown: Panel) -> None:
    shown.sliders["trigger"].value = 30_000
    assert [trace.name for trace in shown.figure.data] == ["keep all", "compact over 30,000", "trigger"]


def test_a_panel_may_start_between_two_steps() -> None:
    started = panel(**{**COURSE, "r": 1_234})
    assert (started.numbers["r"].value, started.sliders["r"].value) == (1_234, 1_250)


def test_a_value_beyond_the_usual_range_widens_its_slider() -> None:
    assert panel(**{**COURSE, "S": 90_000}).sliders["S"].max == 90_000


def test_values_that_are_no_sizes_are_refused() -> None:
    with pytest.raises(AgentlabError, match="N is 0"):
        panel(**{**COURSE, "N": 0})
