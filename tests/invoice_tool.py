"""The one tool of the source's dispatcher, as the tests of dispatch and loop use it."""

from typing import TYPE_CHECKING, Any

from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.contract import ApprovalRule, SideEffect, ToolContract
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.progress import RunResult
from agentlab.messages.conversation import ToolCall
from agentlab.messages.models import Model
from agentlab.store import open_store

if TYPE_CHECKING:
    from sqlalchemy import Engine

CLERK = Caller(user="agent", roles=("ap_clerk",), tenant="north", run="run-1")
INTERN = Caller(user="intern", roles=("reader",), tenant="north", run="run-1")


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Erp:
    """Counts what was posted; can be told to fail."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        self.raises: BaseException | None = None

    def post(self, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        if self.raises is not None:
            raise self.raises
        self.posted.append(arguments)
        return {"status": "posted", "invoice_id": arguments["invoice_id"]}


def post_contract(**changes: Any) -> ToolContract:
    fields: dict[str, Any] = {
        "name": "erp_post_invoice",
        "version": "1",
        "description": "Post an invoice to the ERP.",
        "input_schema": {
            "type": "object",
            "properties": {
                "invoice_id": {"type": "string"},
                "amount_cents": {"type": "integer", "exclusiveMinimum": 0},
                "idempotency_key": {"type": "string", "minLength": 1},
            },
            "required": ["invoice_id", "amount_cents", "idempotency_key"],
            "additionalProperties": False,
        },
        "roles": ("ap_clerk",),
        "side_effect": SideEffect.CONSEQUENTIAL,
        "idempotency_key": "idempotency_key",
        "approval": ApprovalRule(argument="amount_cents", above=500_000),
    }
    return ToolContract(**(fields | changes))


def post_call(number: int = 1, **arguments: Any) -> ToolCall:
    defaults = {"invoice_id": "INV-1", "amount_cents": 120_000, "idempotency_key": "key-1"}
    return ToolCall(id=f"call_{number}", name="erp_post_invoice", arguments=defaults | arguments)


def read_contract(**changes: Any) -> ToolContract:
    """The contract of a tool that reads, takes anything, and changes nothing."""
    fields: dict[str, Any] = {
        "name": "read",
        "version": "1",
        "description": "Read.",
        "input_schema": {"type": "object"},
        "roles": ("ap_clerk",),
        "side_effect": SideEffect.READ_ONLY,
    }
    return ToolContract(**(fields | changes))


def run_posting(model: Model, erp: Erp) -> RunResult:
    """A run of `model` on the posting tool of `erp`."""
    return run_task(
        "Post the invoice.",
        run_id="run-1",
        budgets=Budgets(model_calls=9, tokens=99_999, seconds=99.0),
        model=model,
        dispatcher=make_dispatcher(erp=erp),
        caller=CLERK,
        clock=Clock(),
    )


def make_dispatcher(
    *more_tools: Tool,
    erp: Erp | None = None,
    url: str = "sqlite://",
    engine: "Engine | None" = None,
    clock: Clock | None = None,
    **changes: Any,
) -> Dispatcher:
    engine = engine or open_store(url)
    clock = clock or Clock()
    approvals = Approvals(engine, clock)
    tools = [Tool(post_contract(**changes), (erp or Erp()).post), *more_tools]
    return Dispatcher(tools, four_guards(approvals), Ledger(engine, clock), approvals)
