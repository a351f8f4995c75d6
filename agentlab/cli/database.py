"""The database of a command: opened, closed again, and every failure of it told in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from sqlalchemy import Engine

DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="Ledger and ERP; else AGENTLAB_DATABASE, else ./agentlab.db."),
]


@contextmanager
def opened_database(url: str | None) -> Iterator["Engine"]:
    """Open the database at `url`, or the one that the environment or the default names, and close it at the end.

    Raises AgentlabError where it cannot be opened, or where it fails within.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from agentlab.store import database_url, open_store, reason_of

    engine = open_store(database_url(url))
    try:
        yield engine
    except SQLAlchemyError as error:
        raise AgentlabError(
            f"the database failed ({reason_of(error)}); what was done is kept, mend it and run again"
        ) from None
    finally:
        engine.dispose()
