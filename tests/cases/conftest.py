"""The inbox, the desk over a database in memory, and the expected outcomes."""

import csv
from collections.abc import Callable

import pytest

from agentlab.cases.invoices.agent import Desk, open_desk, run_batch
from agentlab.cases.invoices.documents import Document, default_folder, read_documents
from agentlab.cases.invoices.erp import read_orders
from agentlab.cases.invoices.outcomes import Handled
from agentlab.cases.invoices.stand_in import stand_in
from agentlab.store import open_store

NOON = 1_772_000_000.0


class FixedClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(scope="session")
def inbox() -> tuple[Document, ...]:
    return read_documents(default_folder())


@pytest.fixture
def desk(inbox: tuple[Document, ...], clock: FixedClock) -> Desk:
    return open_desk(open_store("sqlite://"), inbox, read_orders(default_folder()), clock)


@pytest.fixture
def handle(inbox: tuple[Document, ...], desk: Desk, clock: FixedClock) -> Callable[..., dict[str, Handled]]:
    """Run the stand-in over the whole inbox, or the named documents, once more at the same desk."""

    def run(*names: str) -> dict[str, Handled]:
        chosen = [document for document in inbox if not names or document.id in names]
        assert len(chosen) == (len(names) or len(inbox))
        done = run_batch(chosen, model=stand_in(), desk=desk, clock=clock)
        return {one.document: one for one in done}

    return run


@pytest.fixture(scope="session")
def expected() -> dict[str, dict[str, str]]:
    with (default_folder() / "expected.csv").open(newline="", encoding="utf-8") as file:
        return {row["document"]: row for row in csv.DictReader(file)}
