"""The ERP: another system, with rules of its own, that an agent reaches only through tools.

Its tables (``erp_...``) may lie in the database of the ledger, so that one URL is enough, but nothing here knows of the
ledger, of approvals or of models, and the two never share a transaction: between them a process can die, as between
any two systems. What holds then is the idempotency key, which this ERP honours: the same key and the same posting
return the first result.
"""

import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentlab.cases.invoices.documents import read_rows
from agentlab.dispatch.dispatcher import ToolError
from agentlab.dispatch.ledger import storable
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen
from agentlab.store import create_tables, insert_new, insert_or_replace

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, MetaData, Table

CURRENCY = "EUR"
"""The only currency that is posted without a person."""

MAX_DIGITS = 18
"""Digits of an amount in cents: what a column of 64 bits always holds."""


def money(cents: int, currency: str = CURRENCY) -> str:
    """An amount as people write it.

    >>> money(123450), money(-15225, "USD")
    ('EUR 1,234.50', 'USD -152.25')
    """
    whole, rest = divmod(abs(cents), 100)
    return f"{currency} {'-' if cents < 0 else ''}{whole:,}.{rest:02d}"


class PurchaseOrder(Frozen):
    """What was ordered from whom, for which tenant. ``amount_cents`` counts hundredths of ``currency``."""

    po: str
    tenant: str
    supplier: str
    amount_cents: int
    currency: str


class Posting(Frozen):
    """One booked invoice. ``number`` is the ERP's own."""

    number: int
    key: str
    tenant: str
    po: str
    supplier: str
    invoice: str
    amount_cents: int


class Parked(Frozen):
    """A document that waits for a person, and why."""

    document: str
    tenant: str
    reason: str


class _Tables(NamedTuple):
    metadata: "MetaData"
    orders: "Table"
    postings: "Table"
    parked: "Table"


