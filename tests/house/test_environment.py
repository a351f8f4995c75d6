"""environment.yml says what pyproject.toml says, and no more; it is read here, not solved."""

import tomllib
from typing import Any

import pytest
import yaml

from agentlab.paths import clone_folder


@pytest.fixture(scope="module")
def environment() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((clone_folder() / "environment.yml").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((clone_folder() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return content


def test_conda_brings_python_and_pip_and_nothing_that_pyproject_pins(
    environment: dict[str, Any], project: dict[str, Any]
) -> None:
    from_conda = [one for one in environment["dependencies"] if isinstance(one, str)]
    assert from_conda == [f"python{project['requires-python']}", "pip"]


def test_pip_installs_this_clone_with_the_extra_that_the_lessons_need(
    environment: dict[str, Any], project: dict[str, Any]
) -> None:
    (from_pip,) = [one["pip"] for one in environment["dependencies"] if isinstance(one, dict)]
    assert from_pip == ["-e .[lab]"]
    assert "lab" in project["optional-dependencies"]


def test_binder_finds_one_environment_only() -> None:
    """repo2docker prefers a folder binder/ or .binder/, and would then not read environment.yml."""
    assert not [name for name in ("binder", ".binder", "Dockerfile") if (clone_folder() / name).exists()]


def test_a_fast_mover_has_an_upper_bound(project: dict[str, Any]) -> None:
    """What has broken notebooks before must not arrive in a new major version by itself."""
    from packaging.requirements import Requirement

    bounded = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    requirements = {one.name: one.specifier for one in map(Requirement, bounded)}
    operators = {name: {part.operator for part in specifier} for name, specifier in requirements.items()}
    lab = [Requirement(one).name for one in project["optional-dependencies"]["lab"]]
    assert [name for name in [*lab, "pydantic", "sqlalchemy", "tiktoken", "typer"] if "<" not in operators[name]] == []
