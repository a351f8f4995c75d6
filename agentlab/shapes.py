"""The two shapes that every part of agentlab shares: a finding, and a number with its origin."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


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
    make an example). ``source`` names the formula, the file and row, or the counter.
    """

    value: int | float
    unit: str
    origin: Literal["exact", "measured", "estimated", "assumed"]
    source: str
