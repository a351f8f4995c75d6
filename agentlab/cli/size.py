"""``agentlab size``: what a run of an agent will send, and what a control changes, before it runs."""

from typing import Annotated

import typer

from agentlab.cli.numbers import whole
from agentlab.cli.output import print_json, print_line, print_table
from agentlab.errors import AgentlabError

ASSUMED = {"S": 3_000, "U": 500, "a": 150, "r": 1_200, "N": 40}
"""The course's example sizes (it gives S + U = 3,500 as one number): round, chosen to explain, measured nowhere."""

PLACEHOLDER = 20
SUMMARY = 1_500


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("size")(size)


def size(
    S: Annotated[int | None, whole("--S", "TOKENS", "System prompt and tool schemas.")] = None,
    U: Annotated[int | None, whole("--U", "TOKENS", "The user's task.")] = None,
    a: Annotated[int | None, whole("--a", "TOKENS", "What the model writes in one step.")] = None,
    r: Annotated[int | None, whole("--r", "TOKENS", "One tool result.")] = None,
    N: Annotated[int | None, whole("--N", "N", "Requests in the run.")] = None,
    clear_keep: Annotated[int | None, whole("--clear-keep", "K", "Clear all but the last K tool results.")] = None,
    placeholder: Annotated[
        int | None, whole("--placeholder", "P", f"Tokens of what replaces a cleared result ({PLACEHOLDER}).")
    ] = None,
    compact_trigger: Annotated[
        int | None, whole("--compact-trigger", "T", "Summarise when a request would exceed T tokens.")
    ] = None,
    summary: Annotated[int | None, whole("--summary", "s", f"Tokens of a summary ({SUMMARY:,}).")] = None,
    window: Annotated[
        int | None, whole("--window", "W", "Keep the last W messages after the task, in whole steps.")
    ] = None,
    trigger: Annotated[int | None, whole("--trigger", "X", "Find the first request above X tokens.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Compute the input tokens of a run of N requests.

    Sizes that are not given are assumed; the text for people names them all, the JSON holds results only. Controls may
    be combined.
    """
    from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, TrimTurns
    from agentlab.context.lint import advise
    from agentlab.views import growth as view

    if placeholder is not None and clear_keep is None:
        raise AgentlabError("--placeholder belongs to --clear-keep; give --clear-keep K too")
    if summary is not None and compact_trigger is None:
        raise AgentlabError("--summary belongs to --compact-trigger; give --compact-trigger T too")

    controls: list[Control] = []
    if clear_keep is not None:
        controls.append(
            ClearToolResults(keep=clear_keep, placeholder=PLACEHOLDER if placeholder is None else placeholder)
        )
    if window is not None:
        controls.append(TrimTurns(window=window))
    if compact_trigger is not None:
        controls.append(Compact(trigger=compact_trigger, summary=SUMMARY if summary is None else summary))
    control = controls[0] if len(controls) == 1 else Combined(tuple(controls)) if controls else None

    given = {"S": S, "U": U, "a": a, "r": r, "N": N}
    sizes = {name: ASSUMED[name] if value is None else value for name, value in given.items()}
    run = view.grow(**sizes, trigger=trigger, control=control)
    if as_json:
        forecast = run.forecast
        print_json(
            {
                "requests": list(forecast.requests),
                "last": forecast.last,
                "largest": forecast.largest,
                "total": forecast.total,
                "compactions": forecast.compactions,
                "summary_input": forecast.summary_input,
                "summary_output": forecast.summary_output,
                "first_over": None if trigger is None else forecast.first_over(trigger),
            }
        )
        return

    print_line(
        ", ".join(f"{name} = {sizes[name]:,}{'' if given[name] is not None else ' (assumed)'}" for name in sizes)
    )
    print_line("")
    for line in view.formula(run):
        print_line(line)
    print_line("")
    table = view.table(run)
    print_table(table.columns, table.rows, right=table.columns[1:])
    print_line("")
    print_line(view.sentence(run))
    for finding in advise(run.control, run.S, run.U, run.a, run.r):
        print_line(f"{finding.rule}, {finding.where}: {finding.message}. Fix: {finding.fix}.")
