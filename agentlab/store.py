"""One database URL for everything that must outlive a process: SQLite by default, PostgreSQL by URL."""

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, MetaData, Table
    from sqlalchemy.exc import SQLAlchemyError

DEFAULT_URL = "sqlite:///agentlab.db"
"""A file in the current folder: easy to see, to copy and to delete."""

BUSY_SECONDS = 30
"""How long a writer waits for another one in SQLite before the call fails."""

CONNECT_SECONDS = 10
"""How long PostgreSQL may take to answer a new connection."""


def database_url(given: str | None = None) -> str:
    """The URL to use: the one given, else the environment's ``AGENTLAB_DATABASE``, else `DEFAULT_URL`."""
    return given if given is not None else os.environ.get("AGENTLAB_DATABASE") or DEFAULT_URL


def shown_url(url: "str | URL") -> str:
    """A database URL as it may be shown: without its password, and without its query, which can hold another one."""
    import sqlalchemy

    return sqlalchemy.make_url(url).set(query={}).render_as_string(hide_password=True)


def open_store(url: str) -> "Engine":
    """Open the database at `url` and prove that it answers.

    ``sqlite://`` alone lives in memory and dies with the process: right for lessons and tests.
    Raises AgentlabError where the URL cannot be read, its driver is missing, or nothing answers;
    the message never repeats a password.
    """
    import sqlalchemy
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SAWarning, SQLAlchemyError
    from sqlalchemy.pool import StaticPool

    try:
        parsed = sqlalchemy.make_url(url)
    except (ArgumentError, ValueError):  # a port that is no number is a plain ValueError
        if re.fullmatch(r"[\w ./~-]+\.(db|sqlite3?)", url):  # a file's path, with no place for a password
            raise AgentlabError(f"{url} is a path and no database URL; for SQLite write sqlite:///{url}") from None
        raise AgentlabError(
            "the database URL cannot be read; write it like sqlite:///agentlab.db or postgresql://user@host/name"
        ) from None
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")  # the driver that the extra installs
    shown = shown_url(parsed)
    options: dict[str, Any] = {}
    is_sqlite = parsed.get_backend_name() == "sqlite"
    if parsed.get_backend_name() == "postgresql":
        # What ledger and approvals rely on: a statement that waited for another writer sees what that one committed.
        options["isolation_level"] = "READ COMMITTED"
        options["pool_pre_ping"] = True  # the server may have been restarted since the last call
        if parsed.get_driver_name() == "psycopg" and "connect_timeout" not in parsed.query:
            options["connect_args"] = {"connect_timeout": CONNECT_SECONDS}
    elif not is_sqlite:
        raise AgentlabError(f"the database {shown} is neither SQLite nor PostgreSQL; give the URL of one of the two")
    else:
        options["connect_args"] = {"timeout": BUSY_SECONDS, "check_same_thread": False}
        if not parsed.database or parsed.database == ":memory:":
            options["poolclass"] = StaticPool
        else:
            folder = Path(parsed.database).parent
            if not _is_folder(folder):
                raise AgentlabError(f"the folder {folder} of the database {shown} does not exist; create it first")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SAWarning)  # it warns of an option that it would then ignore
            engine = sqlalchemy.create_engine(parsed, **options)
        if is_sqlite:
            _prepare_sqlite(engine)
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text("SELECT 1"))
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise AgentlabError(
            f"the database {shown} needs a driver that is not installed ({error}); "
            "for PostgreSQL install agentlab-toolkit[postgres]"
        ) from None
    except SQLAlchemyError as error:
        raise AgentlabError(f"the database {shown} does not answer: {reason_of(error)}") from None
    except (ValueError, TypeError, SAWarning):
        # Its message may repeat an option's value, and so a password.
        raise AgentlabError(
            f"the database {shown} has a name, or an option behind the ? of its URL, that its driver does not take; "
            "correct the URL"
        ) from None
    return engine


def reason_of(error: "SQLAlchemyError") -> str:
    """What the database itself said, in one line, without the statement that SQLAlchemy adds to it."""
    return str(getattr(error, "orig", None) or error).splitlines()[0]


def create_tables(engine: "Engine", metadata: "MetaData") -> None:
    """Create the tables that are not there yet; many processes may do so at once.

    Raises AgentlabError where a table is there and lacks a column: another version of agentlab made it.
    """
    import sqlalchemy

    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            # Two sessions that both find a table missing would both create it. SQLite's writers wait at BEGIN.
            connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(hashtext('agentlab: create tables'))"))
        metadata.create_all(connection)
        inspector = sqlalchemy.inspect(connection)
        for table in metadata.tables.values():
            there = {column["name"] for column in inspector.get_columns(table.name)}
            if not there.issuperset(table.columns.keys()):
                raise AgentlabError(
                    f"the table {table.name} of {shown_url(engine.url)} was made by another version of agentlab; "
                    "name another database, or put this one aside"
                )


def insert_new(connection: "Connection", table: "Table", **values: Any) -> bool:
    """Insert one row unless a unique column has its value already. True where the row is new.

    Where another transaction has just inserted the same row, this waits for its end: afterwards the row is there
    (False), or that transaction was rolled back and this one inserted it (True).
    """
    statement = _insert(connection, table).values(**values).on_conflict_do_nothing()
    # Without the option SQLAlchemy does not keep the count of an INSERT: on PostgreSQL it would be -1.
    return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount == 1


def insert_or_replace(connection: "Connection", table: "Table", rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows; one whose primary key is there already gets the new values."""
    # In one order for all: two processes that lock the same rows in two orders would wait for each other.
    key = [column.name for column in table.primary_key]
    ordered = sorted(rows, key=lambda row: [row[name] for name in key])
    statement = _insert(connection, table)
    new = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    if ordered:
        connection.execute(statement.on_conflict_do_update(index_elements=key, set_=new), ordered)


def _insert(connection: "Connection", table: "Table") -> Any:
    """An INSERT that knows ON CONFLICT, which is no part of SQLAlchemy's common one."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that is too long, or one that no file system takes
        return False


def _prepare_sqlite(engine: "Engine") -> None:
    """Make SQLite's transactions real: a writer takes its lock at BEGIN, so that two cannot both read first.

    Python's driver opens transactions late and by itself; SQLAlchemy's documentation names this
    pair of listeners as the remedy ("Serializable isolation / Savepoints" of the SQLite dialect).
    """
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def _on_connect(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.isolation_level = None
        cursor = dbapi_connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
