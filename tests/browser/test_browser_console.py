"""Lesson 02 in a real browser: the console is worked by keyboard alone, and shows what the package computes."""

import pytest
from lab_session import open_notebook, run_all_cells, watch
from playwright.sync_api import BrowserContext, Page

from agentlab.views.dispatch import sentence
from agentlab.views.situation import Situation, outcome

pytestmark = pytest.mark.browser

NOTEBOOK = "notebooks/02_guarded_dispatcher.ipynb"
CONSOLE = ".agentlab-console"
_SAYS = f"said => document.querySelector('{CONSOLE} [aria-live=polite]').innerText === said"


def expect_shown(page: Page, situation: Situation) -> None:
    """The sentence must be the package's own, and the table must have a row for each step."""
    seen = outcome(situation)
    page.wait_for_function(_SAYS, arg=sentence(seen))
    rows = page.locator(f"{CONSOLE} table").first.locator("tbody tr")
    assert rows.count() == len(seen.steps)
    for number, step in enumerate(seen.steps):
        assert rows.nth(number).locator("td").last.inner_text() == step.said


def test_the_console_is_moved_by_tab_space_and_digits_and_shows_who_answers(browser: BrowserContext, lab: str) -> None:
    page = browser.new_page()
    watched = watch(page)
    open_notebook(page, lab, NOTEBOOK)
    run_all_cells(page)
    page.wait_for_selector(f"{CONSOLE} [aria-live=polite]")
    start = Situation(amount_cents=900_000)
    expect_shown(page, start)
    assert page.locator(f"{CONSOLE} select").count() == 0  # JupyterLab takes the arrow keys of a list for itself

    row = page.locator(f"{CONSOLE} .widget-toggle-buttons").filter(has=page.get_by_text("approved", exact=True))
    row.locator("button").first.focus()
    for approved in ("this call", "another amount", "refused"):
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        expect_shown(page, start._replace(approved=approved))
        assert page.evaluate("() => document.activeElement.innerText") == approved

    calls = (
        page.locator(f"{CONSOLE} .widget-text").filter(has=page.get_by_text("calls in this minute")).locator("input")
    )
    calls.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect_shown(page, start._replace(approved="refused", calls_before=5))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect_shown(page, start._replace(approved="refused", calls_before=4))

    # Neither a widget that could not be drawn, nor the words that stand for one where no kernel runs.
    assert page.get_by_text("Error displaying widget").count() == 0
    assert page.locator(".jp-OutputArea-output pre", has_text="VBox(children").count() == 0
    assert watched.errors == []
    assert watched.hosts == {"127.0.0.1"}
    page.close()
