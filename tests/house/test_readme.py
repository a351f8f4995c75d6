"""The README shows what the commands print, and names only what exists."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentlab.course.contents import contents

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ (agentlab .*)\n([\s\S]*?)```", README)


def printed_by(*arguments):
    command = [sys.executable, "-m", "agentlab.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_what_the_readme_shows_is_what_the_command_prints(command, output):
    assert printed_by(*shlex.split(command)[1:]).rstrip() == output.rstrip()


def test_every_file_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!https?://)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_lists_every_lesson_with_its_own_minutes():
    listed = re.findall(r"^\| \[.*?\]\(notebooks/(.*?)\) \|.*\| (\d+) \|$", README, flags=re.MULTILINE)
    assert listed == [(entry.notebook, str(entry.minutes)) for entry in contents(ROOT)]


def test_every_command_that_the_readme_names_exists():
    blocks = "".join(re.findall(r"```\n([\s\S]*?)```", README))
    named = set(re.findall(r"^agentlab (\w+)", blocks, flags=re.MULTILINE))
    listed = printed_by("--help")
    assert named
    assert [name for name in named if not re.search(rf"^  {name}\b", listed, flags=re.MULTILINE)] == []


def test_the_python_that_the_readme_shows_runs_without_a_key(tmp_path):
    blocks = re.findall(r"```python\n([\s\S]*?)```", README)
    assert blocks
    printed = [
        subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
        for block in blocks
    ]
    assert printed == ["42\n"]


def test_the_contributing_page_fetches_the_exchanges_that_ci_replays():
    page, script = ((ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", ".ci/run"))
    named = {found for text in (page, script) for found in re.findall(r"\b(?:anthropic|openai)==[\d.]+", text)}
    assert {name.partition("==")[0] for name in named} == {"anthropic", "openai"}
    assert len(named) == 2, "the same version in both"
