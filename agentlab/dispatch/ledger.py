"""The ledger: one key, one effect; and a receipt for every proposal, run or refused."""

import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from agentlab.canonical import digest
from agentlab.dispatch.guards import Caller, Proposal
from agentlab.dispatch.tables import tables
from agentlab.shapes import Frozen
from agentlab.store import create_tables, insert_new

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Engine, RowMapping

Clock = Callable[[], float]

LONGEST_KEY = 200
"""Characters. Of a longer key the digest is kept, for an index takes no text of any length."""


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
    the key and left no result, because the call still runs or its process died. ``conflict``: the key stands for
    another payload. ``unapproved``: no approval to use.
    """

    state: Literal["new", "done", "open", "conflict", "unapproved"]
    result: str | None = None
    first_payload: str = ""
    payload: str = ""


class OpenKey(Frozen):
    """A key without a result, and whose call reserved it. Unless that call still runs, its outcome is unknown."""

    tenant: str
    tool: str
    key: str
    run: str
    user: str
    call_id: str | None
    reserved_at: float


class Ledger:
    """Keys and receipts in one database. Every method is one transaction. Safe across threads and processes.

    `on_receipt` is told of each receipt that this ledger has written; other processes may write into the same database.
    """

    def __init__(
        self,
        engine: "Engine",
        clock: Clock = time.time,
        on_receipt: Callable[[Receipt], None] = lambda receipt: None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._on_receipt = on_receipt
        self._effects = tables().effects
        self._receipts = tables().receipts
        create_tables(engine, tables().metadata)

    def reserve(
        self,
        proposal: Proposal,
        caller: Caller,
        key: str,
        call_id: str | None,
        use_approval: "Callable[[Connection], bool] | None",
    ) -> Reservation:
        """Reserve `key` for this payload, unless it has been used. A needed approval is used up with it."""
        payload = digest(proposal.arguments)
        while True:
            with self._engine.connect() as connection, connection.begin() as transaction:
                # The unique key decides who is first; whoever comes second waits here until the first has committed.
                is_first = insert_new(
                    connection,
                    self._effects,
                    tenant=caller.tenant,
                    tool=proposal.call.name,
                    key=_stored_key(key),
                    payload=payload,
                    run=caller.run,
                    user=caller.user,
                    call_id=call_id,
                    reserved_at=self._clock(),
                )
                if is_first:
                    if use_approval is not None and not use_approval(connection):
                        transaction.rollback()
                        return Reservation(state="unapproved")
                    return Reservation(state="new")
                row = self._effect(connection, caller, proposal, key)
            if row is None:
                continue  # the first call did nothing and has just given the key back: it is free again
            if row["payload"] != payload:
                return Reservation(state="conflict", first_payload=row["payload"], payload=payload)
            if row["done_at"] is None:
                return Reservation(state="open")
            return Reservation(state="done", result=row["result"])

    def is_used(self, proposal: Proposal, caller: Caller, key: str) -> bool:
        """Whether `key` is reserved already, by whatever call; such a call starts nothing new."""
        with self._engine.begin() as connection:
            return self._effect(connection, caller, proposal, key) is not None

    def finish(self, proposal: Proposal, caller: Caller, key: str, result: str, call_id: str | None) -> Receipt:
        """Keep the result of the effect, which a repeated key gets from now on, and write the receipt with it.

        The first result stays: where another attempt of the same call has left one meanwhile, the receipt says
        replayed and holds that. Where the key has been given back meanwhile, it says that the outcome is unknown.
        """
        from sqlalchemy import update

        with self._engine.begin() as connection:
            kept = connection.execute(
                update(self._effects)
                .where(*self._this(caller, proposal, key), self._effects.c.done_at.is_(None))
                .values(result=result, done_at=self._clock())
            )
            outcome, detail = Outcome.EXECUTED, result
            if kept.rowcount != 1:
                row = self._effect(connection, caller, proposal, key)
                if row is None or row["done_at"] is None:  # it may have been reserved anew since
                    outcome = Outcome.UNKNOWN
                    detail = "outcome unknown: the call ran, and its key was given back meanwhile; a person must look"
                else:
                    outcome, detail = Outcome.REPLAYED, row["result"]
            receipt = self._write(connection, proposal, caller, outcome, detail, None, call_id)
        self._on_receipt(receipt)
        return receipt

    def release(
        self,
        proposal: Proposal,
        caller: Caller,
        key: str,
        reason: str,
        call_id: str | None,
        give_back: "Callable[[Connection], None] | None",
    ) -> Receipt:
        """Give back the key, and the approval that was used up with it, and write the receipt of the failed call.

        Only where nothing can have happened.
        """
        from sqlalchemy import delete

        with self._engine.begin() as connection:
            released = connection.execute(
                delete(self._effects).where(*self._this(caller, proposal, key), self._effects.c.done_at.is_(None))
            )
            if give_back is not None and released.rowcount == 1:
                give_back(connection)
            receipt = self._write(connection, proposal, caller, Outcome.FAILED, reason, None, call_id)
        self._on_receipt(receipt)
        return receipt

    def record(
        self, proposal: Proposal, caller: Caller, outcome: Outcome, detail: str, guard: str | None, call_id: str | None
    ) -> Receipt:
        """Write the receipt of a proposal that left no result under a key. Receipts are only ever added."""
        with self._engine.begin() as connection:
            receipt = self._write(connection, proposal, caller, outcome, detail, guard, call_id)
        self._on_receipt(receipt)
        return receipt

    def open_keys(self) -> list[OpenKey]:
        """The keys that were reserved and have no result, oldest first: calls that run now, or were cut off."""
        from sqlalchemy import select

        columns = self._effects.c
        query = select(self._effects).where(columns.done_at.is_(None)).order_by(columns.reserved_at, columns.key)
        with self._engine.begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [OpenKey.model_validate({name: row[name] for name in OpenKey.model_fields}) for row in rows]

    def receipts(self, run: str | None = None) -> list[Receipt]:
        """All receipts, or those of one run, in the order in which they were written."""
        from sqlalchemy import select

        query = select(self._receipts).order_by(self._receipts.c.number)
        if run is not None:
            query = query.where(self._receipts.c.run == run)
        with self._engine.begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [Receipt.model_validate({**row, "outcome": Outcome(row["outcome"])}) for row in rows]

    def _write(
        self,
        connection: "Connection",
        proposal: Proposal,
        caller: Caller,
        outcome: Outcome,
        detail: str,
        guard: str | None,
        call_id: str | None,
    ) -> Receipt:
        from sqlalchemy import insert

        # Arguments that could not be read are kept as the text they came in.
        arguments = proposal.text if proposal.text is not None else repr(proposal.call.arguments)
        values = {
            "at": self._clock(),
            "run": caller.run,
            "tenant": caller.tenant,
            "user": caller.user,
            "tool": storable(proposal.call.name),
            "arguments": storable(arguments),
            "call_id": call_id,
            "outcome": outcome.value,
            "guard": guard,
            "detail": storable(detail),
        }
        key = connection.execute(insert(self._receipts).values(**values)).inserted_primary_key
        return Receipt.model_validate({**values, "number": key[0] if key else 0, "outcome": outcome})

    def _effect(self, connection: "Connection", caller: Caller, proposal: Proposal, key: str) -> "RowMapping | None":
        from sqlalchemy import select

        query = select(self._effects).where(*self._this(caller, proposal, key))
        return connection.execute(query).mappings().first()

    def _this(self, caller: Caller, proposal: Proposal, key: str) -> "tuple[ColumnElement[bool], ...]":
        columns = self._effects.c
        return columns.tenant == caller.tenant, columns.tool == proposal.call.name, columns.key == _stored_key(key)


def storable(text: str) -> str:
    """`text` as every database and every provider takes it."""
    # Databases refuse half a surrogate pair and PostgreSQL refuses NUL; a receipt must be written all the same.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\x00")


def _stored_key(key: str) -> str:
    # Two keys that are stored alike still differ in their payloads, so the second is refused and not run.
    return storable(key) if len(key) <= LONGEST_KEY else digest(key)
