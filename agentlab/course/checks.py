"""Checks: call what the learner wrote, and say right, not attempted, or wrong with all its reasons.

A check is a plain function over the learner's answers. It calls them through `call` and `expect`,
which turn an exception of the learner's into a result, and it ends early through `wrong`.
"""

import inspect
import linecache
import re
import traceback
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from agentlab.course.exercise import Exercise
from agentlab.course.results import CheckResult
from agentlab.course.todo import TodoUsedError, holds_todo
from agentlab.errors import AgentlabError

_LONGEST = 300  # characters of a shown value: enough for a tool result, short enough for one glance
_NO_RESULT = "an exception leaves the caller without a result; what may go wrong is returned as data"


class Wrong(Exception):  # noqa: N818 - it ends a check; to the learner it is a result, not an error
    """Ends a check with a wrong result."""

    def __init__(self, called: str, came_back: str, expected: str, why: str) -> None:
        super().__init__(called, came_back, expected, why)
        self.called, self.came_back, self.expected, self.why = called, came_back, expected, why


def wrong(*, called: str, came_back: object, expected: object, why: str) -> NoReturn:
    """End the check here: the answer is wrong. Texts are shown as they are, other values by their repr."""
    raise Wrong(called, _text(came_back), _text(expected), why)


def call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """What the learner's function returns for these arguments; an exception of theirs makes the answer wrong."""
    return _run(describe_call(function, *args, **kwargs), function, args, kwargs, "a result", _NO_RESULT)


def expect(
    function: Callable[..., Any],
    /,
    *args: Any,
    gives: Any,
    why: str,
    mistakes: Iterable[tuple[Any, str]] = (),
    **kwargs: Any,
) -> Any:
    """Call the learner's function and go on only if the result equals `gives`; returns the result.

    ``why`` says why it matters. ``mistakes`` pairs a known wrong result with the reason
    that fits it better.
    """
    called = describe_call(function, *args, **kwargs)  # before the call, which may change its arguments
    result = _run(called, function, args, kwargs, _show(gives), why)
    return expect_value(called, result, gives=gives, why=why, mistakes=mistakes)


def expect_value(called: str, value: Any, *, gives: Any, why: str, mistakes: Iterable[tuple[Any, str]] = ()) -> Any:
    """Go on only if `value` equals `gives`; ``called`` names what was read, as in "total(40)" or "trigger"."""
    if _same(value, gives):
        return value
    reasons = (reason for mistake, reason in mistakes if _same(value, mistake))
    raise Wrong(called, _show(value), _show(gives), next(reasons, why))


def describe_call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> str:
    """The call as a learner would write it: "total(3500, N=5)"."""
    arguments = [_show(value) for value in args] + [f"{name}={_show(value)}" for name, value in kwargs.items()]
    return f"{getattr(function, '__name__', None) or _show(function)}({', '.join(arguments)})"


def judge(exercise: str | Exercise, *answers: Any) -> CheckResult:
    """Run an exercise's check over the answers, without showing anything.

    Raises AgentlabError for an unknown id, the wrong number of answers, or a check that returns
    something else than a sentence (slips of the lesson, not of the learner's work).
    """
    # The registry imports the lessons' checks, which import this module.
    from agentlab.course.exercises import find

    task = find(exercise)
    _refuse_wrong_number(task, answers)
    not_attempted = CheckResult(
        exercise=task.id,
        state="not attempted",
        note=f'Put your answer where TODO stands. Stuck? hint("{task.id}")',
    )
    if holds_todo(answers):
        return not_attempted
    try:
        note = task.check(*answers)
    except TodoUsedError:
        return not_attempted
    except Wrong as end:
        parts = {"called": end.called, "came_back": end.came_back, "expected": end.expected, "why": end.why}
    except Exception as error:  # noqa: BLE001 - an answer of the wrong kind can break a check anywhere
        parts = {
            "called": f"the check of {task.id} with {', '.join(_show(answer) for answer in answers)}",
            "came_back": f"{type(error).__name__}: {error}",
            "expected": "an answer that the check can read",
            "why": "the answer is of another kind than the task asks for; read again what it should return",
        }
    else:
        if not isinstance(note, str | None):
            raise AgentlabError(f"the check of {task.id} returned {_show(note)}; it returns a sentence or None")
        return CheckResult(exercise=task.id, state="right", note=note or "")
    return CheckResult(exercise=task.id, state="wrong", **parts)


def check(exercise: str | Exercise, *answers: Any) -> CheckResult:
    """Check the answers of one exercise, show the result in the notebook, and return it."""
    result = judge(exercise, *answers)
    result.show()
    return result


def _run(
    called: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], expected: str, why: str
) -> Any:
    if not callable(function):
        raise Wrong(_show(function), "not a function", expected, why)
    try:
        result = function(*args, **kwargs)
    except (TodoUsedError, Wrong):
        raise
    except (Exception, SystemExit) as error:  # whatever a learner's code raises is a result
        raise Wrong(called, _exception(error, function), expected, why) from error
    if holds_todo(result):
        raise TodoUsedError("the result holds TODO")
    return result


def _exception(error: BaseException, function: Callable[..., Any]) -> str:
    """The exception's type and message, with the last line of the learner's own code that it passed."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first frame is ours
    own_file = getattr(getattr(function, "__code__", None), "co_filename", None)
    own = [frame for frame in frames if frame.filename == own_file] or frames
    said = type(error).__name__ + (f": {_cut(' '.join(str(error).split()))}" if str(error) else "")
    if not own:
        return said
    line = linecache.getline(own[-1].filename, own[-1].lineno or 0).strip()
    return f"{said} (line {own[-1].lineno}{': ' + _cut(line) if line else ''})"


def _refuse_wrong_number(task: Exercise, answers: tuple[Any, ...]) -> None:
    signature = inspect.signature(task.check)
    try:
        signature.bind(*answers)
    except TypeError as error:
        wanted = ", ".join(signature.parameters)
        raise AgentlabError(f"check {task.id} takes ({wanted}), and got {len(answers)} answers") from error


def _same(value: Any, expected: Any) -> bool:
    # True == 1 in Python, but a flag is not a count.
    if isinstance(value, bool) != isinstance(expected, bool):
        return False
    return bool(value == expected)


def _text(value: object) -> str:
    return value if isinstance(value, str) and value else _show(value)


def _show(value: object) -> str:
    shown = value.__name__ if inspect.isfunction(value) else repr(value)
    shown = re.sub(r" at 0x[0-9a-fA-F]+", "", shown)  # an address differs on every run and tells nothing
    return _cut(shown)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
