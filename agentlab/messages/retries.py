"""The one place where a model call is tried again. The SDKs' own retries are off: two layers multiply.

Ours and not theirs, because one rule then holds for every provider and for streams that break in the middle, each
attempt can be seen, and a test does not have to wait.
"""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from agentlab.messages.models import ModelError
from agentlab.messages.wire.reading import Json

STATUSES = frozenset({408, 409, 429})
"""Time-out, lock and rate limit of the provider; besides these every 5xx, 529 (overloaded) among them."""

KINDS = frozenset({"rate_limit_error", "overloaded_error", "api_error", "server_error"})
"""The same, where a stream that began with status 200 reports them in its middle."""


class Retries(NamedTuple):
    """How often a call is tried in all, and how long is waited between: twice as long each time, or as asked.

    Waits are in seconds. A provider that asks for more than ``longest_wait`` is not asked again.
    """

    attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    sleep: Callable[[float], None] = time.sleep


class Failure(NamedTuple):
    """Why one attempt gave no reply. ``asked_wait`` is what the provider's retry-after says, in seconds."""

    message: str
    may_pass: bool
    asked_wait: float | None = None


def may_pass(status: int | None, kind: object, verdict: str | None) -> bool:
    """Whether the same call may succeed a little later. `verdict` is the header x-should-retry, which decides."""
    if verdict in ("true", "false"):
        return verdict == "true"
    return (isinstance(kind, str) and kind in KINDS) or (status is not None and (status in STATUSES or status >= 500))


def seconds_asked(headers: Mapping[str, str]) -> float | None:
    """The wait that retry-after-ms or retry-after asks for, in seconds; None where it names a date or nothing."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def tried(attempt: Callable[[], Json | Failure], retries: Retries) -> Json:
    """The first result of `attempt` that is no failure. Raises `ModelError` with the last failure otherwise."""
    number = 0
    while True:
        number += 1
        result = attempt()
        if not isinstance(result, Failure):
            return result
        message, asked = result.message, result.asked_wait
        if not result.may_pass or number >= retries.attempts:
            break
        if asked is not None and asked > retries.longest_wait:
            message += f"; it asks to wait {asked:g} s, longer than {retries.longest_wait:g} s"
            break
        doubled = min(retries.first_wait * 2 ** (number - 1), retries.longest_wait)
        retries.sleep(doubled if asked is None else asked)
    raise ModelError(message + (f"; gave up after {number} attempts" if number > 1 else ""))
