"""The files that people name on the command line: the one reader of JSON, and the writer of a page.

``-`` is standard input.
"""

import codecs
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pydantic import JsonValue

from agentlab.cli.output import printable
from agentlab.errors import AgentlabError


def read_json(file: str) -> JsonValue:
    """The JSON in `file`. Raises AgentlabError, in one line, for what cannot be read or is no JSON (NaN is none).

    Refused as well is what some readers let pass and a provider may not: a byte order mark, a key that is written
    twice in one object (which of the two counts?), a number that becomes infinity.
    """
    name = shown(file)
    try:
        if file == "-" and sys.stdin is None:  # a shell can close it: agentlab tokens - <&-
            raise OSError("standard input is closed")
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        # ValueError is a name with a NUL in it.
        reason = getattr(error, "strerror", None) or str(error)
        raise AgentlabError(
            f"{name} cannot be read: {reason}; name a file with JSON, or - for standard input"
        ) from None
    if data.startswith(codecs.BOM_UTF8):
        raise AgentlabError(f"{name} begins with a byte order mark, which no JSON does; save it as UTF-8 without one")
    try:
        value: JsonValue = json.loads(
            data.decode(), object_pairs_hook=_once, parse_float=_finite, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise AgentlabError(f"{name} is no JSON: {reason}; mend it there, or save it as UTF-8 JSON") from None
    return value


def write_page(file: Path, page: str, begins: str, kind: str) -> None:
    """Write `page` into `file`, which may replace only a page whose first line is `begins`, too, or an empty file.

    The page stands there whole or not at all. Raises AgentlabError, in one line, where `file` is something else or
    cannot be written.
    """
    try:
        target = file.resolve()
        if target.exists():
            if not target.is_file():
                raise AgentlabError(f"{file} is no file; name one for the {kind} that is new")
            with target.open("rb") as stands:
                first = stands.readline(len(begins) + 2).rstrip(b"\r\n")
            if first != begins.encode() and target.stat().st_size:
                raise AgentlabError(
                    f"{file} stands there already and is no {kind}; name another file, or remove it first"
                )
        with written_whole(target) as written:
            written.write(page)
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError is a link that leads to itself, ValueError a name with a NUL in it.
        reason = getattr(error, "strerror", None) or str(error)
        raise AgentlabError(f"{file} cannot be written: {reason}; name another file") from None


@contextmanager
def written_whole(target: Path, newline: str | None = None) -> Iterator[TextIO]:
    """A text file that stands at `target` only when all of it was written; `newline` as `open` takes it."""
    beside = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with beside.open("w", encoding="utf-8", newline=newline) as written:
            yield written
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def shown(file: str) -> str:
    """How a message names `file`."""
    return "standard input" if file == "-" else printable(file)


def _refuse(constant: str) -> JsonValue:
    raise ValueError(f"{constant} is no JSON number")


def _once(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} is written twice in one object")
    return value


def _finite(text: str) -> JsonValue:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text} is larger than any that is read")
    return number
