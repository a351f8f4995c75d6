"""The one reader of JSON files that people name on the command line; ``-`` is standard input."""

import json
import sys
from pathlib import Path

from pydantic import JsonValue

from agentlab.errors import AgentlabError


def read_json(file: str) -> JsonValue:
    """The JSON in `file`. Raises AgentlabError, in one line, for what cannot be read or is no JSON (NaN is none)."""
    name = shown(file)
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        # ValueError is a name with a NUL in it.
        reason = getattr(error, "strerror", None) or str(error)
        raise AgentlabError(
            f"{name} cannot be read: {reason}; name a file with JSON, or - for standard input"
        ) from None
    try:
        # utf-8-sig, because some editors put a mark at the start of a file.
        value: JsonValue = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise AgentlabError(f"{name} is no JSON: {reason}") from None
    return value


def shown(file: str) -> str:
    """How a message names `file`."""
    return "standard input" if file == "-" else file


def _refuse(constant: str) -> JsonValue:
    raise ValueError(f"{constant} is no JSON number")
