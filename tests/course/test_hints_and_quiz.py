import pytest
from course_samples import DOUBLE

from agentlab.course import hint, quiz
from agentlab.errors import AgentlabError

OPTIONS = {"a": ("It grows with `N`", False, "the history is sent again"), "b": ("With N squared", True, "each step")}


def test_a_hint_opens_step_by_step_as_text():
    assert repr(hint(DOUBLE)) == 'Hint 1 of 3 for 02.1: look at `n`\nThe next one: hint("02.1", step=2)'
    assert repr(hint(DOUBLE, step=3)).split("\n")[-1] == "Hint 3 of 3 for 02.1: return 2 * n"


def test_in_a_notebook_every_hint_is_folded_and_each_next_one_inside_the_one_before():
    shown = hint(DOUBLE)._repr_html_()
    assert shown.count("<details>") == 3
    first, second, third = (shown.index(f"Hint {step} of 3") for step in (1, 2, 3))
    assert first < second < third < shown.index("</details>")
    assert "<code>n</code>" in shown


def test_a_hint_that_was_asked_for_by_its_step_is_open_with_those_before_it():
    shown = hint(DOUBLE, step=2)._repr_html_()
    assert (shown.count("<details open>"), shown.count("<details>")) == (2, 1)
    assert shown.rindex("<details open>") < shown.index("<details>")


@pytest.mark.parametrize("step", [0, 4, -1])
def test_there_are_exactly_three_steps(step):
    with pytest.raises(AgentlabError, match="ask for step 1, 2 or 3"):
        hint(DOUBLE, step=step)


def test_a_quiz_gives_a_reason_for_every_option_with_and_without_a_front_end():
    made = quiz("How <fast>?", OPTIONS)
    shown = made._repr_html_()
    assert shown.count("<details>") == shown.count("<summary>") == 2
    assert "<details open" not in shown
    assert "How &lt;fast&gt;?" in shown
    for text in (repr(made), shown):
        assert "the history is sent again" in text
        assert "each step" in text
    assert "b) Right: each step" in repr(made)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "needs a right option"),
        ({"a": OPTIONS["a"]}, "needs a right option"),
        ({"b": OPTIONS["b"]}, "one that is not"),
        (OPTIONS | {"c": ("x", False, " ")}, "option c has no reason"),
    ],
)
def test_a_quiz_that_teaches_nothing_is_refused(options, problem):
    with pytest.raises(AgentlabError, match=problem):
        quiz("Why?", options)
