"""What a guarded decision costs: decisions per second in memory, through the dispatcher, and next to plain validation.

Run it with ``.venv/bin/python benchmarks/dispatch.py``. It prints rates and ratios of this machine; it is no test.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from invoice_tool import CLERK, make_dispatcher, post_call, post_contract


def per_second(work: Callable[[int], object], rounds: int) -> float:
    """Rounds per second of `work`, the best of three tries."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for number in range(rounds):
            work(number)
        best = min(best, time.perf_counter() - start)
    return rounds / best


def main() -> None:
    """Print one line for each way, with its ratio to plain validation."""
    contract = post_contract()
    dispatcher = make_dispatcher()
    arguments = post_call().arguments
    rates = {
        "plain validation of the arguments": per_second(lambda _: contract.problems(arguments), 20_000),
        "a decision by the four guards": per_second(lambda n: dispatcher.decide(post_call(n), CLERK), 20_000),
        "a refused call with its receipt": per_second(
            lambda n: dispatcher.dispatch(post_call(n, amount_cents="1"), CLERK), 1_000
        ),
        "a new call, its key and its receipt": per_second(
            lambda n: dispatcher.dispatch(post_call(n, idempotency_key=f"{time.perf_counter_ns()}"), CLERK), 1_000
        ),
    }
    plain = rates["plain validation of the arguments"]
    for name, rate in rates.items():
        print(f"{name:38} {rate:12,.0f} a second   {plain / rate:8.1f} times plain validation")


if __name__ == "__main__":
    main()
