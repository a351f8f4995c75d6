"""Ctrl-C at the right moment: a model call may be broken off, a posting or the writing of a receipt may not."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from agentlab.messages.conversation import Reply, Request
from agentlab.messages.models import Model


class Interruptible:
    """A model whose calls Ctrl-C breaks off. One that comes at another moment takes effect at the next model call."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._calling = False
        self.asked_to_stop = False

    def complete(self, request: Request) -> Reply:
        """Answer the request. Raises KeyboardInterrupt where Ctrl-C was pressed before or meanwhile."""
        self._calling = True
        try:
            if self.asked_to_stop:
                raise KeyboardInterrupt
            return self._model.complete(request)
        finally:
            self._calling = False

    def stop(self, signal_number: int, frame: FrameType | None) -> None:
        """What SIGINT does. A second one does not wait any more."""
        impatient = self.asked_to_stop
        self.asked_to_stop = True
        if self._calling or impatient:
            raise KeyboardInterrupt


@contextmanager
def interruptible(model: Model) -> Iterator[Interruptible]:
    """Take over Ctrl-C for the time of a batch. Outside the main thread, where no signal arrives, nothing changes."""
    wrapped = Interruptible(model)
    if threading.current_thread() is not threading.main_thread():
        yield wrapped
        return
    before = signal.signal(signal.SIGINT, wrapped.stop)
    try:
        yield wrapped
    finally:
        signal.signal(signal.SIGINT, before)
