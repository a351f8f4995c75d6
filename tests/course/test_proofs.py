import pytest
from course_samples import DOUBLE

from agentlab.course import TODO, proofs
from agentlab.course.checks import expect
from agentlab.course.exercise import Exercise

GOOD_WRONGS = {
    "squares": lambda n: n * n,
    "adds": lambda n: n + 1,
}


def rules(findings):
    return [finding.rule for finding in findings]


def result_in(cell):
    return cell.outputs[0].data["application/vnd.agentlab.check+json"]


def test_the_sample_lesson_passes_every_proof_on_its_built_files(notebook_of):
    solution, stub = notebook_of("solutions"), notebook_of("exercises")
    assert proofs.solution_is_right(solution, [DOUBLE]) == []
    assert proofs.stub_is_not_attempted(stub, [DOUBLE]) == []
    assert proofs.stub_runs_to_its_end(stub) == []
    assert proofs.stub_is_solution_less_regions(stub, solution) == []


def test_p1_fails_on_a_solution_that_is_wrong_fails_or_checks_too_little(notebook_of):
    solution = notebook_of("solutions")
    assert rules(proofs.solution_is_right(solution, [])) == ["P1"]  # it checks what no registry knows
    assert rules(proofs.solution_is_right(notebook_of("notebooks"), [DOUBLE])) == ["P1"]  # it checks nothing
    assert rules(proofs.solution_is_right(notebook_of("exercises"), [DOUBLE])) == ["P1"]  # not attempted
    result_in(solution.cells[2]).update(dict.fromkeys(("called", "came_back", "expected", "why"), "x"), state="wrong")
    assert rules(proofs.solution_is_right(solution, [DOUBLE])) == ["P1"]


def test_p2_fails_on_a_stub_that_passes(notebook_of):
    assert rules(proofs.stub_is_not_attempted(notebook_of("solutions"), [DOUBLE])) == ["P2"]


def test_p3_fails_on_a_stub_that_stops_or_did_not_run(notebook_of):
    stub = notebook_of("exercises")
    stub.cells[3].execution_count = None
    assert rules(proofs.stub_runs_to_its_end(stub)) == ["P3"]
    stub.cells[3].execution_count = 3
    stub.cells[3].outputs = [{"output_type": "error", "ename": "ValueError", "evalue": "x", "traceback": []}]
    assert [finding.where for finding in proofs.stub_runs_to_its_end(stub)] == ["cell 4"]


@pytest.mark.parametrize(
    ("cell", "old", "new"),
    [
        (2, '"""Twice n."""', '"""Double n."""'),  # changed outside a region
        (2, "return TODO", "return 6"),  # another body
        (2, "    # TODO: your code here\n", ""),  # less than the stub's two lines
        (3, "total = TODO", "total = 40"),  # an answer left in
        (3, "total = TODO\n", ""),  # a name that is missing
        (1, "gives=6", "gives=7"),  # a cell without regions
    ],
)
def test_p4_fails_on_any_other_difference(notebook_of, cell, old, new):
    stub = notebook_of("exercises")
    assert old in stub.cells[cell].source
    stub.cells[cell].source = stub.cells[cell].source.replace(old, new)
    found = proofs.stub_is_solution_less_regions(stub, notebook_of("solutions"))
    assert [(finding.rule, finding.where) for finding in found] == [("P4", f"cell {cell + 1}")]


def test_p4_fails_on_another_number_of_cells_and_on_a_solution_without_regions(notebook_of):
    stub, lesson = notebook_of("exercises"), notebook_of("notebooks")
    assert rules(proofs.stub_is_solution_less_regions(lesson, lesson)) == ["P4"]
    stub.cells.pop()
    assert rules(proofs.stub_is_solution_less_regions(stub, notebook_of("solutions"))) == ["P4"]


def test_p5_wants_three_wrong_answers_each_wrong_for_its_own_reason():
    assert rules(proofs.wrong_answers_are_wrong([DOUBLE], {})) == ["P5"]
    assert rules(proofs.wrong_answers_are_wrong([DOUBLE], {"02.1": GOOD_WRONGS})) == ["P5"]
    with_right = {"02.1": GOOD_WRONGS | {"right": lambda n: 2 * n}}
    assert "is called right" in proofs.wrong_answers_are_wrong([DOUBLE], with_right)[0].message
    with_stub = {"02.1": GOOD_WRONGS | {"stub": lambda n: TODO}}
    assert "is called not attempted" in proofs.wrong_answers_are_wrong([DOUBLE], with_stub)[0].message
    same = {"02.1": GOOD_WRONGS | {"halves": lambda n: n / 2}}
    assert "its reason is that of adds" in proofs.wrong_answers_are_wrong([DOUBLE], same)[0].message


def test_p5_takes_a_tuple_as_several_answers():
    def check_two(first, second):
        expect(first, gives=1, why="first")
        expect(second, gives=2, why="second", mistakes=[(3, "third")])

    two = Exercise(id="02.2", lesson="02", title="t", minutes=1, check=check_two, hints=("a", "b", "c"))
    wrongs = {"a": (lambda: 0, lambda: 2), "b": (lambda: 1, lambda: 0), "c": (lambda: 1, lambda: 3)}
    assert proofs.wrong_answers_are_wrong([two], {"02.2": wrongs}) == []
