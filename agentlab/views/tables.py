"""A small table as plain text and as HTML: what a notebook shows and what a test compares."""

from html import escape
from typing import NamedTuple


def counted(number: int, noun: str) -> str:
    """A number with its noun, for a cell or a sentence: "1 request", "2,000 requests"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class Table(NamedTuple):
    """Column titles and rows of ready-made cells. A notebook that shows it shows the HTML, a terminal the text.

    All columns but the first hold numbers, so they lie to the right; the columns named in `words` lie to the left.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    @property
    def text(self) -> str:
        """The table in lines of equal width, for print()."""
        widths = [max(len(cell) for cell in cells) for cells in zip(self.columns, *self.rows, strict=True)]
        lines = [self.columns, tuple("-" * width for width in widths), *self.rows]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if side == "left" else cell.rjust(width)
                for cell, width, side in zip(line, widths, self._sides, strict=True)
            ).rstrip()
            for line in lines
        )

    @property
    def html(self) -> str:
        """The table with a caption and header cells, so that a screen reader can tell what a number belongs to."""
        head = "".join(
            f'<th scope="col" style="text-align:{side}">{escape(title)}</th>'
            for title, side in zip(self.columns, self._sides, strict=True)
        )
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        caption = f'<caption style="text-align:left;caption-side:top">{escape(self.caption)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, row: tuple[str, ...]) -> str:
        first = f'<th scope="row" style="text-align:left">{escape(row[0])}</th>'
        others = zip(row[1:], self._sides[1:], strict=True)
        return first + "".join(
            f'<td style="text-align:{side}">{_breakable(escape(cell))}</td>' for cell, side in others
        )

    @property
    def _sides(self) -> tuple[str, ...]:
        return tuple("left" if i == 0 or title in self.words else "right" for i, title in enumerate(self.columns))


def _breakable(cell: str) -> str:
    # Compact JSON has no spaces, so a browser cannot wrap it, and the columns beside it are pushed off the page.
    return cell.replace(",&quot;", ",<wbr>&quot;")
