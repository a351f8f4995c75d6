"""The two shapes that every part of agentlab shares: a finding, and a number with its origin."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator


class Frozen(BaseModel):
    """Base of all value objects here: immutable, strict about types, no unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Finding(Frozen):
    """What a checker says about one place. Checkers return findings; they do not raise.

    ``rule`` is the id of the rule in docs or facts ("A1", "L04"), ``where`` the place in the
    checked thing ("messages[2]"), ``message`` what is wrong there, and ``fix`` the way out.
    ``must`` is an error (a command exits with status 1), ``should`` a warning.
    """

    rule: str
    level: Literal["must", "should"]
    where: str
    message: str
    fix: str


class Quantity(Frozen):
    """A number that says where it comes from.

    ``origin`` is exact (computed from what is known), measured (read off a real run or
    reply), estimated (a model of the real thing, with a known error) or assumed (chosen to
    make an example). ``source`` names the formula, the file and row, or the counter. ``low`` and ``high`` are the
    band of an estimate: where the true number probably lies. Both are None where no error is known, or there is none.
    """

    value: int | float
    unit: str
    origin: Literal["exact", "measured", "estimated", "assumed"]
    source: str
    low: int | float | None = None
    high: int | float | None = None

    @model_validator(mode="after")
    def _band_holds_the_value(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("a band has two ends: give low and high, or neither")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"the value {self.value} must lie in its band from {self.low} to {self.high}")
        return self
