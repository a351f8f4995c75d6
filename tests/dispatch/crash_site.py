"""Processes that race for keys and die at named points. Run as a program: ``crash_site.py URL PLAN``.

It has no threads, so that it may fork: every process below is a real one, with connections of its own, and is ended by
SIGKILL. It prints what the processes saw as JSON; what that must be stands in test_crashes.py.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TextIO

from sqlalchemy import event

from agentlab.cases.invoices.erp import Erp, PurchaseOrder
from agentlab.cases.invoices.tools import ERP_POST_INVOICE, ROLE, tools
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store

POINTS = (
    "key written, not committed",
    "before the effect",
    "effect written, not committed",
    "after the effect",
    "receipt written, not committed",
    "after the receipt",
)
AFTER_STATEMENT = {
    "INSERT INTO effects": "key written, not committed",
    "INSERT INTO erp_postings": "effect written, not committed",
    "INSERT INTO receipts": "receipt written, not committed",
}
RACERS = 8
CALLER = Caller(user="agent", roles=(ROLE,), tenant="north", run="run-1")
SMALL, LARGE = 1_000, 900_000
"""Cents: below and above the limit from which a person must approve."""


def goes_on(point: str) -> None:
    """What happens at a point of a process that does not die."""


def dies_at(chosen: str) -> Callable[[str], None]:
    """What ends this process when a call comes to the point `chosen`."""

    def at(point: str) -> None:
        if point == chosen:
            os.kill(os.getpid(), signal.SIGKILL)

    return at


class Desk(NamedTuple):
    dispatcher: Dispatcher
    approvals: Approvals
    ledger: Ledger
    erp: Erp


def open_desk(url: str, *, honours_key: bool, at: Callable[[str], None] = goes_on) -> Desk:
    """A dispatcher over the invoices' own tool. `at` is told of each point that a call comes to."""
    engine = open_store(url)
    erp, approvals, ledger = Erp(engine), Approvals(engine), Ledger(engine)
    post = next(tool.function for tool in tools((), erp) if tool.contract == ERP_POST_INVOICE)

    def watched(arguments: dict[str, Any], caller: Caller) -> Any:
        at("before the effect")
        result = post(arguments, caller)
        at("after the effect")
        return result

    @event.listens_for(engine, "after_cursor_execute")
    def after(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        for start, point in AFTER_STATEMENT.items():
            if statement.startswith(start):
                at(point)

    contract = ERP_POST_INVOICE.model_copy(update={"target_honours_key": honours_key})
    dispatcher = Dispatcher([Tool(contract, watched)], four_guards(approvals), ledger, approvals)
    return Desk(dispatcher, approvals, ledger, erp)


def call(key: str, cents: int = SMALL, *, po: str = "") -> ToolCall:
    arguments = {
        "invoice_id": f"invoice {key}",
        "po": po or f"PO {key}",
        "amount_cents": cents,
        "currency": "EUR",
        "idempotency_key": key,
    }
    return ToolCall(id="call_1", name=ERP_POST_INVOICE.name, arguments=arguments)


def order(key: str, cents: int = SMALL) -> PurchaseOrder:
    return PurchaseOrder(po=f"PO {key}", tenant="north", supplier="Anvil", amount_cents=cents, currency="EUR")


Wait = Callable[[], None]
Work = Callable[[Wait], Any]
"""What one process does. It calls the given function when it is ready, and goes on when all the others are, too."""


def together(works: Sequence[Work]) -> list[Any]:
    """Do each work in a process of its own: what each returned, or the negative number of the signal that ended it."""
    gate, go = os.pipe()
    started = [_start(work, gate, go) for work in works]
    os.close(gate)
    for _, page in started:
        page.read(1)  # a process that is ready, or has ended already
    os.close(go)
    answers = []
    for pid, page in started:
        with page:
            text = page.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        answers.append(json.loads(text) if status == 0 else status)
    return answers


def alone(work: Callable[[], Any]) -> Any:
    return together([lambda wait: work()])[0]


def _start(work: Work, gate: int, go: int) -> tuple[int, TextIO]:
    page, pen = os.pipe()
    pid = os.fork()
    if pid:
        os.close(pen)
        return pid, os.fdopen(page, encoding="utf-8")
    status = 1
    try:
        os.close(go)
        with os.fdopen(pen, "w", encoding="utf-8") as answer:

            def wait() -> None:
                answer.write(" ")
                answer.flush()
                os.read(gate, 1)  # comes back when the one writer has closed the gate

            answer.write(" " + json.dumps(work(wait)))
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


def dispatch(desk: Desk, proposed: ToolCall) -> str:
    return desk.dispatcher.dispatch(proposed, CALLER).receipt.outcome.value


def kills(url: str) -> list[dict[str, Any]]:
    """One call for each point, contract and amount: its process dies at the point, and then the call is made again."""
    return [
        _two_lives(url, point, honours_key, cents)
        for point in POINTS
        for honours_key in (False, True)
        for cents in (SMALL, LARGE)
    ]


def _two_lives(url: str, point: str, honours_key: bool, cents: int) -> dict[str, Any]:
    key = f"{point}, {honours_key}, {cents}"

    def first() -> None:
        die, is_ready = dies_at(point), False
        desk = open_desk(url, honours_key=honours_key, at=lambda here: die(here) if is_ready else None)
        desk.erp.load([order(key, cents)])
        if cents == LARGE:
            asked = desk.dispatcher.dispatch(call(key, cents), CALLER)
            desk.approvals.decide(asked.receipt.call_id or "", "lead", True)
        is_ready = True
        dispatch(desk, call(key, cents))
        die("after the receipt")

    def second() -> dict[str, Any]:
        desk = open_desk(url, honours_key=honours_key)
        return {
            "posted by the first": _postings(desk, key),
            "outcomes": [dispatch(desk, call(key, cents)) for _ in range(2)],
            "postings": _postings(desk, key),
            "left open": key in [each.key for each in desk.ledger.open_keys()],
            "approvals": [each.state for each in desk.approvals.all() if key in each.arguments],
        }

    ended = alone(first)
    return {"point": point, "honours key": honours_key, "cents": cents, "ended": ended, **alone(second)}


def _postings(desk: Desk, key: str) -> int:
    return sum(posting.key == key for posting in desk.erp.postings())


def no_table(url: str) -> list[str]:
    """Eight processes open a database that has no table yet, load the same order and make the same call."""

    def racer(wait: Wait) -> str:
        wait()
        desk = open_desk(url, honours_key=False)
        desk.erp.load([order("k")])
        return dispatch(desk, call("k"))

    return together([racer] * RACERS)


def one_key(url: str, honours_key: bool) -> dict[str, Any]:
    """Eight processes make the same call at the same moment, then the next one: forty races."""
    keys = [f"key {number}" for number in range(40)]

    def racer(wait: Wait) -> list[str]:
        desk = open_desk(url, honours_key=honours_key)
        wait()
        return [dispatch(desk, call(key)) for key in keys]

    alone(lambda: open_desk(url, honours_key=False).erp.load([order(key) for key in keys]))
    return {"outcomes": together([racer] * RACERS), **alone(lambda: _posted(url))}


def two_payloads(url: str) -> dict[str, Any]:
    """Eight processes use one key at the same moment, for two payloads."""

    def racer(number: int, wait: Wait) -> str:
        desk = open_desk(url, honours_key=False)
        wait()
        return dispatch(desk, call("k", po="PO A" if number % 2 else "PO B"))

    alone(lambda: open_desk(url, honours_key=False).erp.load([order("A"), order("B")]))
    return {"outcomes": together([partial(racer, number) for number in range(RACERS)]), **alone(lambda: _posted(url))}


def one_approval(url: str) -> dict[str, Any]:
    """Eight processes ask for one approval; eight people answer it; eight processes run the approved call."""

    def asks(wait: Wait) -> str:
        desk = open_desk(url, honours_key=False)
        wait()
        return dispatch(desk, call("k", LARGE))

    def answers(number: int, wait: Wait) -> str:
        approvals = open_desk(url, honours_key=False).approvals
        wait()
        try:
            return approvals.decide(approvals.all()[0].call_id, f"lead {number}", True).approver or ""
        except AgentlabError:
            return "too late"

    def requests() -> list[tuple[str, str | None]]:
        return [(each.state, each.approver) for each in open_desk(url, honours_key=False).approvals.all()]

    alone(lambda: open_desk(url, honours_key=False).erp.load([order("k", LARGE)]))
    asked, pending = together([asks] * RACERS), alone(requests)
    answered, decided = together([partial(answers, number) for number in range(RACERS)]), alone(requests)
    ran, used = together([asks] * RACERS), alone(requests)
    return {
        "asked": asked,
        "pending": pending,
        "answered": answered,
        "decided": decided,
        "ran": ran,
        "used": used,
        **alone(lambda: _posted(url)),
    }


def one_document(url: str) -> list[str]:
    """Eight processes park one document, each with a reason of its own."""

    def racer(number: int, wait: Wait) -> str:
        erp = Erp(open_store(url))
        wait()
        return erp.park("doc", "north", f"reason {number}").reason

    return together([partial(racer, number) for number in range(RACERS)])


def many_keys(url: str, keys: int, victims: int = 0) -> dict[str, Any]:
    """Eight processes share the keys, each of which two of them use. `victims` of them die, each at its own point.

    A victim dies at the first key that it gets before its rival does, and at the latest at one that it has for itself.
    """
    shared = [f"key {number:03}" for number in range(keys)]
    names = shared + [f"own {number}" for number in range(victims)]

    def racer(number: int, wait: Wait) -> dict[str, str]:
        mine = shared[number % (RACERS // 2) :: RACERS // 2]
        at = goes_on
        if number < victims:
            mine.insert(3, f"own {number}")
            at = dies_at(POINTS[number])
        desk = open_desk(url, honours_key=False, at=at)
        wait()
        return {name: dispatch(desk, call(name)) for name in mine}

    def afterwards() -> dict[str, Any]:
        desk = open_desk(url, honours_key=False)
        left_open = [each.key for each in desk.ledger.open_keys()]
        before = _posted(url)["posted"]
        again = {name: dispatch(desk, call(name)) for name in (names if victims else names[::10])}
        return {"left open": left_open, "before": before, "again": again, **_posted(url)}

    alone(lambda: open_desk(url, honours_key=False).erp.load([order(name) for name in names]))
    return {"racers": together([partial(racer, number) for number in range(RACERS)]), **alone(afterwards)}


def _posted(url: str) -> dict[str, list[str]]:
    return {"posted": [each.key for each in open_desk(url, honours_key=False).erp.postings()]}


PLANS: dict[str, Callable[[str], Any]] = {
    "kills": kills,
    "no table": no_table,
    "one key": lambda url: one_key(url, honours_key=False),
    "one key, honoured": lambda url: one_key(url, honours_key=True),
    "two payloads": two_payloads,
    "one approval": one_approval,
    "one document": one_document,
    "many keys": lambda url: many_keys(url, keys=500),
    "many keys and deaths": lambda url: many_keys(url, keys=100, victims=len(POINTS) - 1),
}

# Loaded once here, and not once in each process: what agentlab loads where it is used.
LATE_IMPORTS = {
    "sqlite": ("jsonschema_rs", "sqlalchemy.dialects.sqlite.pysqlite"),
    "postgresql": ("jsonschema_rs", "sqlalchemy.dialects.postgresql.psycopg", "psycopg"),
}

if __name__ == "__main__":
    for module in LATE_IMPORTS[sys.argv[1].partition(":")[0]]:
        import_module(module)
    json.dump(PLANS[sys.argv[2]](sys.argv[1]), sys.stdout)
