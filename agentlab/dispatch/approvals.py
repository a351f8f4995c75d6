"""Approvals: a named person says yes or no to one exact call, for a limited time, once."""

import json
import time
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentlab.dispatch.contract import ToolContract
from agentlab.dispatch.guards import ApprovalState, Caller, Proposal, call_id, identity_of
from agentlab.dispatch.tables import tables
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen
from agentlab.store import create_tables, insert_new

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, RowMapping

Clock = Callable[[], float]

DAY = 86_400.0
"""Seconds. How long a request for approval stays open unless the caller says otherwise."""


class Approval(Frozen):
    """One request for approval, as a person sees it. ``arguments`` is the JSON that will run, to the letter.

    ``contract`` is the digest of the tool's contract. ``attempt`` counts the requests for this same call: the next one
    is opened when the one before has expired. Times are seconds since 1970; they and ``approver`` are None where nobody
    has answered, or nothing has used the answer.
    """

    number: int
    call_id: str
    attempt: int
    tool: str
    contract: str
    arguments: str
    tenant: str
    run: str
    requester: str
    state: ApprovalState
    requested_at: float
    expires_at: float
    approver: str | None
    decided_at: float | None
    used_at: float | None


class Approvals:
    """The store of requests for approval. Open requests survive a restart. Safe across threads and processes."""

    def __init__(self, engine: "Engine", clock: Clock = time.time, valid_for: float = DAY) -> None:
        self._engine = engine
        self._clock = clock
        self._valid_for = valid_for
        self._table = tables().approvals
        create_tables(engine, tables().metadata)

    def request(self, proposal: Proposal, contract: ToolContract, caller: Caller) -> Approval:
        """Open a request for this call, or return the one that is there. When that one has expired, open the next."""
        identity = call_id(proposal, contract, caller)
        with self._engine.begin() as connection:
            latest = self._latest(connection, identity)
            if latest is None or latest.state == "expired":
                now = self._clock()
                # Where two ask at the same moment, one row is inserted and both are given that.
                insert_new(
                    connection,
                    self._table,
                    call_id=identity,
                    attempt=latest.attempt + 1 if latest else 1,
                    tool=contract.name,
                    contract=contract.digest,
                    arguments=proposal.text,
                    tenant=caller.tenant,
                    run=caller.run,
                    requester=caller.user,
                    requested_at=now,
                    expires_at=now + self._valid_for,
                )
            return self._known(connection, identity)

    def decide(self, call_id: str, approver: str, approve: bool) -> Approval:
        """Record a person's answer. Only a request that is still pending takes one, and it takes one only.

        Raises AgentlabError for an unknown id, a request that has been answered or has expired, an approver without a
        name, and an approver who is the requester, however spelt (nobody approves their own call). Whether the
        approver is who they say is for the identity system in front of this store.
        """
        from sqlalchemy import update

        if approve is not True and approve is not False:
            raise AgentlabError(f"an approval is True or False, not {approve!r}")
        name = approver.strip()
        if not name or any(unicodedata.category(character).startswith("C") for character in name):
            raise AgentlabError(
                f"{approver!r} is no name; an approval needs the name of the person, in visible letters"
            )
        with self._engine.begin() as connection:
            asked = self._known(connection, call_id)
            if asked.state == "pending" and _same_person(name, asked.requester):
                raise AgentlabError(f"{name} asked for this call and cannot approve it; another person must")
            now, columns = self._clock(), self._table.c
            # One statement both looks and answers: of two answers at the same moment, one finds the request answered.
            answered = connection.execute(
                update(self._table)
                .where(columns.number == asked.number, columns.approved.is_(None), columns.expires_at > now)
                .values(approver=name, approved=int(approve), decided_at=now)
            )
            if answered.rowcount != 1:
                state = self._known(connection, call_id).state
                raise AgentlabError(f"the request {call_id[:12]} is {state}, not pending; it takes no further answer")
            return self._known(connection, call_id)

    def state(self, call_id: str) -> ApprovalState:
        """Where the request for exactly this call stands; ``absent`` when nobody asked."""
        with self._engine.begin() as connection:
            latest = self._latest(connection, call_id)
        return "absent" if latest is None else latest.state

    def all(self) -> list[Approval]:
        """Every request, oldest first."""
        from sqlalchemy import select

        query = select(self._table).order_by(self._table.c.number)
        with self._engine.begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [self._approval(row) for row in rows]

    def use(self, connection: "Connection", call_id: str) -> bool:
        """Consume the approval inside the caller's transaction. False where there is none that is still good."""
        from sqlalchemy import update

        latest = self._latest(connection, call_id)
        if latest is None:
            return False
        now, columns = self._clock(), self._table.c
        # One statement both looks and takes: of two callers that read "approved", only one changes the row.
        good = (columns.approved == 1, columns.used_at.is_(None), columns.expires_at > now)
        used = connection.execute(update(self._table).where(columns.number == latest.number, *good).values(used_at=now))
        return used.rowcount == 1

    def give_back(self, connection: "Connection", call_id: str) -> None:
        """Make the approval of a call that had no effect good again, inside the caller's transaction."""
        from sqlalchemy import update

        latest = self._latest(connection, call_id)
        if latest is not None:
            connection.execute(update(self._table).where(self._table.c.number == latest.number).values(used_at=None))

    def _latest(self, connection: "Connection", call_id: str) -> Approval | None:
        from sqlalchemy import select

        columns = self._table.c
        query = select(self._table).where(columns.call_id == call_id).order_by(columns.attempt.desc()).limit(1)
        row = connection.execute(query).mappings().first()
        return None if row is None else self._approval(row)

    def _known(self, connection: "Connection", call_id: str) -> Approval:
        latest = self._latest(connection, call_id)
        if latest is None:
            raise AgentlabError(f"there is no request for approval {call_id!r}; copy the id as it was shown")
        return latest

    def _approval(self, row: "RowMapping") -> Approval:
        fields = {name: row[name] for name in Approval.model_fields if name != "state"}
        approval = Approval.model_validate({**fields, "state": self._state(row)})
        # What a person is shown must be what the id stands for, also when somebody has edited the database.
        arguments = json.loads(approval.arguments)
        who = (approval.tenant, approval.requester, approval.run)
        if identity_of(approval.tool, approval.contract, arguments, *who) != approval.call_id:
            raise AgentlabError(
                f"the request {approval.call_id[:12]} was changed after it was made and stands for nothing; "
                "find out who can write to this database"
            )
        return approval

    def _state(self, row: "RowMapping") -> ApprovalState:
        if row["used_at"] is not None:
            return "used"
        if row["approved"] == 0:
            return "denied"
        if self._clock() >= row["expires_at"]:
            return "expired"
        return "approved" if row["approved"] == 1 else "pending"


def _same_person(name: str, other: str) -> bool:
    # Spelling must not make two people of one. Letters of other scripts that look alike are not seen here.
    return _spelt_plainly(name) == _spelt_plainly(other)


def _spelt_plainly(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()
