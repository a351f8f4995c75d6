"""The dispatcher: the one path that every tool call takes. It decides, runs, and leaves a receipt."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import JsonValue

from agentlab.canonical import canonical_json
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.guards import (
    Allow,
    Caller,
    Deny,
    Guard,
    NeedsApproval,
    Proposal,
    Verdict,
    approval,
    call_id,
    known_tool,
    propose,
    role,
    valid_arguments,
)
from agentlab.dispatch.ledger import SUCCEEDED, Ledger, Outcome, Receipt, Reservation, storable
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall, ToolResult
from agentlab.shapes import Frozen

if TYPE_CHECKING:
    from sqlalchemy import Connection

ToolFunction = Callable[[dict[str, JsonValue], Caller], JsonValue]
"""What a tool does: validated arguments and the verified caller in, a JSON value out."""


REPEATED_CALL = "repeated_call"
"""Stands in a receipt in place of a guard's name where the loop itself refused the call."""


class ToolError(Exception):
    """A tool says: I did nothing, and here is why, in words for the model (a business rule, a missing record).

    Any other exception of a consequential tool leaves its outcome unknown, because the effect may have happened.
    """


class Tool(NamedTuple):
    """A contract and the function behind it."""

    contract: ToolContract
    function: ToolFunction


class Decision(Frozen):
    """What the guards said of one proposal, and which of them had the last word (None when all allowed it)."""

    proposal: Proposal
    caller: Caller
    verdict: Verdict
    guard: str | None
    call_id: str | None
    ends_run: bool = False


class Dispatched(NamedTuple):
    """What goes back to the model, and the receipt that stays."""

    result: ToolResult
    receipt: Receipt


def four_guards(approvals: Approvals) -> tuple[Guard, ...]:
    """The guards of the first dispatcher, in their order: known tool, arguments, role, approval."""
    return known_tool, valid_arguments, role, approval(approvals.state)


