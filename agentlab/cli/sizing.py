"""What `agentlab size` is told: the sizes with their origin, the results, the control. Bad options cost one line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.context.controls import Control
    from agentlab.context.forecast import Results
    from agentlab.context.presets import Preset
    from agentlab.context.subagents import SubAgents
    from agentlab.views.sheet import Size

PLACEHOLDER = 20
SUMMARY = 1_500
HANDLE = 60


class Controls(NamedTuple):
    """The numbers of the controls as they were typed; None where one was not."""

    clear_keep: int | None = None
    placeholder: int | None = None
    clear_trigger: int | None = None
    clear_at_least: int | None = None
    compact_trigger: int | None = None
    summary: int | None = None
    window: int | None = None
    cap: int | None = None
    handles: int | None = None
    handle: int | None = None
    loads: int | None = None
    subagents: int | None = None
    subagent_summary: int | None = None


_BELONGS = {
    "placeholder": "clear_keep",
    "clear_trigger": "clear_keep",
    "clear_at_least": "clear_keep",
    "summary": "compact_trigger",
    "handle": "handles",
    "loads": "handles",
    "subagent_summary": "subagents",
}
"""Numbers that say nothing without another one."""

_LETTERS = {"clear_keep": "K", "compact_trigger": "T", "handles": "TOKENS", "subagents": "CALLS"}


def sizes_of_run(
    given: Mapping[str, int | None], preset: "Preset | None", assumed: Mapping[str, int]
) -> dict[str, "Size"]:
    """S, U, a, r, N with their origin: given, else measured (the preset's), else assumed."""
    from agentlab.views.sheet import Size

    sizes = {}
    for name, value in given.items():
        if value is not None:
            sizes[name] = Size(name, value, "given")
        elif preset is not None:
            measured = preset.N_median if name == "N" else getattr(preset, name)
            sizes[name] = Size(name, measured, "measured", preset.source, preset.runs)
        else:
            sizes[name] = Size(name, assumed[name], "assumed")
    return sizes


def results(sizes: Mapping[str, "Size"], preset: "Preset | None", median: int | None, seed: int | None) -> "Results":
    """One size for all results; with a seed, N - 1 sizes drawn around the mean r.

    They are lognormal. The median is the one given, else the preset's, where r is the preset's too.
    """
    from agentlab.context.growth import MAX_STEPS, whole_number
    from agentlab.context.results import Lognormal, draw_results
    from agentlab.context.results import sizes_of as distribution_of

    r = sizes["r"]
    if seed is None:
        if median is not None:
            raise AgentlabError("--r-median belongs to --seed, which draws the results; give --seed N too")
        return r.value
    if median is not None:
        distribution = Lognormal.from_median_and_mean(median, r.value)
    elif preset is not None and r.origin == "measured":
        distribution = distribution_of(preset)
    else:
        raise AgentlabError("--seed draws results around a mean and a median; give --r-median TOKENS too")
    return draw_results(distribution, whole_number("N", sizes["N"].value, 1, MAX_STEPS) - 1, seed)


def remarks(
    sizes: Mapping[str, "Size"], preset: "Preset | None", noted: int, results: "Results", seed: int | None
) -> tuple[str, ...]:
    """What a reader must know about the sizes beyond their values, a sentence each."""
    said = []
    if preset is not None:
        note = f" {preset.note[0].upper()}{preset.note[1:]}." if preset.note else ""
        said.append(f"Measured sizes are those of the preset {preset.name} ({preset.label}): {preset.source}.{note}")
        if preset.growth is not None and sizes["a"].origin == sizes["r"].origin == "measured":
            low, high = preset.growth
            grew = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            step = preset.a + preset.r
            said.append(f"In the logs its requests grew by {grew} tokens a step; a + r is {step:,}. Trust the growth.")
    if noted:
        said.append(f"Notes: {noted:,} tokens in every request, added to S; {noted * sizes['N'].value:,} in the run.")
    if not isinstance(results, int):
        drawn = sorted(results) or [0]
        said.append(
            f"Drawn: {len(results):,} results with seed {seed}, mean {sum(drawn) / len(drawn):,.0f}, median "
            f"{drawn[len(drawn) // 2]:,}, largest {drawn[-1]:,} tokens."
        )
    return tuple(said)


def notes_tokens(text: str | None) -> int:
    """Tokens of memory notes, written as COUNTxTOKENS."""
    from agentlab.context.growth import whole_number

    if text is None:
        return 0
    count, _, tokens = text.lower().partition("x")
    if not (count.isascii() and count.isdigit() and tokens.isascii() and tokens.isdigit()) or len(text) > 30:
        raise AgentlabError(f"--notes is {text[:30]!r}; expected how many and of how many tokens each, like 10x80")
    return whole_number("notes", int(count) * int(tokens))


def control_of(options: Controls, sizes: Mapping[str, "Size"]) -> "Control | SubAgents | None":
    """The control that the options name, a combination where they name several, None where they name none."""
    from agentlab.context.arrivals import CapResults, Handles
    from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, TrimTurns
    from agentlab.context.subagents import SubAgents

    for name, other in _BELONGS.items():
        if getattr(options, name) is not None and getattr(options, other) is None:
            raise AgentlabError(f"{_flag(name)} belongs to {_flag(other)}; give {_flag(other)} {_LETTERS[other]} too")
    found: list[Control] = []
    if options.cap is not None:
        found.append(CapResults(options.cap))
    if options.handles is not None:
        found.append(Handles(options.handles, _or(options.handle, HANDLE), options.loads or 0))
    if options.clear_keep is not None:
        found.append(
            ClearToolResults(
                keep=options.clear_keep,
                placeholder=_or(options.placeholder, PLACEHOLDER),
                trigger=options.clear_trigger or 0,
                at_least=options.clear_at_least or 0,
            )
        )
    if options.window is not None:
        found.append(TrimTurns(window=options.window))
    if options.compact_trigger is not None:
        found.append(Compact(trigger=options.compact_trigger, summary=_or(options.summary, SUMMARY)))
    if options.subagents is not None:
        if found:
            raise AgentlabError("--subagents combines with no other control; size each of the two alone")
        summary = _or(options.subagent_summary, SUMMARY)
        return SubAgents(options.subagents, summary, S=sizes["S"].value, U=sizes["U"].value)
    return None if not found else found[0] if len(found) == 1 else Combined(tuple(found))


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
