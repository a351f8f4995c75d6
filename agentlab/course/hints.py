"""Hints in three steps: where to look, how to go, nearly the answer."""

from agentlab.course.exercise import Exercise
from agentlab.course.exercises import find
from agentlab.course.inline import inline_html
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

STEPS = 3


class Hint(Frozen):
    """One exercise's hints, opened up to ``step`` (1, 2 or 3) as text.

    In a notebook each next step is folded inside the one before it, and so is the first unless a later one was asked
    for: nobody reads a hint by accident, and the hints also open where no kernel runs.
    """

    exercise: str
    hints: tuple[str, str, str]
    step: int = 1

    def __repr__(self) -> str:
        shown = [f"Hint {number} of {STEPS} for {self.exercise}: {self.hints[number - 1]}" for number in self._open()]
        if self.step < STEPS:
            shown.append(f'The next one: hint("{self.exercise}", step={self.step + 1})')
        return "\n".join(shown)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        inner = ""
        for number in range(STEPS, 0, -1):
            is_open = " open" if self.step > 1 and number in self._open() else ""
            inner = (
                f"<details{is_open}><summary>Hint {number} of {STEPS} for {self.exercise}</summary>"
                f"<p>{inline_html(self.hints[number - 1])}</p>{inner}</details>"
            )
        return inner

    def _open(self) -> range:
        return range(1, self.step + 1)


def hint(exercise: str | Exercise, step: int = 1) -> Hint:
    """The hints of an exercise, opened up to `step`. Raises AgentlabError for an unknown id or step."""
    task = find(exercise)
    if step not in range(1, STEPS + 1):
        raise AgentlabError(f"exercise {task.id} has no hint {step}; ask for step 1, 2 or 3")
    return Hint(exercise=task.id, hints=task.hints, step=step)
