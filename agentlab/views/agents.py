"""Real agents seen: their sizes, how uneven their results are, and how far the formula is off. All from data/facts."""

from typing import NamedTuple

from agentlab.context.controls import KeepAll
from agentlab.context.growth import crossover
from agentlab.context.presets import Preset, presets
from agentlab.context.results import draw_results, sizes_of
from agentlab.facts import Row, read_facts
from agentlab.views.tables import Table, counted

TOP = 0.05
"""The part of the results that is called the largest ones."""


def agents_table() -> Table:
    """One row for each preset: its sizes, the runs it was measured in, and where history begins to weigh most.

    N* = 2(S + U)/(a + r) is below what a + r says where a step has several results, or a tokenizer that needs more
    tokens than the one that counted: the last column has it by the growth that was measured.
    """
    return Table(
        "Real agents, measured in public logs (tokens; medians, r the mean)",
        ("agent", "runs", "S + U", "a", "r", "median r", "growth a request", "N", "p95 of N", "N*", "N* by growth"),
        tuple(_row(each) for each in presets()),
    )


def errors_table() -> Table:
    """How far a prediction of the total was from what real runs sent."""
    rows = tuple(
        (row["prediction"], row["of"], row["runs"], _percent(row["median"]), _percent(row["p90"]), _far(row["largest"]))
        for row in read_facts("run_errors")
    )
    return Table(
        "How far off a prediction of the total is",
        ("prediction", "of", "number", "median error", "p90", "largest"),
        rows,
        words=("of",),
    )


def savings_table() -> Table:
    """What controls and a cache would have made of the cost of real runs, as a share of resending all uncached."""
    rows = tuple(
        (
            f"{row['N_low']} to {row['N_high']}" if row["N_high"] else f"{row['N_low']} and more",
            row["runs"],
            row["cache"],
            row["clearing"],
            row["clearing_cache"],
            row["compaction_cache"],
            row["window_cache"],
        )
        for row in read_facts("run_savings")
    )
    columns = ("requests", "runs", "cache alone", "clear", "clear, cache", "compact, cache", "window, cache")
    return Table("Cost of real runs replayed, as a share of resending all without a cache", columns, rows)


def savings_sentence() -> str:
    """What the table of savings says: beside a cache, which control cost more than the cache alone, and when."""
    rows = read_facts("run_savings")

    def against_cache(column: str) -> str:
        dearer = [row for row in rows if float(row[column]) > float(row["cache"])]
        cheaper = [row for row in rows if float(row[column]) < float(row["cache"])]
        said = [f"dearer than the cache alone in {_runs(dearer)}"] if dearer else ["never dearer than the cache alone"]
        return ", ".join([*said, f"cheaper in {_runs(cheaper)}"] if cheaper else said)

    return (
        f"Beside a cache, clearing at every step was {against_cache('clearing_cache')}. Compaction was "
        f"{against_cache('compaction_cache')}. A window of 10 messages was {against_cache('window_cache')}."
    )


class Uneven(NamedTuple):
    """A run of a preset with drawn results: their sizes, and its input tokens by their mean and in three orders."""

    preset: Preset
    N: int
    sizes: tuple[int, ...]
    by_mean: int
    drawn: int
    large_first: int
    large_last: int


def uneven(preset: Preset, N: int, seed: int) -> Uneven:
    """Draw the N - 1 results of a run (N at least 2) and compute the run with them, and with their mean alone."""
    sizes = draw_results(sizes_of(preset), N - 1, seed)
    mean = round(sum(sizes) / len(sizes))

    def total(results: int | tuple[int, ...]) -> int:
        return KeepAll().forecast(preset.S, preset.U, preset.a, results, N).total

    ordered = tuple(sorted(sizes))
    return Uneven(preset, N, sizes, total(mean), total(sizes), total(ordered[::-1]), total(ordered))


def uneven_sentence(run: Uneven) -> str:
    """What uneven results mean for a forecast by their mean."""
    ordered = sorted(run.sizes)
    top = max(1, round(TOP * len(ordered)))
    share = sum(ordered[-top:]) / sum(ordered) if sum(ordered) else 0.0
    low, high = sorted((run.large_first / run.by_mean - 1, run.large_last / run.by_mean - 1))
    return (
        f"{counted(len(ordered), 'result')} drawn for {run.preset.label}: mean {sum(ordered) / len(ordered):,.0f}, "
        f"median {ordered[len(ordered) // 2]:,}, largest {ordered[-1]:,} tokens. The largest {TOP:.0%} hold "
        f"{share:.0%} of all result tokens. A forecast by the mean says {run.by_mean:,} input tokens; with these sizes "
        f"in this order it is {run.drawn:,} ({_change(run.drawn / run.by_mean - 1)}), and by their order alone it "
        f"could be from {low:+.0%} (large ones last) to {high:+.0%} (large ones first)."
    )


def _row(each: Preset) -> tuple[str, ...]:
    fixed, star = each.S + each.U, crossover(each.S, each.U, each.a, each.r)
    return (
        each.label,
        str(each.runs),
        f"{fixed:,}",
        f"{each.a:,}",
        f"{each.r:,}",
        "" if each.r_median is None else f"{each.r_median:,}",
        _range(*each.growth) if each.growth else "",
        f"{each.N_median:,}",
        f"{each.N_p95:,}",
        "" if star is None else f"{star:.0f}",
        _range(*(2 * fixed / growth for growth in reversed(each.growth))) if each.growth else "",
    )


def _runs(rows: list[Row]) -> str:
    """Groups of runs by their length, "8 to 40 and 81 or more requests": neighbours are joined."""
    groups: list[tuple[str, str]] = []
    for row in rows:
        if groups and groups[-1][1] and int(groups[-1][1]) + 1 == int(row["N_low"]):
            groups[-1] = (groups[-1][0], row["N_high"])
        else:
            groups.append((row["N_low"], row["N_high"]))
    said = " and ".join(f"{low} to {high}" if high else f"{low} or more" for low, high in groups)
    return f"runs of {said} requests"


def _range(low: float, high: float) -> str:
    return f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"


def _percent(text: str) -> str:
    return f"{float(text):.1%}" if text else ""


def _change(part: float) -> str:
    return "no change" if abs(part) < 0.005 else f"{part:+.0%}"


def _far(text: str) -> str:
    return f"{float(text):g} times" if float(text) > 1 else _percent(text)
