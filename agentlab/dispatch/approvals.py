"""Approvals: a named person says yes or no to one exact call, for a limited time, once."""

import time
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentlab.canonical import canonical_json
from agentlab.dispatch.guards import ApprovalState, Caller, Proposal
from agentlab.dispatch.tables import tables
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, RowMapping

Clock = Callable[[], float]

DAY = 86_400.0
"""Seconds. How long a request for approval stays open unless the caller says otherwise."""


class Approval(Frozen):
    """One request for approval, as a person sees it. ``arguments`` is the JSON that will run, to the letter."""

    call_id: str
    tool: str
    arguments: str
    tenant: str
    run: str
    requester: str
    state: ApprovalState
    expires_at: float
    approver: str | None


class Approvals:
    """The store of requests for approval. Open requests survive a restart."""

    def __init__(self, engine: "Engine", clock: Clock = time.time, valid_for: float = DAY) -> None:
        self._engine = engine
        self._clock = clock
        self._valid_for = valid_for
        self._table = tables().approvals
        tables().metadata.create_all(engine)

    def request(self, call_id: str, proposal: Proposal, caller: Caller) -> Approval:
        """Open a request for this call, or return the one that is already there. An expired one is opened anew."""
        from sqlalchemy import delete, insert

        with self._engine.begin() as connection:
            row = self._row(connection, call_id)
            if row is not None and self._state(row) == "expired":
                connection.execute(delete(self._table).where(self._table.c.call_id == call_id))
                row = None
            if row is None:
                now = self._clock()
                connection.execute(
                    insert(self._table).values(
                        call_id=call_id,
                        tool=proposal.call.name,
                        arguments=canonical_json(proposal.arguments),
                        tenant=caller.tenant,
                        run=caller.run,
                        requester=caller.user,
                        requested_at=now,
                        expires_at=now + self._valid_for,
                    )
                )
            return self._approval(self._known_row(connection, call_id))

    def decide(self, call_id: str, approver: str, approve: bool) -> Approval:
        """Record a person's answer. Only a request that is still pending takes one.

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
            found = self._approval(self._known_row(connection, call_id))
            if found.state != "pending":
                raise AgentlabError(
                    f"the request {call_id[:12]} is {found.state}, not pending; it takes no further answer"
                )
            if _same_person(name, found.requester):
                raise AgentlabError(f"{name} asked for this call and cannot approve it; another person must")
            connection.execute(
                update(self._table)
                .where(self._table.c.call_id == call_id)
                .values(approver=name, approved=int(approve), decided_at=self._clock())
            )
            return self._approval(self._known_row(connection, call_id))

    def state(self, call_id: str) -> ApprovalState:
        """Where the request for exactly this call stands; ``absent`` when nobody asked."""
        with self._engine.begin() as connection:
            row = self._row(connection, call_id)
        return "absent" if row is None else self._approval(row).state

    def all(self) -> list[Approval]:
        """Every request, oldest first."""
        from sqlalchemy import select

        with self._engine.begin() as connection:
            rows = connection.execute(select(self._table).order_by(self._table.c.requested_at)).mappings().all()
        return [self._approval(row) for row in rows]

    def use(self, connection: "Connection", call_id: str) -> bool:
        """Consume the approval inside the caller's transaction. False where there is none that is still good."""
        from sqlalchemy import update

        row = self._row(connection, call_id)
        if row is None or self._approval(row).state != "approved":
            return False
        changed = connection.execute(
            update(self._table)
            .where(self._table.c.call_id == call_id, self._table.c.used_at.is_(None))
            .values(used_at=self._clock())
        )
        return changed.rowcount == 1

    def give_back(self, connection: "Connection", call_id: str) -> None:
        """Make the approval of a call that had no effect good again, inside the caller's transaction."""
        from sqlalchemy import update

        connection.execute(update(self._table).where(self._table.c.call_id == call_id).values(used_at=None))

    def _row(self, connection: "Connection", call_id: str) -> "RowMapping | None":
        from sqlalchemy import select

        return connection.execute(select(self._table).where(self._table.c.call_id == call_id)).mappings().first()

    def _known_row(self, connection: "Connection", call_id: str) -> "RowMapping":
        row = self._row(connection, call_id)
        if row is None:
            raise AgentlabError(f"there is no request for approval {call_id!r}; copy the id as it was shown")
        return row

    def _approval(self, row: "RowMapping") -> Approval:
        return Approval(
            call_id=row["call_id"],
            tool=row["tool"],
            arguments=row["arguments"],
            tenant=row["tenant"],
            run=row["run"],
            requester=row["requester"],
            state=self._state(row),
            expires_at=row["expires_at"],
            approver=row["approver"],
        )

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
