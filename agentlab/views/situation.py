"""One proposal in all its circumstances, put through the gateway's seven guards and the ledger.

What is chosen here is what the console of lesson 02 has buttons for.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from agentlab.dispatch.approvals import DAY, Approvals
from agentlab.dispatch.config import build_guards, load_config
from agentlab.dispatch.dispatcher import Dispatcher, Tool
from agentlab.dispatch.guards import Caller, call_id, propose
from agentlab.dispatch.ledger import Ledger
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views.company import CALLERS, CONFIG, TENANT_OF, Who, contracts
from agentlab.views.dispatch import MORNING, Arguments, Seen, sentence, steps
from agentlab.views.proposals import post_invoice
from agentlab.views.records import shortened
from agentlab.views.tables import Table

ToolName = Literal["erp_post_invoice", "erp_close_year", "erp_delete_invoice"]
Invoice = Literal["INV-1042", "INV-2001 of another tenant", "INV-9999 that is not there"]
SentAs = Literal["whole number", "text", "true", "whole number, and approved: true"]
Approved = Literal["nothing", "this call", "another amount", "refused", "expired"]
Earlier = Literal["nothing", "the same call", "the key with another amount", "the same call, cut off"]

HOUR = 3_600.0
POST = "erp_post_invoice"


class Situation(NamedTuple):
    """One proposal: who is behind it, what it says, and what has happened before.

    ``calls_before``: how often this user has called the tool in the minute before. ``seconds_left``: how long the run
    may still take. ``approved``: what a person has said. ``earlier``: what was done under the same key an hour before.
    """

    caller: Who = "clerk"
    tool: ToolName = "erp_post_invoice"
    invoice: Invoice = "INV-1042"
    amount_cents: int = 120_000
    sent_as: SentAs = "whole number"
    calls_before: int = 0
    seconds_left: int = 60
    approved: Approved = "nothing"
    earlier: Earlier = "nothing"

    @property
    def arguments(self) -> Arguments:
        """The arguments as they are sent."""
        sent: dict[SentAs, JsonValue] = {"text": str(self.amount_cents), "true": True}
        wish: Arguments = {"approved": True} if "approved" in self.sent_as else {}
        return {**self._of(0), "amount_cents": sent.get(self.sent_as, self.amount_cents), **wish}

    @property
    def well_formed(self) -> Arguments:
        """The same call with its amount as a whole number and nothing added."""
        return self._of(self.amount_cents)

    @property
    def other_amount(self) -> Arguments:
        """A well-formed call with the same key and another amount: one cent less, where there is less."""
        return self._of(self.amount_cents - 1 if self.amount_cents > 1 else self.amount_cents + 1)

    def _of(self, amount_cents: int) -> Arguments:
        return {"invoice_id": self.invoice.split()[0], "amount_cents": amount_cents, "idempotency_key": "k-1"}


def outcome(situation: Situation, config: dict[str, Any] = CONFIG) -> Seen:
    """Dispatch the proposal through the guards of `config` and the ledger, on a database in memory, at a fixed time.

    Raises AgentlabError for a configuration that cannot be loaded.
    """
    loaded = load_config(config, contracts())
    now = MORNING
    engine = open_store("sqlite://")
    try:
        approvals = Approvals(engine, lambda: now, valid_for=DAY)
        ledger = Ledger(engine, lambda: now)
        posted: list[Arguments] = []

        def book(values: Arguments, caller: Caller) -> JsonValue:
            posted.append(values)
            return {"status": "posted", "posting": len(posted)}

        def book_and_break(values: Arguments, caller: Caller) -> JsonValue:
            book(values, caller)
            raise ConnectionError("the line went dead after the ERP had posted")

        if situation.earlier != "nothing":
            now = MORNING - HOUR
            before = situation.other_amount if "another amount" in situation.earlier else situation.well_formed
            _person_says(approvals, before, CALLERS["clerk"], yes=True)
            tool = Tool(post_invoice(), book_and_break if "cut off" in situation.earlier else book)
            # Without guards, for whatever they are now: what has happened has happened.
            Dispatcher([tool], (), ledger, approvals).dispatch(_call("earlier", POST, before), CALLERS["clerk"])
        caller = CALLERS[situation.caller]
        if situation.approved != "nothing":
            now = MORNING - (DAY if situation.approved == "expired" else HOUR)
            meant = situation.other_amount if situation.approved == "another amount" else situation.arguments
            _person_says(approvals, meant, caller, yes=situation.approved != "refused")
        now = MORNING
        guards = build_guards(
            loaded,
            contracts(),
            tenant_of=TENANT_OF.get,
            approvals=approvals,
            clock=lambda: now,
            seconds_left=lambda caller: situation.seconds_left,
        )
        tools = [Tool(contract, book) for contract in contracts()]
        dispatcher = Dispatcher(tools, guards, ledger, approvals)
        for number in range(situation.calls_before):
            dispatcher.decide(_call(f"before_{number}", POST, situation.well_formed), caller)
        ran_before = len(posted)
        receipt = dispatcher.dispatch(_call("now", situation.tool, situation.arguments), caller).receipt
    finally:
        engine.dispose()
    return Seen(steps(loaded.guards, receipt), receipt, len(posted) - ran_before)


def situations_table(situations: Sequence[tuple[str, Situation]], config: dict[str, Any] = CONFIG) -> Table:
    """One situation in each row: who had the last word, and what the model reads."""
    seen = [(said, outcome(situation, config)) for said, situation in situations]
    rows = tuple(
        (said, one.receipt.guard or "the key", one.receipt.outcome.value, shortened(one.receipt.detail))
        for said, one in seen
    )
    columns = ("proposal", "who answers", "outcome", "what the model reads")
    return Table("Who answers", columns, rows, words=columns[1:])


def said(**settings: Any) -> str:
    """Who had the last word on the proposal with these settings, in a sentence."""
    return sentence(outcome(Situation(**settings)))


def _person_says(approvals: Approvals, values: Arguments, caller: Caller, yes: bool) -> None:
    """A lead answers the request for this call, unless one has been answered before."""
    proposal = propose(_call("asked", POST, values))
    identity = call_id(proposal, post_invoice(), caller)
    if approvals.state(identity) == "absent":
        approvals.request(proposal, post_invoice(), caller)
        approvals.decide(identity, "lead", approve=yes)


def _call(number: str, tool: str, arguments: Arguments) -> ToolCall:
    return ToolCall(id=number, name=tool, arguments=arguments)
