"""One run of an agent, seen: the path it took through the states, as a table and on the map of all states."""

from agentlab.loop.machine import TRANSITIONS, Event
from agentlab.loop.progress import RunResult
from agentlab.views.records import shortened
from agentlab.views.tables import Table


def transitions_table(result: RunResult) -> Table:
    """One transition in each row: the state, what happened there, the particulars, and the next state."""
    columns = ("step", "state", "what happened", "particulars", "next state")
    rows = tuple(
        (str(number), one.state.value, one.event.value, shortened(one.detail), one.target.value)
        for number, one in enumerate(result.transitions, start=1)
    )
    return Table(f"The path of {result.run_id}", columns, rows, words=columns[1:])


def map_of_states(result: RunResult) -> str:
    """Every state and arrow of the loop's table as a Mermaid diagram, this run's steps numbered on its arrows.

    What each arrow means stands in `agentlab.loop.machine.mermaid`; with all those words on it the map is too small to
    read beside a text. The arrows to cancelled are left out unless the run took one: every waiting state has it.
    """
    walked: dict[tuple[str, str], list[str]] = {}
    for number, one in enumerate(result.transitions, start=1):
        walked.setdefault((one.state.value, one.target.value), []).append(str(number))
    arrows = {
        (state.value, target.value) for (state, event), target in TRANSITIONS.items() if event is not Event.CANCEL
    }
    lines = [
        # A flowchart, because its curves can be told to pass through their labels; those of a state diagram cannot.
        '%%{init: {"flowchart": {"curve": "monotoneX"}}}%%',
        "flowchart LR",
        "    accTitle: The states of a run",
        f"    accDescr: All states of the loop but cancelled; {result.run_id} took {len(result.transitions)} steps "
        f"and ended as {result.state.value}.",
        f"    begin(( )) --> {result.transitions[0].state.value}",
    ]
    for arrow in [*walked, *sorted(arrows - set(walked))]:
        steps = f'|"{", ".join(walked[arrow])}"| ' if arrow in walked else " "
        lines.append(f"    {arrow[0]} -->{steps}{arrow[1]}")
    passed = dict.fromkeys(name for arrow in walked for name in arrow)
    lines += ["    classDef passed stroke-width:3px,font-weight:bold", f"    class {','.join(passed)} passed"]
    return "\n".join(lines) + "\n"