class Erp:
    """Purchase orders, postings, and the documents parked for a person. Every method is one transaction."""

    def __init__(self, engine: "Engine", clock: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._clock = clock
        self._tables = _tables()
        create_tables(engine, self._tables.metadata)

    def load(self, orders: Sequence[PurchaseOrder]) -> None:
        """Take over the purchase orders: new ones are added, known ones replaced, none is removed."""
        with self._engine.begin() as connection:
            insert_or_replace(connection, self._tables.orders, [order.model_dump() for order in orders])

    def order(self, po: str) -> PurchaseOrder | None:
        """The purchase order with this number, of whatever tenant: who may see it is for the guards."""
        with self._engine.begin() as connection:
            return self._order(connection, po)

    def tenant_of(self, po: str) -> str | None:
        """The tenant whose purchase order this is; None where there is no such order."""
        order = self.order(po)
        return order.tenant if order else None

    def post(self, *, tenant: str, po: str, invoice: str, amount_cents: int, currency: str, key: str) -> Posting:
        """Book an invoice against its purchase order, once.

        Raises ToolError, and has then done nothing, where a rule forbids it: the order must be the tenant's, the
        currency euro and the order's, the amount the order's to the cent, and neither the invoice number of this
        supplier nor the order nor the key may have been booked with something else.
        """
        from sqlalchemy.exc import IntegrityError

        for name, text in (("po", po), ("invoice", invoice), ("key", key)):
            if storable(text) != text:
                raise ToolError(f"the {name} {text!r} holds characters that no record takes; nothing was posted")
        values = {"tenant": tenant, "po": po, "invoice": invoice, "amount_cents": amount_cents, "key": key}
        try:
            return self._post(values, currency)
        except IntegrityError:
            # Another process booked it between the look and the insert; the constraints let one of the two through.
            # It has committed, so that a second look finds its row and says what it means.
            return self._post(values, currency)

    def park(self, document: str, tenant: str, reason: str) -> Parked:
        """Put a document before a person. A document is parked once; the first reason stays."""
        from sqlalchemy import select

        table = self._tables.parked
        values = {"document": document, "tenant": tenant, "reason": storable(reason), "parked_at": self._clock()}
        with self._engine.begin() as connection:
            insert_new(connection, table, **values)
            this = select(table).where(table.c.document == document, table.c.tenant == tenant)
            row = connection.execute(this).mappings().one()
        return Parked(document=row["document"], tenant=row["tenant"], reason=row["reason"])

    def postings(self) -> list[Posting]:
        """Everything that was booked, in the order of booking."""
        from sqlalchemy import select

        table = self._tables.postings
        with self._engine.begin() as connection:
            rows = connection.execute(select(table).order_by(table.c.number)).mappings().all()
        return [_posting(dict(row)) for row in rows]

    def parked(self) -> list[Parked]:
        """The documents that wait for a person, by name."""
        from sqlalchemy import select

        table = self._tables.parked
        with self._engine.begin() as connection:
            rows = connection.execute(select(table).order_by(table.c.document)).mappings().all()
        return [Parked(document=row["document"], tenant=row["tenant"], reason=row["reason"]) for row in rows]

    def _post(self, values: dict[str, Any], currency: str) -> Posting:
        from sqlalchemy import insert

        with self._engine.begin() as connection:
            # One posting of an order at a time: otherwise PostgreSQL could show this very posting, made by another
            # process, between two of the looks below, and it would be taken for somebody else's.
            order = self._order(connection, values["po"], locked=True)
            earlier = self._posting(connection, key=values["key"])
            if earlier is not None:
                return _same_or_refused(earlier, values)
            order = self._allowed(connection, order, values, currency)
            booked = {**values, "supplier": order.supplier}
            inserted = connection.execute(
                insert(self._tables.postings).values(**booked, posted_at=self._clock())
            ).inserted_primary_key
            return Posting.model_validate({**booked, "number": inserted[0] if inserted else 0})

    def _allowed(
        self, connection: "Connection", order: PurchaseOrder | None, values: dict[str, Any], currency: str
    ) -> PurchaseOrder:
        tenant, po, invoice, amount_cents = (values[name] for name in ("tenant", "po", "invoice", "amount_cents"))
        if order is None or order.tenant != tenant:
            raise ToolError(f"there is no purchase order {po}; check the number")
        if currency != CURRENCY or order.currency != CURRENCY:
            raise ToolError(
                f"the invoice is in {currency} and purchase order {po} in {order.currency}; only {CURRENCY} is posted, "
                "a person must convert it"
            )
        earlier = self._posting(connection, supplier=order.supplier, invoice=invoice)
        if earlier is not None:
            raise ToolError(f"invoice {invoice} of {order.supplier} is already posted as no. {earlier.number}")
        earlier = self._posting(connection, po=po)
        if earlier is not None:
            raise ToolError(f"purchase order {po} is already invoiced by {earlier.invoice} (no. {earlier.number})")
        if amount_cents != order.amount_cents:
            raise ToolError(
                f"purchase order {po} is for {money(order.amount_cents)}, the invoice for {money(amount_cents)}"
            )
        return order

    def _order(self, connection: "Connection", po: str, *, locked: bool = False) -> PurchaseOrder | None:
        from sqlalchemy import select

        if storable(po) != po:
            return None  # no order has such a number, and a database may refuse the question
        table = self._tables.orders
        query = select(table).where(table.c.po == po)
        # SQLite locks the whole database at BEGIN, and knows no FOR UPDATE.
        row = connection.execute(query.with_for_update() if locked else query).mappings().first()
        return PurchaseOrder.model_validate(dict(row)) if row else None

    def _posting(self, connection: "Connection", **columns: str) -> Posting | None:
        from sqlalchemy import select

        table = self._tables.postings
        query = select(table).where(*(table.c[name] == value for name, value in columns.items()))
        row = connection.execute(query).mappings().first()
        return _posting(dict(row)) if row else None


def read_orders(folder: Path) -> tuple[PurchaseOrder, ...]:
    """Read ``purchase_orders.csv`` of `folder`. Raises AgentlabError with the row that is not a purchase order."""
    path = folder / "purchase_orders.csv"
    _, rows = read_rows(path)
    fields = list(PurchaseOrder.model_fields)
    if not rows or rows[0] != fields:
        raise AgentlabError(f"{path}: the header must be {','.join(fields)}")
    orders: dict[str, PurchaseOrder] = {}
    for number, row in enumerate(rows[1:], start=1):
        values = dict(zip(fields, row, strict=True))
        cents = values["amount_cents"]
        if not (cents.isascii() and cents.isdigit()):
            raise AgentlabError(f"{path}, order {number}: amount_cents is {cents!r}; write whole cents, like 120000")
        if len(cents) > MAX_DIGITS:
            raise AgentlabError(f"{path}, order {number}: amount_cents is beyond any amount of money; correct it")
        if values["po"] in orders:
            raise AgentlabError(f"{path}, order {number}: {values['po']} stands there twice; keep one")
        orders[values["po"]] = PurchaseOrder.model_validate({**values, "amount_cents": int(cents)})
    return tuple(orders.values())


def _posting(row: dict[str, object]) -> Posting:
    return Posting.model_validate({name: row[name] for name in Posting.model_fields})


def _same_or_refused(earlier: Posting, values: dict[str, Any]) -> Posting:
    if any(getattr(earlier, name) != value for name, value in values.items()):
        raise ToolError(
            f"the key {earlier.key!r} was used for another posting (no. {earlier.number}); nothing was posted"
        )
    return earlier


@cache
def _tables() -> _Tables:
    from sqlalchemy import BigInteger, Column, Float, Integer, MetaData, String, Table, Text, UniqueConstraint

    metadata = MetaData()
    orders = Table(
        "erp_purchase_orders",
        metadata,
        Column("po", String, primary_key=True),
        Column("tenant", String, nullable=False),
        Column("supplier", String, nullable=False),
        Column("amount_cents", BigInteger, nullable=False),
        Column("currency", String, nullable=False),
    )
    postings = Table(
        "erp_postings",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("key", String, nullable=False, unique=True),
        Column("tenant", String, nullable=False),
        # The amount must be the order's, so a second invoice for one order would pay it twice.
        Column("po", String, nullable=False, unique=True),
        Column("supplier", String, nullable=False),
        Column("invoice", String, nullable=False),
        Column("amount_cents", BigInteger, nullable=False),
        Column("posted_at", Float, nullable=False),
        UniqueConstraint("supplier", "invoice"),
    )
    parked = Table(
        "erp_parked_documents",
        metadata,
        Column("tenant", String, primary_key=True),
        Column("document", String, primary_key=True),
        Column("reason", Text, nullable=False),
        Column("parked_at", Float, nullable=False),
    )
    return _Tables(metadata, orders, postings, parked)
