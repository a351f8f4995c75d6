"""The chart of a terminal: plain ASCII that shows what was computed, at any length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.views.text_chart import MARKS, text_chart

lines = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.lists(st.integers(0, 10**9), min_size=1, max_size=300),
    min_size=1,
    max_size=4,
)


@given(lines, st.integers(40, 200))
def test_a_chart_is_ascii_and_fits_its_width(drawn: dict[str, list[int]], width: int) -> None:
    chart = text_chart(drawn, width)
    assert chart.isascii()
    assert max(len(line) for line in chart.splitlines()[:-1]) <= width


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=500), st.integers(20, 90))
def test_the_largest_value_is_drawn_at_the_top_however_many_values_share_a_column(
    values: list[int], width: int
) -> None:
    top = text_chart({"a": values}, width).splitlines()[0]
    assert top.startswith(f"{max(values):,} |")
    assert MARKS[0] in top


def test_each_value_of_a_short_run_stands_at_its_height() -> None:
    rows = text_chart({"a": (0, 6, 12)}, 40).splitlines()
    heights = [12 - i for i, row in enumerate(rows[:13]) for _ in range(row.count("."))]
    assert heights == [12] * 3 + [6] * 3 + [0] * 3
    assert rows[-2].split() == ["1", "3"]


def test_a_later_line_covers_an_earlier_one_and_a_shorter_one_ends_early() -> None:
    rows = text_chart({"long": (5, 5, 5), "short": (5,)}, 40).splitlines()
    assert rows[0] == "5 |###......"
    assert rows[-1] == "   . long   # short"


@pytest.mark.parametrize("values", [(0,), (0, 0), (7,)])
def test_a_run_of_nothing_or_of_one_request_is_drawn_too(values: tuple[int, ...]) -> None:
    assert sum(row.count(".") for row in text_chart({"a": values}, 40).splitlines()[:13]) == 3 * len(values)
