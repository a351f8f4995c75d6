"""What a guarded decision costs: next to plain validation, next to the plain thirty lines, in memory and with a ledger.

Run it with ``.venv/bin/python benchmarks/dispatch.py``. It prints rates and ratios of this machine; it is no test.
A decision is asked for in memory and nothing runs; a call with the ledger decides, reserves its key, runs the tool and
writes result and receipt (SQLite, once in memory and once in a file, where each transaction is forced to the disk).

Where the time of a decision goes: about half is reading the proposed arguments (the parser's checks, canonical JSON,
and reading that back, so that what is decided on, shown and run is one text), a tenth is the digest that names the
call, and the rest are the guards. Four guards keep the budget. Seven pass it by a few microseconds: they are twice as
many Python functions over one proposal, and a guard that was skipped or merged could not be named in a receipt.
"""

import hashlib
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from invoice_tool import CLERK, make_dispatcher, post_call, post_contract

from agentlab.dispatch.contract import RateLimit, Timeout
from agentlab.dispatch.dispatcher import Dispatcher, Tool
from agentlab.dispatch.gateway import Identity, authorization, identity, rate_limit, timeout
from agentlab.dispatch.guards import approval, resource_scope, valid_arguments
from agentlab.dispatch.policy import rules_of, table

BUDGET = 15
"""Microseconds that a full decision in memory may cost above plain validation."""

FIELDS = {"invoice_id": str, "amount_cents": int, "idempotency_key": str}


def thirty_lines(name: str, arguments: Any, roles: set[str], approved: set[str], first: dict[str, str]) -> str:
    """The small dispatcher of the course in one function, with a dictionary for its ledger; the yardstick."""
    if name != "erp_post_invoice":
        return f"unknown tool {name}"
    if not isinstance(arguments, dict) or arguments.keys() != FIELDS.keys():
        return f"send exactly {', '.join(FIELDS)}"
    for field, kind in FIELDS.items():
        if type(arguments[field]) is not kind:
            return f"{field} must be {kind.__name__}"
    if arguments["amount_cents"] <= 0:
        return "amount_cents must be greater than 0"
    if "ap_clerk" not in roles:
        return "denied"
    identity = hashlib.sha256(json.dumps([name, arguments], sort_keys=True).encode()).hexdigest()
    if arguments["amount_cents"] > 500_000 and identity not in approved:
        return f"approval required: {identity}"
    return first.setdefault(arguments["idempotency_key"], f"posted {arguments['invoice_id']}")


def seconds(work: Callable[[], object], rounds: int, tries: int) -> float:
    """Seconds of one round of `work`: the best of many short tries, since other programs only ever make it slower."""
    best = float("inf")
    for _ in range(tries):
        start = time.perf_counter()
        for _ in range(rounds):
            work()
        best = min(best, time.perf_counter() - start)
    return best / rounds


def gateway() -> Dispatcher:
    """All seven guards, over records in memory."""
    base = make_dispatcher()
    contract = post_contract(
        resource="invoice_id", timeout=Timeout(seconds=10), rate_limit=RateLimit(calls=1_000, seconds=60)
    )
    guards = (
        identity({"agent": Identity(tenants=("north",), roles=("ap_clerk",))}),
        authorization(table(rules_of([contract]))),
        valid_arguments,
        resource_scope({"INV-1": "north"}.get),
        rate_limit(time.monotonic),
        timeout(30),
        approval(base.approvals.state),
    )
    return Dispatcher([Tool(contract, lambda arguments, caller: None)], guards, base.ledger, base.approvals)


def new_call(dispatcher: Dispatcher) -> Callable[[], object]:
    """One call after the other, each with a key of its own."""
    numbers = itertools.count()
    return lambda: dispatcher.dispatch(post_call(idempotency_key=f"key-{next(numbers)}"), CLERK)


def main() -> None:
    """Print one line for each way, with its ratios to plain validation and to the plain thirty lines."""
    contract, call = post_contract(), post_call()
    arguments = dict(call.arguments) if isinstance(call.arguments, dict) else {}
    four, seven, roles, first = make_dispatcher(), gateway(), {"ap_clerk"}, dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        on_disk = make_dispatcher(url=f"sqlite:///{Path(folder, 'ledger.db')}")
        took = {
            "plain validation of the arguments": seconds(lambda: contract.problems(arguments), 1_000, 100),
            "the plain thirty lines, key included": seconds(
                lambda: thirty_lines("erp_post_invoice", arguments, roles, set(), first), 1_000, 100
            ),
            "a decision in memory, four guards": seconds(lambda: four.decide(call, CLERK), 500, 200),
            "a decision in memory, seven guards": seconds(lambda: seven.decide(call, CLERK), 500, 200),
            "a call with a ledger in memory": seconds(new_call(make_dispatcher()), 50, 10),
            "a call with a ledger on disk": seconds(new_call(on_disk), 50, 10),
        }
    plain, small = took["plain validation of the arguments"], took["the plain thirty lines, key included"]
    for name, each in took.items():
        print(
            f"{name:38} {1 / each:11,.0f} a second {each * 1e6:10,.1f} us "
            f"{each / plain:8,.1f} x validation {each / small:8,.1f} x thirty lines"
        )
    for name in ("four", "seven"):
        above = (took[f"a decision in memory, {name} guards"] - plain) * 1e6
        print(f"{name} guards: {above:.1f} microseconds above plain validation (budget {BUDGET})")


if __name__ == "__main__":
    main()
