"""A tool: a contract and the function behind it; and how the function is called, in time and with its retries."""

import inspect
import json
from collections.abc import Callable
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.deadlines import GRACE_SECONDS, Clock, Deadline, Within
from agentlab.dispatch.envelope import Explained
from agentlab.dispatch.guards import Caller
from agentlab.errors import AgentlabError

Answer = JsonValue | Explained

ToolFunction = Callable[..., Answer]
"""What a tool does: validated arguments and the verified caller in, a JSON value (or `Explained`) out.

A function whose contract says that it is cancellable takes its `Deadline` as a third argument.
"""

Pause = Callable[[float], None]

FIRST_PAUSE = 0.1
"""Seconds before the second attempt; each further one waits twice as long."""


class ToolError(Exception):
    """A tool says: I did nothing, and here is why, in words for the model (a business rule, a missing record).

    Any other exception of a tool that acts leaves its outcome unknown, because the effect may have happened.
    """


class LateToolError(ToolError):
    """The tool says so of an attempt after one that broke off: this one did nothing, that one may have acted."""


class BadResultError(Exception):
    """The tool answered, and its result does not fit the output schema of its contract."""


class Tool(NamedTuple):
    """A contract and the function behind it."""

    contract: ToolContract
    function: ToolFunction


def check_tool(tool: Tool) -> None:
    """Raise AgentlabError where the function cannot be called as its contract says."""
    timeout = tool.contract.timeout
    parameters = 3 if timeout is not None and timeout.cancellable else 2
    try:
        inspect.signature(tool.function).bind(*range(parameters))
    except TypeError:
        takes = "arguments, caller and deadline" if parameters == 3 else "arguments and caller"
        raise AgentlabError(f"{tool.contract.name}: its function must take {takes}") from None
    except ValueError:
        return  # a function of an extension, whose signature cannot be read


def call_tool(
    tool: Tool, arguments: str, caller: Caller, *, clock: Clock, within: Within[Answer], pause: Pause
) -> Answer:
    """Call the function: each attempt within the contract's timeout, and as many as its retry policy gives us.

    `arguments` is the canonical JSON that was decided on. Each attempt reads it anew: what a tool does to its
    arguments changes neither the record of the call nor the next attempt.

    A `ToolError` is an answer and is never tried again. Raises what the last attempt raised: `DeadlinePassedError`
    where it gave no answer in time, `BadResultError` for a result that the contract does not promise.
    """
    contract = tool.contract
    attempts = contract.retry.attempts if contract.retry.layer == "dispatcher" else 1
    for attempt in range(1, attempts + 1):
        try:
            value = _attempt(tool, arguments, caller, clock, within)
            break
        except ToolError as error:
            if attempt == 1 or contract.side_effect is SideEffect.READ_ONLY:
                raise
            raise LateToolError(str(error)) from error
        except Exception:
            if attempt == attempts:
                raise
            pause(FIRST_PAUSE * 2 ** (attempt - 1))
    broken = contract.broken_rules(value.data if isinstance(value, Explained) else value)
    if broken:
        raise BadResultError(", ".join(broken))
    return value


def _attempt(tool: Tool, arguments: str, caller: Caller, clock: Clock, within: Within[Answer]) -> Answer:
    values: dict[str, JsonValue] = json.loads(arguments)
    timeout = tool.contract.timeout
    if timeout is None:
        return tool.function(values, caller)
    if not timeout.cancellable:
        return within(lambda: tool.function(values, caller), timeout.seconds)
    deadline = Deadline(clock() + timeout.seconds, clock)
    return within(lambda: tool.function(values, caller, deadline), timeout.seconds + GRACE_SECONDS)
