from collections.abc import Mapping

import pytest
from course_samples import DOUBLE
from pydantic import ValidationError

from agentlab.course import TODO, Exercise, check
from agentlab.course.checks import call, expect, expect_value, judge, wrong
from agentlab.course.exercises import find, gather
from agentlab.course.results import MIME, CheckResult, collect
from agentlab.errors import AgentlabError


def exercise(check):
    return Exercise(id="02.7", lesson="02", title="t", minutes=1, check=check, hints=("a", "b", "c"))


def divide(n):
    rate = n / 0
    return -rate


def leaves(n):
    raise SystemExit("bye")


def test_a_right_answer_is_right_and_carries_the_sentence_of_the_check():
    result = judge(DOUBLE, lambda n: n + n)
    assert (result.state, result.note) == ("right", "checked with one number")
    assert repr(result) == "✔ 02.1 right\n  checked with one number"


@pytest.mark.parametrize(
    "answer",
    [
        TODO,
        [1, TODO],
        lambda n: TODO,
        lambda n: [TODO],
        lambda n: TODO + n,
        lambda n: {"total": {"in": TODO}},
        lambda n: TODO << 1,
        lambda n: divmod(TODO, 2),
    ],
    ids=["itself", "in a list", "returned", "returned in a list", "computed with", "deep", "shifted", "divided"],
)
def test_an_answer_with_todo_is_not_attempted_and_never_wrong(answer):
    result = judge(DOUBLE, answer)
    assert result.state == "not attempted"
    assert 'hint("02.1")' in result.note


def test_a_wrong_answer_says_what_was_called_came_back_was_expected_and_why():
    def triple(n):
        return 3 * n

    result = judge(DOUBLE, triple)
    assert result.state == "wrong"
    assert (result.called, result.came_back, result.expected) == ("triple(3)", "9", "6")
    assert result.why == "a square is no double"  # the reason that fits the known mistake


def test_an_unknown_mistake_gets_the_general_reason():
    assert judge(DOUBLE, lambda n: 7).why == "the history is sent twice"


def test_an_exception_of_the_learner_is_a_wrong_answer_with_type_message_and_line():
    result = judge(DOUBLE, divide)
    assert result.state == "wrong"
    line = divide.__code__.co_firstlineno + 1
    assert result.came_back == f"ZeroDivisionError: division by zero (line {line}: rate = n / 0)"
    assert "Traceback" not in repr(result)


@pytest.mark.parametrize(
    ("answer", "came_back"),
    [
        (leaves, "SystemExit: bye"),
        (lambda: 6, "TypeError"),  # takes no argument
        ("six", "not a function"),
        (None, "not a function"),
    ],
)
def test_an_answer_that_cannot_be_called_as_asked_is_wrong(answer, came_back):
    result = judge(DOUBLE, answer)
    assert result.state == "wrong"
    assert came_back in result.came_back


def test_an_answer_that_is_no_function_is_asked_for_as_one():
    result = judge(exercise(lambda control: str(call(control))), 5)
    assert (result.called, result.came_back, result.expected) == ("5", "not a function", "a function")
    assert result.why.startswith("pass the function itself")


def test_an_answer_of_another_kind_that_breaks_the_check_is_wrong():
    result = judge(exercise(lambda answer: expect_value("it", answer["total"], gives=1, why="w")), 5)
    assert result.state == "wrong"
    assert result.came_back.startswith("TypeError")


def test_a_flag_is_not_a_count():
    assert judge(exercise(lambda answer: expect_value("it", answer, gives=1, why="w")), True).state == "wrong"


def test_the_addresses_of_objects_are_not_shown():
    class Thing:
        pass

    result = judge(exercise(lambda answer: expect_value("it", answer, gives=1, why="w")), Thing())
    assert " at 0x" not in result.came_back


def test_long_values_are_cut():
    result = judge(exercise(lambda answer: expect_value("it", answer, gives=1, why="w")), list(range(1000)))
    assert len(result.came_back) == 300


def test_a_long_message_of_an_exception_is_one_cut_line():
    def complains(n):
        raise ValueError("two\nlines " * 100)

    came_back = judge(DOUBLE, complains).came_back
    assert "\n" not in came_back
    assert len(came_back) < 400


def test_call_returns_what_the_learner_returned_and_reports_what_they_raised():
    assert judge(exercise(lambda f: wrong(called="f", came_back=call(f), expected="", why="w")), lambda: 5) == (
        CheckResult(exercise="02.7", state="wrong", called="f", came_back="5", expected="''", why="w")
    )
    assert judge(exercise(call), divide).expected == "a result"


def test_expect_shows_positional_and_named_arguments_as_they_were_before_the_call():
    def clears(items, *, keep):
        items.clear()

    result = judge(exercise(lambda f: expect(f, [1], keep=2, gives=0, why="w")), clears)
    assert result.called == "clears([1], keep=2)"


def test_a_wrong_number_of_answers_is_told_in_one_line():
    with pytest.raises(AgentlabError, match=r"check 02.1 takes \(double\), and got 2 answers"):
        check(DOUBLE, 1, 2)


def test_a_check_that_returns_no_sentence_is_told_to_its_author():
    with pytest.raises(AgentlabError, match=r"the check of 02\.7 returned 6; it returns a sentence or None"):
        judge(exercise(lambda n: expect_value("n", n, gives=6, why="w")), 6)


