"""Options that take a number: what is no number costs one line with what was typed and the form that is expected."""

from typing import Any

import typer


def whole(option: str, metavar: str, help: str, *, least: int | None = None, most: int | None = None) -> Any:
    """An option that takes a whole number, between `least` and `most` where they are given."""

    def number(text: str | int) -> int:
        try:
            value = int(text)  # a default value comes as a number
        except ValueError:
            raise typer.BadParameter(f"{text!r} is no whole number; write it in digits alone, like 3000") from None
        if least is not None and value < least:
            raise typer.BadParameter(f"{value} is too small; the least is {least}")
        if most is not None and value > most:
            raise typer.BadParameter(f"{value} is too large; the most is {most}")
        return value

    return typer.Option(option, metavar=metavar, help=help, parser=number)


def decimal(option: str, metavar: str, help: str) -> Any:
    """An option that takes any number."""

    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is no number; write it in digits, like 60 or 1.5") from None

    return typer.Option(option, metavar=metavar, help=help, parser=number)
