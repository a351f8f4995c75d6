"""Three budgets that end every run: model calls, tokens, and time."""

from typing import Literal, Self

from pydantic import model_validator

from agentlab.shapes import Frozen


class Budgets(Frozen):
    """The most that one run may use. Set them from the measured distribution of successful runs, not from a guess.

    ``tokens`` counts input and output over all model calls; ``seconds`` is the wall clock less the time spent waiting
    for people.
    """

    model_calls: int
    tokens: int
    seconds: float

    @model_validator(mode="after")
    def _allow_something(self) -> Self:
        if self.model_calls < 1 or self.tokens < 1 or not 0 < self.seconds < float("inf"):
            raise ValueError("every budget must be a finite number greater than zero")
        return self


class Totals(Frozen):
    """What a run has used. ``tokens_origin`` is measured when every reply reported its usage, else estimated."""

    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tokens_origin: Literal["measured", "estimated"] = "measured"
    seconds: float = 0.0
    seconds_waiting: float = 0.0


def used_up(budgets: Budgets, totals: Totals) -> str | None:
    """Which budget is used up, in words for a person; None while all three have something left."""
    tokens = totals.input_tokens + totals.output_tokens
    working = totals.seconds - totals.seconds_waiting
    if totals.model_calls >= budgets.model_calls:
        return f"model calls: {totals.model_calls} of {budgets.model_calls} used"
    if tokens >= budgets.tokens:
        return f"tokens: {tokens:,} of {budgets.tokens:,} used"
    if working >= budgets.seconds:
        return f"time: {working:.1f} of {budgets.seconds:.1f} seconds used"
    return None
