"""The dispatcher: the one path that every tool call takes. It decides, runs, and leaves a receipt."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import JsonValue

from agentlab.canonical import canonical_json, digest
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.deadlines import Clock, DeadlinePassedError, Within, call_within
from agentlab.dispatch.envelope import Envelope, error_of, pack
from agentlab.dispatch.guards import (
    ALLOW,
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
    needs_person,
    propose,
    role,
    valid_arguments,
)
from agentlab.dispatch.ledger import SUCCEEDED, Ledger, Outcome, Receipt, Reservation
from agentlab.dispatch.tools import Answer, BadResultError, LateToolError, Pause, call_tool, check_tool

# A tool and its error are named here too, because whoever builds a dispatcher needs both.
from agentlab.dispatch.tools import Tool as Tool
from agentlab.dispatch.tools import ToolError as ToolError
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall, ToolResult

if TYPE_CHECKING:
    from sqlalchemy import Connection

REPEATED_CALL = "repeated_call"
"""Stands in a receipt in place of a guard's name where the loop itself refused the call."""


class Decision(NamedTuple):
    """What the guards said of one proposal, and which of them had the last word (None when all allowed it).

    It is a record and no ticket: `Dispatcher.run` asks the guards again.
    """

    proposal: Proposal
    caller: Caller
    verdict: Verdict
    guard: str | None
    call_id: str | None
    ends_run: bool = False


