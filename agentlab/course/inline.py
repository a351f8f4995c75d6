"""Short texts of a lesson as safe HTML."""

import html
import re


def inline_html(text: str) -> str:
    """`text` escaped, with `code` between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
