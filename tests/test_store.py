"""One URL, checked where it enters, and transactions that are real."""

import threading

import pytest
import sqlalchemy

from agentlab.errors import AgentlabError
from agentlab.store import create_tables, database_url, insert_new, insert_or_replace, open_store, shown_url


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("not a url", "cannot be read"),
        ("x.db", "x.db is a path and no database URL; for SQLite write sqlite:///x.db"),
        ("/my data/x.sqlite", "write sqlite:////my data/x.sqlite"),
        ("user:secret@x.db", "^the database URL cannot be read"),
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


def table(*more_columns):
    return sqlalchemy.Table(
        "things",
        sqlalchemy.MetaData(),
        sqlalchemy.Column("name", sqlalchemy.String, primary_key=True),
        sqlalchemy.Column("size", sqlalchemy.Integer),
        *more_columns,
    )


def rows(engine, things):
    with engine.begin() as connection:
        return [tuple(row) for row in connection.execute(sqlalchemy.select(things).order_by(things.c.name))]


def test_a_row_is_new_once_and_the_first_one_stays(engine):
    things = table()
    create_tables(engine, things.metadata)
    with engine.begin() as connection:
        assert [insert_new(connection, things, name="a", size=size) for size in (1, 2)] == [True, False]
    assert rows(engine, things) == [("a", 1)]


def test_rows_are_inserted_or_take_the_new_values(engine):
    things = table()
    create_tables(engine, things.metadata)
    for size in (1, 2):
        with engine.begin() as connection:
            insert_or_replace(connection, things, [{"name": name, "size": size} for name in "ba"[: 3 - size]])
            insert_or_replace(connection, things, [])
    assert rows(engine, things) == [("a", 1), ("b", 2)]


def test_a_table_of_another_version_is_refused_in_one_line_and_keeps_its_rows(engine):
    things = table()
    create_tables(engine, things.metadata)
    with engine.begin() as connection:
        insert_new(connection, things, name="a", size=1)
    with pytest.raises(AgentlabError, match="was made by another version of agentlab"):
        create_tables(engine, table(sqlalchemy.Column("colour", sqlalchemy.String)).metadata)
    create_tables(engine, things.metadata)
    assert rows(engine, things) == [("a", 1)]


def test_a_postgresql_that_does_not_answer_is_one_line_without_its_password(tmp_path):
    with pytest.raises(AgentlabError, match="does not answer") as refused:
        open_store(f"postgresql://user:hunter2@/name?host={tmp_path}")
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_postgresql_holds_to_the_isolation_that_the_ledger_relies_on(postgres):
    engine = open_store(postgres)
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SHOW transaction_isolation")).scalar_one() == "read committed"
    engine.dispose()
