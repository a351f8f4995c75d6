import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.course.solutions import make_stub, regions
from agentlab.errors import AgentlabError

IMPORT = "from agentlab.course import TODO\n"


def marked(*lines, indent=""):
    return "\n".join([f"{indent}### BEGIN SOLUTION", *(indent + line for line in lines), f"{indent}### END SOLUTION"])


@pytest.mark.parametrize(
    ("source", "stub"),
    [
        (marked("a = 1"), "a = TODO"),
        (marked("a = 1", "b = a + 1"), "a = TODO\nb = TODO"),
        (marked("# first guess", "a = 1", "", "a = 2"), "a = TODO"),
        (marked("a = [", "    1,", "]"), "a = TODO"),
        ("def f():\n" + marked("return 1", indent="    "), "def f():\n    # TODO: your code here\n    return TODO"),
        (
            "def f():\n    x = 1\n" + marked("y = 2", indent="    ") + "\n    return x",
            "def f():\n    x = 1\n    # TODO: your code here\n    return TODO\n    return x",
        ),
        (
            "def f(n):\n    for k in n:\n" + marked("return k", indent="        "),
            "def f(n):\n    for k in n:\n        # TODO: your code here\n        return TODO",
        ),
        ("a = 1", "a = 1"),
    ],
)
def test_a_region_becomes_todo(source, stub):
    assert make_stub(IMPORT + source, "x.py") == IMPORT + stub


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (marked("print(1)"), r"line 3: not one assignment; assign each answer to a name"),
        (marked("a = 1", "import os"), "line 4: not one assignment"),
        (marked("a = b = 1"), "line 3: not one assignment"),
        (marked("a, b = 1, 2"), "line 3: not a plain name"),
        (marked("a.b = 1"), "line 3: not a plain name"),
        (marked("a += 1"), "line 3: not one assignment"),
        (marked("a = ("), "line 3: this region is no complete Python"),
        (marked("# nothing"), "line 2: the region is empty"),
        ("### BEGIN SOLUTION\na = 1", "line 2: .* is not closed"),
        ("a = 1\n### END SOLUTION", "line 3: .* without a beginning"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\na = 1\n### END SOLUTION", "line 2: .* is not closed"),
        ("def f():\n    ### BEGIN SOLUTION\n    return 1\n### END SOLUTION", "line 5: the two marker lines differ"),
        ("if True:\n" + marked("a = 1", indent="    "), "stands in a function"),
        ("a = (\n" + marked("a = 1"), "the lesson is no valid Python"),
    ],
)
def test_a_region_that_makes_no_stub_is_told_with_its_line_and_the_way_out(source, problem):
    with pytest.raises(AgentlabError, match=rf"^x\.py {problem}|^x\.py line \d+: .*{problem}") as caught:
        make_stub(IMPORT + source, "x.py")
    assert "\n" not in str(caught.value)


def test_a_lesson_whose_stub_does_not_know_todo_is_refused():
    with pytest.raises(AgentlabError, match="does not know TODO"):
        make_stub(marked("a = 1"), "x.py")


plain_lines = st.lists(st.from_regex(r"x[a-z]{1,5} = [1-9][0-9]{0,2}|# [a-z ]{0,9}|", fullmatch=True), max_size=6)
assignments = st.lists(
    st.tuples(st.text(string.ascii_lowercase, min_size=1, max_size=4).map("v_".__add__), st.integers(0, 99)),
    min_size=1,
    max_size=4,
)


@given(outside=st.lists(plain_lines, min_size=1, max_size=5), inside=st.lists(assignments, min_size=5, max_size=5))
def test_nothing_outside_a_region_ever_changes_and_nothing_inside_is_left(outside, inside):
    pieces, stub_pieces = [IMPORT.rstrip()], [IMPORT.rstrip()]
    for lines, answers in zip(outside, inside, strict=False):
        pieces += [*lines, marked(*(f"{name} = {value}" for name, value in answers))]
        stub_pieces += [*lines, *(f"{name} = TODO" for name in dict(answers))]
    source = "\n".join(pieces)
    assert make_stub(source, "x.py") == "\n".join(stub_pieces)
    # And without a region there is nothing to replace: making a stub twice is making it once.
    assert make_stub("\n".join(stub_pieces), "x.py") == "\n".join(stub_pieces)


