"""The growth view without a front end: one result, told as sentence, formula, table and figure."""

import re
from typing import Any

import plotly.io as pio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, KeepAll, TrimTurns
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError
from agentlab.views import growth as view
from agentlab.views.tables import Table

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
CONTROLS = (ClearToolResults(keep=3, placeholder=20), Compact(trigger=20_000, summary=1_500), TrimTurns(window=20))


def test_the_sentence_of_keeping_all_gives_the_cost_of_doubling() -> None:
    assert view.sentence(view.grow(**COURSE, N=40)) == (
        "The run sends 1,193,000 input tokens in 40 requests; the last is the largest, with 56,150. "
        "Going from 20 to 40 requests multiplies the total by 3.65."
    )


def test_the_sentence_of_compaction_counts_the_summarising_calls_in() -> None:
    said = view.sentence(view.grow(**COURSE, N=40, trigger=20_000, control=CONTROLS[1]))
    assert "3 summarising calls read 63,450 tokens more and write 4,500." in said
    assert f"reads {(468_050 + 63_450) / 1_193_000:.0%} of what keeping all would read" in said
    assert said.endswith("No request is over the trigger of 20,000; the summarising calls are, with up to 21,200.")


def test_one_summarising_call_is_told_in_the_singular() -> None:
    said = view.sentence(view.grow(**COURSE, N=15, trigger=20_000, control=CONTROLS[1]))
    assert "1 summarising call reads 21,050 tokens more and writes 1,500." in said
    assert said.endswith("No request is over the trigger of 20,000; the summarising call is, with 21,050.")


def test_summarising_calls_are_told_beside_a_request_that_is_over_too() -> None:
    said = view.sentence(view.grow(**COURSE, N=5, trigger=3_000, control=Compact(trigger=3_500, summary=100)))
    assert said.endswith(
        "Request 1 is the first over the trigger of 3,000; the summarising calls are too, with up to 4,950."
    )


def test_a_trigger_above_every_call_leaves_the_summarising_calls_unsaid() -> None:
    said = view.sentence(view.grow(**COURSE, N=40, trigger=30_000, control=CONTROLS[1]))
    assert said.endswith("No request is over the trigger of 30,000.")


def test_one_request_is_told_in_the_singular_and_compared_with_nothing() -> None:
    said = view.sentence(view.grow(**COURSE, N=1))
    assert said == "The run sends 3,500 input tokens in 1 request."


def test_a_run_of_empty_messages_has_a_sentence_too() -> None:
    assert "0 input tokens" in view.sentence(view.grow(0, 0, 0, 0, 10, control=ClearToolResults()))


@given(st.integers(0, 9_999), st.integers(0, 999), st.integers(0, 999), st.integers(0, 9_999), st.integers(1, 99))
def test_the_formula_with_numbers_put_in_works_out_to_the_total(S: int, U: int, a: int, r: int, N: int) -> None:
    run = view.grow(S, U, a, r, N)
    line = view.formula(run)[1].replace(",", "")
    match = re.search(r"= (\d+) x (\d+) \+ (\d+) x (\d+) = (\d+)$", line)
    assert match
    n, fixed, step, pairs, total = map(int, match.groups())
    assert n * fixed + step * pairs == total == run.forecast.total


