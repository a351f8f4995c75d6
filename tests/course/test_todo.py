import copy
import math
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel

from agentlab.course import TODO
from agentlab.course.todo import TodoUsedError, holds_todo


@dataclass
class Pair:
    left: object
    right: object = 1


class Model(BaseModel):
    value: object


@pytest.mark.parametrize(
    "use",
    [
        lambda: TODO + 1,
        lambda: 1 + TODO,
        lambda: sum([TODO]),
        lambda: TODO * 2.5,
        lambda: TODO < 3,
        lambda: max(TODO, 1),
        lambda: -TODO,
        lambda: TODO[0],
        lambda: TODO(),
        lambda: list(TODO),
        lambda: len(TODO),
        lambda: int(TODO),
        lambda: range(TODO),
        lambda: TODO.total,
        lambda: 2**TODO,
        lambda: TODO << 1,
        lambda: 1 << TODO,
        lambda: TODO >> 1,
        lambda: 1 >> TODO,
        lambda: divmod(TODO, 2),
        lambda: divmod(2, TODO),
        lambda: math.trunc(TODO),
        lambda: math.floor(TODO),
        lambda: math.ceil(TODO),
        lambda: complex(TODO),
        lambda: next(TODO),
        lambda: list(reversed(TODO)),
        lambda: bytes(TODO),
        lambda: Path(TODO),
        lambda: isinstance(1, TODO),
    ],
)
def test_nothing_can_be_computed_from_todo(use):
    with pytest.raises(TodoUsedError, match="put your answer in its place"):
        use()


def test_todo_can_be_shown_tested_and_copied_in_a_stub():
    assert repr(TODO) == str(TODO) == f"{TODO:,}" == f"{TODO:>10.2f}" == "TODO"
    assert not TODO
    assert copy.deepcopy([TODO])[0] is TODO
    assert copy.copy(TODO) is TODO
    assert not hasattr(TODO, "_repr_html_")
    assert TODO != 0


@pytest.mark.parametrize(
    "value",
    [TODO, [1, TODO], (TODO,), {"a": {"b": [TODO]}}, {TODO: 1}, {TODO}, Pair(1, [TODO]), Model(value=TODO)],
)
def test_todo_is_found_inside_containers_fields_and_models(value):
    assert holds_todo(value)


@pytest.mark.parametrize("value", [None, 0, "TODO", [], {"a": (1, 2)}, Pair(1), Pair, Model(value=1), len])
def test_a_value_without_todo_holds_none(value):
    assert not holds_todo(value)


def test_a_list_that_holds_itself_is_searched_once():
    loop = [1]
    loop.append(loop)
    assert not holds_todo(loop)


def test_a_generator_is_not_used_up_by_the_search():
    numbers = (n for n in range(3))
    assert not holds_todo(numbers)
    assert list(numbers) == [0, 1, 2]
