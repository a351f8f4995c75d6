"""What runs send in all, in closed form, for a million runs at once: ``totals(control, S, U, a, r, N)``.

S, U, a, r and N are whole numbers or arrays of them, in tokens and requests, with one element for each run (a *point*);
numpy's rules make them one shape. All results of a run have the size r. What comes out are the sums of the run's
``control.forecast``, to the token. With F = S + U:

    keep all                  N F + (a + r) N (N - 1) / 2
    clearing and trimming     on every step: one phase, see `agentlab.context.phases`
    clearing in batches       or by a trigger: see `agentlab.context.batches`
    compaction                a phase from F up to the trigger, equal phases from F + summary, and a part of one
    cap                       the same with min(r, cap) for r
    handles                   the same with the handle for r where r > over; each load adds a step with r
    sub-agents                a lead with summaries for results, and the sub-agents' runs under their own control
    notes                     the same with S + count * tokens: each request carries them
    tool search               `agentlab.context.toolset`

Source: chapter 6 of the course; each form is derived where it stands, and tests hold it against the simulation.
"""

from typing import TYPE_CHECKING, NamedTuple

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.batches import clear_in_batches
from agentlab.context.controls import Compact, Control, KeepAll
from agentlab.context.curves import Removals, removals_of
from agentlab.context.growth import MAX_STEPS, MAX_TOKENS, whole_number
from agentlab.context.phases import Phase, triangle
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.int64]
    Points = int | Sequence[int] | Row


class Totals(NamedTuple):
    """The sums of runs, each an array with one element a point; in tokens but for the two counts.

    Names are those of `Forecast`. ``same`` are the tokens of the requests that stand as they stood in the request
    before, ``summary_same`` those of the summarising calls. ``all_input``, ``all_same``, ``output`` and
    ``model_calls`` take in requests, summarising calls and the runs of sub-agents; the others are about the run
    itself, with sub-agents about their lead.
    """

    total: "Row"
    last: "Row"
    largest: "Row"
    same: "Row"
    compactions: "Row"
    summary_input: "Row"
    summary_same: "Row"
    summary_output: "Row"
    summary_largest: "Row"
    all_input: "Row"
    all_same: "Row"
    output: "Row"
    model_calls: "Row"


def totals(control: Control | SubAgents, S: "Points", U: "Points", a: "Points", r: "Points", N: "Points") -> Totals:
    """The sums of runs of N requests under `control`, for every point.

    Raises AgentlabError for what is no size, for points so large that a sum would not fit into 64 bits, and for a
    control without a closed form.
    """
    shape, rows = points(S=S, U=U, a=a, r=r, N=N)
    sums = _sub_agents(control, *rows) if isinstance(control, SubAgents) else _run(control, *rows)
    return Totals(*(row.reshape(shape) for row in sums))


def has_closed_form(control: Control | SubAgents) -> bool:
    """False for combinations whose sums nobody has written down: `totals` refuses them."""
    return not _refusal(control)


def points(**given: "Points") -> tuple[tuple[int, ...], list["Row"]]:
    """The shape of the points, and what was given as flat arrays of one length (int64).

    Raises AgentlabError, by the name of the argument, for what is no size in tokens or no number of requests (N).
    """
    import numpy as np

    rows = {}
    for name, value in given.items():
        row = np.asarray(value)
        least, most = (1, MAX_STEPS) if name == "N" else (0, MAX_TOKENS)
        if row.size and row.dtype.kind not in "iu":
            whole_number(name, value, least, most)  # refuses it, whatever it is
        for end in (row.min(), row.max()) if row.size else ():
            whole_number(name, int(end), least, most)
        rows[name] = row.astype(np.int64)
    try:
        same_shape = np.broadcast_arrays(*rows.values())
    except ValueError:
        shapes = ", ".join(f"{name} {row.shape}" for name, row in rows.items() if row.shape)
        raise AgentlabError(
            f"the shapes of {shapes} do not fit together; give one element a point, or one for all"
        ) from None
    return same_shape[0].shape, [row.ravel() for row in same_shape]


