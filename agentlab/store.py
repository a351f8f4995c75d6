"""One database URL for everything that must outlive a process: SQLite by default, PostgreSQL by URL."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

DEFAULT_URL = "sqlite:///agentlab.db"
"""A file in the current folder: easy to see, to copy and to delete."""

BUSY_SECONDS = 30
"""How long a writer waits for another one in SQLite before the call fails."""


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
        raise AgentlabError(
            "the database URL cannot be read; write it like sqlite:///agentlab.db or postgresql+psycopg://user@host/name"
        ) from None
    shown = shown_url(parsed)
    options: dict[str, Any] = {}
    is_sqlite = parsed.get_backend_name() == "sqlite"
    if is_sqlite:
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
        raise AgentlabError(f"the database {shown} needs a driver that is not installed ({error})") from None
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise AgentlabError(f"the database {shown} does not answer: {reason}") from None
    except (ValueError, TypeError, SAWarning):
        # Its message may repeat an option's value, and so a password.
        raise AgentlabError(
            f"the database {shown} has a name, or an option behind the ? of its URL, that its driver does not take; "
            "correct the URL"
        ) from None
    return engine


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
