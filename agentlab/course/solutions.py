"""Marked solution regions, and the stub that a learner gets in their place.

A region lies between the lines ``### BEGIN SOLUTION`` and ``### END SOLUTION``. Inside a function it
becomes ``return TODO``; at the left margin it holds only assignments, and each name becomes TODO.
A marker is a comment alone on its line; the same text inside a string is a text.
"""

import ast
import io
import re
import tokenize
from itertools import zip_longest

from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
_MARKER = re.compile(rf"(?P<indent>[ \t]*)(?P<marker>{BEGIN}|{END})\s*")
# A comment that its author takes for a marker: read as a plain comment, it would leave the solution in the stub.
_LOOKS_LIKE_ONE = re.compile(
    r"[\W_]*(?:(?:BEGIN|START|END)[\W_]*SOLUTION|SOLUTION[\W_]*(?:BEGIN|START|END))", re.IGNORECASE
)
_CELL = re.compile(r"#\s*(?:%%|<codecell>|In\[[0-9 ]*\]:?\s*$)")  # where jupytext begins a cell


class Region(Frozen):
    """One marked region: the line numbers of its two markers (from 1), their indent, and the lines between."""

    begin: int
    end: int
    indent: str
    body: tuple[str, ...]


def has_markers(source: str) -> bool:
    """True if a comment of `source` is a marker, or looks like one."""
    return any(_LOOKS_LIKE_ONE.match(comment.string) for comment in _comments(source))


def regions(text: str, file: str) -> list[Region]:
    """The regions of a source, in order.

    Raises AgentlabError for a marker without its partner, for a comment that only looks like a marker,
    and for a region that goes on into the next cell.
    """
    lines = text.split("\n")
    marks: list[tuple[int, re.Match[str]]] = []
    cells: list[int] = []
    for comment in _comments(text):
        number = comment.start[0]
        line = lines[number - 1]
        if match := _MARKER.fullmatch(line):
            marks.append((number, match))
        elif _LOOKS_LIKE_ONE.match(comment.string):
            way_out = f'write exactly "{BEGIN}" or "{END}", alone on its line'
            raise AgentlabError(f"{file} line {number}: this comment looks like a marker and is none; {way_out}")
        elif line.lstrip().startswith(comment.string) and _CELL.match(comment.string):
            cells.append(number)
    found = []
    for begin, end in zip_longest(marks[::2], marks[1::2]):
        number, first = begin
        if first["marker"] != BEGIN:
            raise AgentlabError(f'{file} line {number}: "{END}" without a beginning; put "{BEGIN}" above it')
        if end is None or end[1]["marker"] != END:
            raise AgentlabError(f'{file} line {number}: "{BEGIN}" is not closed; put "{END}" below it')
        if end[1]["indent"] != first["indent"]:
            raise AgentlabError(f"{file} line {end[0]}: the two marker lines differ in indent; indent both alike")
        for cell in cells:
            if number < cell < end[0]:
                way_out = f'put "{END}" above it, and begin a region of its own in the next cell'
                raise AgentlabError(f"{file} line {cell}: a cell begins inside a region; {way_out}")
        body = tuple(lines[number : end[0] - 1])
        found.append(Region(begin=number, end=end[0], indent=first["indent"], body=body))
    return found


def make_stub(text: str, file: str) -> str:
    """`text` with every region replaced; nothing outside the regions changes.

    Raises AgentlabError for what `regions` refuses, and where a stub would not be valid Python, or would not know
    the name TODO.
    """
    lines = text.split("\n")
    stub: list[str] = []
    done = 0
    for region in regions(text, file):
        stub += lines[done : region.begin - 1] + _replacement(region, file)
        done = region.end
    if not done:
        _compile(text, file, "the lesson is no valid Python")
        return text
    made = "\n".join(stub + lines[done:])
    _refuse_broken(made, text, file)
    return made


def _comments(text: str) -> list[tokenize.TokenInfo]:
    """The comments of a source, up to where it stops being Python (`make_stub` refuses such a source)."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append(token)
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def _replacement(region: Region, file: str) -> list[str]:
    if region.indent:
        return [f"{region.indent}# TODO: your code here", f"{region.indent}return TODO"]
    return [f"{name} = TODO" for name in _assigned_names(region, file)]


def _assigned_names(region: Region, file: str) -> list[str]:
    way_out = "assign each answer to a name (name = ...), or move the region into a function"
    try:
        statements = ast.parse("\n".join(region.body)).body
    except SyntaxError as error:
        line = region.begin + (error.lineno or 1)
        raise AgentlabError(f"{file} line {line}: this region is no complete Python; {way_out}") from error
    names = []
    for statement in statements:
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            raise AgentlabError(f"{file} line {region.begin + statement.lineno}: not one assignment; {way_out}")
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            raise AgentlabError(f"{file} line {region.begin + statement.lineno}: not a plain name; {way_out}")
        names.append(target.id)
    if not names:
        raise AgentlabError(f"{file} line {region.begin}: the region is empty; {way_out}")
    return list(dict.fromkeys(names))


def _refuse_broken(stub: str, text: str, file: str) -> None:
    _compile(text, file, "the lesson is no valid Python")
    _compile(stub, file, "the stub is no valid Python: an indented region stands in a function, where return may stand")
    imported = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(stub))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    if "TODO" not in imported:
        raise AgentlabError(
            f"{file}: the stub does not know TODO; write `from agentlab.course import TODO, check, hint`"
        )


def _compile(source: str, file: str, problem: str) -> None:
    # compile, unlike ast.parse, also finds a return outside a function. Nothing is run.
    try:
        compile(source, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        raise AgentlabError(f"{file} line {error.lineno}: {problem} ({error.msg})") from error
