"""The three tables behind the dispatcher: receipts of every proposal, keys of every effect, approvals."""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table


class Tables(NamedTuple):
    """The tables, and the metadata that creates them."""

    metadata: "MetaData"
    receipts: "Table"
    effects: "Table"
    approvals: "Table"


@cache
def tables() -> Tables:
    """Describe the tables. Times are seconds since 1970, UTC. JSON is stored as text, as it was digested."""
    from sqlalchemy import Column, Float, Integer, MetaData, String, Table, Text, UniqueConstraint

    metadata = MetaData()
    receipts = Table(
        "receipts",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("at", Float, nullable=False),
        Column("run", String, nullable=False, index=True),
        Column("tenant", String, nullable=False),
        Column("user", String, nullable=False),
        Column("tool", String, nullable=False),
        Column("arguments", Text, nullable=False),
        Column("call_id", String),
        Column("outcome", String, nullable=False),
        Column("guard", String),
        Column("detail", Text, nullable=False),
    )
    effects = Table(
        "effects",
        metadata,
        # The unique key is what makes a second effect impossible, whoever asks for it and from wherever.
        Column("tenant", String, primary_key=True),
        Column("tool", String, primary_key=True),
        Column("key", String, primary_key=True),
        Column("payload", String, nullable=False),
        # Whose call reserved the key: after a crash this is the only trace of it.
        Column("run", String, nullable=False),
        Column("user", String, nullable=False),
        Column("call_id", String),
        Column("result", Text),
        Column("reserved_at", Float, nullable=False),
        Column("done_at", Float),
    )
    approvals = Table(
        "approvals",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        # A request that expired stays on record; the next one for the same call is its next attempt.
        Column("call_id", String, nullable=False),
        Column("attempt", Integer, nullable=False),
        Column("tool", String, nullable=False),
        Column("contract", String, nullable=False),
        Column("arguments", Text, nullable=False),
        Column("tenant", String, nullable=False),
        Column("run", String, nullable=False),
        Column("requester", String, nullable=False),
        Column("requested_at", Float, nullable=False),
        Column("expires_at", Float, nullable=False),
        Column("approver", String),
        Column("approved", Integer),
        Column("decided_at", Float),
        Column("used_at", Float),
        UniqueConstraint("call_id", "attempt"),
    )
    return Tables(metadata, receipts, effects, approvals)
