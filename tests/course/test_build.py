import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from course_samples import LESSON, write_lesson

from agentlab.course.build import main
from agentlab.course.builder import build, compare, plan
from agentlab.course.clean import WIDGET_TEXT, WIDGET_VIEW, clean, to_text
from agentlab.course.source import Lesson, lesson_files, read_lesson, split
from agentlab.errors import AgentlabError

KINDS = ("notebooks", "exercises", "solutions")
SANITIZE = Path(__file__).parents[1] / "lessons" / "nbval_sanitize.cfg"


def lesson(text):
    return Lesson(name="02_x", file="lessons/02_x.py", text=text)


@pytest.fixture
def copy(built, tmp_path):
    shutil.copytree(built, tmp_path / "clone")
    return tmp_path / "clone"


def stored_bytes(root):
    return {kind: (root / kind / "02_doubling.ipynb").read_bytes() for kind in KINDS}


def test_a_rebuild_writes_the_same_bytes(copy):
    before = stored_bytes(copy)
    paths = build(copy / "lessons" / "02_doubling.py", copy)
    assert [path.parent.name for path in paths] == list(KINDS)
    assert stored_bytes(copy) == before


def test_a_built_notebook_holds_sources_outputs_and_counts_and_no_trace_of_its_run(built):
    for kind, data in stored_bytes(built).items():
        text = data.decode("utf-8")
        notebook = json.loads(text)
        assert text.endswith("}\n")
        assert notebook["metadata"]["kernelspec"]["name"] == "python3"
        assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
        assert "version" not in notebook["metadata"]["language_info"]
        assert [cell["id"] for cell in notebook["cells"]] == [str(n) for n in range(len(notebook["cells"]))]
        counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert counts == list(range(1, len(counts) + 1))
        assert any(cell.get("outputs") for cell in notebook["cells"]), kind
        assert WIDGET_VIEW not in text


def test_the_lesson_ends_where_the_exercise_begins(notebook_of):
    assert notebook_of("notebooks").cells[0].source.startswith("# Doubling")
    assert notebook_of("exercises").cells[0].source.startswith("# Try it: doubling")
    assert notebook_of("notebooks").cells[2].metadata == {"tags": ["parameters"]}
    assert not any("try-it" in cell.metadata.get("tags", []) for cell in notebook_of("notebooks").cells)


def test_a_widget_leaves_one_sentence_where_no_kernel_runs(notebook_of):
    output = notebook_of("notebooks").cells[-1].outputs[-1]
    assert output.data == {"text/plain": WIDGET_TEXT}


def test_the_solution_keeps_its_markers_and_the_stub_has_none(notebook_of):
    solution = "\n".join(cell.source for cell in notebook_of("solutions").cells)
    stub = "\n".join(cell.source for cell in notebook_of("exercises").cells)
    assert solution.count("### BEGIN SOLUTION") == solution.count("### END SOLUTION") == 2
    assert "SOLUTION" not in stub
    assert "    # TODO: your code here\n    return TODO\n" in stub
    assert "\ntotal = TODO\n" in "\n" + stub


def test_a_lesson_without_an_exercise_makes_one_notebook():
    assert set(plan(lesson("# %% [markdown]\n# # A\n"))) == {"notebooks"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('# %% tags=["try-it"]\nx = 1\n', "make it markdown with a # title"),
        ('# %% [markdown] tags=["try-it"]\n# ## Try\n', "make it markdown with a # title"),
        ("# %%\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n", "line 2: a solution outside the exercise"),
        (
            '# %% [markdown] tags="try-it"\n# # Try\n',
            r"'try-it' is not of type 'array'\); a tag is written tags=\[.try-it.\]",
        ),
        ("# %% tags=[1]\nx = 1\n", r'cannot be read .*; a tag is written tags=\["try-it"\]'),
        ("", "has no cells"),
    ],
)
def test_a_source_that_breaks_a_rule_is_told_in_one_line(text, problem):
    with pytest.raises(AgentlabError, match=problem) as caught:
        plan(lesson(text))
    assert str(caught.value).startswith("lessons/02_x.py")
    assert "\n" not in str(caught.value)


def test_a_lesson_may_show_a_marker_in_a_text():
    text = '# %%\nprint("""\n### BEGIN SOLUTION\n### END SOLUTION\n""")\n'
    assert set(plan(lesson(text))) == {"notebooks"}
    assert (
        "### BEGIN SOLUTION" in plan(lesson(LESSON.replace("N = 2", f"N = 2\n{text[5:]}")))["notebooks"].cells[2].source
    )


@pytest.mark.parametrize("name", ["02-x.py", "x.py", "02_X.py", "02_x.ipynb", "2_x.py"])
def test_a_misnamed_lesson_is_refused(tmp_path, name):
    with pytest.raises(AgentlabError, match=r"expected NN_name\.py"):
        read_lesson(tmp_path / name)


def test_a_missing_lesson_is_told_in_one_line(tmp_path):
    with pytest.raises(AgentlabError, match=r"lesson 02_x\.py cannot be read"):
        read_lesson(tmp_path / "02_x.py")


def test_lessons_are_found_in_order_and_other_files_are_not(tmp_path):
    for name in ("04_b", "00_a", "02_c"):
        write_lesson(tmp_path, name=name)
    (tmp_path / "lessons" / "helper.py").touch()
    assert [path.stem for path in lesson_files(tmp_path)] == ["00_a", "02_c", "04_b"]


SMALL = "# %% [markdown]\n# # A\n\n# %%\n# half of n\nn = 4\nprint(n / 2)\n"