@given(st.lists(st.integers(0, 9_999), max_size=40), st.integers(0, 9_999), st.integers(0, 999))
def test_the_formula_of_uneven_results_works_out_to_the_total_too(results: list[int], S: int, a: int) -> None:
    run = view.grow(S, 7, a, tuple(results), len(results) + 1)
    match = re.search(r"= (\d+) x (\d+) \+ (\d+) x (\d+) \+ (\d+) = (\d+)$", view.formula(run)[1].replace(",", ""))
    assert match
    n, fixed, written, pairs, resent, total = map(int, match.groups())
    assert n * fixed + written * pairs + resent == total == run.forecast.total
    assert resent == sum((run.N - i) * size for i, size in enumerate(results, start=1))


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (CONTROLS[0], ["clearing: of the k - 1 results the last 3 keep their 1,200 tokens, each older one has 20"]),
        (CONTROLS[1], ["compaction: where I(k) would be over 20,000, it is S + U + s = 5,000 and grows on"]),
        (CONTROLS[2], ["trimming: I(k) = 3,500 + min(k - 1, 10) x 1,350"]),
        (KeepAll(), []),
        (
            ClearToolResults(trigger=9_000, at_least=4_000),
            [
                "clearing over 9,000 tokens, if that saves 4,000: of the k - 1 results the last 3 keep their "
                "1,200 tokens, each older one has 20"
            ],
        ),
        (CapResults(500), ["cap: a result has min(r, 500) = 500 tokens"]),
        (Handles(over=900), ["handles: a result of more than 900 tokens is a handle of 60"]),
        (
            Handles(over=900, loads=4),
            [
                "handles: a result of more than 900 tokens is a handle of 60; "
                "4 of them are loaded, by one more step each"
            ],
        ),
        (
            SubAgents(calls=1, summary=300, S=2_000, U=100),
            ["sub-agents: each makes 1 call, from S + U = 2,100 tokens on; the lead carries 300 tokens for each"],
        ),
    ],
)
def test_a_control_says_what_it_changes_in_the_formula(control: object, said: list[str]) -> None:
    assert view.formula(view.grow(**COURSE, N=40, control=control))[2:] == said  # type: ignore[arg-type]


def test_a_combination_says_what_each_of_its_controls_changes() -> None:
    assert len(view.formula(view.grow(**COURSE, N=40, control=Combined(CONTROLS[:2])))) == 4


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (ClearToolResults(), "of the k - 1 results the last 3 keep their size, each older one has 20"),
        (TrimTurns(window=6), "trimming: of the k - 1 steps the last 3 stay, behind 3,500 tokens"),
        (CapResults(500), "cap: a result has min(r, 500) tokens"),
    ],
)
def test_with_uneven_results_no_control_names_a_size_that_all_have(control: object, said: str) -> None:
    run = view.grow(**{**COURSE, "r": (5, 10)}, N=3, control=control)  # type: ignore[arg-type]
    assert view.formula(run)[2].endswith(said)


@given(st.integers(1, 100_000))
def test_the_table_shows_a_few_requests_from_the_first_to_the_last(N: int) -> None:
    shown = view.landmarks(N)
    assert shown[0] == 1
    assert shown[-1] == N
    assert len(shown) <= 6
    assert shown == sorted(set(shown))


def test_the_table_puts_a_control_beside_keeping_all() -> None:
    table = view.table(view.grow(**COURSE, N=40, control=CONTROLS[1]))
    assert ("request 20", "13,100", "29,150") in table.rows
    assert ("all requests", "468,050", "1,193,000") in table.rows
    assert ("summaries read", "63,450", "0") in table.rows
    assert ("all input", "531,500", "1,193,000") in table.rows


def test_requests_that_only_one_of_the_two_runs_has_stay_empty_for_the_other() -> None:
    longer = view.table(view.grow(**COURSE, N=40, control=Handles(over=900, loads=8)))
    assert [row[0] for row in longer.rows[:7]] == [f"request {k}" for k in (1, 2, 5, 10, 20, 40, 48)]
    assert longer.rows[6] == ("request 48", "22,490", "")
    fewer = view.table(view.grow(**COURSE, N=40, control=SubAgents(calls=13, summary=300, S=2_000, U=100)))
    assert ("request 40", "", "56,150") in fewer.rows


def test_sub_agents_are_told_with_what_they_read_and_write_themselves() -> None:
    run = view.grow(**COURSE, N=40, trigger=4_000, control=SubAgents(calls=13, summary=300, S=2_000, U=100))
    read = run.forecast.all_input - run.forecast.total
    said = view.sentence(run)
    assert said.startswith(f"The lead sends {run.forecast.total:,} input tokens in 4 requests; the last is the largest")
    assert (
        f"3 sub-agents read {read:,} tokens more, in 42 requests of their own, and write {3 * (13 * 150 + 300):,}."
        in said
    )
    assert f"reads {run.forecast.all_input / 1_193_000:.0%} of what keeping all would read" in said
    rows = {row[0]: row[1:] for row in view.table(run).rows}
    assert rows["sub-agents read"] == (f"{read:,}", "0")
    assert rows["all input"] == (f"{run.forecast.all_input:,}", "1,193,000")
    drawn = view.lines([run])
    assert [len(sizes) for sizes in drawn.values()] == [40, 4, 40]


