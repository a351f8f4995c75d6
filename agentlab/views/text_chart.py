"""A chart in plain ASCII, for a terminal: what is drawn can be read in any encoding and needs no font.

It is small on purpose and stands on nothing: of the libraries for this, plotext has changed its whole interface with
version 6, and plotille draws in Braille patterns, which a terminal of ASCII cannot show.
"""

from collections.abc import Mapping, Sequence

MARKS = ".#+*o%@"
"""What the lines are drawn with, in their order; beyond the last mark they begin again."""

_HEIGHT = 12
_MARGIN = 2
_STRETCH = 3
"""A short run takes this many columns for each value, so that its shape can be seen."""


def text_chart(lines: Mapping[str, Sequence[int]], width: int = 70) -> str:
    """The lines by name over their index from 1 on, in `width` columns; a later line covers an earlier one.

    Where there are more values than columns, a column shows the largest of its values: a peak is what one looks for.
    """
    top = max((max(values) for values in lines.values()), default=0)
    count = max((len(values) for values in lines.values()), default=0)
    scale = f"{top:,}"
    columns = max(1, min(_STRETCH * count, width - len(scale) - _MARGIN))
    page = [[" "] * columns for _ in range(_HEIGHT + 1)]
    for i, values in enumerate(lines.values()):
        for column in range(columns):
            first = column * count // columns
            part = values[first : max(first + 1, (column + 1) * count // columns)]
            if part:
                page[_row(max(part), top)][column] = MARKS[i % len(MARKS)]
    drawn = [
        f"{scale if row == _HEIGHT else '0' if row == 0 else '':>{len(scale)}} |{''.join(page[row]).rstrip()}".rstrip()
        for row in range(_HEIGHT, -1, -1)
    ]
    beneath = " " * (len(scale) + _MARGIN)
    first_and_last = f"1{count:>{columns - 1},}" if count > 1 else "1"
    names = [f"{MARKS[i % len(MARKS)]} {name}" for i, name in enumerate(lines)]
    return "\n".join(
        [*drawn, f"{' ' * len(scale)} +{'-' * columns}", beneath + first_and_last, beneath + "   ".join(names)]
    )


def _row(value: int, top: int) -> int:
    return round(value * _HEIGHT / top) if top else 0
