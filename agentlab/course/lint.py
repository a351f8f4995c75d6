"""Content lint of one notebook: what must hold before it is published.

| Rule | A notebook must have |
|------|----------------------|
| L00 | the form of a notebook (JSON with cells) |
| L01 | the kernel spec python3 |
| L02 | no widget state and no widget views |
| L03 | no stored error |
| L04 | exactly one H1, and it is first |
| L05 | headings that skip no level |
| L06 | alt text on every image |
| L07 | no absolute path of somebody's machine |
| L08 | no package installation |
| L09 | no text in the shape of a key |
| L10 | a size of at most 200 KB |
| L11 | outputs, and execution counts 1, 2, 3 ... |
| L12 | no interact and no Output widget, which lose replies when a notebook is executed without a browser |
| L13 | no cell whose only output is a widget |
| L14 | its minutes in the first cell (should) |
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from agentlab.course.clean import WIDGET_TEXT, WIDGET_VIEW
from agentlab.errors import AgentlabError
from agentlab.shapes import Finding, Frozen

LARGEST = 200_000  # bytes

_ABSOLUTE_PATH = re.compile(
    r"(?<![\w/.:~<-])/(?:home|Users|root|tmp|var/tmp|private|work|mnt|opt|media)/[\w.-]+"
    r"|file:///?\w[\w/.-]*"
    r"|\b[A-Za-z]:(?:\\{1,2}|/)(?:Users|Windows|Program|Documents|Temp|home|work|dev|Python)\w*",
)
_OPTIONS = (
    r"(?:[\s\\]+-[^\s\\]+(?:[\s\\]+[^\s\\-][^\s\\]*)?)*?[\s\\]+"  # between a command and its verb, with their values
)
_INSTALL = re.compile(
    rf"\b(?:pip[\d.]*|pipx|conda|mamba|micromamba|apt|apt-get){_OPTIONS}install\b|\buv{_OPTIONS}add\b"
    # As a list of arguments: ["pip", "-q", "install"].
    r"""|["'](?:pip[\d.]*|pipx|conda|mamba|micromamba|apt|apt-get)["'],\s*(?:["'][^"'\n]*["'],\s*){0,5}["']install["']"""
    r"""|["']uv["'],\s*["']add["']"""
)
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|AIza[\w-]{35}|xox[abprs]-[\w-]{10,}|hf_[A-Za-z0-9]{20,})|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_LOSING = r"(?:interact|interact_manual|interactive_output|Output)\b"
_LOSES_REPLIES = re.compile(
    r"(?<![\w.])(?:interact|interact_manual|interactive_output)\s*[(.]"
    rf"|\bfrom\s+ipywidgets[\w.]*\s+import\s+(?:\([^)]*?\b{_LOSING}|[^\n]*?\b{_LOSING}|\*)"
)
_WIDGETS_AS = re.compile(
    r"\bimport\s+ipywidgets(?:\.widgets)?\s+as\s+(\w+)|\bipywidgets\s+import\s+widgets\s+as\s+(\w+)"
)
_IMAGE_WITHOUT_ALT = re.compile(r"""!\[\s*\]\(|<img\b(?![^>]*\balt\s*=\s*(?:"[^"]+"|'[^']+'))""", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-+)\s*")  # makes an H1 or an H2 of the line above it
_NO_PARAGRAPH = re.compile(r"\s*$|\s*(?:[#>|]|[-*+]\s|\d+[.)]\s)| {4}|\t")
_TAG = re.compile(r"<h([1-6])\b", re.IGNORECASE)
_INLINE_CODE = re.compile(r"(`+)[^`\n]+\1")
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)


class Cell(Frozen):
    """One cell as the rules read it; ``number`` counts from 1, ``rest`` is what it holds besides the other fields."""

    number: int
    kind: str
    source: str
    count: int | None
    outputs: tuple[dict[str, Any], ...]
    rest: dict[str, Any]

    @property
    def where(self) -> str:
        """The place in a finding."""
        return f"cell {self.number}"


class Notebook(Frozen):
    """One notebook as the rules read it; ``size`` in bytes."""

    metadata: dict[str, Any]
    cells: tuple[Cell, ...]
    size: int

    def of_kind(self, kind: str) -> Iterator[Cell]:
        """The cells of one kind ("code", "markdown"), in order."""
        return (cell for cell in self.cells if cell.kind == kind)


Faults = Iterable[tuple[str, str]]  # (where, message)


class Rule(Frozen):
    """One rule: its id, what finds its faults, and the way out."""

    id: str
    find: Callable[[Notebook], Faults]
    fix: str
    level: Literal["must", "should"] = "must"