def run_totals(a: "Row", N: "Row", total: "Row", last: "Row", largest: "Row", same: "Row") -> Totals:
    """The sums of runs of N requests without summarising calls and sub-agents."""
    import numpy as np

    none = np.zeros_like(total)
    return Totals(total, last, largest, same, none, none, none, none, none, total, same, N * a, N)


def with_extra_steps(fixed: "Row", a: "Row", r: "Row", N: "Row", extra: "Row", count: "Row", *, before: bool) -> Totals:
    """Keeping all, with `count` more steps that have a result of `extra` tokens each, spread evenly over the run.

    A result at position p of all results is in every request behind it: in n - p of the n = N + count requests. The
    extra results j = 1 .. count follow the step floor(j L / count) of the run's L = N - 1, or stand `before` it with
    j - 1 for j. Their positions add up by the sum of floor(j L / count) for j below count, which is
    ((L - 1)(count - 1) + gcd(L, count) - 1) / 2: the lattice points under a diagonal (R. L. Graham, D. E. Knuth,
    O. Patashnik, Concrete Mathematics, section 3.5).
    """
    import numpy as np

    results, n = N - 1, N + count
    last = fixed + (n - 1) * a + results * r + count * extra
    _refuse_overflow(n, last)
    floors = ((results - 1) * (count - 1) + np.gcd(results, count) - 1) // 2
    positions = floors + triangle(count) + (0 if before else np.where(count > 0, results, 0))
    total = n * fixed + (a + r) * triangle(n - 1) + (extra - r) * (count * n - positions)
    return run_totals(a, n, total, last, last, total - last)


def _refusal(control: Control | SubAgents) -> str:
    """Why `control` has no closed form, in one line; empty where it has one."""
    if isinstance(control, SubAgents):
        return _refusal(control.inside)
    removals = removals_of(control)
    loading = sum(part.loads > 0 for part in control.single() if isinstance(part, Handles))
    if removals is None or (removals.batch is not None and removals.compact is not None):
        why = "clearing by a trigger or in batches has one only with a cap or handles"
    elif loading > 1 or (loading and removals != removals_of(KeepAll())):
        why = "handles that are loaded have one only alone or with a cap"
    else:
        return ""
    return f"'{control.label}' has no closed form: {why}; sum the curve of each point instead"


class _Arrived(NamedTuple):
    """Results as they enter the history: r tokens each, and ``loads`` more steps with ``loaded`` tokens each."""

    r: "Row"
    loaded: "Row"
    loads: "Row"


def _arrive(control: Control, r: "Row", N: "Row") -> _Arrived:
    import numpy as np

    loaded, loads = r, np.zeros_like(r)
    for part in control.single():
        if isinstance(part, CapResults):
            r, loaded = np.minimum(r, part.cap), np.minimum(loaded, part.cap)
        elif isinstance(part, Handles):
            large = r > part.over
            if part.loads:
                loaded, loads = r, np.where(large, np.minimum(part.loads, N - 1), 0)
            else:
                loaded = np.where(loaded > part.over, part.handle, loaded)
            r = np.where(large, part.handle, r)
    return _Arrived(r, loaded, loads)


def _run(control: Control, S: "Row", U: "Row", a: "Row", r: "Row", N: "Row") -> Totals:
    refused, removals = _refusal(control), removals_of(control)
    if refused or removals is None:
        raise AgentlabError(refused)
    r, loaded, loads = _arrive(control, r, N)
    fixed = S + U
    if loads.any():
        return with_extra_steps(fixed, a, r, N, loaded, loads, before=False)
    summary = removals.compact.summary if removals.compact is not None else 0
    _refuse_overflow(N, fixed + summary + N * (a + r + removals.placeholder))
    if removals.batch is not None:
        return run_totals(a, N, *clear_in_batches(removals.batch, fixed, a, r, N))
    whole = Phase(fixed, a, r, removals.placeholder, removals.keep, removals.steps)
    if removals.compact is not None:
        return _compacted(whole, removals, removals.compact, N)
    total, last = whole.total(N), whole.request(N - 1)
    return run_totals(a, N, total, last, last, whole.same_total(N))


