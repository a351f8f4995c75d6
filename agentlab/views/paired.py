"""A slider with a labelled number box: the two follow each other, and the number counts. Needs a running kernel."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ipywidgets as widgets


class Range(NamedTuple):
    """What a slider is called, and the whole numbers that it goes through."""

    label: str
    low: int
    high: int
    step: int


class Pair(NamedTuple):
    """The two widgets of one value."""

    slider: "widgets.IntSlider"
    number: "widgets.BoundedIntText"


def pair(limits: Range, value: int) -> Pair:
    """A slider and a number box that start at `value`. A value beyond the range widens it.

    A number that was typed may lie between two steps of the slider. A plain link would not do: the browser moves a
    slider to its next step, and the link would carry that back over what was typed.
    """
    import ipywidgets as widgets

    reach = {"min": min(limits.low, value), "max": max(limits.high, value), "step": limits.step}
    slider = widgets.IntSlider(
        readout=False, tooltip=limits.label, layout={"width": "330px", "margin": "0 0 2px 0"}, **reach
    )
    number = widgets.BoundedIntText(
        value=value,
        description=limits.label,
        style={"description_width": "200px"},
        layout={"width": "320px"},
        **reach,
    )
    following_number = False

    def follow_slider(change: Any) -> None:
        if not following_number:
            number.value = change["new"]

    def follow_number(_change: Any) -> None:
        nonlocal following_number
        following_number = True
        slider.value = _nearest(number.value, slider)
        following_number = False

    slider.value = _nearest(number.value, slider)
    slider.observe(follow_slider, names="value")
    number.observe(follow_number, names="value")
    return Pair(slider, number)


def _nearest(value: int, slider: "widgets.IntSlider") -> int:
    """The step of the slider that is nearest to `value`."""
    steps = round((value - slider.min) / slider.step)
    return int(min(slider.min + steps * slider.step, slider.max))
