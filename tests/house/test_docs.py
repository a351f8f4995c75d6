"""Texts that point somewhere point at what is there."""

import re
from pathlib import Path

import pytest

from agentlab.paths import clone_folder

CLONE = clone_folder()
TEXTS = [CLONE / "CONTRIBUTING.md", *sorted((CLONE / "docs").rglob("*.md"))]
DECISIONS = sorted((CLONE / "docs" / "decisions").glob("0*.md"))


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(CLONE)))
def test_every_relative_link_leads_to_a_file(text: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", text.read_text(encoding="utf-8"))
    assert [target for target in targets if not (text.parent / target).exists()] == []


def test_decisions_are_numbered_without_a_gap_and_each_is_in_the_index_by_its_title() -> None:
    index = (CLONE / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for number, decision in enumerate(DECISIONS, start=1):
        assert decision.name.startswith(f"{number:04d}-")
        title = decision.read_text(encoding="utf-8").splitlines()[0].removeprefix(f"# {number}. ")
        assert f"| {number:04d} | [{title}]({decision.name}) |" in index


def test_every_make_target_that_contributing_names_exists() -> None:
    makefile = (CLONE / "Makefile").read_text(encoding="utf-8")
    named = set(
        re.findall(r"(?:`|^)make ([a-z]+)", (CLONE / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    assert {"lab", "test", "check", "format", "lessons", "screenshots"} <= named <= targets
