import nbformat
import pytest
from course_samples import write_lesson

from agentlab.course.builder import build


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A root with the sample lesson, built once; tests that change it copy it first."""
    root = tmp_path_factory.mktemp("clone")
    build(write_lesson(root), root)
    return root


@pytest.fixture
def notebook_of(built):
    return lambda kind: nbformat.read(built / kind / "02_doubling.ipynb", as_version=4)
