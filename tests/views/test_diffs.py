"""A diff is computed from the sources of two functions that run."""

import inspect

from agentlab.views.diffs import source_diff


def bare(amount):
    return amount


def guarded(amount):
    if amount <= 0:
        return "refused"
    return amount


def rewritten(amount):
    return "<b>" if amount else amount


def test_a_diff_is_the_whole_new_function_with_what_is_new_marked() -> None:
    diff = source_diff(bare, guarded)
    kept = [line[2:] for line in diff.lines if line[0] != "-"]
    assert "\n".join(kept) + "\n" == inspect.getsource(guarded)
    assert [line for line in diff.lines if line[0] == "+"][1:] == [
        "+     if amount <= 0:",
        '+         return "refused"',
    ]


def test_a_line_that_is_gone_is_shown_and_counted() -> None:
    diff = source_diff(bare, rewritten)
    assert "-     return amount" in diff.lines
    assert diff.caption == "2 lines more, 2 gone"


def test_a_function_that_stayed_as_it_was_has_nothing_marked() -> None:
    diff = source_diff(bare, bare)
    assert diff.caption == "0 lines more"
    assert {line[0] for line in diff.lines} == {" "}
    assert diff.lines[0] == "  def bare(amount):"


def test_a_diff_reads_the_same_as_text_and_as_html_and_no_source_becomes_markup() -> None:
    diff = source_diff(bare, rewritten)
    assert repr(diff).splitlines()[1:] == list(diff.lines)
    assert "&lt;b&gt;" in diff._repr_html_()
    assert "<b>" not in diff._repr_html_()