def test_the_comparison_has_a_row_for_each_control() -> None:
    table = view.comparison([view.grow(**COURSE, N=40, control=control) for control in (None, *CONTROLS)])
    assert [row[0] for row in table.rows] == [
        "keep all",
        "clear, keep 3",
        "compact over 20,000",
        "trim to 20 messages",
    ]
    assert table.rows[1] == ("clear, keep 3", "13,670", "407,120", "34%", "0")


def test_a_table_is_aligned_text_and_html_with_header_cells() -> None:
    table = Table("A <caption>", ("what", "tokens"), (("one", "5"), ("eleven", "1,000")))
    assert table.text.split("\n") == ["what    tokens", "------  ------", "one          5", "eleven   1,000"]
    assert "A &lt;caption&gt;" in table.html
    assert table.html.count('scope="row"') == 2
    assert table.html.count('scope="col"') == 2


def test_the_figure_draws_the_forecast_and_the_trigger() -> None:
    run = view.grow(**COURSE, N=40, trigger=20_000, control=CONTROLS[1])
    drawn = view.figure(run)
    by_name = {trace.name: list(trace.y) for trace in drawn.data}
    assert list(by_name) == ["keep all", "compact over 20,000", "trigger"]
    assert by_name["keep all"] == list(run.keep_all.requests)
    assert by_name["compact over 20,000"] == list(run.forecast.requests)
    assert set(by_name["trigger"]) == {20_000}
    assert all(list(trace.x) == list(range(1, 41)) for trace in drawn.data)


def test_the_figure_names_its_axes_with_units_and_fits_beside_sliders() -> None:
    layout = view.figure(view.grow(**COURSE, N=40)).layout
    assert layout.width <= 640
    assert layout.xaxis.title.text == "request k"
    assert "tokens" in layout.yaxis.title.text
    assert layout.title.text
    assert layout.legend.orientation == "h"
    assert layout.paper_bgcolor == layout.plot_bgcolor == view.PAPER


def test_a_run_of_one_request_is_a_point_that_can_be_seen() -> None:
    assert [trace.mode for trace in view.figure(view.grow(**COURSE, N=1)).data] == ["markers"]
    assert [trace.mode for trace in view.figure(view.grow(**COURSE, N=2)).data] == ["lines"]


def test_the_legend_gets_as_many_rows_as_it_needs_below_the_title() -> None:
    few = view.figure(view.grow(**COURSE, N=40, trigger=20_000)).layout
    many = view.figure([view.grow(**COURSE, N=40, trigger=20_000, control=control) for control in CONTROLS]).layout
    assert many.margin.t >= few.margin.t + 19
    assert many.height - many.margin.t == few.height - few.margin.t


def test_no_two_lines_of_a_comparison_look_alike_even_without_colour() -> None:
    drawn = view.figure([view.grow(**COURSE, N=40, control=control) for control in CONTROLS])
    assert len({trace.line.dash for trace in drawn.data}) == len(drawn.data) == 4


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_line_and_every_word_can_be_told_from_the_paper() -> None:
    for colour in (*view.LINE_COLOURS, view.TRIGGER_COLOUR):
        assert _contrast(colour, view.PAPER) >= 3, colour
    assert _contrast(view.TEXT_COLOUR, view.PAPER) >= 4.5


def test_a_figure_is_shown_without_plotlys_toolbar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")
    monkeypatch.setattr("plotly.io._renderers.ipython_display.display", lambda bundle, raw: shown.append(bundle))
    view.figure(view.grow(**COURSE, N=3))._ipython_display_()
    assert [one["config"]["displayModeBar"] for bundle in shown for one in bundle.values()] == [False]


def test_a_trigger_that_is_none_is_refused() -> None:
    with pytest.raises(AgentlabError, match="trigger is -1"):
        view.grow(**COURSE, N=40, trigger=-1)
