"""The ledger: one key, one effect; and a receipt for every proposal, run or refused."""

import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from agentlab.canonical import canonical_json, digest
from agentlab.dispatch.guards import Caller, Proposal
from agentlab.dispatch.tables import tables
from agentlab.shapes import Frozen

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Engine

Clock = Callable[[], float]


class Outcome(StrEnum):
    """What became of a proposal. It follows from the decision and the effect, never from what a model says."""

    EXECUTED = "executed"
    REPLAYED = "replayed"
    INVALID = "invalid"
    DENIED = "denied"
    PENDING = "pending"
    EXPIRED = "expired"
    CONFLICT = "conflict"
    FAILED = "failed"
    UNKNOWN = "unknown"


SUCCEEDED = frozenset({Outcome.EXECUTED, Outcome.REPLAYED})
"""The outcomes after which the effect is known to stand; all others go to the model as errors."""


class Receipt(Frozen):
    """One line of evidence. ``guard`` names the guard that had the last word, None when the call was let through."""

    number: int
    at: float
    run: str
    tenant: str
    user: str
    tool: str
    arguments: str
    call_id: str | None
    outcome: Outcome
    guard: str | None
    detail: str


class Reservation(Frozen):
    """What the ledger says of a key before anything runs.

    ``new``: the key is now reserved, run the call. ``done``: here is the first result. ``open``: somebody reserved
    the key and left no result. ``conflict``: the key stands for another payload. ``unapproved``: no approval to use.
    """

    state: Literal["new", "done", "open", "conflict", "unapproved"]
    result: str | None = None
    first_payload: str = ""
    payload: str = ""


class Ledger:
    """Keys and receipts in one database. Every method is one transaction."""

    def __init__(self, engine: "Engine", clock: Clock = time.time) -> None:
        self._engine = engine
        self._clock = clock
        self._effects = tables().effects
        self._receipts = tables().receipts
        tables().metadata.create_all(engine)

    def reserve(
        self, proposal: Proposal, caller: Caller, key: str, use_approval: "Callable[[Connection], bool] | None"
    ) -> Reservation:
        """Reserve `key` for this payload, unless it has been used. A needed approval is used up with it."""
        from sqlalchemy import insert, select

        payload = digest(proposal.arguments)
        with self._engine.begin() as connection:
            effects = self._effects.c
            row = connection.execute(select(self._effects).where(*self._this(caller, proposal, key))).mappings().first()
            if row is not None:
                if row[effects.payload] != payload:
                    return Reservation(state="conflict", first_payload=row[effects.payload], payload=payload)
                if row[effects.done_at] is None:
                    return Reservation(state="open")
                return Reservation(state="done", result=row[effects.result])
            if use_approval is not None and not use_approval(connection):
                return Reservation(state="unapproved")
            connection.execute(
                insert(self._effects).values(
                    tenant=caller.tenant, tool=proposal.call.name, key=key, payload=payload, reserved_at=self._clock()
                )
            )
        return Reservation(state="new")

    def is_used(self, proposal: Proposal, caller: Caller, key: str) -> bool:
        """Whether `key` is reserved already, by whatever call; such a call starts nothing new."""
        from sqlalchemy import select

        with self._engine.begin() as connection:
            query = select(self._effects.c.key).where(*self._this(caller, proposal, key))
            return connection.execute(query).first() is not None

    def finish(self, proposal: Proposal, caller: Caller, key: str, result: str) -> bool:
        """Keep the result of the effect: from now on it is what a repeated key gets. False if the key is not held."""
        from sqlalchemy import update

        with self._engine.begin() as connection:
            changed = connection.execute(
                update(self._effects)
                .where(*self._this(caller, proposal, key))
                .values(result=result, done_at=self._clock())
            )
        return changed.rowcount == 1

    def release(
        self, proposal: Proposal, caller: Caller, key: str, give_back: "Callable[[Connection], None] | None"
    ) -> None:
        """Give back the key, and the approval that was used up with it. Only where nothing can have happened."""
        from sqlalchemy import delete

        with self._engine.begin() as connection:
            connection.execute(
                delete(self._effects).where(*self._this(caller, proposal, key), self._effects.c.done_at.is_(None))
            )
            if give_back is not None:
                give_back(connection)

    def record(
        self, proposal: Proposal, caller: Caller, outcome: Outcome, detail: str, guard: str | None, call_id: str | None
    ) -> Receipt:
        """Write the receipt of a proposal. Receipts are only ever added."""
        from sqlalchemy import insert

        # Arguments that could not be read are kept as the text they came in.
        arguments = (
            canonical_json(proposal.arguments) if proposal.arguments is not None else repr(proposal.call.arguments)
        )
        values = {
            "at": self._clock(),
            "run": caller.run,
            "tenant": caller.tenant,
            "user": caller.user,
            "tool": proposal.call.name,
            "arguments": storable(arguments),
            "call_id": call_id,
            "outcome": outcome.value,
            "guard": guard,
            "detail": storable(detail),
        }
        with self._engine.begin() as connection:
            key = connection.execute(insert(self._receipts).values(**values)).inserted_primary_key
        return Receipt.model_validate({**values, "number": key[0] if key else 0, "outcome": outcome})

    def receipts(self, run: str | None = None) -> list[Receipt]:
        """All receipts, or those of one run, in the order in which they were written."""
        from sqlalchemy import select

        query = select(self._receipts).order_by(self._receipts.c.number)
        if run is not None:
            query = query.where(self._receipts.c.run == run)
        with self._engine.begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [Receipt.model_validate({**row, "outcome": Outcome(row["outcome"])}) for row in rows]

    def _this(self, caller: Caller, proposal: Proposal, key: str) -> "tuple[ColumnElement[bool], ...]":
        columns = self._effects.c
        return columns.tenant == caller.tenant, columns.tool == proposal.call.name, columns.key == key


def storable(text: str) -> str:
    """`text` as every database and every provider takes it."""
    # Databases refuse half a surrogate pair and PostgreSQL refuses NUL; a receipt must be written all the same.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")
