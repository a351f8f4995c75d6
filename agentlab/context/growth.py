"""What a run sends: the size of each request and of all of them, in closed form.

The API keeps no state, so request k carries everything before it:

    I(k)     = S + U + (k - 1) * (a + r)
    Total(N) = I(1) + ... + I(N) = N * (S + U) + (a + r) * N * (N - 1) / 2

``S`` system prompt and tool schemas, ``U`` the user's task, ``a`` what the model writes in one step,
``r`` one tool result (all in tokens), ``N`` the number of requests, ``k`` from 1 to N.
Source: chapter 6 of the course, "Context growth and compaction".
"""

from agentlab.errors import AgentlabError

MAX_STEPS = 100_000
"""The longest run that is computed request by request. Real runs stay below a thousand steps."""

MAX_TOKENS = 1_000_000_000
"""The largest single size that is taken for a number of tokens; no model's window comes near it."""


def whole_number(name: str, value: object, at_least: int = 0, at_most: int = MAX_TOKENS) -> int:
    """`value` itself, if it is an integer within the limits. Raises AgentlabError with one line otherwise.

    True and 3.0 are refused, too: a size that is no integer is a mistake somewhere before this call.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise AgentlabError(f"{name} is {_shown(value)}; expected a whole number from {at_least:,} to {at_most:,}")
    if not at_least <= value <= at_most:
        raise AgentlabError(f"{name} is {_shown(value)}; expected {at_least:,} to {at_most:,}")
    return value


def check_sizes(S: int, U: int, a: int, r: int, N: int = 1) -> None:
    """Raises AgentlabError unless S, U, a, r are sizes in tokens and N is a number of requests."""
    for name, value in (("S", S), ("U", U), ("a", a), ("r", r)):
        whole_number(name, value)
    whole_number("N", N, at_least=1, at_most=MAX_STEPS)


def request_size(S: int, U: int, a: int, r: int, k: int) -> int:
    """I(k): tokens of the k-th request when nothing is removed."""
    check_sizes(S, U, a, r, k)
    return S + U + (k - 1) * (a + r)


def total(S: int, U: int, a: int, r: int, N: int) -> int:
    """Total(N): input tokens of all N requests when nothing is removed. Quadratic in N."""
    check_sizes(S, U, a, r, N)
    return N * (S + U) + (a + r) * N * (N - 1) // 2


def first_over(S: int, U: int, a: int, r: int, trigger: int) -> int | None:
    """The first k with I(k) above `trigger`, however long the run; None if no request ever is (a + r = 0)."""
    check_sizes(S, U, a, r)
    whole_number("trigger", trigger)
    if trigger < S + U:
        return 1
    if a + r == 0:
        return None
    return (trigger - S - U) // (a + r) + 2


def total_clearing(S: int, U: int, a: int, r: int, N: int, keep: int, placeholder: int) -> int:
    """Total(N) when all but the last `keep` results are replaced by a placeholder, from the first step on.

    Request k holds k - 1 results: min(k - 1, keep) whole ones and placeholders for the rest. Beside
    the calls (quadratic in N, but `a` is small) only the placeholders still grow.
    """
    check_sizes(S, U, a, r, N)
    whole_number("keep", keep)
    whole_number("placeholder", placeholder)
    results = _triangle(N - 1)
    whole = results - _triangle(N - 1 - keep)
    return N * (S + U) + results * a + whole * r + (results - whole) * placeholder


def total_trimming(S: int, U: int, a: int, r: int, N: int, window: int) -> int:
    """Total(N) when only the last `window` messages after the task stay, in whole steps of two messages."""
    check_sizes(S, U, a, r, N)
    whole_number("window", window)
    results = _triangle(N - 1)
    kept = results - _triangle(N - 1 - window // 2)
    return N * (S + U) + kept * (a + r)


def crossover(S: int, U: int, a: int, r: int) -> float | None:
    """N* = 2(S + U)/(a + r): near this many requests, resent history weighs as much as prompt and task together.

    The two are N(S + U) and (a + r) N(N - 1)/2, equal at N* + 1 exactly. None where nothing grows (a + r = 0).
    """
    check_sizes(S, U, a, r)
    return 2 * (S + U) / (a + r) if a + r else None


def notes_total(count: int, tokens: int, N: int) -> int:
    """Input tokens that `count` memory notes of `tokens` each add to a run of N requests: each request carries them.

    Source: chapter 6 of the course, "Memory tiers".
    """
    whole_number("count", count)
    whole_number("tokens", tokens)
    whole_number("N", N, at_least=1, at_most=MAX_STEPS)
    return count * tokens * N


def _triangle(n: int) -> int:
    """1 + 2 + ... + n, and 0 where there is nothing to add."""
    return n * (n + 1) // 2 if n > 0 else 0


def _shown(value: object) -> str:
    # An error stays one line, whatever was passed in; a huge integer cannot even be written out.
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a number of more than 18 digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:37] + "..."
