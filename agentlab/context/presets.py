"""Sizes of real agents, as starting points: measured in public logs and read from data/facts/runs.csv.

The logs are few and of older models, so a preset says in how many runs it was measured. ``a`` and ``r`` are counted
in the text of the logs with o200k_base and rounded as published. A request of a real run grows by more than a + r:
a step may have several results, Claude's tokenizer needs more tokens, and some text is in no log (``growth``).
"""

from functools import cache

from agentlab.errors import AgentlabError
from agentlab.facts import Row, cited, read_facts
from agentlab.shapes import Frozen


class Preset(Frozen):
    """One kind of agent: the letters of the growth formula, in tokens, and how long its runs were.

    ``S`` and ``U`` are medians over the runs, ``a`` and ``r`` means over their steps; where a range was measured, its
    middle. ``r_median`` is the median result, far below the mean where few results are large, and None where it was
    not published. ``N_median``, ``N_p95`` and ``N_max`` are requests of a run. ``growth`` is the lowest and the highest
    number of tokens by which the requests of a run grew per step, None where that is not known. ``source`` gives the
    logs, the date and the number of ``runs``; ``note`` what to know before trusting the numbers.
    """

    name: str
    label: str
    S: int
    U: int
    a: int
    r: int
    r_median: int | None
    N_median: int
    N_p95: int
    N_max: int
    growth: tuple[int, int] | None
    runs: int
    note: str
    source: str


@cache
def presets() -> tuple[Preset, ...]:
    """All agents whose S and U are known, as listed in data/facts/runs.csv."""
    return tuple(_preset(row) for row in read_facts("runs") if row["S_low"] and row["U"])


def preset(name: str) -> Preset:
    """The preset of that name. Raises AgentlabError with the names there are."""
    found = next((each for each in presets() if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in presets())
        raise AgentlabError(f"there is no preset {name[:40]!r}; choose one of {names}")
    return found


def _preset(row: Row) -> Preset:
    runs = int(row["runs"])
    return Preset(
        name=row["name"],
        label=row["label"],
        S=_middle(row, "S"),
        U=int(row["U"]),
        a=int(row["a"]),
        r=_middle(row, "r"),
        r_median=int(row["r_median"]) if row["r_median"] else None,
        N_median=int(row["N_median"]),
        N_p95=int(row["N_p95"]),
        N_max=int(row["N_max"]),
        growth=(int(row["growth_low"]), int(row["growth_high"])) if row["growth_low"] else None,
        runs=runs,
        note=row["note"],
        source=f"{cited(row)}, {runs} {'run' if runs == 1 else 'runs'}",
    )


def _middle(row: Row, name: str) -> int:
    return (int(row[f"{name}_low"]) + int(row[f"{name}_high"])) // 2
