"""``agentlab size``: what a run of an agent will send and cost, and what a control changes, before it runs.

``--json`` prints one object with these keys; sizes are tokens, money is US dollars:

- ``requests`` (of sub-agents: the lead's); ``last``, ``largest`` and ``total`` of them
- ``compactions``; ``summary_input`` and ``summary_output`` of the summarising calls
- ``first_over``: the first request above ``--trigger``, null where none is or no trigger was given
- ``all_input``, ``output``, ``model_calls``: with summarising calls and sub-agents
- ``keep_all``: ``all_input`` of the same run without a control
- ``control``: its name; ``sizes``: ``value``, ``origin`` and ``source`` of S, U, a, r and N, as they were typed
- ``cacheable``: how many of ``all_input`` stand as in the request before, so that a cache can serve them
- ``cost``: null without ``--prices``; else tokens and money by kind, in all (``usd``), and what keeping all would cost
  (``keep_all_usd``). Money is text, like "0.0532": the exact decimal, which a float may not be. ``price_source`` is
  where the prices come from and when, with a warning where nobody verified them
- ``findings``: ``rule``, ``level``, ``where``, ``message`` and ``fix`` of each
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from agentlab.cli.files import write_page
from agentlab.cli.groups import grouped
from agentlab.cli.numbers import whole
from agentlab.cli.output import print_json, print_line, printable
from agentlab.cli.size_report import print_sizing, sizing_as_json
from agentlab.cli.sizing import ASSUMED as BESIDE
from agentlab.cli.sizing import Options, cache_of, control_of, notes_of, remarks, results, sizes_of_run
from agentlab.errors import AgentlabError

ASSUMED = {"S": 3_000, "U": 500, "a": 150, "r": 1_200, "N": 40}
"""The course's example sizes (it gives S + U = 3,500 as one number): round, chosen to explain, measured nowhere."""

