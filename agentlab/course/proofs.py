"""What CI proves of every exercise, from the built files alone.

P1 the solution notebook runs, checks every exercise of its lesson, and every check is right.
P2 the stub does not pass: every check of it says "not attempted".
P3 the stub notebook runs to its end.
P4 the stub is the solution less the marked regions.
P5 plausible wrong answers are each called wrong, each for a reason of its own.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentlab.course.checks import judge
from agentlab.course.exercise import Exercise
from agentlab.course.results import CheckResult, collect
from agentlab.course.run import first_error
from agentlab.shapes import Finding

# Written down here a second time on purpose: a proof that used the builder's own code would
# repeat its mistakes.
_REGION = re.compile(r"^([ \t]*)### BEGIN SOLUTION[ \t]*\n.*?^\1### END SOLUTION[ \t]*$", re.MULTILINE | re.DOTALL)
_IN_A_FUNCTION = r"{indent}\# TODO: your code here\n{indent}return TODO"
_AT_THE_MARGIN = r"\w+ = TODO(?:\n\w+ = TODO)*"

WrongAnswers = Mapping[str, Mapping[str, Any]]  # exercise id -> name -> an answer, or a tuple of answers


def results_of(notebook: Any) -> list[CheckResult]:
    """Every check result stored in an executed notebook, in order."""
    return [result for cell in notebook.cells for result in collect(cell.get("outputs", []))]


def solution_is_right(notebook: Any, exercises: Iterable[Exercise]) -> list[Finding]:
    """P1, over an executed solution notebook and the exercises of its lesson."""
    findings = [
        _finding("P1", f"cell {n}", f"it failed: {error}", "mend the solution") for n, error in _failed(notebook)
    ]
    results = results_of(notebook)
    findings += [
        _finding("P1", result.exercise, f"the solution is {result.state}: {result!r}", "mend the solution or its check")
        for result in results
        if result.state != "right"
    ]
    return findings + _not_the_same_exercises("P1", results, exercises)


def stub_is_not_attempted(notebook: Any, exercises: Iterable[Exercise]) -> list[Finding]:
    """P2, over an executed stub notebook and the exercises of its lesson."""
    results = results_of(notebook)
    findings = [
        _finding("P2", result.exercise, f"the untouched stub is {result.state}", "let the answer stand on TODO")
        for result in results
        if result.state != "not attempted"
    ]
    return findings + _not_the_same_exercises("P2", results, exercises)


def stub_runs_to_its_end(notebook: Any) -> list[Finding]:
    """P3, over an executed stub notebook."""
    findings = [_finding("P3", f"cell {n}", f"it failed: {error}", "compute nothing with TODO outside a check")
                for n, error in _failed(notebook)]  # fmt: skip
    findings += [
        _finding("P3", f"cell {number}", "it was not run", "mend the cell before it")
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code" and cell.source.strip() and not cell.execution_count
    ]
    return findings


def stub_is_solution_less_regions(stub: Any, solution: Any) -> list[Finding]:
    """P4, over the two stored notebooks."""
    if len(stub.cells) != len(solution.cells):
        message = f"the stub has {len(stub.cells)} cells, the solution {len(solution.cells)}"
        return [_finding("P4", "cells", message, "build both from the lesson")]
    pairs = enumerate(zip(stub.cells, solution.cells, strict=True), start=1)
    findings = [
        _finding("P4", f"cell {number}", "it is not the solution less its regions", "build both from the lesson")
        for number, (one, other) in pairs
        if one.cell_type != other.cell_type
        or one.metadata != other.metadata
        or not re.fullmatch(_stub_pattern(other.source), one.source)
    ]
    if not any(_REGION.search(cell.source) for cell in solution.cells):
        findings.append(_finding("P4", "cells", "the solution has no marked region", "mark what the learner writes"))
    return findings


def wrong_answers_are_wrong(
    exercises: Iterable[Exercise], answers: WrongAnswers, judged: Callable[..., CheckResult] = judge
) -> list[Finding]:
    """P5: three or more wrong answers an exercise, each called wrong, no two with the same ``why``."""
    findings = []
    for exercise in exercises:
        given = answers.get(exercise.id, {})
        if len(given) < 3:
            findings.append(_finding("P5", exercise.id, f"it has {len(given)} wrong answers", "write three or more"))
        reasons: dict[str, str] = {}
        for name, answer in given.items():
            result = judged(exercise, *(answer if isinstance(answer, tuple) else (answer,)))
            where = f"{exercise.id} {name}"
            if result.state != "wrong":
                findings.append(_finding("P5", where, f"it is called {result.state}", "make the check see it"))
            elif result.why in reasons:
                same = f"its reason is that of {reasons[result.why]}: {result.why}"
                findings.append(_finding("P5", where, same, "tell the two mistakes apart (mistakes=...)"))
            reasons.setdefault(result.why, name)
    return findings


def _stub_pattern(solution: str) -> str:
    pattern, done = "", 0
    for region in _REGION.finditer(solution):
        indent = region[1]
        replaced = _IN_A_FUNCTION.format(indent=indent) if indent else _AT_THE_MARGIN
        pattern += re.escape(solution[done : region.start()]) + replaced
        done = region.end()
    return pattern + re.escape(solution[done:])


def _failed(notebook: Any) -> list[tuple[int, str]]:
    failed = first_error(notebook.cells)
    return [failed] if failed else []


def _not_the_same_exercises(rule: str, results: Iterable[CheckResult], exercises: Iterable[Exercise]) -> list[Finding]:
    checked = {result.exercise for result in results}
    known = {exercise.id for exercise in exercises}
    return [
        _finding(rule, name, "the lesson has this exercise, and its notebook does not check it", "add check(...)")
        for name in sorted(known - checked)
    ] + [
        _finding(rule, name, "the notebook checks it, and the registry does not know it", "add it to the registry")
        for name in sorted(checked - known)
    ]


def _finding(rule: str, where: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, level="must", where=where, message=message, fix=fix)