def lint(path: Path) -> list[Finding]:
    """Every finding of every rule on the notebook at `path`; empty when it is fit to publish."""
    try:
        notebook = read(path)
    except AgentlabError as error:
        fix = "build it from its lesson, or take the file out"
        return [Finding(rule="L00", level="must", where=path.name, message=str(error), fix=fix)]
    return [
        Finding(rule=rule.id, level=rule.level, where=f"{path.name} {where}".strip(), message=message, fix=rule.fix)
        for rule in RULES
        for where, message in rule.find(notebook)
    ]


def read(path: Path) -> Notebook:
    """Read a notebook file as plain data. Raises AgentlabError if it is not one."""
    try:
        data = path.read_bytes()
        found = json.loads(data)
        cells = tuple(_cell(number, cell) for number, cell in enumerate(found["cells"], start=1))
        return Notebook(metadata=found["metadata"], cells=cells, size=len(data))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise AgentlabError(f"{path.name} is not a readable notebook ({type(error).__name__})") from error


def _cell(number: int, cell: dict[str, Any]) -> Cell:
    outputs = tuple(cell.get("outputs", ()))
    for output in outputs:
        _refuse_odd_output(number, output)
    return Cell(
        number=number,
        kind=cell["cell_type"],
        source=_joined(cell["source"]),
        count=cell.get("execution_count"),
        outputs=outputs,
        rest={key: value for key, value in cell.items() if key not in ("cell_type", "source", "outputs")},
    )


def _refuse_odd_output(number: int, output: dict[str, Any]) -> None:
    """Raises AgentlabError unless data and metadata are objects, and every text in them is one, or a list of lines."""
    data, metadata = output.get("data", {}), output.get("metadata", {})
    if not (isinstance(data, dict) and isinstance(metadata, dict)):
        raise AgentlabError(f"the data or metadata of an output of cell {number} is no object")
    for mime, value in data.items():
        lines = value if isinstance(value, list) else [value]
        if mime.startswith("text/") and not all(isinstance(line, str) for line in lines):
            raise AgentlabError(f"the {mime} of an output of cell {number} is no text")
        if mime.startswith("image/") and not isinstance(metadata.get(mime, {}), dict):
            raise AgentlabError(f"the metadata of the {mime} of cell {number} is no object")


def _joined(text: str | list[str]) -> str:
    # A notebook file stores a text as one string or as a list of its lines.
    return text if isinstance(text, str) else "".join(text)


def _kernel(notebook: Notebook) -> Faults:
    spec = notebook.metadata.get("kernelspec")
    name = spec.get("name") if isinstance(spec, dict) else spec
    if not (isinstance(spec, dict) and name == "python3"):
        yield "", f"the kernel spec is {name!r}, not 'python3'"


def _widget_state(notebook: Notebook) -> Faults:
    if "widgets" in notebook.metadata:
        yield "", "widget state is stored in the metadata"
    for cell in notebook.cells:
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs):
            yield cell.where, "a widget view is stored, which shows as raw text where no kernel runs"


def _stored_error(notebook: Notebook) -> Faults:
    for cell in notebook.cells:
        for output in cell.outputs:
            if output.get("output_type") == "error":
                yield cell.where, f"an error is stored: {output.get('ename')}"


def _headings(notebook: Notebook) -> Iterator[tuple[Cell, int]]:
    for cell in notebook.of_kind("markdown"):
        above = ""
        for line in _FENCE.sub("", cell.source).split("\n"):
            underline = _UNDERLINE.fullmatch(line)
            if match := _HEADING.match(line):
                yield cell, len(match[1])
            elif underline and not _NO_PARAGRAPH.match(above):
                yield cell, 1 if underline[1] else 2
            for tag in _TAG.findall(_INLINE_CODE.sub("", line)):
                yield cell, int(tag)
            above = line


def _title(notebook: Notebook) -> Faults:
    titles = [cell for cell, level in _headings(notebook) if level == 1]
    if len(titles) != 1:
        yield "", f"the notebook has {len(titles)} H1 headings, not one"
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.kind != "markdown" or not first.source.startswith("# "):
        yield "cell 1", "the notebook does not begin with its H1"


def _heading_order(notebook: Notebook) -> Faults:
    before = 0
    for cell, level in _headings(notebook):
        if before and level > before + 1:
            yield cell.where, f"an H{level} follows an H{before}"
        before = level


