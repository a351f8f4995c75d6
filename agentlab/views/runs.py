"""One run of an agent as a table: the way it took through the states."""

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
    return Table(f"The way of {result.run_id}", columns, rows, words=columns[1:])
