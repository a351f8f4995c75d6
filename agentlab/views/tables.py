"""A small table as plain text and as HTML: what a notebook shows and what a test compares."""

from html import escape
from typing import NamedTuple


class Table(NamedTuple):
    """Column titles and rows of ready-made cells. All columns but the first hold numbers, so they lie to the right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """The table in lines of equal width, for print()."""
        widths = [max(len(cell) for cell in cells) for cells in zip(self.columns, *self.rows, strict=True)]
        lines = [self.columns, tuple("-" * width for width in widths), *self.rows]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )

    @property
    def html(self) -> str:
        """The table with a caption and header cells, so that a screen reader can tell what a number belongs to."""
        head = "".join(
            f'<th scope="col" style="text-align:{_side(i)}">{escape(c)}</th>' for i, c in enumerate(self.columns)
        )
        body = "".join(f"<tr>{''.join(_cell(i, cell) for i, cell in enumerate(row))}</tr>" for row in self.rows)
        caption = f'<caption style="text-align:left;caption-side:top">{escape(self.caption)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(column: int, text: str) -> str:
    if column == 0:
        return f'<th scope="row" style="text-align:left">{escape(text)}</th>'
    return f'<td style="text-align:right">{escape(text)}</td>'


def _side(column: int) -> str:
    return "right" if column else "left"
