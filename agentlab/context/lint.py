"""Advice on a control's parameters: numbers that are allowed and do not do what they are set for."""

from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, TrimTurns
from agentlab.context.growth import check_sizes
from agentlab.shapes import Finding


def advise(control: Control, S: int, U: int, a: int, r: int) -> list[Finding]:
    """Findings about `control` for a run of these sizes (tokens); an empty list where nothing stands out.

    G01, G02: the trigger of a compaction against what a request holds right after it (S + U + s).
    G03: a placeholder that saves nothing. G04: a window that holds not even one step.
    """
    check_sizes(S, U, a, r)
    if isinstance(control, Combined):
        return [finding for part in control.controls for finding in advise(part, S, U, a, r)]
    if isinstance(control, Compact):
        return _compaction(control, S, U, a, r)
    if isinstance(control, ClearToolResults) and r and control.placeholder >= r:
        return [
            _finding(
                "G03",
                f"placeholder = {control.placeholder:,}",
                f"the placeholder is as large as a result (r = {r:,}), so clearing saves nothing",
                "take a shorter placeholder, or leave such results alone",
            )
        ]
    if isinstance(control, TrimTurns) and control.window < 2:
        return [
            _finding(
                "G04",
                f"window = {control.window:,}",
                "a step is two messages, so the model never sees a result of its calls",
                "take a window of at least 2 messages",
            )
        ]
    return []


def _compaction(control: Compact, S: int, U: int, a: int, r: int) -> list[Finding]:
    after, step = S + U + control.summary, a + r
    where = f"trigger = {control.trigger:,}"
    if control.trigger < after:
        return [
            _finding(
                "G01",
                where,
                f"right after a summary a request holds S + U + s = {after:,} tokens: compaction fires on every step",
                f"raise the trigger to {after + 3 * step:,} or more, or make S, U or the summary smaller",
            )
        ]
    if control.trigger < after + 3 * step:
        every = (control.trigger - after) // step + 1
        often = "on every step" if every == 1 else f"every {every} steps"
        return [
            _finding(
                "G02",
                where,
                f"after a summary less than 3 steps fit: at a + r = {step:,} tokens a step, compaction fires {often}",
                f"raise the trigger to {after + 3 * step:,} or more, or make the results (r) smaller",
            )
        ]
    return []


def _finding(rule: str, where: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, level="should", where=where, message=message, fix=fix)
