"""The calculator: what a run will send under a control, request by request, before it runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agentlab.context.growth import check_sizes, whole_number
from agentlab.shapes import Frozen


@dataclass(frozen=True, slots=True)
class History:
    """What the next request would carry, as sizes in tokens, and what its summaries have cost so far.

    Between the fixed part (``fixed`` = S + U, which no control removes) and the next request lie an
    optional summary and ``steps`` steps. Each step is an assistant message of ``a`` tokens and a result:
    ``r`` tokens, or ``placeholder`` tokens for the ``cleared`` oldest ones.
    """

    fixed: int
    a: int
    r: int
    placeholder: int = 0
    steps: int = 0
    cleared: int = 0
    summary: int = 0
    compactions: int = 0
    summary_input: int = 0
    summary_output: int = 0
    summary_largest: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of the request that would carry this history."""
        results = self.cleared * self.placeholder + (self.steps - self.cleared) * self.r
        return self.fixed + self.summary + self.steps * self.a + results


class Forecast(Frozen):
    """What a run sends: tokens of each request, and what the summarising calls add.

    ``requests`` holds I(1) .. I(N) in tokens. ``summary_input`` and ``summary_output`` are the
    tokens that the ``compactions`` summarising calls read and write, ``summary_largest`` the most that
    one of them reads; ``total`` and ``largest`` do not include them.
    """

    requests: tuple[int, ...]
    compactions: int = 0
    summary_input: int = 0
    summary_output: int = 0
    summary_largest: int = 0

    @property
    def last(self) -> int:
        """Tokens of the last request."""
        return self.requests[-1]

    @property
    def largest(self) -> int:
        """Tokens of the largest request. A summarising call may be larger, and must fit into the model's window too."""
        return max(self.requests)

    @property
    def total(self) -> int:
        """Input tokens of all requests, without the summarising calls."""
        return sum(self.requests)

    @property
    def all_input(self) -> int:
        """Input tokens of the run: all requests and all summarising calls."""
        return self.total + self.summary_input

    def first_over(self, trigger: int) -> int | None:
        """The first k with I(k) above `trigger`; None if no request of this run is."""
        whole_number("trigger", trigger)
        return next((k for k, size in enumerate(self.requests, start=1) if size > trigger), None)


def simulate(shrink: Callable[[History], History], S: int, U: int, a: int, r: int, N: int) -> Forecast:
    """Let `shrink` act on the sizes before each of N requests, as a loop lets a control act on its messages.

    Time grows with N. Raises AgentlabError for sizes that are no sizes.
    """
    check_sizes(S, U, a, r, N)
    history = History(fixed=S + U, a=a, r=r)
    requests: list[int] = []
    for _ in range(N):
        history = shrink(history)
        requests.append(history.tokens)
        history = replace(history, steps=history.steps + 1)
    return Forecast(
        requests=tuple(requests),
        compactions=history.compactions,
        summary_input=history.summary_input,
        summary_output=history.summary_output,
        summary_largest=history.summary_largest,
    )
