"""How commands print: a line, a table that fits the terminal, JSON for machines.

Every command prints through these three, so that NO_COLOR, a pipe, 40 columns and a terminal
that knows only ASCII behave alike everywhere.
"""

import json
from collections.abc import Sequence

import typer
from pydantic import JsonValue


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line on stdout, or on stderr for what is no result (progress, a note)."""
    typer.echo(text, err=err)


def print_json(value: JsonValue) -> None:
    """Print `value` as JSON and nothing else, so that the output can be piped."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print a table as wide as the terminal; the columns named in `right` (numbers) are aligned to the right.

    Cells are plain text: square brackets in them are no markup. Where stdout is no terminal the
    table is as wide as its longest row, because a program that reads it would stumble over folded lines.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(Text(column), justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    if not console.is_terminal:
        console.width = max(console.width, console.measure(table).maximum)
    console.print(table)