_HEADINGS = {
    "S": "Sizes of the run",
    "cap": "Controls that act on a result as it arrives",
    "clear_keep": "Controls that remove history",
    "subagents": "Sub-agents",
    "prices": "Prices",
    "trigger": "Output",
}
"""The groups of options on the help page, by the first one of each."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("size", cls=grouped(_HEADINGS))(size)


def _text(option: str, metavar: str, help: str) -> Any:
    return typer.Option(option, metavar=metavar, help=help, show_default=False)


def size(
    S: Annotated[int | None, whole("--S", "TOKENS", "System prompt and tool schemas.")] = None,
    U: Annotated[int | None, whole("--U", "TOKENS", "The user's task.")] = None,
    a: Annotated[int | None, whole("--a", "TOKENS", "What the model writes in one step.")] = None,
    r: Annotated[int | None, whole("--r", "TOKENS", "One tool result.")] = None,
    N: Annotated[int | None, whole("--N", "N", "Requests in the run.")] = None,
    preset: Annotated[
        str | None, _text("--preset", "NAME", "Sizes of a real agent, measured, for what is not given.")
    ] = None,
    uneven: Annotated[
        int | None, whole("--uneven", "SEED", "Draw results of uneven size around r; a seed draws the same ones again.")
    ] = None,
    r_median: Annotated[
        int | None, whole("--r-median", "TOKENS", "The median result of those drawn (the preset's).")
    ] = None,
    notes: Annotated[int | None, whole("--notes", "COUNT", "Memory notes in every request.")] = None,
    note_tokens: Annotated[
        int | None, whole("--note-tokens", "TOKENS", f"Tokens of a note ({BESIDE['note_tokens']}).")
    ] = None,
    cap: Annotated[int | None, whole("--cap", "TOKENS", "Cut each result to this size.")] = None,
    handles: Annotated[
        int | None, whole("--handles", "TOKENS", "Keep larger results outside; a handle stands for each.")
    ] = None,
    handle: Annotated[int | None, whole("--handle", "TOKENS", f"Tokens of a handle ({BESIDE['handle']}).")] = None,
    loads: Annotated[
        int | None, whole("--loads", "L", "Results behind a handle that are loaded after all (0).")
    ] = None,
    clear_keep: Annotated[int | None, whole("--clear-keep", "K", "Clear all but the last K tool results.")] = None,
    placeholder: Annotated[
        int | None, whole("--placeholder", "P", f"Tokens of what replaces a cleared result ({BESIDE['placeholder']}).")
    ] = None,
    clear_trigger: Annotated[
        int | None, whole("--clear-trigger", "T", "Clear only when a request would exceed T tokens (0).")
    ] = None,
    clear_at_least: Annotated[
        int | None, whole("--clear-at-least", "L", "Clear only where that saves L tokens of the request (0).")
    ] = None,
    compact_trigger: Annotated[
        int | None, whole("--compact-trigger", "T", "Summarise when a request would exceed T tokens.")
    ] = None,
    summary: Annotated[int | None, whole("--summary", "s", f"Tokens of a summary ({BESIDE['summary']:,}).")] = None,
    window: Annotated[
        int | None, whole("--window", "W", "Keep the last W messages after the task, in whole steps.")
    ] = None,
    subagents: Annotated[
        int | None, whole("--subagents", "CALLS", "Sub-agents make the tool calls, so many each.")
    ] = None,
    subagent_summary: Annotated[
        int | None,
        whole("--subagent-summary", "s", f"Tokens that a sub-agent brings back ({BESIDE['subagent_summary']:,})."),
    ] = None,
    subagent_prompt: Annotated[
        int | None, whole("--subagent-prompt", "TOKENS", "System prompt and tool schemas of a sub-agent (S).")
    ] = None,
    subagent_task: Annotated[int | None, whole("--subagent-task", "TOKENS", "The task of a sub-agent (U).")] = None,
    prices: Annotated[str | None, _text("--prices", "MODEL", "Add the bill at the prices of this model.")] = None,
    cache: Annotated[
        str, _text("--cache", "5m|1h|none", "A prompt cache, and how long it keeps what was sent (none).")
    ] = "none",
    trigger: Annotated[int | None, whole("--trigger", "X", "Find the first request above X tokens.")] = None,
    plot: Annotated[
        bool | None, typer.Option("--plot/--no-plot", help="Draw each request (on a terminal, not in a pipe).")
    ] = None,
    sheet: Annotated[
        Path | None, _text("--sheet", "FILE.md", "Write a sizing sheet of one page; replaces only a sheet.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Compute the input tokens of a run of N requests, and what they cost.

    Sizes that are not given are assumed, or measured with --preset; the output names them all. Controls may be
    combined.
    """
    from agentlab.context.controls import KeepAll
    from agentlab.context.growth import check_sizes
    from agentlab.context.lint import advise
    from agentlab.context.presets import preset as preset_of
    from agentlab.context.prices import price_of
    from agentlab.views.costs import priced
    from agentlab.views.growth import grow_each
    from agentlab.views.sheet import SHEET_BEGINS, Sizing
    from agentlab.views.sheet import sheet as page

    kept = cache_of(cache)
    if plot and as_json:
        raise AgentlabError("--plot draws for people and --json prints for programs; give one of the two")
    real = None if preset is None else preset_of(preset)
    sizes = sizes_of_run({"S": S, "U": U, "a": a, "r": r, "N": N}, real, ASSUMED)
    options = Options(
        notes=notes,
        note_tokens=note_tokens,
        cap=cap,
        handles=handles,
        handle=handle,
        loads=loads,
        clear_keep=clear_keep,
        placeholder=placeholder,
        clear_trigger=clear_trigger,
        clear_at_least=clear_at_least,
        compact_trigger=compact_trigger,
        summary=summary,
        window=window,
        subagents=subagents,
        subagent_summary=subagent_summary,
        subagent_prompt=subagent_prompt,
        subagent_task=subagent_task,
    )
    options.check()
    S, U, a, r, N = (one.value for one in sizes.values())
    check_sizes(S, U, a, r, N)
    control = control_of(options, sizes)
    drawn = results(sizes, real, r_median, uneven)
    plain, run = grow_each(S + notes_of(options), U, a, drawn, N, trigger, (KeepAll(), control or KeepAll()))
    findings = advise(
        run.control,
        *(run.S, run.U, run.a, run.r),
        N=run.N,
        caching=kept != "none",
        max_input=None if prices is None else price_of(prices).max_input,
        p95=None if real is None else real.N_p95,
    )
    sizing = Sizing(
        sizes=tuple(sizes.values()),
        extra=remarks(sizes, real, options, run, uneven),
        run=run,
        findings=tuple(findings),
        cache=kept,
        bill=None if prices is None else tuple(priced([plain, run], prices, kept)),
    )
    if sheet is not None:
        write_page(sheet, page(sizing), SHEET_BEGINS, "sizing sheet")
    if as_json:
        print_json(sizing_as_json(sizing))
    else:
        print_sizing(sizing, sys.stdout.isatty() if plot is None else plot)
    if sheet is not None:
        print_line(f"{printable(str(sheet))} has the sizing sheet.", err=True)
