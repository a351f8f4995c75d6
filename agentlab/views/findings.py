"""Findings as a table: what a checker says, for a notebook."""

from collections.abc import Sequence

from agentlab.shapes import Finding
from agentlab.views.tables import Table


def findings_table(findings: Sequence[Finding], caption: str = "Findings") -> Table:
    """One row a finding, in the order in which the checker gave them; one row that says so where there is none."""
    columns = ("rule", "level", "finding", "the way out")
    rows = tuple((each.rule, each.level, f"{each.where}: {each.message}", each.fix) for each in findings)
    return Table(caption, columns, rows or (("none", "", "nothing was found", ""),), words=columns[1:])