MARKERS = st.sampled_from(["a = 1", "", "### BEGIN SOLUTION", "### END SOLUTION", "    ### END SOLUTION"])


@given(st.lists(MARKERS))
def test_markers_in_any_order_give_their_regions_or_one_line_that_names_the_place(lines):
    begins = [number for number, line in enumerate(lines, start=1) if line == "### BEGIN SOLUTION"]
    marks = [line for line in lines if "SOLUTION" in line]
    if marks == ["### BEGIN SOLUTION", "### END SOLUTION"] * (len(marks) // 2):
        assert [region.begin for region in regions("\n".join(lines), "x.py")] == begins
    else:
        with pytest.raises(AgentlabError, match=r"^x\.py line \d+: [^\n]*$"):
            regions("\n".join(lines), "x.py")


IN_A_STRING = 's = """\n### BEGIN SOLUTION\na = 1\n### END SOLUTION\n"""\n'


def test_a_marker_inside_a_string_is_a_text():
    assert regions(IN_A_STRING, "x.py") == []
    assert make_stub(IN_A_STRING, "x.py") == IN_A_STRING
    assert make_stub(IMPORT + IN_A_STRING + marked("a = 1"), "x.py") == IMPORT + IN_A_STRING + "a = TODO"
    inside = "### BEGIN SOLUTION\n" + IN_A_STRING + "### END SOLUTION"
    assert make_stub(IMPORT + inside, "x.py") == IMPORT + "s = TODO"


@pytest.mark.parametrize("border", ["# %%", "# %% [markdown]", "#%%", "# In[3]:", "# <codecell>"])
def test_a_region_that_goes_on_into_the_next_cell_is_refused(border):
    with pytest.raises(AgentlabError, match=r"^x\.py line 4: a cell begins inside a region; [^\n]*$"):
        make_stub(IMPORT + marked("a = 1", border, "b = 2"), "x.py")


@pytest.mark.parametrize(
    "marker",
    [
        "###  BEGIN SOLUTION",
        "#### BEGIN SOLUTION",
        "## BEGIN SOLUTION",
        "# BEGIN SOLUTION",
        "###BEGIN SOLUTION",
        "### BEGIN  SOLUTION",
        "### BEGIN SOLUTION  # the formula",
        "### BEGIN SOLUTION:",
        "### BEGIN SOLUTIONS",
        "### Begin Solution",
        "### BEGIN_SOLUTION",
        "### SOLUTION BEGIN",
        "### START SOLUTION",
        "x = 1  ### BEGIN SOLUTION",
        "####### END SOLUTION",
        "### END SOLUTION ###",
    ],
)
def test_a_comment_that_looks_like_a_marker_and_is_none_is_refused(marker):
    for text in (f"{marker}\na = 1\n{marker}", marked(marker, "a = 1")):
        with pytest.raises(
            AgentlabError, match=r"^x\.py line \d+: [^\n]*looks like a marker and is none; write exactly"
        ):
            make_stub(IMPORT + text, "x.py")


@pytest.mark.parametrize("comment", ["# the solution begins with S + U", "# a solution", "# in the end, no solution"])
def test_a_comment_about_solutions_is_no_marker(comment):
    assert make_stub(comment, "x.py") == comment


@pytest.mark.parametrize("broken", ["a = (", "a = '", 'a = """', "  a = 1\n b = 2"])
def test_a_source_that_stops_being_python_before_its_markers_keeps_no_solution(broken):
    with pytest.raises(AgentlabError, match=r"^x\.py line \d+: [^\n]*$"):
        make_stub(IMPORT + broken + "\n" + marked("a = 1"), "x.py")
