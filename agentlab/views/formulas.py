"""The formula of a run with its numbers put in, and what a control changes in it, in lines of text."""

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, TrimTurns
from agentlab.context.forecast import Results
from agentlab.context.subagents import SubAgents
from agentlab.views.tables import counted


def of_keeping_all(S: int, U: int, a: int, r: Results, N: int, total: int) -> list[str]:
    """I(k) and Total(N), one line each. Where results have sizes of their own, their part stands as one number."""
    fixed, pairs = S + U, N * (N - 1) // 2
    if isinstance(r, int):
        step = a + r
        return [
            f"I(k) = S + U + (k - 1)(a + r) = {fixed:,} + (k - 1) x {step:,}",
            f"Total({N:,}) = N(S + U) + (a + r) N(N - 1)/2 = {N:,} x {fixed:,} + {step:,} x {pairs:,} = {total:,}",
        ]
    resent = total - N * fixed - a * pairs
    return [
        f"I(k) = S + U + (k - 1) a + r(1) + ... + r(k - 1) = {fixed:,} + (k - 1) x {a:,} + r(1) + ... + r(k - 1)",
        f"Total({N:,}) = N(S + U) + a N(N - 1)/2 + (N - 1) r(1) + (N - 2) r(2) + ... + r(N - 1)"
        f" = {N:,} x {fixed:,} + {a:,} x {pairs:,} + {resent:,} = {total:,}",
    ]


def of_control(control: Control | SubAgents, S: int, U: int, a: int, r: Results) -> list[str]:
    """What the control changes, one line for each part of it; none where it changes nothing."""
    if isinstance(control, Combined):
        return [line for part in control.single() for line in of_control(part, S, U, a, r)]
    fixed = S + U
    if isinstance(control, ClearToolResults):
        when = f" over {control.trigger:,} tokens" if control.trigger else ""
        batch = f", if that saves {control.at_least:,}" if control.at_least else ""
        size = f"{r:,} tokens" if isinstance(r, int) else "size"
        return [
            f"clearing{when}{batch}: of the k - 1 results the last {control.keep:,} keep their {size}, "
            f"each older one has {control.placeholder:,}"
        ]
    if isinstance(control, TrimTurns):
        held = control.window // 2
        if isinstance(r, int):
            return [f"trimming: I(k) = {fixed:,} + min(k - 1, {held:,}) x {a + r:,}"]
        return [f"trimming: of the k - 1 steps the last {held:,} stay, behind {fixed:,} tokens"]
    if isinstance(control, Compact):
        after = fixed + control.summary
        return [f"compaction: where I(k) would be over {control.trigger:,}, it is S + U + s = {after:,} and grows on"]
    if isinstance(control, CapResults):
        cut = f" = {min(r, control.cap):,}" if isinstance(r, int) else ""
        return [f"cap: a result has min(r, {control.cap:,}){cut} tokens"]
    if isinstance(control, Handles):
        loaded = f"; {control.loads:,} of them are loaded, by one more step each" if control.loads else ""
        return [f"handles: a result of more than {control.over:,} tokens is a handle of {control.handle:,}{loaded}"]
    if isinstance(control, SubAgents):
        return [
            f"sub-agents: each makes {counted(control.calls, 'call')}, from S + U = {control.S + control.U:,} tokens "
            f"on; the lead carries {control.summary:,} tokens for each"
        ]
    return []
