"""A small good lesson with an exercise, for the tests of the course."""

from agentlab.course.checks import expect
from agentlab.course.exercise import Exercise

LESSON = '''\
# %% [markdown]
# # Doubling
#
# Takes 5 minutes.

# %%
import ipywidgets as widgets
import plotly.graph_objects as go

# %% tags=["parameters"]
N = 2

# %%
figure = go.FigureWidget(data=[go.Scatter(y=[1, N])])
print(f"largest: {N}")
widgets.HBox([widgets.IntSlider(description="N"), figure])

# %% [markdown] tags=["try-it"]
# # Try it: doubling
#
# Takes 2 minutes.

# %%
from agentlab.course import TODO, Exercise, check, hint
from agentlab.course.checks import expect


def check_double(double):
    expect(double, 3, gives=6, why="the history is sent twice")


DOUBLE = Exercise(id="02.1", lesson="02", title="Doubling", minutes=2, check=check_double, hints=("a", "b", "c"))


# %%
def double(n):
    """Twice n."""
    ### BEGIN SOLUTION
    return 2 * n
    ### END SOLUTION


check(DOUBLE, double)

# %%
### BEGIN SOLUTION
total = double(20)
### END SOLUTION
print(f"the total is {total:,}")
hint(DOUBLE)
'''


def check_double(double):
    """Right only for a function that doubles."""
    expect(double, 3, gives=6, why="the history is sent twice", mistakes=[(9, "a square is no double")])
    return "checked with one number"


DOUBLE = Exercise(
    id="02.1",
    lesson="02",
    title="Doubling",
    minutes=2,
    check=check_double,
    hints=("look at `n`", "think of n + n", "return 2 * n"),
)


def write_lesson(root, text=LESSON, name="02_doubling"):
    """Write a lesson below `root` and return its path."""
    path = root / "lessons" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
