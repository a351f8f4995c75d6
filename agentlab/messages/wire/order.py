"""The order of calls and results on the way from OpenAI Responses, the one dialect in which a pair may stand apart."""

from collections.abc import Sequence
from typing import NamedTuple

from agentlab.messages.conversation import AssistantMessage, ForeignMessage, Message, ToolResult


class Ordered(NamedTuple):
    """The messages with each result right behind its call, and the ids of the calls whose results were moved."""

    messages: tuple[Message, ...]
    moved: tuple[str, ...]


def results_behind_calls(messages: Sequence[Message]) -> Ordered:
    """Each result behind the message with its call, before anything else that is said; all else keeps its order.

    What only the source's provider understands does not stand between: it is left out of the new body. A result without
    a call before it, or a second one of a call, stays where it is: that history is broken in any order.
    """
    others: list[tuple[int, Message]] = []
    results: dict[int, list[Message]] = {}
    asked_by: dict[str, int] = {}
    moved: list[str] = []
    spoke_last = -1
    for number, message in enumerate(messages):
        if isinstance(message, ToolResult) and message.call_id in asked_by:
            asked = asked_by.pop(message.call_id)
            results.setdefault(asked, []).append(message)
            if asked != spoke_last:
                moved.append(message.call_id)
            continue
        others.append((number, message))
        if isinstance(message, AssistantMessage):
            asked_by |= {call.id: number for call in message.tool_calls}
        if not isinstance(message, ForeignMessage):
            spoke_last = number
    ordered = [placed for number, message in others for placed in (message, *results.get(number, ()))]
    return Ordered(tuple(ordered), tuple(moved))