def _alt_text(notebook: Notebook) -> Faults:
    for cell in notebook.cells:
        texts = [_FENCE.sub("", cell.source)] if cell.kind == "markdown" else []
        for output in cell.outputs:
            data = output.get("data", {})
            texts += [_joined(data[mime]) for mime in ("text/html", "text/markdown") if mime in data]
            for mime in (mime for mime in data if mime.startswith("image/")):
                if not output.get("metadata", {}).get(mime, {}).get("alt"):
                    yield cell.where, f"an output of type {mime} has no alt text"
        if any(_IMAGE_WITHOUT_ALT.search(text) for text in texts):
            yield cell.where, "an image has no alt text"


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, names of fields included; a list of lines is one text."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            waiting += [*current.values(), *current]
        elif isinstance(current, list):
            lines = bool(current) and all(isinstance(part, str) for part in current)
            waiting += ["".join(current)] if lines else current


def _anywhere(pattern: re.Pattern[str], message: str, *, quote: bool = True) -> Callable[[Notebook], Faults]:
    def find(notebook: Notebook) -> Faults:
        places: list[tuple[str, Any]] = [("", notebook.metadata)]
        places += [(cell.where, [{"source": cell.source}, *cell.outputs, cell.rest]) for cell in notebook.cells]
        for where, value in places:
            match = next(filter(None, map(pattern.search, _texts(value))), None)
            if match:
                yield where, f"{message}: {match[0]}" if quote else message

    return find


def _size(notebook: Notebook) -> Faults:
    if notebook.size > LARGEST:
        yield "", f"the file has {notebook.size:,} bytes, more than {LARGEST:,}"


def _ran(notebook: Notebook) -> Faults:
    code = [cell for cell in notebook.of_kind("code") if cell.source.strip()]
    if code and not any(cell.outputs for cell in code):
        yield "", "no cell has an output"
    for expected, cell in enumerate(code, start=1):
        if cell.count != expected:
            yield cell.where, f"its execution count is {cell.count}, not {expected}"
            return  # one gap shifts all that follow


def _loses_replies(notebook: Notebook) -> Faults:
    code = list(notebook.of_kind("code"))
    names = {"widgets", "ipywidgets"}
    names |= {name for cell in code for pair in _WIDGETS_AS.findall(cell.source) for name in pair if name}
    of_the_package = re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(names))})(?:\.widgets)?\.{_LOSING}")
    for cell in code:
        if match := _LOSES_REPLIES.search(cell.source) or of_the_package.search(cell.source):
            yield cell.where, f"{' '.join(match[0].split()).rstrip('(. ')} is used"


def _only_a_widget(notebook: Notebook) -> Faults:
    for cell in notebook.cells:
        if cell.outputs and all(_is_widget(output.get("data", {})) for output in cell.outputs):
            yield cell.where, "its only output is a widget"


def _is_widget(data: dict[str, Any]) -> bool:
    return WIDGET_VIEW in data or _joined(data.get("text/plain", "")) == WIDGET_TEXT


def _minutes(notebook: Notebook) -> Faults:
    if notebook.cells and not re.search(r"\d+\s*minutes?\b", notebook.cells[0].source, re.IGNORECASE):
        yield "cell 1", "it does not say how many minutes it takes"


RULES: tuple[Rule, ...] = (
    Rule(id="L01", find=_kernel, fix="build it with `make lessons`, which writes the kernel spec"),
    Rule(id="L02", find=_widget_state, fix="build it with `make lessons`, which drops widget state"),
    Rule(id="L03", find=_stored_error, fix="mend the cell, or catch the expected error and print it"),
    Rule(id="L04", find=_title, fix="begin with one markdown cell `# Title`, and use ## below it"),
    Rule(id="L05", find=_heading_order, fix="go down one level at a time"),
    Rule(id="L06", find=_alt_text, fix="say in the alt text what the image shows"),
    Rule(id="L07", find=_anywhere(_ABSOLUTE_PATH, "an absolute path"), fix="use a path relative to the notebook"),
    Rule(id="L08", find=_anywhere(_INSTALL, "a package installation"), fix="add the package to pyproject.toml"),
    # A key is not repeated in the message: a log is public too.
    Rule(id="L09", find=_anywhere(_KEY, "a text in the shape of a key", quote=False), fix="take it out and revoke it"),
    Rule(id="L10", find=_size, fix="show less: fewer points in a figure, no bundled JavaScript"),
    Rule(id="L11", find=_ran, fix="build it with `make lessons`; do not strip outputs or counts"),
    Rule(id="L12", find=_loses_replies, fix="use a FigureWidget with batch_update, or observe() and a labelled box"),
    Rule(id="L13", find=_only_a_widget, fix="print the sentence or table that the widget starts from beside it"),
    Rule(id="L14", find=_minutes, fix='write the time in the first cell, as in "20 minutes"', level="should"),
)
