"""Lesson 01 in a real browser: the keyboard moves the share of schemas, and no table is cut off at 1280 pixels."""

from collections.abc import Iterator
from typing import Any

import pytest
from lab_session import open_notebook, run_all_cells, watch
from playwright.sync_api import BrowserContext, Page

from agentlab.views.tokens import schema_share, share_sentence

pytestmark = pytest.mark.browser

NOTEBOOK = "notebooks/01_function_calling.ipynb"

_PANEL = """() => {
    const said = document.querySelector('.widget-html [aria-live=polite]');
    const panel = said.closest('.jp-OutputArea-output');
    const numbers = [...panel.querySelectorAll('input[type=number]')].map(input => Number(input.value));
    const here = panel.querySelector('.js-plotly-plot')._fullData[1];
    return {numbers, marker: [here.x[0], here.y[0]], said: said.innerText};
}"""
_MOVED = "before => document.querySelector('.widget-html [aria-live=polite]').innerText !== before"
_CUT_OFF = """() => [...document.querySelectorAll('.jp-OutputArea-output table')]
    .filter(table => table.getBoundingClientRect().right
        > table.closest('.jp-OutputArea-output').getBoundingClientRect().right + 1)
    .map(table => table.caption.innerText)"""


@pytest.fixture(scope="module")
def page(browser: BrowserContext, lab: str) -> Iterator[Page]:
    """Lesson 01, opened and run."""
    opened = browser.new_page()
    watched = watch(opened)
    open_notebook(opened, lab, NOTEBOOK)
    run_all_cells(opened)
    opened.wait_for_selector(".widget-html [aria-live=polite]")
    opened.wait_for_selector(".js-plotly-plot .main-svg >> nth=0")
    yield opened
    assert watched.errors == []
    assert watched.hosts == {"127.0.0.1"}
    opened.close()


def expect_computed(panel: dict[str, Any]) -> None:
    """Sentence and marker must be what the calculator says of the numbers beside them."""
    share = schema_share(*panel["numbers"])
    assert panel["said"].strip() == share_sentence(share)
    assert panel["marker"] == [share.tools, share.share]


def test_tab_and_arrow_keys_move_the_number_of_tools(page: Page) -> None:
    before = page.evaluate(_PANEL)
    expect_computed(before)
    page.get_by_label("tools", exact=True).focus()
    page.keyboard.press("Tab")  # from the number box to its slider
    page.keyboard.press("ArrowRight")
    page.wait_for_function(_MOVED, arg=before["said"])
    after = page.evaluate(_PANEL)
    assert after["numbers"] == [before["numbers"][0] + 1, *before["numbers"][1:]]
    expect_computed(after)


def test_a_number_can_be_typed(page: Page) -> None:
    before = page.evaluate(_PANEL)
    page.get_by_label("everything else", exact=True).fill("777")
    page.keyboard.press("Enter")
    page.wait_for_function(_MOVED, arg=before["said"])
    after = page.evaluate(_PANEL)
    assert after["numbers"] == [*before["numbers"][:2], 777]
    expect_computed(after)


def test_no_table_is_wider_than_the_page(page: Page) -> None:
    assert page.evaluate("() => window.innerWidth") == 1280
    assert page.locator(".jp-OutputArea-output table").count() > 8
    assert page.evaluate(_CUT_OFF) == []


def test_the_sequence_is_drawn(page: Page) -> None:
    drawn = page.locator(".jp-RenderedMermaid img, .jp-RenderedMermaid svg").first
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    assert box is not None
    assert 500 < box["width"] <= 1100
