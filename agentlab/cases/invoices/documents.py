"""The inbox: JSON files, CSV exports and e-mails become documents, one for each invoice."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from agentlab.canonical import digest
from agentlab.errors import AgentlabError
from agentlab.paths import data_folder
from agentlab.shapes import Frozen

LONGEST_NAME = 200
"""Characters of a document's name: what the tools accept as one."""


class Document(Frozen):
    """One invoice as it arrived. ``text`` is everything that is known of it; nothing has been interpreted."""

    id: str
    format: Literal["json", "csv", "mail"]
    text: str

    @property
    def run_id(self) -> str:
        """The id of the run that handles this document: the same for the same text, so that an approval still fits."""
        return f"invoices/{self.id}/{digest(self.text)[:12]}"


def default_folder() -> Path:
    """The folder of the forty invoices that come with agentlab."""
    return data_folder() / "invoices"


def read_documents(folder: Path) -> tuple[Document, ...]:
    """Read every file in ``inbox/`` of `folder`, in the order of their names (which begin with the day of arrival).

    A file is one document, named after it; in a CSV export each row with its header is one, named after file and row.
    Raises AgentlabError for a folder without documents, a file that cannot be read as what its name says, a name that
    cannot be shown or told to a model as it is, and two documents with one name.
    """
    inbox = folder / "inbox"
    try:
        if not inbox.is_dir():
            raise AgentlabError(f"there is no folder {inbox}; name a folder that holds inbox/ and purchase_orders.csv")
        files = sorted(path for path in inbox.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise AgentlabError(f"the folder {inbox} cannot be read: {error.strerror}; name one that can") from None
    for path in files:
        # Control characters, text that runs backwards and bytes that are not UTF-8 are none of them printable.
        if not path.name.isprintable() or path.name != path.name.strip():
            raise AgentlabError(f"the name of the file {path.name!a} in {inbox} is no plain text; rename the file")
        if len(path.name) > LONGEST_NAME:
            raise AgentlabError(
                f"the name of the file {path.name[:20]}... in {inbox} has {len(path.name)} characters, "
                f"{LONGEST_NAME} at most; rename the file"
            )
    documents = tuple(document for path in files for document in _documents(path))
    if not documents:
        raise AgentlabError(f"the folder {inbox} holds no document; put .json, .csv or .txt files into it")
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise AgentlabError(f"two documents in {inbox} are called {document.id}; rename one of the files")
        seen.add(document.id)
    return documents


def read_text(path: Path) -> str:
    """The text of a file. Raises AgentlabError where it cannot be read, is not UTF-8, or is a device or a pipe."""
    try:
        if path.exists() and not path.is_file():  # reading a pipe would wait for a writer that never comes
            raise AgentlabError(f"{path} cannot be read: it is no regular file; put a file there")
        # A byte order mark, which spreadsheets write, is no part of the text.
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise AgentlabError(f"{path} cannot be read: {reason}; mend the file or take it out") from None


def delimiter_of(text: str) -> str:
    """The delimiter of a CSV text: a semicolon where its header holds more of them than of commas, else a comma."""
    header = text.lstrip("\n").split("\n", 1)[0]
    return ";" if header.count(";") > header.count(",") else ","


def read_rows(path: Path) -> tuple[str, list[list[str]]]:
    """The delimiter of a CSV file and its rows, the header first. Every row has as many cells as the header.

    Raises AgentlabError with the line where that is not so.
    """
    text = read_text(path)
    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if not row:
                continue
            if rows and len(row) != len(rows[0]):
                raise AgentlabError(
                    f"{path}, line {reader.line_num}: {len(row)} cells, the header has {len(rows[0])}; mend the row"
                )
            rows.append(row)
    except csv.Error as error:
        raise AgentlabError(f"{path}, line {reader.line_num}: no valid CSV ({error}); mend the row") from None
    return delimiter, rows


def _documents(path: Path) -> Iterator[Document]:
    if path.suffix == ".json":
        text = read_text(path)
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise AgentlabError(f"{path} is no valid JSON ({error}); mend the file or take it out") from None
        yield Document(id=path.stem, format="json", text=text)
    elif path.suffix == ".csv":
        delimiter, rows = read_rows(path)
        for number, row in enumerate(rows[1:], start=1):
            buffer = io.StringIO()
            csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows([rows[0], row])
            yield Document(id=f"{path.stem}-{number}", format="csv", text=buffer.getvalue())
    elif path.suffix == ".txt":
        yield Document(id=path.stem, format="mail", text=read_text(path))
    else:
        raise AgentlabError(f"{path} is of an unknown kind; documents are .json, .csv and .txt files")
