"""Guards: plain functions that each answer one question about a proposed call.

A dispatcher is an ordered list of them; the first one that does not allow the call has the last word.
Nothing here reads a prompt: a guard sees the validated arguments, the contract and the verified caller.
Here are the four of the first dispatcher and the owner of a record; the rest of the gateway is in `gateway.py`.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from pydantic import JsonValue

from agentlab.canonical import canonical_json, read_canonical, write_canonical
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import ToolCall
from agentlab.shapes import Frozen


class Caller(Frozen):
    """On whose behalf a call is made. It comes from the verified identity, never from the model."""

    user: str
    roles: tuple[str, ...]
    tenant: str
    run: str


class Proposal(NamedTuple):
    """A call that the model proposes, with its arguments read.

    ``text`` is the canonical JSON of ``arguments``: a person who approves is shown it, digests are made of it, and the
    tool is given what it says. Both are None where the arguments could not be read; then ``problem`` says why.
    """

    call: ToolCall
    arguments: dict[str, JsonValue] | None
    text: str | None
    problem: str | None


def propose(call: ToolCall) -> Proposal:
    """Read the arguments of `call`; whether they fit the tool is for the guards.

    They are read from their canonical text, so that what is decided on, shown and run is one and the same, and nobody
    who holds the call can change it in between.
    """
    values, problem = parse_arguments(call.arguments)
    if values is None:
        return Proposal(call, None, None, problem)
    text = write_canonical(values)  # the parser has refused what is no JSON
    return Proposal(call, read_canonical(text), text, None)


@dataclass(frozen=True, slots=True)
class Allow:
    """This guard has nothing against the call."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run. ``invalid`` tells a malformed call (mend it) from a forbidden one (do not try again)."""

    reason: str
    invalid: bool = False


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """The call runs only after a person has approved exactly this ``call_id``."""

    call_id: str


ALLOW = Allow()
"""The one answer of every guard that has nothing to object."""

Verdict = Allow | Deny | NeedsApproval
Guard = Callable[[Proposal, ToolContract | None, Caller], Verdict]
ApprovalState = Literal["absent", "pending", "approved", "denied", "expired", "used"]


def call_id(proposal: Proposal, contract: ToolContract, caller: Caller) -> str:
    """The identity of one exact call: SHA-256 over tool, contract, arguments, tenant, user and run, as canonical JSON.

    Any change, be it one cent or one word of the contract, gives another id; an approval for one is none for the other.
    """
    text = "null" if proposal.text is None else proposal.text
    return _identity(contract.name, contract.digest, text, caller.tenant, caller.user, caller.run)


def identity_of(tool: str, contract: str, arguments: JsonValue, tenant: str, user: str, run: str) -> str:
    """The same id from its parts, for one who holds a record and no proposal; `contract` is the contract's digest."""
    return _identity(tool, contract, canonical_json(arguments), tenant, user, run)


def _identity(tool: str, contract: str, arguments: str, tenant: str, user: str, run: str) -> str:
    # The list [tool, contract, arguments, tenant, user, run] as canonical JSON, of which only the arguments are new.
    return hashlib.sha256(f"[{_items(tool, contract)},{arguments},{_items(tenant, user, run)}]".encode()).hexdigest()


@lru_cache(maxsize=1024)
def _items(*texts: str) -> str:
    return canonical_json(list(texts))[1:-1]


def known_tool(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
    """Is there such a tool, and is it one that may run at all?"""
    if contract is None:
        return Deny(reason=f"unknown tool {proposal.call.name!r}; use one of the tools you were given", invalid=True)
    if contract.side_effect is SideEffect.PROHIBITED:
        return Deny(reason=f"denied: {contract.name} is prohibited for everyone")
    return ALLOW


def valid_arguments(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
    """Do the arguments fit the schema, with no type bent to make them fit?"""
    if proposal.arguments is None:
        return Deny(reason=f"invalid arguments: {proposal.problem}", invalid=True)
    problems = contract.problems(proposal.arguments) if contract else []
    if problems:
        return Deny(reason="invalid arguments: " + "; ".join(problems), invalid=True)
    return ALLOW


def role(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
    """Has the caller one of the roles that the contract names?"""
    for each in caller.roles:
        if contract is not None and each in contract.roles:
            return ALLOW
    return Deny(reason=f"denied: {caller.user} may not call {proposal.call.name}")


def resource_scope(tenant_of: Callable[[str], str | None]) -> Guard:
    """Make the guard that asks: does the named record belong to the caller's tenant?

    `tenant_of` looks up the owner of a record, or returns None where there is no such record. Both are refused with the
    same words, so that a refusal does not tell which records other tenants have.
    """

    def resource_scope_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        if contract is None or contract.resource is None:
            return ALLOW
        record = (proposal.arguments or {}).get(contract.resource)
        if not isinstance(record, str) or tenant_of(record) != caller.tenant:
            return Deny(reason=f"denied: there is no {contract.resource} {record!r} for this caller")
        return ALLOW

    resource_scope_guard.__name__ = "resource_scope"
    return resource_scope_guard


def needs_person(proposal: Proposal, contract: ToolContract) -> bool:
    """Whether the contract wants a person's word on this call. An amount that is no whole number wants one too."""
    rule = contract.approval
    if rule is None or rule == "always":
        return rule == "always"
    amount = (proposal.arguments or {}).get(rule.argument)
    return type(amount) is not int or amount > rule.above


def approval(state_of: Callable[[str], ApprovalState]) -> Guard:
    """Make the guard that asks: does this call need a person, and has one approved exactly this call?

    A used approval passes here because the ledger answers such a call with its first result; it can start nothing new
    (`Dispatcher.run` consumes an approval in the same transaction that reserves the key).
    """

    def approval_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        if contract is None or not needs_person(proposal, contract):
            return ALLOW
        identity = call_id(proposal, contract, caller)
        state = state_of(identity)
        if state in ("approved", "used"):
            return ALLOW
        if state == "denied":
            return Deny(reason="denied: a person looked at exactly this call and refused it")
        # An expired request says nothing about the call: a person is asked anew.
        return NeedsApproval(call_id=identity)

    approval_guard.__name__ = "approval"
    return approval_guard