class Dispatcher:
    """Tools behind guards, over a ledger. The guards are a plain list: what is not in it does not protect."""

    def __init__(
        self,
        tools: Sequence[Tool],
        guards: Sequence[Guard],
        ledger: Ledger,
        approvals: Approvals,
    ) -> None:
        """Raises AgentlabError where two tools have one name."""
        self._tools: Mapping[str, Tool] = {tool.contract.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise AgentlabError("two tools have the same name; a tool's name must be unique")
        self._guards = tuple(guards)
        self.ledger = ledger
        self.approvals = approvals

    @property
    def contracts(self) -> tuple[ToolContract, ...]:
        """The contracts of all tools, in the order in which they were given."""
        return tuple(tool.contract for tool in self._tools.values())

    def dispatch(self, call: ToolCall, caller: Caller) -> Dispatched:
        """Decide, and run what is allowed."""
        decision = self.decide(call, caller)
        return self.run(decision) if isinstance(decision.verdict, Allow) else self.refuse(decision)

    def decide(self, call: ToolCall, caller: Caller, repeat: str | None = None) -> Decision:
        """Ask the guards in order; the first that does not allow the call has the last word. Nothing runs here.

        `repeat` is the loop's own reason to refuse the call: it has been made before in this run.
        """
        proposal = propose(call)
        tool = self._tools.get(call.name)
        contract = tool.contract if tool else None
        identity = call_id(proposal, contract, caller) if contract and proposal.arguments is not None else None
        verdict: Verdict = Allow()
        name: str | None = None
        # The two at the end hold whatever list of guards was given: no contract or no arguments, no call.
        guards = (*self._guards, known_tool, valid_arguments)
        if repeat is not None:
            verdict, name, guards = Deny(reason=repeat, invalid=True), REPEATED_CALL, ()
        for guard in guards:
            verdict = guard(proposal, contract, caller)
            if not isinstance(verdict, Allow):
                name = getattr(guard, "__name__", type(guard).__name__)
                break
        if isinstance(verdict, NeedsApproval) and tool is not None and self._starts_nothing_new(tool, proposal, caller):
            # The key has been used. Whatever the ledger says of this call, nobody need be asked about it.
            verdict, name = Allow(), None
        ends_run = (
            isinstance(verdict, Deny) and not verdict.invalid and contract is not None and contract.denial_ends_run
        )
        return Decision(
            proposal=proposal, caller=caller, verdict=verdict, guard=name, call_id=identity, ends_run=ends_run
        )

    def refuse(self, decision: Decision) -> Dispatched:
        """Answer a call that does not run, and write its receipt. A call that needs a person opens a request."""
        verdict = decision.verdict
        if isinstance(verdict, NeedsApproval):
            tool = self._tools[decision.proposal.call.name]
            self.approvals.request(decision.proposal, tool.contract, decision.caller)
            return self._settle(decision, Outcome.PENDING, f"approval required: {verdict.call_id}")
        if isinstance(verdict, Deny):
            outcome = Outcome.INVALID if verdict.invalid else Outcome.DENIED
            return self._settle(decision, outcome, verdict.reason)
        raise AgentlabError("this call was allowed; run it instead of refusing it")

    def not_approved(self, decision: Decision, answer: Literal["denied", "expired"]) -> Dispatched:
        """Answer a call that a person refused, or that nobody looked at in time. The two are never the same record."""
        if answer == "denied":
            return self._settle(decision, Outcome.DENIED, "denied: a person looked at exactly this call and refused it")
        return self._settle(decision, Outcome.EXPIRED, "not approved: nobody answered in time; the request stays open")

    def run(self, decision: Decision) -> Dispatched:
        """Run an allowed call, at most once for its key."""
        tool = self._tools.get(decision.proposal.call.name)
        arguments = decision.proposal.arguments
        if not isinstance(decision.verdict, Allow) or tool is None or arguments is None:
            raise AgentlabError("this call was not allowed; only an allowed call runs")
        if call_id(decision.proposal, tool.contract, decision.caller) != decision.call_id:
            raise AgentlabError("this call was changed after it was decided; decide it again")
        key = _key(tool.contract, arguments)
        if key is None:
            return self._execute(tool, decision, arguments)
        reservation = self.ledger.reserve(
            decision.proposal, decision.caller, key, decision.call_id, self._approval_to_use(tool, decision)
        )
        if reservation.state == "new" or (reservation.state == "open" and tool.contract.target_honours_key):
            return self._execute(tool, decision, arguments, key, is_first=reservation.state == "new")
        return self._without_effect(decision, key, reservation)

    def _starts_nothing_new(self, tool: Tool, proposal: Proposal, caller: Caller) -> bool:
        key = None if proposal.arguments is None else _key(tool.contract, proposal.arguments)
        return key is not None and self.ledger.is_used(proposal, caller, key)

    def _approval_to_use(self, tool: Tool, decision: Decision) -> "Callable[[Connection], bool] | None":
        identity = self._approval_of(tool, decision)
        return None if identity is None else lambda connection: self.approvals.use(connection, identity)

    def _approval_to_return(self, tool: Tool, decision: Decision) -> "Callable[[Connection], None] | None":
        identity = self._approval_of(tool, decision)
        return None if identity is None else lambda connection: self.approvals.give_back(connection, identity)

    def _approval_of(self, tool: Tool, decision: Decision) -> str | None:
        """The id of the approval that this call needs, whatever list of guards was given; None if it needs none."""
        asked = approval(lambda _: "absent")(decision.proposal, tool.contract, decision.caller)
        return asked.call_id if isinstance(asked, NeedsApproval) else None

    def _without_effect(self, decision: Decision, key: str, reservation: Reservation) -> Dispatched:
        if reservation.state == "done":
            return self._settle(decision, Outcome.REPLAYED, reservation.result or "")
        if reservation.state == "conflict":
            reason = (
                f"the key {key!r} was used for another payload ({reservation.first_payload[:12]}, now "
                f"{reservation.payload[:12]}); do not try another key, a person must look"
            )
            return self._settle(decision, Outcome.CONFLICT, reason)
        if reservation.state == "unapproved":
            if decision.call_id is not None and self.approvals.state(decision.call_id) == "expired":
                return self.not_approved(decision, "expired")
            return self._settle(
                decision, Outcome.DENIED, "denied: there is no approval for this call that is still good"
            )
        reason = (
            f"outcome unknown: an earlier call with the key {key!r} has left no result; do not repeat it, "
            "a person must look"
        )
        return self._settle(decision, Outcome.UNKNOWN, reason)

    def _execute(
        self,
        tool: Tool,
        decision: Decision,
        arguments: dict[str, JsonValue],
        key: str | None = None,
        *,
        is_first: bool = True,
    ) -> Dispatched:
        try:
            # A copy: what the tool does to its arguments must not change what the receipt says was proposed.
            value = tool.function(copy.deepcopy(arguments), decision.caller)
            content = storable(value) if isinstance(value, str) else canonical_json(value)
        except ToolError as error:
            if not is_first:
                # This attempt did nothing. The one before it, which left the key open, may have.
                reason = f"outcome unknown: {error}; an earlier attempt has left no result, a person must look"
                return self._settle(decision, Outcome.UNKNOWN, reason)
            if key is None:
                return self._settle(decision, Outcome.FAILED, str(error))
            give_back = self._approval_to_return(tool, decision)
            receipt = self.ledger.release(
                decision.proposal, decision.caller, key, str(error), decision.call_id, give_back
            )
            return _dispatched(decision, receipt)
        except Exception as error:  # noqa: BLE001  a tool is foreign code; whatever it raises becomes a receipt
            # The model gets the kind of error only: its text may hold paths, addresses or secrets of the host.
            kind = type(error).__name__
            if tool.contract.side_effect is SideEffect.READ_ONLY:
                return self._settle(decision, Outcome.FAILED, f"the tool failed ({kind})")
            reason = f"outcome unknown: the tool broke off ({kind}); do not repeat the call, a person must look"
            return self._settle(decision, Outcome.UNKNOWN, reason)
        if key is None:
            return self._settle(decision, Outcome.EXECUTED, content)
        # Result and receipt are one transaction: a crash leaves both or neither.
        receipt = self.ledger.finish(decision.proposal, decision.caller, key, content, decision.call_id)
        return _dispatched(decision, receipt)

    def _settle(self, decision: Decision, outcome: Outcome, content: str) -> Dispatched:
        receipt = self.ledger.record(
            decision.proposal, decision.caller, outcome, content, decision.guard, decision.call_id
        )
        return _dispatched(decision, receipt)


def _dispatched(decision: Decision, receipt: Receipt) -> Dispatched:
    failed = receipt.outcome not in SUCCEEDED
    result = ToolResult(call_id=decision.proposal.call.id, content=receipt.detail, is_error=failed)
    return Dispatched(result, receipt)


def _key(contract: ToolContract, arguments: dict[str, JsonValue]) -> str | None:
    if contract.side_effect is SideEffect.READ_ONLY or contract.idempotency_key is None:
        return None
    value = arguments[contract.idempotency_key]
    return value if isinstance(value, str) else canonical_json(value)
