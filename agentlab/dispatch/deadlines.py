"""Deadlines: how long a tool is waited for, and how one that can stop is told when.

A plain function cannot be stopped from outside. It runs on a thread of its own, and at its deadline the dispatcher
stops waiting; the function may go on. So a call that ran out of time has an unknown outcome if it can change anything.
"""

import contextvars
import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Clock = Callable[[], float]
Within = Callable[[Callable[[], T], float], T]

GRACE_SECONDS = 0.5
"""How much longer than its deadline a tool is waited for that has promised to stop at it, and to say so."""


class DeadlinePassedError(Exception):
    """There was no answer in time."""


class Deadline(NamedTuple):
    """When a call must be over, in seconds of ``clock``. A tool that is cancellable looks at it, and stops."""

    at: float
    clock: Clock

    def left(self) -> float:
        """Seconds that are left; 0 or less when the time is over."""
        return self.at - self.clock()


def call_within(work: Callable[[], T], seconds: float) -> T:
    """The result of `work`, waited for `seconds` at most, then DeadlinePassedError; what `work` raises is raised.

    Real time, whatever clock the rest of a program goes by.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()
    context = contextvars.copy_context()

    def work_and_tell() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:  # noqa: BLE001  raised again below, in the thread that waits
            errors.append(error)
        finally:
            done.set()

    # A daemon: a tool that never returns must not keep the program from ending.
    threading.Thread(target=work_and_tell, name="tool", daemon=True).start()
    if not done.wait(seconds):
        raise DeadlinePassedError
    if errors:
        raise errors[0]
    return results[0]