class Dispatched(NamedTuple):
    """What goes back to the model, the receipt that stays, and the result with data, explanation and error apart."""

    result: ToolResult
    receipt: Receipt
    envelope: Envelope


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
        *,
        clock: Clock = time.monotonic,
        keep: Callable[[Caller, str], str] | None = None,
        within: Within[Answer] = call_within,
        pause: Pause = time.sleep,
    ) -> None:
        """`keep` stores a result that is too long for the model, for its caller, and returns a handle to it.

        `clock` gives the seconds that deadlines are told in, `within` waits for a tool with a timeout, and `pause`
        waits between two attempts. Raises AgentlabError where two tools have one name, or a tool's function cannot be
        called as its contract says.
        """
        self._tools: Mapping[str, Tool] = {tool.contract.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise AgentlabError("two tools have the same name; a tool's name must be unique")
        for tool in tools:
            check_tool(tool)
        # Two hold whatever list of guards was given: no contract or no valid arguments, no call.
        always = [guard for guard in (known_tool, valid_arguments) if guard not in guards]
        self._guards = tuple((_name(guard), guard) for guard in (*guards, *always))
        self._keep = keep
        self._clock = clock
        self._within = within
        self._pause = pause
        self.ledger = ledger
        self.approvals = approvals

    @property
    def contracts(self) -> tuple[ToolContract, ...]:
        """The contracts of all tools, in the order in which they were given."""
        return tuple(tool.contract for tool in self._tools.values())

    @property
    def guards(self) -> tuple[str, ...]:
        """The names of the guards, in the order in which they are asked."""
        return tuple(name for name, _ in self._guards)

    def dispatch(self, call: ToolCall, caller: Caller) -> Dispatched:
        """Decide, and run what is allowed."""
        decision = self.decide(call, caller)
        return self._run(decision) if type(decision.verdict) is Allow else self.refuse(decision)

    def decide(self, call: ToolCall, caller: Caller, repeat: str | None = None) -> Decision:
        """Ask the guards in order; the first that does not allow the call has the last word. Nothing runs here.

        `repeat` is the loop's own reason to refuse the call: it has been made before in this run.
        """
        return self._decide(propose(call), caller, repeat)

    def _decide(self, proposal: Proposal, caller: Caller, repeat: str | None = None) -> Decision:
        tool = self._tools.get(proposal.call.name)
        contract = tool.contract if tool else None
        identity = None if contract is None or proposal.text is None else call_id(proposal, contract, caller)
        if repeat is not None:
            return Decision(proposal, caller, Deny(repeat, invalid=True), REPEATED_CALL, identity)
        for name, guard in self._guards:
            verdict = guard(proposal, contract, caller)
            if type(verdict) is Allow:
                continue
            if isinstance(verdict, NeedsApproval) and tool is not None:
                if self._starts_nothing_new(tool, proposal, caller):
                    # The key has been used. Whatever the ledger says of this call, nobody need be asked about it.
                    continue
            elif not isinstance(verdict, Deny):
                # None, True or a text is no answer that a guard can give. A gate that is broken is shut.
                verdict = Deny(f"denied: the guard {name} gave no answer")
            is_abuse = isinstance(verdict, Deny) and not verdict.invalid
            ends_run = is_abuse and contract is not None and contract.denial_ends_run
            return Decision(proposal, caller, verdict, name, identity, ends_run)
        return Decision(proposal, caller, ALLOW, None, identity)

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
        """Run an allowed call, at most once for its key.

        The guards are asked again, since a role may have been taken away or an approval used up after the decision; if
        one objects now, its refusal is the answer. Raises AgentlabError for a decision that did not allow the call, or
        that was changed.
        """
        proposal = decision.proposal
        if type(decision.verdict) is not Allow or proposal.arguments is None:
            raise AgentlabError("this call was not allowed; only an allowed call runs")
        again = self._decide(proposal, decision.caller)
        if again.call_id != decision.call_id or canonical_json(proposal.arguments) != proposal.text:
            raise AgentlabError("this call was changed after it was decided; decide it again")
        return self._run(again) if type(again.verdict) is Allow else self.refuse(again)

    def _run(self, decision: Decision) -> Dispatched:
        tool = self._tools[decision.proposal.call.name]
        arguments = decision.proposal.arguments or {}
        key = _key(tool.contract, arguments)
        if key is None:
            return self._execute(tool, decision)
        reservation = self.ledger.reserve(
            decision.proposal, decision.caller, key, decision.call_id, self._approval_to_use(tool, decision)
        )
        if reservation.state == "new" or (reservation.state == "open" and tool.contract.target_honours_key):
            return self._execute(tool, decision, key, is_first=reservation.state == "new")
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
        return decision.call_id if needs_person(decision.proposal, tool.contract) else None

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

    def _execute(self, tool: Tool, decision: Decision, key: str | None = None, *, is_first: bool = True) -> Dispatched:
        contract, caller = tool.contract, decision.caller
        keep = self._keep
        try:
            value = call_tool(
                tool, decision.proposal.text or "{}", caller, clock=self._clock, within=self._within, pause=self._pause
            )
            packed = pack(value, contract.result.most_characters, keep and (lambda whole: keep(caller, whole)))
        except ToolError as error:
            if not is_first or isinstance(error, LateToolError):
                # This attempt did nothing. The one before it, which left the key open, may have.
                reason = f"outcome unknown: {error}; an earlier attempt has left no result, a person must look"
                return self._settle(decision, Outcome.UNKNOWN, reason)
            if key is None:
                return self._settle(decision, Outcome.FAILED, str(error))
            give_back = self._approval_to_return(tool, decision)
            receipt = self.ledger.release(
                self._evidence(decision), caller, key, str(error), decision.call_id, give_back
            )
            return _dispatched(decision, receipt)
        except Exception as error:  # noqa: BLE001  a tool is foreign code; whatever it raises becomes a receipt
            return self._settle(decision, *_broken_off(contract, error))
        if key is None:
            return self._settle(decision, Outcome.EXECUTED, packed.content, packed.envelope)
        # Result and receipt are one transaction: a crash leaves both or neither.
        receipt = self.ledger.finish(self._evidence(decision), caller, key, packed.content, decision.call_id)
        return _dispatched(decision, receipt, packed.envelope if receipt.outcome is Outcome.EXECUTED else None)

    def _settle(
        self, decision: Decision, outcome: Outcome, content: str, envelope: Envelope | None = None
    ) -> Dispatched:
        receipt = self.ledger.record(
            self._evidence(decision), decision.caller, outcome, content, decision.guard, decision.call_id
        )
        return _dispatched(decision, receipt, envelope)

    def _evidence(self, decision: Decision) -> Proposal:
        """The proposal as its receipt keeps it."""
        proposal = decision.proposal
        tool = self._tools.get(proposal.call.name)
        hidden = tool.contract.evidence.hidden_arguments if tool else ()
        if not hidden or proposal.arguments is None:
            return proposal
        shown = {
            name: f"sha256:{digest(value)}" if name in hidden else value for name, value in proposal.arguments.items()
        }
        return proposal._replace(arguments=shown, text=canonical_json(shown))


def _dispatched(decision: Decision, receipt: Receipt, envelope: Envelope | None = None) -> Dispatched:
    failed = receipt.outcome not in SUCCEEDED
    result = ToolResult(call_id=decision.proposal.call.id, content=receipt.detail, is_error=failed)
    if envelope is None:
        # A first result that is returned again comes from the ledger, which keeps it as it was sent: as text.
        envelope = error_of(receipt.outcome, receipt.detail) if failed else Envelope(data=receipt.detail)
    return Dispatched(result, receipt, envelope)


def _broken_off(contract: ToolContract, error: Exception) -> tuple[Outcome, str]:
    """What is known of a call that ended without an answer. A time-out is no refusal, and no proof of failure."""
    # The model gets the kind of error only: its text may hold paths, addresses or secrets of the host.
    what = f"the tool broke off ({type(error).__name__})"
    if isinstance(error, BadResultError):
        what = f"the result of the tool does not fit its output schema ({error}) and was not used"
    elif isinstance(error, DeadlinePassedError) and contract.timeout is not None:
        what = f"timeout, no answer within {contract.timeout.seconds:g} seconds"
    if contract.side_effect is SideEffect.READ_ONLY:
        return Outcome.FAILED, f"the tool failed: {what}"
    return Outcome.UNKNOWN, f"outcome unknown: {what}; do not repeat the call, a person must look"


def _name(guard: Guard) -> str:
    return getattr(guard, "__name__", type(guard).__name__)


def _key(contract: ToolContract, arguments: dict[str, JsonValue]) -> str | None:
    if contract.idempotency_key is None:
        return None
    value = arguments[contract.idempotency_key]
    return value if isinstance(value, str) else canonical_json(value)
