"""The four tools of the invoice agent: their contracts, and the functions behind them."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agentlab.cases.invoices.documents import Document
from agentlab.cases.invoices.erp import Erp
from agentlab.dispatch.contract import ApprovalRule, SideEffect, Timeout, ToolContract
from agentlab.dispatch.dispatcher import Tool, ToolError
from agentlab.dispatch.guards import Caller

APPROVAL_ABOVE_CENTS = 500_000
"""A posting above this needs a person. 5,000.00 EUR."""

MOST_CENTS = 10**12
"""What fits the ERP's column with room to spare; more is a slip, not an invoice."""

ROLE = "ap_clerk"
"""Accounts payable: the role that all four tools ask for."""

TIMEOUT = Timeout(seconds=45)
"""Longer than a writer waits for another one in SQLite, so that it is the database which gives up first."""

_POST = "erp_post_invoice"


def _schema(**properties: JsonValue) -> dict[str, JsonValue]:
    """Exactly these arguments, all of them required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str, longest: int = 200) -> dict[str, JsonValue]:
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": description}


INVOICE_GET = ToolContract(
    name="invoice_get",
    version="1.0",
    description="Read one document of the inbox: its format (json, csv, mail) and its text as it arrived. Read-only.",
    input_schema=_schema(document_id=_text("The name of the document, as in the task")),
    roles=(ROLE,),
    side_effect=SideEffect.READ_ONLY,
    timeout=TIMEOUT,
)

PO_GET = ToolContract(
    name="po_get",
    version="1.0",
    description="Read one purchase order: supplier, amount in cents, currency. Read-only.",
    input_schema=_schema(po=_text("The number of the purchase order, like PO-4101")),
    roles=(ROLE,),
    side_effect=SideEffect.READ_ONLY,
    timeout=TIMEOUT,
    resource="po",
)

ERP_POST_INVOICE = ToolContract(
    name=_POST,
    version="1.0",
    description="Book one invoice against its purchase order. It is paid at the next payment run.",
    input_schema=_schema(
        invoice_id=_text("The supplier's invoice number"),
        po=_text("The purchase order that the invoice names"),
        amount_cents={
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_CENTS,
            "description": "The invoice total in cents: 1,200.00 is 120000",
        },
        currency={"type": "string", "pattern": "^[A-Z]{3}$", "description": "The currency of the invoice, like EUR"},
        idempotency_key=_text("supplier:invoice number, the same for every copy of one invoice"),
    ),
    roles=(ROLE,),
    side_effect=SideEffect.CONSEQUENTIAL,
    resource="po",
    idempotency_key="idempotency_key",
    target_honours_key=True,
    timeout=TIMEOUT,
    approval=ApprovalRule(argument="amount_cents", above=APPROVAL_ABOVE_CENTS),
)

QUEUE_FOR_PERSON = ToolContract(
    name="queue_for_person",
    version="1.0",
    description="Put a document before a person, with the reason why you could not post it.",
    input_schema=_schema(
        document_id=_text("The name of the document, as in the task"),
        reason=_text("Why, in one or two sentences", longest=1000),
    ),
    roles=(ROLE,),
    side_effect=SideEffect.REVERSIBLE,
    timeout=TIMEOUT,
)


def tools(documents: Sequence[Document], erp: Erp) -> tuple[Tool, ...]:
    """The tools over this inbox and this ERP."""
    inbox: Mapping[str, Document] = {document.id: document for document in documents}

    def invoice_get(arguments: dict[str, JsonValue], caller: Caller) -> JsonValue:
        document = _document(inbox, arguments)
        return {"format": document.format, "text": document.text}

    def po_get(arguments: dict[str, JsonValue], caller: Caller) -> JsonValue:
        order = erp.order(str(arguments["po"]))
        if order is None:
            raise ToolError(f"there is no purchase order {arguments['po']}; check the number")
        return order.model_dump(mode="json", exclude={"tenant"})

    def erp_post_invoice(arguments: dict[str, JsonValue], caller: Caller) -> JsonValue:
        amount = arguments["amount_cents"]
        if type(amount) is not int:  # the schema holds this; money is not left to one check
            raise ToolError("amount_cents is no whole number; nothing was posted")
        posting = erp.post(
            tenant=caller.tenant,
            po=str(arguments["po"]),
            invoice=str(arguments["invoice_id"]),
            amount_cents=amount,
            currency=str(arguments["currency"]),
            key=str(arguments["idempotency_key"]),
        )
        return {"posted_as": posting.number, "po": posting.po, "amount_cents": posting.amount_cents}

    def queue_for_person(arguments: dict[str, JsonValue], caller: Caller) -> JsonValue:
        document = _document(inbox, arguments)
        parked = erp.park(document.id, caller.tenant, str(arguments["reason"]))
        return {"queued": parked.document, "reason": parked.reason}

    return (
        Tool(INVOICE_GET, invoice_get),
        Tool(PO_GET, po_get),
        Tool(ERP_POST_INVOICE, erp_post_invoice),
        Tool(QUEUE_FOR_PERSON, queue_for_person),
    )


def _document(inbox: Mapping[str, Document], arguments: dict[str, JsonValue]) -> Document:
    document = inbox.get(str(arguments["document_id"]))
    if document is None:
        raise ToolError(f"there is no document {arguments['document_id']!r}; use the name that the task gives")
    return document
