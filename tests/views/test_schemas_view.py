"""The share of schemas under sliders: a value that moves must move line, marker, sentence and table."""

import pytest

from agentlab.errors import AgentlabError
from agentlab.facts import read_facts
from agentlab.views.paired import Range, pair
from agentlab.views.schemas import Panel, figure, panel, tool_prompt_table
from agentlab.views.tokens import schema_share, share_sentence, share_table

START = {"tools": 30, "schema_tokens": 200, "history_tokens": 4_000}


@pytest.fixture
def shown() -> Panel:
    return panel(**START)


def expect_computed(shown: Panel, **sizes: int) -> None:
    """Everything on the panel must be what the calculator says of these sizes."""
    share = schema_share(**sizes)
    line, here = shown.figure.data
    assert (here.x[0], here.y[0]) == (share.tools, share.share)
    for tools in (0, 1, 20, line.x[-1]):
        assert line.y[tools] == pytest.approx(share._replace(tools=tools).share, abs=5e-5)
    assert share_sentence(share) in shown.sentence.value
    assert share_table(sizes["schema_tokens"], sizes["history_tokens"]).html in shown.table.value


def test_the_panel_starts_with_what_the_calculator_says(shown: Panel) -> None:
    expect_computed(shown, **START)


@pytest.mark.parametrize("name", START)
def test_each_slider_moves_everything(shown: Panel, name: str) -> None:
    slider, number = shown.pairs[name]
    slider.value += slider.step
    assert number.value == slider.value == START[name] + slider.step
    expect_computed(shown, **{**START, name: slider.value})


@pytest.mark.parametrize("name", START)
def test_each_number_box_moves_everything(shown: Panel, name: str) -> None:
    shown.pairs[name].number.value = 77
    expect_computed(shown, **{**START, name: 77})


def test_a_request_of_nothing_has_no_share(shown: Panel) -> None:
    for each in shown.pairs.values():
        each.number.value = 0
    expect_computed(shown, tools=0, schema_tokens=0, history_tokens=0)


def test_every_number_box_has_a_label(shown: Panel) -> None:
    assert all(each.number.description and each.slider.tooltip for each in shown.pairs.values())


def test_a_number_beyond_the_usual_range_widens_slider_and_line() -> None:
    wide = panel(tools=400, schema_tokens=200, history_tokens=0)
    assert wide.pairs["tools"].slider.max == 400
    assert wide.figure.data[0].x[-1] == 400


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "3"])
def test_what_is_no_size_is_refused(wrong: object) -> None:
    with pytest.raises(AgentlabError, match="tools is"):
        panel(**{**START, "tools": wrong})


def test_a_figure_is_small_and_its_text_can_be_read_in_every_theme() -> None:
    drawn = figure(schema_share(**START))
    assert drawn.layout.paper_bgcolor == drawn.layout.plot_bgcolor == "#ffffff"
    assert drawn.layout.font.color == "#333333"
    assert len(drawn.to_json()) < 6_000


def test_a_number_that_was_typed_may_stand_between_two_steps_of_its_slider() -> None:
    slider, number = pair(Range("tokens", 0, 100, 10), 40)
    number.value = 47
    assert (number.value, slider.value) == (47, 50)
    slider.value = 60
    assert number.value == 60


def test_the_pair_holds_a_number_at_its_limits() -> None:
    slider, number = pair(Range("tokens", 0, 100, 10), 40)
    number.value = 1_000
    assert number.value == slider.value == 100


def test_what_is_not_known_of_a_model_is_said_and_no_retired_model_is_shown() -> None:
    rows = {row[0]: row for row in tool_prompt_table().rows}
    facts = {row["model"]: row for row in read_facts("tool_prompt_tokens")}
    assert set(rows) == {name for name, row in facts.items() if row["retired"] == "no"}
    for name, row in rows.items():
        assert row[1] == (facts[name]["auto_none"] or "not known")
        assert ("unverified" in row[3]) == (facts[name]["verified"] != "yes")
