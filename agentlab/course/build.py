"""``python -m agentlab.course.build``: write every lesson's notebooks, or ``--check`` that they are up to date."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from agentlab.course.builder import KINDS, build, compare
from agentlab.course.source import lesson_files
from agentlab.errors import AgentlabError
from agentlab.paths import clone_folder
from agentlab.shapes import Finding


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0: written, or all agree; 1: ``--check`` found differences; 2: a source is wrong."""
    parser = argparse.ArgumentParser(prog="python -m agentlab.course.build", description=__doc__)
    parser.add_argument("lessons", nargs="*", type=Path, help="lessons/NN_name.py (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the stored notebooks")
    parser.add_argument("--execute", action="store_true", help="with --check: run the cells and compare outputs too")
    parser.add_argument("--root", type=Path, help="the folder that holds notebooks/ (default: this clone)")
    options = parser.parse_args(arguments)
    try:
        root = options.root or clone_folder()
        sources = options.lessons or lesson_files(root)
        if options.check:
            findings = [finding for source in sources for finding in compare(source, root, execute=options.execute)]
            findings += [] if options.lessons else _without_source(root, sources)
            return _report(findings, len(sources))
        for source in sources:
            for path in build(source, root):
                _say(f"built {path.parent.name}/{path.name}")
    except AgentlabError as error:
        _say(str(error), sys.stderr)
        return 2
    return 0


def _without_source(root: Path, sources: Sequence[Path]) -> list[Finding]:
    names = {source.stem for source in sources}
    return [
        Finding(
            rule="B02",
            level="must",
            where=f"{kind}/{path.name}",
            message="no lesson of this name exists",
            fix=f"delete it, or add lessons/{path.stem}.py",
        )
        for kind in KINDS
        for path in sorted((root / kind).glob("*.ipynb"))
        if path.stem not in names
    ]


def _report(findings: Sequence[Finding], lessons: int) -> int:
    for finding in findings:
        _say(f"{finding.rule} {finding.where}: {finding.message}; {finding.fix}")
    if not findings:
        _say(f"all notebooks agree with their sources (lessons: {lessons})")
    return 1 if findings else 0


def _say(line: str, stream: TextIO | None = None) -> None:
    (stream or sys.stdout).write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