def test_an_error_in_a_cell_is_one_line_and_nothing_is_written(tmp_path):
    with pytest.raises(AgentlabError) as caught:
        build(write_lesson(tmp_path, SMALL.replace("n / 2", "n / 0")), tmp_path)
    assert str(caught.value) == (
        "lessons/02_doubling.py, notebooks cell 2 (# half of n): "
        "ZeroDivisionError: division by zero; mend it in the lesson"
    )
    assert not list(tmp_path.glob("*/*.ipynb"))


def test_compare_finds_nothing_on_what_was_just_built(built):
    assert compare(built / "lessons" / "02_doubling.py", built) == []


def edit(path, change):
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    path.write_text(to_text(notebook), encoding="utf-8")


def change_source(notebook):
    notebook.cells[0].source += "!"


def change_tags(notebook):
    notebook.cells[2].metadata = {}


def drop_a_cell(notebook):
    notebook.cells.pop()


def store_widget_state(notebook):
    notebook.metadata.widgets = {}


@pytest.mark.parametrize(
    ("change", "rule", "where"),
    [
        (change_source, "B03", "notebooks/02_doubling.ipynb cell 1"),
        (change_tags, "B03", "notebooks/02_doubling.ipynb cell 3"),
        (drop_a_cell, "B03", "notebooks/02_doubling.ipynb"),
        (store_widget_state, "B04", "notebooks/02_doubling.ipynb"),
    ],
)
def test_compare_names_the_place_where_a_notebook_left_its_source(copy, change, rule, where):
    edit(copy / "notebooks" / "02_doubling.ipynb", change)
    found = compare(copy / "lessons" / "02_doubling.py", copy)
    assert [(finding.rule, finding.where) for finding in found] == [(rule, where)]


def test_compare_finds_a_missing_a_broken_and_a_left_over_notebook(copy):
    source = copy / "lessons" / "02_doubling.py"
    (copy / "notebooks" / "02_doubling.ipynb").unlink()
    (copy / "exercises" / "02_doubling.ipynb").write_text("{}")
    assert [finding.rule for finding in compare(source, copy)] == ["B01", "B04"]
    source.write_text(LESSON[: LESSON.index('# %% [markdown] tags=["try-it"]')], encoding="utf-8")
    assert [finding.rule for finding in compare(source, copy)] == ["B01", "B02", "B02"]


def test_an_edited_output_is_seen_only_when_the_cells_are_run_again(tmp_path):
    source = write_lesson(tmp_path, SMALL)
    (path,) = build(source, tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("2.0", "3.0"), encoding="utf-8")
    assert compare(source, tmp_path) == []
    found = compare(source, tmp_path, execute=True)
    assert [(finding.rule, finding.where) for finding in found] == [("B05", "notebooks/02_doubling.ipynb cell 2")]


def test_cleaning_twice_is_cleaning_once_and_joins_printed_pieces():
    cell = nbformat.v4.new_code_cell("x", execution_count=1, metadata={"execution": {"at": "1"}, "tags": ["a"]})
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("a\n", "b\n")]
    cell.outputs.append(
        nbformat.v4.new_output("display_data", {WIDGET_VIEW: {"model_id": "1"}, "text/plain": "HBox()"})
    )
    once = clean([cell])
    assert clean(once.cells) == once
    assert once.cells[0].metadata == {"tags": ["a"]}
    assert [output.get("text", output.get("data")) for output in once.cells[0].outputs] == [
        "a\nb\n",
        {"text/plain": WIDGET_TEXT},
    ]


def test_the_command_builds_and_checks_and_tells_a_left_over_notebook(tmp_path, capsys):
    write_lesson(tmp_path, SMALL, name="00_a")
    assert main(["--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "built notebooks/00_a.ipynb\n"
    assert main(["--root", str(tmp_path), "--check"]) == 0
    capsys.readouterr()
    shutil.copy(tmp_path / "notebooks" / "00_a.ipynb", tmp_path / "notebooks" / "01_b.ipynb")
    assert main(["--root", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().out.startswith("B02 notebooks/01_b.ipynb: no lesson of this name exists; delete it")
    assert main(["--root", str(tmp_path), str(tmp_path / "lessons" / "05_none.py")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_split_gives_all_cells_once():
    lesson_cells, exercise_cells = split(LESSON, "x.py")
    assert (len(lesson_cells), len(exercise_cells)) == (4, 4)


def test_nbval_accepts_widgets_and_check_results_and_sees_a_changed_one(copy):
    def change_print(notebook):
        notebook.cells[3].outputs[0].text = "largest: 3\n"

    def change_check(notebook):
        notebook.cells[2].outputs[0].data["application/vnd.agentlab.check+json"]["state"] = "wrong"

    # The exercise stays as it was built: its check result and hints pass. So do the widgets beside
    # the changed print, since the cell fails for the print alone.
    edit(copy / "solutions" / "02_doubling.ipynb", change_check)
    (copy / "edited").mkdir()
    shutil.copy(copy / "notebooks" / "02_doubling.ipynb", copy / "edited")
    edit(copy / "edited" / "02_doubling.ipynb", change_print)
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "--rootdir", str(copy)]
    options = ["--nbval", "--nbval-sanitize-with", str(SANITIZE), "--nbval-cell-timeout", "60"]
    folders = [str(copy / folder) for folder in (*KINDS, "edited")]
    run = subprocess.run([*command, *options, *folders], capture_output=True, text=True, check=False, cwd=copy)
    failed = re.findall(r"^FAILED (\S+ \d+)", run.stdout, re.MULTILINE)
    assert failed == ["solutions/02_doubling.ipynb::Cell 1", "edited/02_doubling.ipynb::Cell 2"], run.stdout
