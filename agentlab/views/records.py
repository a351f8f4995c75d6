"""What the dispatcher keeps, as tables for people: contracts, receipts, approvals."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from agentlab.dispatch.approvals import Approval
from agentlab.dispatch.contract import FIELDS, ToolContract
from agentlab.dispatch.ledger import Receipt
from agentlab.views.tables import Table

_SHOWN_DIGITS = 16
_HEX = set("0123456789abcdef")


def shortened(text: str) -> str:
    """`text` with every SHA-256 in it cut to its first digits, as a table has room for."""
    return " ".join(
        f"{word[:_SHOWN_DIGITS]}..." if len(word) == 64 and set(word) <= _HEX else word for word in text.split(" ")
    )


def shown_time(seconds: float) -> str:
    """Seconds since 1970 as a date and a time for people, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def contract_table(contract: ToolContract) -> Table:
    """One contract by its twelve fields, and its digest. What a field says that nobody has set is shown as well."""
    values = contract.model_dump(mode="json")

    def shown(name: str) -> str:
        value = values[name]
        return f"{name} {value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))}"

    rows = (
        *((field, "; ".join(map(shown, names))) for field, names in FIELDS.items()),
        ("hashes, computed", f"schemas {shortened(contract.schema_hash)}; all of it {shortened(contract.digest)}"),
    )
    return Table(f"The contract of {contract.name}", ("field", "what it says"), rows, words=("what it says",))


def receipt_table(receipt: Receipt) -> Table:
    """One receipt, a field in each row. Times are UTC."""
    rows = (
        ("at", shown_time(receipt.at)),
        ("user, tenant, run", f"{receipt.user}, {receipt.tenant}, {receipt.run}"),
        ("tool", receipt.tool),
        ("arguments", receipt.arguments),
        ("call id", shortened(receipt.call_id or "none: the call could not be read")),
        ("outcome", receipt.outcome.value),
        ("guard", receipt.guard or "none: no guard refused it"),
        ("detail", shortened(receipt.detail)),
    )
    return Table(f"Receipt {receipt.number}", ("field", "value"), rows, words=("value",))


def receipts_table(receipts: Sequence[Receipt]) -> Table:
    """One receipt in each row, in the order in which they were written."""
    columns = ("receipt", "tool", "arguments", "outcome", "guard", "detail")
    rows = tuple(
        (
            str(receipt.number),
            receipt.tool,
            receipt.arguments,
            receipt.outcome.value,
            receipt.guard or "none",
            shortened(receipt.detail),
        )
        for receipt in receipts
    )
    return Table("Receipts, one for each proposal", columns, rows, words=columns[1:])


def approvals_table(approvals: Sequence[Approval]) -> Table:
    """One request for approval in each row: what would run, who asked, who answered, and until when it holds."""
    columns = ("call id", "arguments", "asked by", "state", "answered by", "good until")
    rows = tuple(
        (
            shortened(approval.call_id),
            approval.arguments,
            approval.requester,
            approval.state,
            approval.approver or "nobody yet",
            shown_time(approval.expires_at),
        )
        for approval in approvals
    )
    return Table("Requests for approval", columns, rows, words=columns[1:])
