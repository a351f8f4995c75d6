"""Many tools: all definitions in every request, or a search that brings in the few that are needed.

Tool definitions are part of S, so without a search each request carries all of them. With tool search most are
deferred: they stay out of the prefix. The model looks for them with a tool of its own, and the definitions that were
found arrive where a result does and stay in the history.

Source: Anthropic's tool search (tool_search_tool_regex_20251119, tool_search_tool_bm25_20251119). It returns five
tools where no limit is given; its documentation has about 55,000 tokens of definitions for five MCP servers, and more
than 85 % less with the search.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentlab.context.closed import Totals, points, with_extra_steps
from agentlab.context.forecast import Results, result_sizes
from agentlab.context.growth import MAX_STEPS, check_sizes, whole_number
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.context.closed import Points


@dataclass(frozen=True, slots=True)
class ToolSet:
    """``tools`` definitions of ``definition`` tokens each, all of them in every request: add ``tokens`` to S."""

    tools: int
    definition: int

    def __post_init__(self) -> None:
        whole_number("tools", self.tools)
        whole_number("definition", self.definition)
        whole_number("tools x definition", self.tokens)

    @property
    def tokens(self) -> int:
        """Tokens of all definitions."""
        return self.tools * self.definition


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """The tools of ``tool_set`` found by search, all but ``loaded`` of them deferred.

    ``search_tool`` is the size of the search tool's own definition. A run makes ``searches``, spread evenly over it,
    each before the step that needs what it finds. A search is one more step, and its result holds ``found``
    definitions; a tool that is found twice is there twice. Where the provider runs the search inside one call of its
    API, the model reads its context once more all the same.
    """

    tool_set: ToolSet
    search_tool: int
    searches: int = 1
    found: int = 5
    loaded: int = 0

    def __post_init__(self) -> None:
        whole_number("search_tool", self.search_tool)
        whole_number("searches", self.searches, at_most=MAX_STEPS)
        for name in ("found", "loaded"):
            value = whole_number(name, getattr(self, name))
            if value > self.tool_set.tools:
                raise AgentlabError(
                    f"{name} is {value:,}, but there are {self.tool_set.tools:,} tools; make it smaller"
                )

    @property
    def tokens(self) -> int:
        """Tokens of the definitions in every request: the search tool's, and those that are never deferred."""
        return self.search_tool + self.loaded * self.tool_set.definition

    @property
    def result(self) -> int:
        """Tokens of the definitions that one search finds."""
        return self.found * self.tool_set.definition

    def with_searches(self, S: int, U: int, a: int, r: Results, N: int) -> tuple[int, int, int, tuple[int, ...], int]:
        """S, U, a, r, N of a run with its searches, for ``control.forecast`` and `curve`; the given `S` has no tools.

        Search j = 0, 1, ... stands before step floor(j (N - 1) / searches). A run of one request, which calls no tool,
        makes none. Raises AgentlabError for sizes that are no sizes.
        """
        check_sizes(S, U, a, 0, N)
        sizes = result_sizes(r, N)
        searches = self.searches if sizes else 0
        before = Counter(j * len(sizes) // searches for j in range(searches))
        arrived: list[int] = []
        for step, size in enumerate(sizes):
            arrived += [self.result] * before[step]
            arrived.append(size)
        return S + self.tokens, U, a, tuple(arrived), len(arrived) + 1

    def totals(self, S: "Points", U: "Points", a: "Points", r: "Points", N: "Points") -> Totals:
        """The sums of runs with their searches that keep all, in closed form; the given `S` has no tools.

        With N' = N + searches it is N' (S + tokens + U) + (a + r) N' (N' - 1) / 2, and for each search `result` - r
        in all requests behind it. Raises AgentlabError as `agentlab.context.closed.totals` does.
        """
        import numpy as np

        shape, (fixed, task, written, size, N) = points(S=S, U=U, a=a, r=r, N=N)
        searches = np.where(N > 1, self.searches, 0)
        found = np.full_like(size, self.result)
        sums = with_extra_steps(fixed + task + self.tokens, written, size, N, found, searches, before=True)
        return Totals(*(row.reshape(shape) for row in sums))
