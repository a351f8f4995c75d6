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
_BY_NAME = "pass the function itself, by its name and without brackets; the check calls it"
_NO_RESULT = "an exception leaves the caller without a result; what may go wrong is returned as data"


class Wrong(Exception):  # noqa: N818 - it ends a check; to the learner it is a result, not an error
    """Ends a check with a wrong result."""

    def __init__(self, called: str, came_back: str, expected: str, why: str) -> None:
        super().__init__(called, came_back, expected, why)
        self.called, self.came_back, self.expected, self.why = called, came_back, expected, why


def wrong(*, called: str, came_back: object, expected: object, why: str) -> NoReturn:
    """End the check here: the answer is wrong. Texts are shown as they are, other values by their repr.

    Both lose the addresses of objects, and what is too long is cut; ``why`` is shown whole.
    """
    raise Wrong(_tidy(called), _text(came_back), _text(expected), why)


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
    """Call the learner's function and go on only if the result equals `gives` and has its type; returns the result.

    ``why`` says why it matters. ``mistakes`` pairs a known wrong result with the reason
    that fits it better.
    """
    called = describe_call(function, *args, **kwargs)  # before the call, which may change its arguments
    result = _run(called, function, args, kwargs, _show(gives), why)
    return expect_value(called, result, gives=gives, why=why, mistakes=mistakes)


def expect_value(called: str, value: Any, *, gives: Any, why: str, mistakes: Iterable[tuple[Any, str]] = ()) -> Any:
    """Go on only if `value` equals `gives` and has its type, also inside a dict, list or tuple.

    ``called`` names what was read, as in "total(40)" or "trigger".
    """
    if _same(value, gives):
        return value
    why = next((reason for mistake, reason in mistakes if _equal(value, mistake)), why)
    raise Wrong(called, _show(value), _show(gives), _wrong_type(value, gives) or why)


def describe_call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> str:
    """The call as a learner would write it: "total(3500, N=5)"."""
    arguments = [_show(value) for value in args] + [f"{name}={_show(value)}" for name, value in kwargs.items()]
    name = function.__name__ if inspect.isclass(function) else _show(function)
    return f"{name}({', '.join(arguments)})"


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
    try:
        if holds_todo(answers):
            return not_attempted
        note = task.check(*answers)
    except TodoUsedError:
        return not_attempted
    except Wrong as end:
        parts = {"called": end.called, "came_back": end.came_back, "expected": end.expected, "why": end.why}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an answer of the wrong kind can break a check anywhere
        parts = {
            "called": f"the check of {task.id} with {', '.join(_show(answer) for answer in answers)}",
            "came_back": _said(error),
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
        raise Wrong(_show(function), "not a function", "a function", _BY_NAME)
    try:
        result = function(*args, **kwargs)
        if holds_todo(result):
            raise TodoUsedError("the result holds TODO")
    except (TodoUsedError, Wrong):
        raise
    except (Exception, SystemExit) as error:  # whatever a learner's code raises is a result
        raise Wrong(called, _exception(error, function), expected, why) from error
    return result


def _exception(error: BaseException, function: Callable[..., Any]) -> str:
    """The exception's type and message, with the last line of the learner's own code that it passed."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first frame is ours
    own_file = getattr(getattr(function, "__code__", None), "co_filename", None)
    own = [frame for frame in frames if frame.filename == own_file] or frames
    said = _said(error)
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


def _said(error: BaseException) -> str:
    """The exception's type and message in one line."""
    try:
        message = _tidy(" ".join(str(error).split()))
    except Exception as second:  # noqa: BLE001 - a learner's exception may fail even to say what it is
        message = f"its message raises {type(second).__name__}"
    return type(error).__name__ + (f": {message}" if message else "")


def _same(value: Any, expected: Any) -> bool:
    """True if both are equal and of one exact type, item by item.

    True == 1 in Python, but a flag is not a count; and a subclass of int may call itself equal to everything.
    """
    if type(value) is not type(expected):
        return False
    if isinstance(expected, dict):
        same_keys = len(value) == len(expected) and all(map(_same, _sorted(value), _sorted(expected)))
        return same_keys and all(_same(value[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(value) == len(expected) and all(map(_same, value, expected))
    return bool(value == expected)


def _sorted(keys: Iterable[Any]) -> list[Any]:
    # Two dicts are the same in any order of their keys; keys of many types have no order but by their repr.
    return sorted(keys, key=lambda key: (type(key).__name__, repr(key)))


def _equal(value: Any, mistake: Any) -> bool:
    # For the choice of a reason 9.0 is the mistake 9; a flag still is no count.
    try:
        return isinstance(value, bool) == isinstance(mistake, bool) and bool(value == mistake)
    except Exception:  # noqa: BLE001 - what cannot be compared is no known mistake
        return False


def _wrong_type(value: Any, expected: Any) -> str:
    """The reason where a value is right but for its type; empty where that is not so."""
    if type(value) is type(expected) or not isinstance(expected, int | float | str) or not _equal(value, expected):
        return ""
    kind, wanted = type(value).__name__, type(expected).__name__
    if isinstance(value, float) and isinstance(expected, int):
        return (
            f"what is counted is a whole number, an {wanted}: divide with //; a {kind} loses digits where it is large"
        )
    return f"it compares as equal, but it is of type {kind}; a plain {wanted} is expected"


def _text(value: object) -> str:
    return _tidy(value) if type(value) is str and value else _show(value)


def _show(value: object) -> str:
    try:
        return _tidy(value.__name__ if inspect.isroutine(value) else repr(value))
    except Exception as error:  # noqa: BLE001 - a learner's repr may raise anything, and is shown all the same
        return f"an object of type {type(value).__name__} whose repr raises {type(error).__name__}"


def _tidy(text: str) -> str:
    # An address differs on every run and tells nothing.
    return _cut(re.sub(r" at 0x[0-9a-fA-F]+", "", text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
