"""How commands print: a line, a table that fits the terminal, JSON for machines.

Every command prints through these, so that NO_COLOR, a pipe, 40 columns and a terminal
that knows only ASCII behave alike everywhere.
"""

import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

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


def print_paragraph(text: str) -> None:
    """Print a long sentence on stdout, broken between words where the terminal ends; in a pipe it is one line."""
    if _folds(sys.stdout):
        width = max(shutil.get_terminal_size().columns, 20)
        text = textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    print_line(text)


def ascii_only(text: str) -> str:
    """`text` with every character written out that is not plain ASCII; spaces stay as they are.

    For what a person must read to the letter: names that look alike, or text that runs backwards, look different.
    """
    return "".join(one if one.isascii() and one.isprintable() else ascii(one)[1:-1] for one in text)


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

    stream = sys.stderr if err else sys.stdout
    folds = _folds(stream)
    # rich leaves with a status of its own where the pipe is closed; so it writes on a page, and print_line prints that.
    page = _Page(stream.encoding)
    width = None if folds else WIDE
    console = Console(file=page, highlight=False, width=width, force_terminal=stream.isatty())
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(Text(printable(column)), justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        # A cell may come from a file that somebody sent: nothing in it may act on the terminal.
        table.add_row(*[Text(printable(cell)) for cell in row])
    console.print(table)
    print_line(page.getvalue().removesuffix("\n"), err=err)


def _folds(stream: TextIO) -> bool:
    """Whether what is written there is folded: on a terminal, and wherever COLUMNS says how wide it is."""
    return stream.isatty() or "COLUMNS" in os.environ


class _Page(io.StringIO):
    """Text in memory that names the encoding of the stream it is for: rich draws by it."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a StringIO has none
        return self._encoding
