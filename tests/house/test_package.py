"""The package as a person gets it: light to import, one version, and complete in a wheel."""

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import agentlab
from agentlab.paths import clone_folder

# What DESIGN allows a plain import to bring: pydantic with its own parts, and the standard library.
LIGHT = {"agentlab", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
FOUNDATION = [
    "agentlab",
    "agentlab.shapes",
    "agentlab.errors",
    "agentlab.canonical",
    "agentlab.paths",
    "agentlab.store",
]
FLOORS = ["messages", "context", "dispatch", "loop"]


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that `statement` loads, the standard library and site start-up aside."""
    program = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    # This machine's build settings are part of the standard library, under a name of their own.
    return {name for name in done.stdout.split() if not name.startswith("_sysconfigdata")}


@pytest.mark.parametrize("module", FOUNDATION)
def test_importing_the_foundation_loads_pydantic_and_the_standard_library_only(module: str) -> None:
    assert loaded_by(f"import {module}") <= LIGHT


@pytest.mark.parametrize("floor", FLOORS)
def test_importing_every_module_of_a_floor_loads_pydantic_and_the_standard_library_only(floor: str) -> None:
    folder = Path(agentlab.__file__).parent / floor
    modules = [f"agentlab.{floor}.{file.stem}" for file in sorted(folder.glob("*.py")) if file.stem != "__init__"]
    assert modules
    assert loaded_by("\n".join(f"import {module}" for module in modules)) <= LIGHT


def test_the_version_is_written_once() -> None:
    assert metadata.version("agentlab-toolkit") == agentlab.__version__
    assert agentlab.__version__ not in (clone_folder() / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this clone, built with the build backend itself, which needs no network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=clone_folder(), capture_output=True, timeout=120, check=True)
    (file,) = folder.glob("agentlab_toolkit-*.whl")
    return zipfile.ZipFile(file)


def test_a_wheel_holds_all_data_and_every_module(wheel: zipfile.ZipFile) -> None:
    held = set(wheel.namelist())
    clone = clone_folder()
    tracked = subprocess.run(
        ["git", "ls-files", "agentlab", "data"], cwd=clone, capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    wanted = {"agentlab/_data/" + name.removeprefix("data/") if name.startswith("data/") else name for name in tracked}
    assert wanted - held == set()
    assert not [name for name in held if name.endswith(".pyc") or "__pycache__" in name]


def test_a_wheel_finds_its_data_without_the_clone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    program = "from agentlab.paths import data_folder; print(data_folder())"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert Path(done.stdout.strip()) == tmp_path / "agentlab" / "_data"
