"""What `agentlab size` is told: the sizes with their origin, the results, the control. Bad options cost one line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.context.controls import Control
    from agentlab.context.cost import Cache
    from agentlab.context.forecast import Results
    from agentlab.context.presets import Preset
    from agentlab.context.subagents import SubAgents
    from agentlab.views.growth import Growth
    from agentlab.views.sheet import Size

ASSUMED = {"placeholder": 20, "summary": 1_500, "handle": 60, "subagent_summary": 1_500, "note_tokens": 80}
"""What belongs to a control, or to the notes, and was not given: the course's example numbers, measured nowhere."""


class Options(NamedTuple):
    """The numbers of the controls and of the notes as they were typed; None where one was not."""

    notes: int | None = None
    note_tokens: int | None = None
    cap: int | None = None
    handles: int | None = None
    handle: int | None = None
    loads: int | None = None
    clear_keep: int | None = None
    placeholder: int | None = None
    clear_trigger: int | None = None
    clear_at_least: int | None = None
    compact_trigger: int | None = None
    summary: int | None = None
    window: int | None = None
    subagents: int | None = None
    subagent_summary: int | None = None
    subagent_prompt: int | None = None
    subagent_task: int | None = None

    def of(self, name: str) -> int:
        """The number given for `name`, else the assumed one, else 0."""
        value: int | None = getattr(self, name)
        return ASSUMED.get(name, 0) if value is None else value

    @property
    def assumed(self) -> list[str]:
        """The names of the numbers that were not given and are assumed all the same."""
        return [name for name in ASSUMED if getattr(self, name) is None and getattr(self, _BELONGS[name]) is not None]

    def check(self) -> None:
        """Raises AgentlabError for a number that says nothing without another one."""
        for name, other in _BELONGS.items():
            if getattr(self, name) is not None and getattr(self, other) is None:
                example = f"{_flag(other)} {_LETTERS[other]}"
                raise AgentlabError(f"{_flag(name)} belongs to {_flag(other)}; give {example} too")


_BELONGS = {
    "note_tokens": "notes",
    "handle": "handles",
    "loads": "handles",
    "placeholder": "clear_keep",
    "clear_trigger": "clear_keep",
    "clear_at_least": "clear_keep",
    "summary": "compact_trigger",
    "subagent_summary": "subagents",
    "subagent_prompt": "subagents",
    "subagent_task": "subagents",
}

_LETTERS = {"notes": "COUNT", "handles": "OVER", "clear_keep": "K", "compact_trigger": "T", "subagents": "CALLS"}


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
            raise AgentlabError("--r-median belongs to --uneven, which draws the results; give --uneven SEED too")
        return r.value
    if median is not None:
        distribution = Lognormal.from_median_and_mean(median, r.value)
    elif preset is not None and r.origin == "measured":
        distribution = distribution_of(preset)
    else:
        raise AgentlabError("--uneven draws results around a mean and a median; give --r-median TOKENS too")
    return draw_results(distribution, whole_number("N", sizes["N"].value, 1, MAX_STEPS) - 1, seed)


def remarks(
    sizes: Mapping[str, "Size"], preset: "Preset | None", options: Options, run: "Growth", seed: int | None
) -> tuple[str, ...]:
    """What a reader must know about the sizes beyond their values, a sentence each."""
    from agentlab.context.growth import notes_total
    from agentlab.views.tables import counted

    said = []
    if options.assumed:
        numbers = ", ".join(f"{name.replace('_', ' ')} = {options.of(name):,}" for name in options.assumed)
        said.append(f"Assumed beside the sizes: {numbers}.")
    if preset is not None:
        note = f" {preset.note[0].upper()}{preset.note[1:]}." if preset.note else ""
        said.append(f"Measured sizes are those of the preset {preset.name} ({preset.label}): {preset.source}.{note}")
        if preset.growth is not None and sizes["a"].origin == sizes["r"].origin == "measured":
            low, high = preset.growth
            grew = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            step = preset.a + preset.r
            said.append(f"In the logs its requests grew by {grew} tokens a step; a + r is {step:,}. Trust the growth.")
    if options.notes is not None:
        tokens, requests = options.of("note_tokens"), len(run.forecast.requests)
        said.append(
            f"{counted(options.notes, 'note')} of {counted(tokens, 'token')} stand in every request, added to S: "
            f"{notes_total(options.notes, tokens, requests):,} tokens in {counted(requests, 'request')}."
        )
    if not isinstance(run.r, int):
        drawn = sorted(run.r) or [0]
        said.append(
            f"{counted(len(run.r), 'result')} drawn with seed {seed}: mean {sum(drawn) / len(drawn):,.0f}, median "
            f"{drawn[len(drawn) // 2]:,}, largest {drawn[-1]:,} tokens."
        )
    return tuple(said)


def cache_of(text: str) -> "Cache":
    """The cache that is named. Raises AgentlabError with the names there are."""
    from agentlab.context.cost import Cache

    for name in get_args(Cache):
        if name == text:
            return cast(Cache, name)
    raise AgentlabError(f"--cache is {text[:30]!r}; choose one of {', '.join(get_args(Cache))}")


def notes_of(options: Options) -> int:
    """Tokens of the memory notes in each request."""
    from agentlab.context.growth import whole_number

    count = whole_number("notes", options.of("notes"))
    return whole_number("notes x note tokens", count * whole_number("note tokens", options.of("note_tokens")))


def control_of(options: Options, sizes: Mapping[str, "Size"]) -> "Control | SubAgents | None":
    """The control that the options name, a combination where they name several, None where they name none.

    What acts on a result as it arrives comes first, and compaction last.
    """
    from agentlab.context.arrivals import CapResults, Handles
    from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, TrimTurns
    from agentlab.context.subagents import SubAgents

    found: list[Control] = []
    if options.cap is not None:
        found.append(CapResults(options.cap))
    if options.handles is not None:
        found.append(Handles(over=options.handles, handle=options.of("handle"), loads=options.of("loads")))
    if options.clear_keep is not None:
        found.append(
            ClearToolResults(
                keep=options.clear_keep,
                placeholder=options.of("placeholder"),
                trigger=options.of("clear_trigger"),
                at_least=options.of("clear_at_least"),
            )
        )
    if options.window is not None:
        found.append(TrimTurns(window=options.window))
    if options.compact_trigger is not None:
        found.append(Compact(trigger=options.compact_trigger, summary=options.of("summary")))
    if options.subagents is None:
        return None if not found else found[0] if len(found) == 1 else Combined(tuple(found))
    if found:
        raise AgentlabError("--subagents combines with no other control; size each of the two alone")
    return SubAgents(
        calls=options.subagents,
        summary=options.of("subagent_summary"),
        S=sizes["S"].value if options.subagent_prompt is None else options.subagent_prompt,
        U=sizes["U"].value if options.subagent_task is None else options.subagent_task,
    )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
