"""Guards: plain functions that each answer one question about a proposed call.

A dispatcher is an ordered list of them; the first one that does not allow the call has the last word.
Nothing here reads a prompt: a guard sees the validated arguments, the contract and the verified caller.
"""

import copy
from collections.abc import Callable
from typing import Literal

from pydantic import JsonValue

from agentlab.canonical import digest
from agentlab.dispatch.contract import ToolContract
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import ToolCall
from agentlab.shapes import Frozen


class Caller(Frozen):
    """On whose behalf a call is made. It comes from the verified identity, never from the model."""

    user: str
    roles: tuple[str, ...]
    tenant: str
    run: str


class Proposal(Frozen):
    """A call that the model proposes, with its arguments read. ``arguments`` is None where they could not be."""

    call: ToolCall
    arguments: dict[str, JsonValue] | None
    problem: str | None


def propose(call: ToolCall) -> Proposal:
    """Read the arguments of `call`; whether they fit the tool is for the guards.

    They are copied, so that nobody who holds the call can change them between the decision and the effect.
    """
    parsed = parse_arguments(call.arguments)
    return Proposal(call=call, arguments=copy.deepcopy(parsed.values), problem=parsed.problem)


class Allow(Frozen):
    """This guard has nothing against the call."""


class Deny(Frozen):
    """The call does not run. ``invalid`` tells a malformed call (mend it) from a forbidden one (do not try again)."""

    reason: str
    invalid: bool = False


class NeedsApproval(Frozen):
    """The call runs only after a person has approved exactly this ``call_id``."""

    call_id: str


Verdict = Allow | Deny | NeedsApproval
Guard = Callable[[Proposal, ToolContract | None, Caller], Verdict]
ApprovalState = Literal["absent", "pending", "approved", "denied", "expired", "used"]


def call_id(proposal: Proposal, contract: ToolContract, caller: Caller) -> str:
    """The identity of one exact call: SHA-256 over tool, contract, arguments, tenant, user and run, as canonical JSON.

    Any change, be it one cent or one word of the contract, gives another id; an approval for one is none for the other.
    """
    return digest([contract.name, contract.digest, proposal.arguments, caller.tenant, caller.user, caller.run])


def known_tool(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
    """Is there such a tool?"""
    if contract is None:
        return Deny(reason=f"unknown tool {proposal.call.name!r}; use one of the tools you were given", invalid=True)
    return Allow()


def valid_arguments(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
    """Do the arguments fit the schema, with no type bent to make them fit?"""
    if proposal.arguments is None:
        return Deny(reason=f"invalid arguments: {proposal.problem}", invalid=True)
    problems = contract.problems(proposal.arguments) if contract else []
    if problems:
        return Deny(reason="invalid arguments: " + "; ".join(problems), invalid=True)
    return Allow()


def role(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
    """Has the caller one of the roles that the contract names?"""
    if contract is None or not set(contract.roles) & set(caller.roles):
        return Deny(reason=f"denied: {caller.user} may not call {proposal.call.name}")
    return Allow()


def resource_scope(tenant_of: Callable[[str], str | None]) -> Guard:
    """Make the guard that asks: does the named record belong to the caller's tenant?

    `tenant_of` looks up the owner of a record, or returns None where there is no such record. Both are refused with the
    same words, so that a refusal does not tell which records other tenants have.
    """

    def resource_scope_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        if contract is None or contract.resource is None:
            return Allow()
        record = (proposal.arguments or {}).get(contract.resource)
        if not isinstance(record, str) or tenant_of(record) != caller.tenant:
            return Deny(reason=f"denied: there is no {contract.resource} {record!r} for this caller")
        return Allow()

    resource_scope_guard.__name__ = "resource_scope"
    return resource_scope_guard


def approval(state_of: Callable[[str], ApprovalState]) -> Guard:
    """Make the guard that asks: does this call need a person, and has one approved exactly this call?

    A used approval passes here because the ledger answers such a call with its first result; it can start nothing new
    (`Dispatcher.run` consumes an approval in the same transaction that reserves the key).
    """

    def approval_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        if contract is None or contract.approval is None:
            return Allow()
        amount = (proposal.arguments or {}).get(contract.approval.argument)
        if type(amount) is int and amount <= contract.approval.above:
            return Allow()
        identity = call_id(proposal, contract, caller)
        state = state_of(identity)
        if state in ("approved", "used"):
            return Allow()
        if state == "denied":
            return Deny(reason="denied: a person looked at exactly this call and refused it")
        # An expired request says nothing about the call: a person is asked anew.
        return NeedsApproval(call_id=identity)

    approval_guard.__name__ = "approval"
    return approval_guard
