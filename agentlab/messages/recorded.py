"""Recorded runs: a file of JSON lines, one model call a line, written by one run and replayed by the next.

Each line is an object with ``request``, ``reply`` or ``error`` (the text of the `ModelError`), and ``digest``, that of
the canonical JSON of all the others: a line that was changed by hand, in its reply too, is told. It is no seal, because
whoever changes a line can compute its digest. There are no headers, and every key of the environment is taken out.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import JsonValue, ValidationError

from agentlab.canonical import canonical_json, digest
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import Reply, Request
from agentlab.messages.keys import text_without_keys, without_keys
from agentlab.messages.models import Model, ModelError, ScriptError
from agentlab.messages.received import read_json
from agentlab.messages.wire import WireError
from agentlab.shapes import Frozen


class RecordingError(AgentlabError):
    """A recording cannot be read or written; the message names the file and the line."""


class Line(Frozen):
    """One recorded call."""

    digest: str
    request: Request
    reply: Reply | None = None
    error: str | None = None


class Recorded:
    """Replays a recording, and insists that exactly its requests are made, in its order.

    Use it as a context manager: leaving the block with unused lines is a failure, as is another request. A recorded
    failure is raised again as `ModelError`. Raises `RecordingError` for a file that is no whole recording.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = _read(path)
        self._used = 0

    @staticmethod
    def record(model: Model, path: Path) -> "Recorder":
        """Wrap `model` so that each of its calls is appended to `path` as it is made."""
        return Recorder(model, path)

    def complete(self, request: Request) -> Reply:
        """Return the next recorded reply. Raises `ScriptError` for a request that is not the recorded one."""
        if self._used == len(self._lines):
            raise ScriptError(f"{self.path} has {len(self._lines)} calls and was asked for one more; record it again")
        line = self._lines[self._used]
        given, recorded = _as_json(request), _as_json(line.request)
        if canonical_json(given) != canonical_json(recorded):
            place = first_difference(recorded, given)
            raise ScriptError(f"line {self._used + 1} of {self.path} was recorded for another request: {place}")
        self._used += 1
        if line.reply is None:
            raise ModelError(line.error or "the recorded call failed")
        return line.reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        unused = len(self._lines) - self._used
        if kind is None and unused:
            raise ScriptError(
                f"{unused} of {len(self._lines)} calls of {self.path} were never made, line {self._used + 1} is the "
                "first; the run ended sooner than the recorded one"
            )


class Recorder:
    """A model that writes down what another one does. A line is on the disk before its reply is handed on.

    A file that exists is added to, never replaced. Raises `RecordingError` when its last line is cut.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self.path = path
        self._model = model
        if path.exists():
            _read(path)

    def complete(self, request: Request) -> Reply:
        """Ask the wrapped model, and append the call. A `ModelError` is recorded too, and raised again."""
        try:
            reply = self._model.complete(request)
        except ModelError as error:
            self._append({"error": text_without_keys(str(error))}, request)
            raise
        self._append({"reply": without_keys(reply.model_dump(mode="json"))}, request)
        return reply

    def _append(self, outcome: dict[str, JsonValue], request: Request) -> None:
        call: dict[str, JsonValue] = {"request": _as_json(request), **outcome}
        line = canonical_json({"digest": digest(call), **call}) + "\n"
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
            raise RecordingError(f"cannot write {_told(self.path)}: {_why(error)}; give a path to write to") from None


def first_difference(recorded: JsonValue, given: JsonValue, where: str = "request") -> str:
    """The first place where two requests differ, in the order of the canonical JSON, with what stands there in each."""
    if isinstance(recorded, dict) and isinstance(given, dict):
        for key in sorted(recorded.keys() | given.keys()):
            if key not in recorded or key not in given:
                side = "recorded" if key in recorded else "given"
                return f"only the {side} one has {where}.{key}"
            if canonical_json(recorded[key]) != canonical_json(given[key]):
                return first_difference(recorded[key], given[key], f"{where}.{key}")
    if isinstance(recorded, list) and isinstance(given, list):
        for number, (one, other) in enumerate(zip(recorded, given, strict=False)):
            if canonical_json(one) != canonical_json(other):
                return first_difference(one, other, f"{where}[{number}]")
        return f"{where} has {len(recorded)} entries in the recording and {len(given)} now"
    return f"{where} is {_short(recorded)} in the recording and {_short(given)} now"


def _as_json(request: Request) -> JsonValue:
    return without_keys(request.model_dump(mode="json"))


def _short(value: JsonValue) -> str:
    text = canonical_json(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _read(path: Path) -> list[Line]:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise RecordingError(f"{path} is no text in UTF-8; a recording holds lines of JSON") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise RecordingError(f"cannot read {_told(path)}: {_why(error)}; record it with Recorded.record") from None
    *whole, rest = text.split("\n")
    if rest:
        raise RecordingError(
            f"line {len(whole) + 1} of {path} is cut off, as when the recorder is stopped while it writes; "
            "delete that line, or record again"
        )
    return [_line(line, f"line {number} of {path}") for number, line in enumerate(whole, 1)]


def _line(text: str, where: str) -> Line:
    try:
        line = Line.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise RecordingError(f"{where} is no recorded call: {place}: {first['msg']}; record it again") from None
    try:
        call = read_json(text)
    except WireError as error:  # what the line above lets pass: NaN, a key twice
        raise RecordingError(f"{where} is no recorded call: {error}; record it again") from None
    if (line.reply is None) == (line.error is None):
        raise RecordingError(f"{where} must hold a reply or an error, and not both; record it again")
    if digest({name: value for name, value in call.items() if name != "digest"}) != line.digest:
        raise RecordingError(f"{where} was changed after it was recorded: its digest is another; record it again")
    return line


def _told(path: Path) -> str:
    """The path for a line of text: what cannot be printed is escaped."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
