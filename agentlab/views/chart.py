"""A plotly figure without plotly's toolbar. Importing this module loads plotly: import it where a figure is drawn."""

from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

NO_TOOLBAR = {"displayModeBar": False}
"""Plotly's toolbar offers to upload the chart to a cloud and links to a company; it also costs ten stops of Tab."""


class Chart(go.Figure):  # type: ignore[misc] # plotly has no types
    """A figure that shows itself without the toolbar, in a notebook and elsewhere."""

    def show(self, *args: Any, **options: Any) -> None:
        """Show the figure; `options` as plotly takes them, of which ``config`` overrules ours."""
        super().show(*args, **{"config": NO_TOOLBAR, **options})

    def _ipython_display_(self) -> None:
        if pio.renderers.default:
            self.show()
        else:
            super()._ipython_display_()


def live(chart: Chart) -> go.FigureWidget:
    """The chart as a widget that can be changed while it is shown, without the toolbar too."""
    widget = go.FigureWidget(chart)
    # Plotly offers no public way to configure a widget; its documentation sets this attribute.
    widget._config = {**widget._config, **NO_TOOLBAR}
    return widget
