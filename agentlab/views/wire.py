"""One request as each provider takes it, part beside part, with what the providers do not share marked."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect, Message, Request, ToolResult
from agentlab.messages.wire import DIALECTS, to_wire

TITLES: dict[Dialect, str] = {
    "anthropic": "Anthropic Messages",
    "openai-chat": "OpenAI Chat Completions",
    "openai-responses": "OpenAI Responses",
}
# Bold and underlined, so that no colour is needed to see it; the tint lies over either theme.
_MARK = "background:rgba(230,150,0,.22);color:inherit;font-weight:600;text-decoration:underline"
_CELL = "text-align:left;vertical-align:top"
# JupyterLab breaks such text anywhere; here a word is broken only where it does not fit a line of its own.
_CODE = (
    "margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;"
    "background:transparent;font-size:12px;line-height:1.35"
)


class Token(NamedTuple):
    """A piece of JSON text; ``says`` tells what it means where that can differ (a field, a value), else ""."""

    text: str
    says: str = ""


class Row(NamedTuple):
    """One part of the request (its name) and the lines of JSON that each dialect writes for it."""

    part: str
    lines: dict[Dialect, tuple[tuple[Token, ...], ...]]

    @property
    def shared(self) -> frozenset[str]:
        """The fields and values that every dialect has in this part."""
        said = [{token.says for line in lines for token in line} for lines in self.lines.values()]
        return frozenset.intersection(*map(frozenset, said)) if said else frozenset()


class SideBySide(NamedTuple):
    """A request in every dialect. A notebook shows three columns; a terminal gets them one below the other.

    A field or value that does not occur in all dialects is marked: underlined in HTML, between stars in text.
    """

    caption: str
    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    @property
    def text(self) -> str:
        """Part by part, each dialect under its name."""
        said = [f"{self.caption}. Between stars: what does not occur in all of them."]
        for row in self.rows:
            for dialect, lines in row.lines.items():
                said.append(f"\n{row.part}, {dialect}")
                said += ["  " + "".join(_starred(token, row.shared) for token in line) for line in lines]
        return "\n".join(said)

    @property
    def html(self) -> str:
        """A table with a row a part and a column a dialect, for a page of about 1,000 pixels."""
        head = "".join(f'<th scope="col" style="text-align:left">{escape(TITLES[d])}</th>' for d in self._dialects)
        body = "".join(
            f'<tr><th scope="row" style="{_CELL}">{escape(row.part)}</th>'
            + "".join(f'<td style="{_CELL}">{_code(lines, row.shared)}</td>' for lines in row.lines.values())
            + "</tr>"
            for row in self.rows
        )
        note = f"{escape(self.caption)}. <mark style='{_MARK}'>Marked</mark>: what does not occur in all of them."
        caption = f'<caption style="text-align:left;caption-side:top">{note}</caption>'
        columns = '<col style="width:9%">' + '<col style="width:30%">' * len(self._dialects)
        table = f"{caption}<colgroup>{columns}</colgroup><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody>"
        return f'<table style="table-layout:fixed;width:100%;max-width:1200px">{table}</table>'

    @property
    def _dialects(self) -> tuple[Dialect, ...]:
        return tuple(self.rows[0].lines) if self.rows else ()


def side_by_side(request: Request, caption: str = "The same request in three dialects", width: int = 46) -> SideBySide:
    """The request's system prompt, tools and messages as each dialect writes them.

    Results that follow each other are one part, because Anthropic takes them in one message. `width` is the number of
    characters up to which an object or list stands on one line.
    """
    written = {dialect: _parts(request, dialect) for dialect in DIALECTS}
    rows = tuple(
        Row(
            part,
            {dialect: tuple(_lines(parts[number][1], width)) for dialect, parts in written.items()},
        )
        for number, (part, _) in enumerate(written[DIALECTS[0]])
    )
    return SideBySide(caption, rows)


def _parts(request: Request, dialect: Dialect) -> list[tuple[str, list[tuple[str, JsonValue]]]]:
    """Each part's name, with the top-level fields it fills. The parts are those of every dialect, in one order."""
    parts = []
    if request.system:
        parts.append(("system", Request(system=request.system, messages=())))
    if request.tools:
        parts.append(("tools", Request(tools=request.tools, messages=())))
    parts += [(_name(group), Request(messages=group)) for group in _groups(request.messages)]
    return [
        (name, [(key, value) for key, value in to_wire(part, dialect).body.items() if value]) for name, part in parts
    ]


def _groups(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    for is_result, group in groupby(messages, key=lambda message: isinstance(message, ToolResult)):
        together = tuple(group)
        yield from (together,) if is_result else ((message,) for message in together)


def _name(group: tuple[Message, ...]) -> str:
    first = group[0]
    if first.role == "assistant":
        return "call" if first.tool_calls else "answer"
    return "result" if first.role == "tool" else first.role


def _lines(fields: Sequence[tuple[str, JsonValue]], width: int) -> Iterator[tuple[Token, ...]]:
    for name, value in fields:
        yield from _laid_out(value, width, 0, (*_field(name),), ())


def _laid_out(
    value: JsonValue, width: int, depth: int, before: tuple[Token, ...], after: tuple[Token, ...]
) -> Iterator[tuple[Token, ...]]:
    """The lines of `value`: one where it fits, else one for each thing in it, one space deeper."""
    margin = (Token(" " * depth),)
    whole = (*margin, *before, *_inline(value), *after)
    if not isinstance(value, dict | list) or not value or sum(len(token.text) for token in whole) <= width:
        yield whole
        return
    inner = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
    opens, closes = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield (*margin, *before, Token(opens))
    for number, (key, item) in enumerate(inner, start=1):
        comma = (Token(","),) if number < len(inner) else ()
        yield from _laid_out(item, width, depth + 1, () if key is None else (*_field(key),), comma)
    yield (*margin, Token(closes), *after)


def _inline(value: JsonValue) -> Iterator[Token]:
    if isinstance(value, dict):
        yield Token("{")
        for number, (key, item) in enumerate(value.items()):
            yield from [Token(", ")] if number else []
            yield from _field(key)
            yield from _inline(item)
        yield Token("}")
    elif isinstance(value, list):
        yield Token("[")
        for number, item in enumerate(value):
            yield from [Token(", ")] if number else []
            yield from _inline(item)
        yield Token("]")
    else:
        text = json.dumps(value)
        yield Token(text, f"value {text}")


def _field(name: str) -> Iterator[Token]:
    yield Token(json.dumps(name), f"field {name}")
    yield Token(": ")


def _code(lines: Sequence[Sequence[Token]], shared: frozenset[str]) -> str:
    return f'<pre style="{_CODE}">{"".join(_line(line, shared) for line in lines)}</pre>'


def _line(line: Sequence[Token], shared: frozenset[str]) -> str:
    """A line of its own; what does not fit goes on two characters deeper than it began, so that the shape stays."""
    hang = len(line[0].text) + 2
    text = "".join(_marked(token, shared) for token in line)
    return f'<span style="display:block;padding-left:{hang}ch;text-indent:-{hang}ch">{text}</span>'


def _marked(token: Token, shared: frozenset[str]) -> str:
    text = escape(token.text, quote=False)
    return f'<mark style="{_MARK}">{text}</mark>' if token.says and token.says not in shared else text


def _starred(token: Token, shared: frozenset[str]) -> str:
    return f"*{token.text}*" if token.says and token.says not in shared else token.text
