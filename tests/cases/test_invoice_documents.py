"""The inbox: what is read, in which order, and what is refused in one line."""

import os
import shutil
from pathlib import Path

import pytest

from agentlab.cases.invoices.documents import Document, default_folder, read_documents
from agentlab.cases.invoices.erp import read_orders
from agentlab.errors import AgentlabError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inbox").mkdir()
    return tmp_path


def test_the_inbox_holds_forty_documents_of_three_formats(inbox: tuple[Document, ...]) -> None:
    assert len(inbox) == 40
    assert {document.format for document in inbox} == {"json", "csv", "mail"}


def test_every_document_has_an_expected_outcome_and_no_other_has(
    inbox: tuple[Document, ...], expected: dict[str, dict[str, str]]
) -> None:
    assert [document.id for document in inbox] == list(expected)


def test_the_order_does_not_depend_on_the_file_system(folder: Path) -> None:
    for name in ("b.txt", "a.json", "c.csv"):
        (folder / "inbox" / name).write_text("x,y\n1,2\n3,4\n" if name == "c.csv" else "1")
    assert [document.id for document in read_documents(folder)] == ["a", "b", "c-1", "c-2"]


def test_a_csv_row_travels_with_its_header_and_keeps_cells_with_line_breaks(inbox: tuple[Document, ...]) -> None:
    row = next(document for document in inbox if document.id == "0305-portal-4")
    assert row.text.startswith("Belegnr;Lieferant;Bestellung")
    assert "hall 1\n(as agreed on site)" in row.text
    assert "R-55102" not in row.text


def test_the_run_id_follows_the_text_of_the_document(inbox: tuple[Document, ...]) -> None:
    first = inbox[0]
    assert first.run_id == Document(id=first.id, format=first.format, text=first.text).run_id
    assert first.run_id != first.model_copy(update={"text": first.text + " "}).run_id


def test_no_address_in_the_inbox_could_belong_to_anybody(inbox: tuple[Document, ...]) -> None:
    words = [word.strip("<>\"'") for document in inbox for word in document.text.split() if "@" in word]
    assert words
    assert all(word.rstrip(">").endswith(".example") for word in words)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", b'{"total": 1', "no valid JSON"),
        ("a.json", b"[" * 100_000, "no valid JSON"),
        ("a.json", b"\xff\xfe", "not UTF-8"),
        ("a.csv", b"a,b\n1,2\n3\n", "line 3: 1 cells, the header has 2"),
        ("a.csv", b'a,b\n1,"2\n', "no valid CSV"),
        ("a.pdf", b"%PDF", "unknown kind"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused_with_its_name(
    folder: Path, name: str, content: bytes, says: str
) -> None:
    (folder / "inbox" / name).write_bytes(content)
    with pytest.raises(AgentlabError, match=says) as refused:
        read_documents(folder)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_empty_inbox_and_two_documents_with_one_name_are_refused(folder: Path) -> None:
    with pytest.raises(AgentlabError, match="holds no document"):
        read_documents(folder)
    (folder / "inbox" / "a-1.txt").write_text("x")
    (folder / "inbox" / "a.csv").write_text("h\n1\n")
    with pytest.raises(AgentlabError, match="two documents"):
        read_documents(folder)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("128450", "1284.50"), "write whole cents"),
        (("128450", "-1"), "write whole cents"),
        (("PO-4102", "PO-4101"), "stands there twice"),
        (("po,tenant", "order,tenant"), "the header must be"),
    ],
)
def test_a_bad_purchase_order_is_refused_with_its_place(folder: Path, change: tuple[str, str], says: str) -> None:
    shutil.copy(default_folder() / "purchase_orders.csv", folder)
    file = folder / "purchase_orders.csv"
    file.write_text(file.read_text().replace(*change, 1))
    with pytest.raises(AgentlabError, match=says):
        read_orders(folder)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (b"a\xff.json", "no plain text"),
        (b"a\x1b[31m.json", "no plain text"),
        (b"a\nposted.json", "no plain text"),
        ("a\u202eb.json".encode(), "no plain text"),
        (b" a.json", "no plain text"),
        (b"a" * 245 + b".json", "250 characters"),
    ],
)
def test_a_name_that_cannot_be_shown_or_told_is_refused_in_one_printable_line(
    folder: Path, name: bytes, says: str
) -> None:
    (folder / "inbox" / os.fsdecode(name)).write_text("1")
    with pytest.raises(AgentlabError, match=says) as refused:
        read_documents(folder)
    assert str(refused.value).isprintable()


def test_an_inbox_that_cannot_be_looked_into_is_refused_in_one_line(folder: Path) -> None:
    with pytest.raises(AgentlabError, match="File name too long"):
        read_documents(folder / ("x" * 5000))


def test_purchase_orders_that_are_a_pipe_are_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "purchase_orders.csv")
    with pytest.raises(AgentlabError, match="no regular file"):
        read_orders(folder)


@pytest.mark.parametrize("cents", ["9223372036854775808", "9" * 5000])
def test_an_order_that_no_database_can_hold_is_refused_with_its_place(folder: Path, cents: str) -> None:
    (folder / "purchase_orders.csv").write_text(
        f"po,tenant,supplier,amount_cents,currency\nPO-1,north-works,Acme,{cents},EUR\n"
    )
    with pytest.raises(AgentlabError, match="order 1: amount_cents is beyond"):
        read_orders(folder)
