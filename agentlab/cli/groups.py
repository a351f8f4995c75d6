"""A help page in groups: where a command has many options, those that belong together stand under one heading."""

from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand


def grouped(headings: Mapping[str, str]) -> type[TyperCommand]:
    """The class of a command with these headings, each by the name of the first parameter beneath it.

    typer has panels for this, but draws them with rich alone; the help pages here are plain text, see
    `agentlab.cli.build_app`.
    """

    class Grouped(TyperCommand):
        """A command whose options stand in groups."""

        def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
            groups: dict[str, list[tuple[str, str]]] = {}
            heading = "Options"
            for param in self.get_params(ctx):
                heading = headings.get(param.name or "", heading)
                record = param.get_help_record(ctx)
                if record is not None:
                    groups.setdefault(heading, []).append(record)
            for title, records in groups.items():
                with formatter.section(title):
                    formatter.write_dl(records)

    return Grouped
