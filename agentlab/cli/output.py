"""How commands print: a line, a table that fits the terminal, JSON for machines.

Every command prints through these, so that NO_COLOR, a pipe, 40 columns and a terminal
that knows only ASCII behave alike everywhere.
"""

import json
import os
import sys
from collections.abc import Sequence

from pydantic import JsonValue

WIDE = 10_000
"""Columns of a terminal on which nothing is folded."""


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line on stdout, or on stderr for what is no result (progress, a note)."""
    # Not typer.echo: that writes UTF-8 to a terminal that said it knows only ASCII.
    stream = sys.stderr if err else sys.stdout
    stream.write(text + "\n")


def printable(text: str) -> str:
    """`text` in one line, with every character written out that a terminal would act on or hide."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in " ".join(text.split()))


def print_json(value: JsonValue) -> None:
    """Print `value` as JSON and nothing else, so that the output can be piped."""
    print_line(json.dumps(value, indent=2, ensure_ascii=True))


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = (), err: bool = False
) -> None:
    """Print a table as wide as the terminal; the columns named in `right` (numbers) are aligned to the right.

    It goes to stdout, or to stderr for what is no result (what was lost on the way to one).

    Cells are plain text: square brackets in them are no markup. In a pipe the table is as wide as
    its longest row, because a program that reads it would stumble over folded lines; COLUMNS overrules.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    folds = (sys.stderr if err else sys.stdout).isatty() or "COLUMNS" in os.environ
    console = Console(stderr=err, highlight=False, width=None if folds else WIDE)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(Text(column), justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    # rich leaves with a status of its own where the pipe is closed; so it only renders, and print_line writes.
    with console.capture() as rendered:
        console.print(table)
    print_line(rendered.get().removesuffix("\n"), err=err)
