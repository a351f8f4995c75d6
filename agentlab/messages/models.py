"""Models behind one protocol: `complete(request) -> Reply`. The ones here need no key and no network."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from agentlab.errors import AgentlabError
from agentlab.messages.conversation import Reply, Request


class Model(Protocol):
    """Anything that turns a request into a reply. A model keeps no state: the request is all it sees."""

    def complete(self, request: Request) -> Reply:
        """Answer one request. Raises `ModelError` where the provider gives no reply."""
        ...


class ModelError(AgentlabError):
    """The provider gave no reply (refused connection, time-out, server error). The run ends as Failed."""


class ScriptError(AgentlabError):
    """A script and the run it was written for do not agree: the test or lesson is wrong, not the run."""


class Scripted:
    """Plays the given replies in order, and insists that exactly these are asked for.

    A step is a `Reply`, or a function of the request for a step that must look at it. Use it as a
    context manager: leaving the block with unused steps is a failure, as is one call too many.
    """

    def __init__(self, steps: Sequence[Reply | Callable[[Request], Reply]]) -> None:
        self._steps = tuple(steps)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Reply:
        """Return the next reply. Raises `ScriptError` when the script is at its end."""
        if len(self.requests) == len(self._steps):
            raise ScriptError(
                f"the script has {len(self._steps)} replies and was asked for one more; add a step, or end the run"
            )
        step = self._steps[len(self.requests)]
        self.requests.append(request)
        return step(request) if callable(step) else step

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        unused = len(self._steps) - len(self.requests)
        if kind is None and unused:
            raise ScriptError(
                f"{unused} of {len(self._steps)} replies were never asked for; the run ended sooner than scripted"
            )


class Rules:
    """A stand-in for a model: a plain function of the request, which is all that a real model gets to see.

    Because it keeps no state, exchanging it for a live model changes one parameter and nothing else.
    """

    def __init__(self, function: Callable[[Request], Reply]) -> None:
        self._function = function

    def complete(self, request: Request) -> Reply:
        """Answer from the request alone."""
        return self._function(request)
