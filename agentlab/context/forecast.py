"""The calculator: what a run will send under a control, request by request, before it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from agentlab.context.growth import MAX_STEPS, whole_number
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

Results = int | Sequence[int]
"""r: the size of every tool result, or the sizes of the N - 1 results of a run in their order, in tokens."""


class SummaryCall(Frozen):
    """One summarising call: made before request ``before``, it reads ``input`` tokens and writes ``output``.

    ``same`` of the tokens that it reads stand at its beginning as they stood in the request before it.
    """

    before: int
    input: int
    same: int
    output: int


@dataclass(frozen=True, slots=True)
class History:
    """What the next request would carry, as sizes in tokens.

    Between the fixed part (``fixed`` = S + U, which no control removes) and the next request lie an optional summary
    and the steps ``start`` .. ``end - 1`` of the run. Each is an assistant message of ``a`` tokens and a result: of
    ``placeholder`` tokens where the step is before ``cleared``, else whole. ``upto[i]`` is the size of the first i
    results together. ``same`` are the tokens at the beginning that stand as they stood in the request before, and
    ``called`` is the summarising call that is made before the next request.
    """

    fixed: int
    a: int
    upto: tuple[int, ...]
    placeholder: int = 0
    start: int = 0
    cleared: int = 0
    end: int = 0
    summary: int = 0
    summarised: bool = False
    same: int = 0
    called: SummaryCall | None = None

    @property
    def steps(self) -> int:
        """How many steps are left."""
        return self.end - self.start

    @property
    def tokens(self) -> int:
        """Tokens of the request that would carry this history."""
        whole = self.upto[self.end] - self.upto[self.cleared]
        return self.fixed + self.summary + self.steps * self.a + (self.cleared - self.start) * self.placeholder + whole

    def clear(self, before: int, placeholder: int) -> "History":
        """The results before step `before` are placeholders; what stands behind the first new one is not the same."""
        before = max(before, self.cleared)
        if before == self.cleared:
            return self
        untouched = self.cleared - self.start
        edited = self.fixed + self.summary + untouched * (self.a + placeholder) + self.a
        return replace(self, cleared=before, placeholder=placeholder, same=min(self.same, edited))

    def drop(self, before: int) -> "History":
        """The steps before step `before` are gone."""
        before = max(before, self.start)
        if before == self.start:
            return self
        same = min(self.same, self.fixed + self.summary)
        return replace(self, start=before, cleared=max(before, self.cleared), same=same)

    def summarise(self, size: int) -> "History":
        """A summary of `size` tokens stands in place of all steps, and of the summary before it."""
        call = SummaryCall(before=self.end + 1, input=self.tokens, same=self.same, output=size)
        return replace(
            self,
            start=self.end,
            cleared=self.end,
            summary=size,
            summarised=True,
            same=min(self.same, self.fixed),
            called=call,
        )


class Forecast(Frozen):
    """What a run sends and writes.

    ``requests`` holds I(1) .. I(N) in tokens; ``same`` holds for each of them how many tokens stand at its beginning
    exactly as they stood in the request before it (0 for the first), which is what a prompt cache can serve. ``a`` is
    what the model writes in one step, ``answer`` what it writes at the end (None: as much). ``summaries`` are the
    summarising calls and ``subruns`` the runs of sub-agents; ``total`` and ``largest`` do not include them,
    ``all_input`` and ``output`` do.
    """

    requests: tuple[int, ...]
    same: tuple[int, ...] = ()
    a: int = 0
    answer: int | None = None
    summaries: tuple[SummaryCall, ...] = ()
    subruns: tuple["Forecast", ...] = ()

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
        """Input tokens of all requests, without the summarising calls and the runs of sub-agents."""
        return sum(self.requests)

    @property
    def compactions(self) -> int:
        """How many summarising calls the run makes."""
        return len(self.summaries)

    @property
    def summary_input(self) -> int:
        """Input tokens of the summarising calls."""
        return sum(call.input for call in self.summaries)

    @property
    def summary_output(self) -> int:
        """Output tokens of the summarising calls."""
        return sum(call.output for call in self.summaries)

    @property
    def summary_largest(self) -> int:
        """Input tokens of the largest summarising call, 0 where there is none."""
        return max((call.input for call in self.summaries), default=0)

    @property
    def model_calls(self) -> int:
        """All calls of a model: requests, summarising calls, and those of sub-agents."""
        return len(self.requests) + self.compactions + sum(run.model_calls for run in self.subruns)

    @property
    def all_input(self) -> int:
        """Input tokens of the run: all requests, all summarising calls, all runs of sub-agents."""
        return self.total + self.summary_input + sum(run.all_input for run in self.subruns)

    @property
    def output(self) -> int:
        """Output tokens of the run: steps and answer, the summaries, and what sub-agents write."""
        answer = self.a if self.answer is None else self.answer
        written = (len(self.requests) - 1) * self.a + answer
        return written + self.summary_output + sum(run.output for run in self.subruns)

    def first_over(self, trigger: int) -> int | None:
        """The first k with I(k) above `trigger`; None if no request of this run is."""
        whole_number("trigger", trigger)
        return next((k for k, size in enumerate(self.requests, start=1) if size > trigger), None)


def result_sizes(r: Results, N: int) -> tuple[int, ...]:
    """The sizes of the N - 1 results that a run of N requests sends back. Raises AgentlabError for another number."""
    if not isinstance(r, Sequence):
        return (whole_number("r", r),) * (N - 1)
    if len(r) != N - 1:
        raise AgentlabError(
            f"r has {len(r):,} sizes; a run of {N:,} requests has {N - 1:,} results, because the last reply answers"
        )
    return tuple(whole_number("a size in r", size) for size in r)


def simulate(shrink: Callable[[History], History], fixed: int, a: int, sizes: Sequence[int]) -> Forecast:
    """Let `shrink` act on the sizes before each request, as a loop lets a control act on its messages.

    `fixed` is S + U, and `sizes` are those of the results as they arrive: one request more than there are results. All
    have been checked; their number may be larger than that of the run, because a loaded result is a step more. Raises
    AgentlabError for more requests than are computed one by one. Time grows with their number.
    """
    N = whole_number("N", len(sizes) + 1, at_least=1, at_most=MAX_STEPS)
    history = History(fixed=fixed, a=a, upto=tuple(accumulate(sizes, initial=0)))
    requests: list[int] = []
    same: list[int] = []
    summaries: list[SummaryCall] = []
    for k in range(1, N + 1):
        history = shrink(history)
        if history.called is not None:
            summaries.append(history.called)
        requests.append(history.tokens)
        same.append(history.same)
        if k < N:
            history = replace(history, end=k, same=history.tokens, called=None)
    return Forecast(requests=tuple(requests), same=tuple(same), a=a, summaries=tuple(summaries))
