"""What all tests share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy
from hypothesis import settings
from postgres import find_programs, new_database, running_server

from agentlab.store import open_store

# No deadline: speed is measured in benchmarks/. CI tries the same examples every time; at home they vary.
settings.register_profile("agentlab", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("agentlab")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL that was started for this run. Without one a test is skipped, but not in CI."""
    programs = find_programs()
    if programs is None:
        missing = "no PostgreSQL on this machine (Debian: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with running_server(programs) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new, empty database: a SQLite file, then a PostgreSQL database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'agentlab.db'}"
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def engine(url: str) -> Iterator[sqlalchemy.Engine]:
    """A new, empty database, open."""
    opened = open_store(url)
    yield opened
    opened.dispose()
