"""A fixed workflow beside an agent's loop: what the same job costs when code, not a model, decides the next step.

Source: the worked example of chapter 6 of the course (an invoice as a workflow of three calls, and as a loop).
"""

from agentlab.context.growth import check_sizes, whole_number
from agentlab.errors import AgentlabError


def workflow_input(S: int, U: int, r: int, calls: int) -> int:
    """Input tokens of a workflow: each of its `calls` has a context of its own, with prompt, task and one result.

    It grows with `calls`, where a loop's total grows with their square. Raises AgentlabError for sizes that are none.
    """
    check_sizes(S, U, 0, r)
    return whole_number("calls", calls) * (S + U + r)


def seconds(model_calls: int, tool_calls: int, each_model_call: float, each_tool_call: float) -> float:
    """How long calls take that wait for each other, with the seconds that one of each takes.

    Raises AgentlabError for what is no count or no time.
    """
    for name, value in (("each_model_call", each_model_call), ("each_tool_call", each_tool_call)):
        if not 0 <= value < float("inf"):
            raise AgentlabError(f"{name} is {value:g}; expected seconds, 0 or more")
    of_model = whole_number("model_calls", model_calls) * each_model_call
    return of_model + whole_number("tool_calls", tool_calls) * each_tool_call


def success(each_step: float, steps: int) -> float:
    """The chance that `steps` steps all succeed, each by itself with the chance `each_step`: ``each_step ** steps``.

    It is a lower bound where a loop can recover, and no bound where errors are not independent. Raises AgentlabError
    for what is no chance from 0 to 1 or no number of steps.
    """
    if not 0 <= each_step <= 1:
        raise AgentlabError(f"each_step is {each_step:g}; expected a chance from 0 to 1")
    return float(each_step ** whole_number("steps", steps))
