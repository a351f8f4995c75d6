"""`agentlab check`, `agentlab hint`, `agentlab lessons`: the course from the command line."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue

from agentlab.cli.numbers import whole
from agentlab.cli.output import print_json, print_line, print_table, printable
from agentlab.errors import AgentlabError
from agentlab.paths import clone_folder

if TYPE_CHECKING:
    from agentlab.course.results import CheckResult

_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def register(app: typer.Typer) -> None:
    """Put the three commands on the application."""
    app.command("lessons")(lessons)
    app.command("check")(check)
    app.command("hint")(hint)


def check(
    notebook: Annotated[Path | None, typer.Argument(help="A notebook of yours (default: all of exercises/).")] = None,
    as_json: _AsJson = False,
) -> None:
    """Run a copy of your exercise notebooks and show what each check says. Exits with 1 if any is wrong."""
    from agentlab.course.review import review

    rows = []
    for path in [notebook] if notebook else _notebooks("exercises"):
        print_line(f"running {printable(path.name)} ...", err=True)
        rows += [(path.name, result) for result in review(path)]
    if as_json:
        print_json([{"notebook": name, **result.model_dump()} for name, result in rows])
    elif rows:
        table = [(printable(result.exercise), result.state, printable(_detail(result))) for _, result in rows]
        print_table(("exercise", "state", "detail"), table)
    else:
        print_line("no exercise is checked in there; notebooks with exercises are in exercises/")
    if any(result.state == "wrong" for _, result in rows):
        raise typer.Exit(1)


def hint(
    exercise: Annotated[str, typer.Argument(metavar="ID", help="An exercise, as in 02.1.")],
    step: Annotated[int, whole("--step", "N", "Which hint: 1, 2 or 3.")] = 1,
) -> None:
    """Show one hint of an exercise; each step says more than the one before."""
    from agentlab.course.exercises import find
    from agentlab.course.hints import STEPS
    from agentlab.course.hints import hint as find_hint

    text = find_hint(exercise, step).hints[step - 1]
    print_line(f"Hint {step} of {STEPS} for {exercise}, {find(exercise).title}: {text}")
    if step < STEPS:
        print_line(f"The next one: agentlab hint {exercise} --step {step + 1}")


def lessons(as_json: _AsJson = False) -> None:
    """List the lessons with their exercises and minutes."""
    from agentlab.course.contents import contents
    from agentlab.course.exercises import EXERCISES

    entries = contents(clone_folder())
    if not entries:
        raise AgentlabError("there is no lesson in lessons/; run this in a clone of agentlab")
    found: list[JsonValue] = []
    rows = []
    for entry in entries:
        number, place = entry.notebook[:2], f"notebooks/{entry.notebook}"
        title = entry.title.removeprefix(number).strip()
        tasks = [exercise for exercise in EXERCISES.values() if exercise.lesson == number]
        rows.append((number, title, str(entry.minutes), place))
        rows += [(task.id, f"  {task.title}", str(task.minutes), "") for task in tasks]
        exercises: list[JsonValue] = [{"id": task.id, "title": task.title, "minutes": task.minutes} for task in tasks]
        found.append(
            {"lesson": number, "title": title, "minutes": entry.minutes, "notebook": place, "exercises": exercises}
        )
    if as_json:
        print_json(found)
    else:
        print_table(("", "lesson or exercise", "minutes", "notebook"), rows, right=("minutes",))


def _notebooks(kind: str) -> list[Path]:
    found = sorted((clone_folder() / kind).glob("[0-9]*.ipynb"))
    if not found:
        raise AgentlabError(f"there is no notebook in {kind}/; run `make lessons` to build them")
    return found


def _detail(result: "CheckResult") -> str:
    if result.state == "wrong":
        return f"{result.called} gave {result.came_back}, expected {result.expected}: {result.why}"
    # The note is written for a notebook; here a hint is a command.
    return result.note.replace(f'hint("{result.exercise}")', f"agentlab hint {result.exercise}")
