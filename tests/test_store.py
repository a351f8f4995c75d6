"""One URL, checked where it enters, and transactions that are real."""

import threading

import pytest
import sqlalchemy

from agentlab.errors import AgentlabError
from agentlab.store import database_url, open_store, shown_url


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("not a url", "cannot be read"),
        ("", "cannot be read"),
        ("nosuchdb://host/name", "neither SQLite nor PostgreSQL"),
        ("postgresql+nosuchdriver://host/name", "driver"),
        ("sqlite:////no/such/folder/a.db", "does not exist"),
        ("postgresql://u:p@host:abc/db", "cannot be read"),
        ("sqlite://?timeout=abc", "behind the"),
        ("sqlite://?foo=bar", "behind the"),
        ("sqlite:///a\0b.db", "has a name"),
        ("sqlite:///" + "x" * 5000 + "/a.db", "does not exist"),
        ("sqlite:///" + "x" * 5000, "does not answer"),
    ],
)
def test_a_bad_url_is_one_line_with_the_way_out(url, says):
    with pytest.raises(AgentlabError, match=says) as refused:
        open_store(url)
    assert "\n" not in str(refused.value)


def test_a_password_is_never_repeated():
    with pytest.raises(AgentlabError) as refused:
        open_store("nosuchdb://user:hunter2@host/name")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("url", ["nosuchdb://user@host/name?password=hunter2", "sqlite://?timeout=hunter2"])
def test_a_password_in_the_query_is_not_repeated_either(url):
    with pytest.raises(AgentlabError) as refused:
        open_store(url)
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in shown_url(url)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "a.db").write_text("this is not a database, and it is long enough to be looked at as one" * 20)
    with pytest.raises(AgentlabError, match="does not answer"):
        open_store(f"sqlite:///{tmp_path / 'a.db'}")


def test_the_url_comes_from_the_call_then_the_environment_then_the_default(monkeypatch):
    monkeypatch.delenv("AGENTLAB_DATABASE", raising=False)
    assert database_url() == "sqlite:///agentlab.db"
    monkeypatch.setenv("AGENTLAB_DATABASE", "sqlite:///other.db")
    assert database_url() == "sqlite:///other.db"
    assert database_url("sqlite://") == "sqlite://"
    assert database_url("") == ""  # an empty --database is a mistake, not the default


def test_two_writers_that_read_first_cannot_both_go_on_from_the_same_value(tmp_path):
    engine = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE counter (n INTEGER)"))
        connection.execute(sqlalchemy.text("INSERT INTO counter VALUES (0)"))

    def add_one() -> None:
        for _ in range(25):
            with engine.begin() as connection:
                n = connection.execute(sqlalchemy.text("SELECT n FROM counter")).scalar_one()
                connection.execute(sqlalchemy.text("UPDATE counter SET n = :n"), {"n": n + 1})

    threads = [threading.Thread(target=add_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.begin() as connection:
        assert connection.execute(sqlalchemy.text("SELECT n FROM counter")).scalar_one() == 100
    engine.dispose()
