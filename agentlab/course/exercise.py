"""The shape of one exercise: its check, its three hints and its minutes."""

import re
from collections.abc import Callable
from typing import Self

from pydantic import model_validator

from agentlab.shapes import Frozen


class Exercise(Frozen):
    """One task of a lesson.

    ``id`` is "LL.K": lesson number and place, as in "02.1". ``minutes`` is a trainer's estimate.
    ``check`` gets the learner's answers and uses `expect`, `expect_value`, `call` and `wrong` of
    `agentlab.course.checks`; it returns a sentence to show with a right answer, or None.
    ``hints`` are exactly three: where to look, how to go, and nearly the answer.
    """

    id: str
    lesson: str
    title: str
    minutes: int
    check: Callable[..., str | None]
    hints: tuple[str, str, str]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if not re.fullmatch(r"\d\d\.\d+", self.id) or self.lesson != self.id.split(".")[0]:
            raise ValueError(f"exercise {self.id!r}: the id is lesson.place, as in '02.1' with lesson '02'")
        if self.minutes < 1 or not self.title.strip() or not all(hint.strip() for hint in self.hints):
            raise ValueError(f"exercise {self.id}: it needs a title, its minutes and three hints with text")
        return self