def test_an_unknown_exercise_is_told_with_the_known_ones():
    with pytest.raises(AgentlabError, match=r"there is no exercise '99\.9'"):
        find("99.9")


def test_an_exercise_id_is_used_once():
    with pytest.raises(AgentlabError, match=r"02\.1 is used twice"):
        gather([[DOUBLE], [DOUBLE]])


@pytest.mark.parametrize(
    "change",
    [{"id": "2.1"}, {"lesson": "03"}, {"minutes": 0}, {"title": " "}, {"hints": ("a", "b")}, {"hints": ("a", "b", "")}],
)
def test_an_incomplete_exercise_is_refused(change):
    good = {"id": "02.1", "lesson": "02", "title": "t", "minutes": 1, "check": len, "hints": ("a", "b", "c")}
    assert Exercise(**good).id == "02.1"
    with pytest.raises(ValidationError):
        Exercise(**(good | change))


@pytest.mark.parametrize("missing", ["called", "came_back", "expected", "why"])
def test_a_wrong_result_cannot_leave_out_any_of_its_four_parts(missing):
    parts = dict.fromkeys(("called", "came_back", "expected", "why"), "x") | {missing: ""}
    with pytest.raises(ValidationError, match="what was expected, and why"):
        CheckResult(exercise="02.1", state="wrong", **parts)


def test_a_result_is_shown_as_text_html_and_data_that_can_be_collected_again():
    result = judge(DOUBLE, lambda n: "<b>9</b>")
    bundle = result.mimebundle()
    assert set(bundle) == {"text/plain", "text/html", MIME}
    assert "&lt;b&gt;9&lt;/b&gt;" in bundle["text/html"]
    assert collect([{"output_type": "stream", "text": "x"}, {"data": bundle}]) == [result]


class SaysNothing:
    def __repr__(self):
        raise ValueError("no repr")


class NoMessageError(Exception):
    def __str__(self):
        raise ValueError("no message")


class Opaque(Mapping):
    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        raise OSError("no keys")

    def __len__(self):
        return 1


class Yes(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class YesText(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class RaisesOnEqual:
    def __eq__(self, other):
        raise ValueError("not comparable")

    __hash__ = object.__hash__


def raises_no_message(n):
    raise NoMessageError


@pytest.mark.parametrize(
    ("check", "answer", "came_back"),
    [
        (DOUBLE.check, lambda n: SaysNothing(), "an object of type SaysNothing whose repr raises ValueError"),
        (DOUBLE.check, SaysNothing(), "not a function"),
        (lambda answer: answer["total"], SaysNothing(), "TypeError"),
        (lambda answer: wrong(called="it", came_back=f"{answer!r}", expected=1, why="w"), SaysNothing(), "ValueError"),
        (DOUBLE.check, lambda n: Opaque(), "OSError: no keys"),
        (DOUBLE.check, Opaque(), "OSError: no keys"),
        (DOUBLE.check, lambda n: RaisesOnEqual(), "RaisesOnEqual object"),
        (DOUBLE.check, raises_no_message, "NoMessageError: its message raises ValueError"),
        (lambda answer: answer(1), raises_no_message, "NoMessageError: its message raises ValueError"),
    ],
)
def test_an_answer_that_raises_wherever_it_is_looked_at_is_wrong_and_never_an_exception(check, answer, came_back):
    result = judge(exercise(check), answer)
    assert result.state == "wrong"
    assert came_back in result.came_back


@pytest.mark.parametrize(
    ("answer", "gives"),
    [
        (Yes(5), 6),
        (YesText("a"), "b"),
        ({"a": Yes(5)}, {"a": 6}),
        ({Yes(5): 1}, {6: 1}),
        ([Yes(5)], [6]),
        ((Yes(5), "x"), (6, "x")),
        ([True], [1]),
        (6.0, 6),
        ([6], (6,)),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([6, 7], [6]),
    ],
)
def test_a_value_of_another_type_is_not_the_value_whatever_it_says_of_itself(answer, gives):
    assert judge(exercise(lambda value: expect_value("it", value, gives=gives, why="w")), answer).state == "wrong"


def test_equal_values_of_one_type_are_right_in_any_order_of_keys():
    def check(value):
        expect_value("it", value, gives={"a": [1, (2.5, "x")], 3: None}, why="w")

    assert judge(exercise(check), {3: None, "a": [1, (2.5, "x")]}).state == "right"


@pytest.mark.parametrize(
    ("answer", "why"),
    [(6.0, "divide with //"), (Yes(6), "a plain int is expected"), (True, "w"), (9.0, "a square is no double")],
)
def test_a_value_that_is_right_but_for_its_type_is_told_so(answer, why):
    def check(value):
        expect_value("it", value, gives=6, why="w", mistakes=[(9, "a square is no double")])

    assert why in judge(exercise(check), answer).why


def test_texts_made_by_a_check_are_cut_and_show_no_address():
    def check(value):
        wrong(called=f"f({value!r})", came_back=f"{value!r}; postings: []", expected=f"not {value!r}", why="w")

    result = judge(exercise(check), [object()] * 100)
    for text in (result.called, result.came_back, result.expected):
        assert " at 0x" not in text
        assert len(text) <= 300
