"""Where the project's own files lie: in a clone beside the package, in a wheel inside it."""

from pathlib import Path

from agentlab.errors import AgentlabError

_PACKAGE = Path(__file__).resolve().parent


def data_folder() -> Path:
    """The folder ``data/`` of a clone, or the copy of it inside an installed wheel."""
    folder = _PACKAGE.parent / "data" if _is_clone(_PACKAGE.parent) else _PACKAGE / "_data"
    if folder.is_dir():
        return folder
    raise AgentlabError("the folder data/ is missing; install agentlab-toolkit again, or work in a clone")


def clone_folder() -> Path:
    """The clone that holds notebooks/ and exercises/. Raises AgentlabError for an install without one."""
    if not _is_clone(_PACKAGE.parent):
        raise AgentlabError("this installation has no notebooks; clone the repository and run `make lab` there")
    return _PACKAGE.parent


def _is_clone(folder: Path) -> bool:
    # site-packages may well hold a folder data/ of somebody else, so one name is not enough.
    return (folder / "pyproject.toml").is_file() and (folder / "lessons").is_dir()
