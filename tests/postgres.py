"""A real PostgreSQL for the tests: its own data folder, reached through a socket file that only its owner can open.

It is started where the machine has its programs (Debian: apt-get install postgresql). No port is opened.
"""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy

from agentlab.store import open_store

FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
"""The tests kill clients and never the server, so that it need not survive a power cut."""


def find_programs() -> Path | None:
    """The folder with initdb and pg_ctl, or None. Debian keeps them off the PATH, in a folder for each version."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(debian, key=lambda folder: float(folder.parent.name), reverse=True)
    return next((each for each in folders if (each / "pg_ctl").exists() and (each / "postgres").exists()), None)


@contextmanager
def running_server(programs: Path) -> Iterator[str]:
    """Start a server in a new folder, and yield the URL of its first database. It is stopped and removed afterwards."""
    account = _account()
    # Not below pytest's own folder: a socket's path must be short, and the server's account must get there.
    with tempfile.TemporaryDirectory(prefix="agentlab-pg-", dir="/tmp") as name:
        folder = Path(name)
        if account:
            os.chown(folder, account["user"], account["group"])
        data, log = folder / "data", folder / "log"
        run = {"account": account, "cwd": folder}
        _do(programs / "initdb", "-D", data, "-A", "trust", "-U", "agentlab", "-E", "UTF8", "--no-sync", **run)
        options = f"-k {folder} -c listen_addresses='' {FAST}"
        _do(programs / "pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start", **run)
        try:
            yield f"postgresql://agentlab@/postgres?host={folder}"
        finally:
            _do(programs / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop", **run)


def new_database(server: str) -> str:
    """Create an empty database on the server at this URL, and return its own."""
    name = f"test_{secrets.token_hex(8)}"
    engine = open_store(server)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")


def _account() -> Mapping[str, Any]:
    """Whom to run the server as: root must not, so it takes PostgreSQL's own account, or one that owns nothing."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _do(*command: object, account: Mapping[str, Any], cwd: Path) -> None:
    # To a file and not a pipe: the server inherits it, and a pipe would stay open as long as the server runs.
    with tempfile.TemporaryFile() as output:
        words = [str(word) for word in command]
        done = subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, cwd=cwd, check=False, **account)
        output.seek(0)
        if done.returncode:
            raise RuntimeError(f"{words[0]} failed: {output.read().decode(errors='replace')}")
