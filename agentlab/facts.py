"""Dated facts: numbers that others published or that were measured once, read from data/facts/ and never typed in."""

import csv
from functools import cache

from agentlab.errors import AgentlabError
from agentlab.paths import data_folder

Row = dict[str, str]
"""A fact: text by column. An empty text is a number that nobody published."""


@cache
def read_facts(name: str) -> tuple[Row, ...]:
    """The rows of data/facts/`name`.csv in their order. Every file has the columns source, date and verified."""
    file = data_folder() / "facts" / f"{name}.csv"
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return tuple(csv.DictReader(lines, strict=True))
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        raise AgentlabError(f"the facts {name} cannot be read ({error}); install agentlab-toolkit again") from error


def cited(row: Row) -> str:
    """Where a row comes from, in words: its source and date, and a warning where nobody verified it."""
    warning = "" if row["verified"] == "yes" else ", unverified"
    return f"{row['source']} ({row['date']}{warning})"
