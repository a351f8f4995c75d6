"""What happens when a summary is due and cannot be made: clear results instead, and where that is not enough, stop."""

from typing import NamedTuple

from agentlab.context.controls import ClearToolResults, Control, RequestCounter
from agentlab.context.summary import Summarise
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import Message, Request

FALLBACK = ClearToolResults(keep=1)
"""What is done where no summary can be made: all results but the last are cleared."""


class Shortened(NamedTuple):
    """The history to go on with. ``failed`` says why there is no summary and results were cleared instead, or "" """

    messages: tuple[Message, ...]
    failed: str = ""


class Stopped(NamedTuple):
    """The run stops here, with its history as it was; ``reason`` says why and how to go on."""

    reason: str


def shorten(
    control: Control, request: Request, counter: RequestCounter, summarise: Summarise | None
) -> Shortened | Stopped:
    """Make `request` fit after `control` has said that a summary is due: by a summary, else by clearing, else not.

    A clearing is enough where no summary is due any more.
    """
    try:
        if summarise is None:
            raise AgentlabError("nothing was given that can make a summary")
        text = summarise(request)
        if not text.strip():
            raise AgentlabError("the summary is empty")
        return Shortened(control.apply(request.messages, counter, summary=text))
    except AgentlabError as error:
        reason = str(error)
    cleared = FALLBACK.apply(request.messages)
    if cleared != request.messages and not control.due(cleared, counter):
        return Shortened(cleared, failed=reason)
    return Stopped(
        f"checkpoint: {reason}; clearing old results leaves {counter(cleared):,} tokens, which is still too much. "
        "Nothing is lost: go on from the transcript with a larger trigger or a smaller task"
    )