def _compacted(begin: Phase, removals: Removals, compact: Compact, N: "Row") -> Totals:
    """Phases, each up to the step whose request would be over the trigger.

    The first phase has d1 requests and each of the others d; a run that is long enough has one compaction at step d1
    and one after each d steps more. A summarising call reads the request that its phase would have come to. What it
    and the requests inside a phase keep the same is the phase's; a request with a new summary keeps F.
    """
    import numpy as np

    again = begin._replace(base=begin.base + compact.summary, steps=removals.steps_behind)
    d1, d = begin.first_over(compact.trigger), again.first_over(compact.trigger)
    rest = np.maximum(N - d1, 0)  # requests behind the first phase
    d1, d = np.minimum(d1, N), np.minimum(d, rest + 1)
    full, part = np.divmod(rest, d)
    compactions = full + (part > 0)
    fired = compactions > 0

    total = begin.total(d1) + full * again.total(d) + again.total(part)
    same = begin.same_total(d1) + full * again.same_total(d) + again.same_total(part) + compactions * begin.base
    behind = again.request(np.where(part > 0, part, d) - 1)
    longest = np.where(full > 0, again.request(d - 1), behind)
    first_call, other_call = begin.request(d1), again.request(d)
    others = np.maximum(compactions - 1, 0)
    summary_input = fired * first_call + others * other_call
    summary_same = fired * begin.same(d1) + others * again.same(d)
    summary_output = compactions * compact.summary
    return Totals(
        total=total,
        last=np.where(fired, behind, begin.request(N - 1)),
        largest=np.maximum(begin.request(d1 - 1), fired * longest),
        same=same,
        compactions=compactions,
        summary_input=summary_input,
        summary_same=summary_same,
        summary_output=summary_output,
        summary_largest=np.maximum(fired * first_call, (others > 0) * other_call),
        all_input=total + summary_input,
        all_same=same + summary_same,
        output=N * begin.a + summary_output,
        model_calls=N + compactions,
    )


def _sub_agents(control: SubAgents, S: "Row", U: "Row", a: "Row", r: "Row", N: "Row") -> Totals:
    """The lead keeps the summaries of ceil((N - 1) / calls) sub-agents; all but the last one make all their calls."""
    import numpy as np

    full, part = np.divmod(N - 1, control.calls)
    alike = full + (part > 0)
    summaries = np.full_like(r, control.summary)
    lead = _run(KeepAll(), S, U, a, summaries, alike + 1)
    inside = np.full_like(S, control.S), np.full_like(U, control.U), a, r
    # A share is no longer than the run, whatever `calls` says; where there is no full one its runs count 0 times.
    one = _run(control.inside, *inside, np.minimum(control.calls, N - 1) + 1)
    # All of them together make two requests a call at most.
    _refuse_overflow(2 * N, np.maximum(one.largest, one.summary_largest))
    rest = _run(control.inside, *inside, part + 1)

    def everywhere(name: str, answer: "int | Row" = 0) -> "Row":
        of_lead, of_one, of_rest = (getattr(runs, name) for runs in (lead, one, rest))
        sums: Row = of_lead + full * (of_one + answer) + (part > 0) * (of_rest + answer)
        return sums

    sums = {name: everywhere(name) for name in ("all_input", "all_same", "model_calls")}
    # A sub-agent's last reply is its summary, where another run writes `a`.
    sums["output"] = everywhere("output", control.summary - a)
    return lead._replace(**sums)


def _refuse_overflow(requests: "Row", largest: "Row") -> None:
    """Raises AgentlabError where so many requests of that size may come to more than 64 bits hold.

    Four times over: there may be as many summarising calls, and loaded results; what is taken off again counts first.
    """
    if requests.size and 4 * int(requests.max()) * int(largest.max()) > 2**63 - 1:
        raise AgentlabError(
            "S, U, a, r and N are so large together that a sum may need more than 64 bits; give smaller ones"
        )
