"""Lesson 04 in a real browser: a hand on the keyboard moves the run, the chart and the sentence."""

from typing import Any

import pytest
from lab_session import NO_BROWSER, find_chromium, need_browser, open_notebook, run_all_cells, watch
from playwright.sync_api import BrowserContext, Page

from agentlab.context.cost import Cache
from agentlab.views.costs import cheapest_sentence, costs_table
from agentlab.views.growth import lines, sentence
from agentlab.views.sliders import bills_of

pytestmark = pytest.mark.browser

NOTEBOOK = "notebooks/04_context_growth.ipynb"
MODEL = "claude-opus-5"

_PANEL = """() => {
    const said = document.querySelector('.widget-html [aria-live=polite]');
    const panel = said.closest('.jp-OutputArea-output');
    const labels = [...panel.querySelectorAll('.widget-text, .jupyter-widgets.widget-inline-hbox')];
    const numbers = {};
    for (const box of labels) {
        const label = box.querySelector('label'), input = box.querySelector('input[type=number]');
        if (label && input) numbers[label.textContent.split(':')[0]] = Number(input.value);
    }
    const chart = panel.querySelector('.js-plotly-plot');
    const traces = chart._fullData.map(trace => [trace.name, Array.from(trace.y)]);
    const cells = row => [...row.querySelectorAll('th, td')].map(cell => cell.innerText);
    const rows = [...panel.querySelectorAll('tbody tr')].map(cells);
    return {numbers, traces: Object.fromEntries(traces), said: said.innerText, rows};
}"""


_TOOLBAR = ".modebar-btn, .js-plotly-plot [role=toolbar] *, [aria-label*='Share chart'], [data-title*='Share chart']"


def shown(page: Page) -> dict[str, Any]:
    """What the panel of sliders shows: its numbers by name, the chart's lines by name, its sentences."""
    panel: dict[str, Any] = page.evaluate(_PANEL)
    return panel


def expect_computed(panel: dict[str, Any], cache: Cache = "5m") -> None:
    """Lines, sentences and table must be what the package computes from the numbers beside them."""
    bills = bills_of(panel["numbers"], MODEL, cache)
    assert panel["traces"] == {name: list(line) for name, line in lines([bill.run for bill in bills]).items()}
    for said in (sentence(bills[0].run), cheapest_sentence(bills)):
        assert said in panel["said"]
    assert panel["rows"] == [list(row) for row in costs_table(bills).rows]


def test_arrow_keys_on_the_slider_of_n_move_the_chart_and_the_sentence(browser: BrowserContext, lab: str) -> None:
    page = browser.new_page()
    watched = watch(page)
    open_notebook(page, lab, NOTEBOOK)
    run_all_cells(page)
    page.wait_for_selector(".js-plotly-plot .main-svg >> nth=0")
    page.wait_for_selector(".widget-html [aria-live=polite]")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot .main-svg .scatterlayer').length >= 3")
    assert page.locator(_TOOLBAR).count() == 0  # it offers to upload the chart, and links to a company
    assert page.locator(".js-plotly-plot").locator("a, button, [role=button], [tabindex='0']").count() == 0
    before = shown(page)
    expect_computed(before)

    pair = page.locator(".widget-vbox").filter(has=page.get_by_text("N: requests")).last
    pair.locator(".noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('.widget-html [aria-live=polite]').innerText !== before", arg=before["said"]
    )

    after = shown(page)
    assert after["numbers"] == {**before["numbers"], "N": before["numbers"]["N"] + 1}
    assert after["traces"] != before["traces"]
    assert after["rows"] != before["rows"]
    expect_computed(after)

    page.get_by_role("button", name="none", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "before => document.querySelector('.widget-html [aria-live=polite]').innerText !== before", arg=after["said"]
    )
    expect_computed(shown(page), "none")
    assert page.get_by_text("Jupyter news").count() == 0  # nothing asks to fetch something
    assert watched.errors == []
    assert watched.hosts == {"127.0.0.1"}
    page.close()


@pytest.mark.parametrize("found", ["/usr/bin/chromium", None])
def test_a_missing_browser_skips_on_a_laptop_and_fails_in_ci(found: str | None) -> None:
    if found is not None:
        need_browser(found, required=True)
        return
    with pytest.raises(pytest.skip.Exception, match=NO_BROWSER):
        need_browser(None, required=False)
    with pytest.raises(pytest.fail.Exception, match=NO_BROWSER):
        need_browser(None, required=True)


def test_a_machine_without_a_browser_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("lab_session.CHROMIUM_FILES", ())
    assert find_chromium() is None
