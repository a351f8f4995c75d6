"""Sub-agents as a context strategy: the work is done in clean windows, and only summaries come back to the lead."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agentlab.context.controls import Control, KeepAll
from agentlab.context.forecast import Forecast, Results, result_sizes
from agentlab.context.growth import check_sizes, whole_number

Calculator = Callable[[Control, int, int, int, Results, int], Forecast]
"""What makes the forecast of a control for S, U, a, r, N."""


@dataclass(frozen=True, slots=True)
class SubAgents:
    """The N - 1 tool calls of a run are made by sub-agents, ``calls`` each, in windows of their own.

    A sub-agent starts with its own prompt and tools (``S``) and task (``U``), makes its calls, and answers with
    ``summary`` tokens: calls + 1 requests. The lead sends one request for each sub-agent and one to answer, and carries
    summaries where it would carry results. ``inside`` is the sub-agents' control of their own history.
    Source: chapter 6 of the course, "Sub-agents are a context strategy too".
    """

    calls: int
    summary: int
    S: int
    U: int
    inside: Control = field(default_factory=KeepAll)

    def __post_init__(self) -> None:
        whole_number("calls", self.calls, at_least=1)
        whole_number("summary", self.summary)
        check_sizes(self.S, self.U, 0, 0)

    @property
    def label(self) -> str:
        """A short name with the parameters, for a table or a legend."""
        return f"sub-agents of {self.calls:,} calls"

    def forecast(self, S: int, U: int, a: int, r: Results, N: int) -> Forecast:
        """What the lead sends (``requests``) and what its sub-agents do (``subruns``). Sizes in tokens.

        The last reply of a sub-agent is its summary, so it writes `summary` instead of `a` there.
        """
        return self.forecast_by(lambda control, *run: control.forecast(*run), S, U, a, r, N)

    def forecast_by(self, calculate: Calculator, S: int, U: int, a: int, r: Results, N: int) -> Forecast:
        """The same, each run calculated by `calculate`: `agentlab.context.curves.curve` is faster than simulating."""
        check_sizes(S, U, a, 0, N)
        sizes = result_sizes(r, N)
        shares = [sizes[i : i + self.calls] for i in range(0, len(sizes), self.calls)]
        # Shares of the same sizes have the same forecast, and with one size of result nearly all are.
        subruns = {
            share: calculate(self.inside, self.S, self.U, a, share, len(share) + 1).model_copy(
                update={"answer": self.summary}
            )
            for share in dict.fromkeys(shares)
        }
        lead = calculate(KeepAll(), S, U, a, (self.summary,) * len(shares), len(shares) + 1)
        return lead.model_copy(update={"subruns": tuple(subruns[share] for share in shares)})
