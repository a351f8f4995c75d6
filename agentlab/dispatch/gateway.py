"""The gateway: the seven guards that stand between any agent and any tool, in the order in which they are asked.

identity, authorization, arguments, resource scope, rate limit, time-out, approval. Each is a function made from plain
data; three of them (arguments, resource scope, approval) are those of `guards.py`. `config.py` loads the list.
"""

import math
import threading
from collections.abc import Callable, Mapping

from agentlab.dispatch.contract import ToolContract
from agentlab.dispatch.deadlines import Clock
from agentlab.dispatch.guards import ALLOW, Caller, Deny, Guard, Proposal, Verdict, known_tool, role
from agentlab.dispatch.policy import AccessRequest, Decide
from agentlab.shapes import Frozen

ORDER = (
    "identity",
    "authorization",
    "valid_arguments",
    "resource_scope",
    "rate_limit",
    "timeout",
    "approval",
)
"""The names of the seven guards. Nobody is asked, and nothing is looked up, for a call that an earlier one refuses."""


class Identity(Frozen):
    """What is on record of one user: the tenants they work for, and the roles they hold there."""

    tenants: tuple[str, ...]
    roles: tuple[str, ...]


def identity(known: Mapping[str, Identity]) -> Guard:
    """Make the guard that asks: is the caller on record, with this tenant and these roles, and in a run?"""
    records = {user: (frozenset(who.tenants), frozenset(who.roles)) for user, who in known.items()}

    def identity_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        record = records.get(caller.user)
        if record is not None:
            tenants, roles = record
            if caller.tenant in tenants and roles.issuperset(caller.roles) and caller.run:
                return ALLOW
        return Deny(reason=f"denied: {caller.user!r} is not on record as this caller of {caller.tenant!r}")

    identity_guard.__name__ = "identity"
    return identity_guard


def authorization(decide: Decide) -> Guard:
    """Make the guard that asks: is there such a tool, has the caller a role for it, and does the policy permit it?

    The contract's roles are the most that a policy can permit.
    """

    def authorization_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        verdict = known_tool(proposal, contract, caller)
        if contract is None or verdict is not ALLOW:
            return verdict
        verdict = role(proposal, contract, caller)
        if verdict is not ALLOW:
            return verdict
        record = proposal.arguments.get(contract.resource) if contract.resource and proposal.arguments else None
        decision = decide(
            AccessRequest(
                caller.user,
                caller.roles,
                caller.tenant,
                contract.name,
                contract.side_effect,
                record if isinstance(record, str) else None,
            )
        )
        if decision.allowed is True:
            return ALLOW
        why = f"the rule {decision.rule!r} forbids it" if decision.rule else "no rule permits it"
        return Deny(reason=f"denied: {caller.user} may not call {contract.name}; {why}")

    authorization_guard.__name__ = "authorization"
    return authorization_guard


def rate_limit(clock: Clock) -> Guard:
    """Make the guard that asks: has this user called this tool too often, by the contract's limit?

    It counts each call once that gets as far as this guard, however often its decision is asked for, and counts none
    that it refuses. It remembers in this process: n processes let up to n times the limit pass.
    """
    # For each tenant, user and tool: the calls that passed within the limit's time, oldest first, and when.
    passed: dict[tuple[str, str, str], dict[tuple[str, str, str | None], float]] = {}
    lock = threading.Lock()

    def rate_limit_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        if contract is None or contract.rate_limit is None:
            return ALLOW
        limit, now = contract.rate_limit, clock()
        call = (caller.run, proposal.call.id, proposal.text)
        with lock:
            calls = passed.setdefault((caller.tenant, caller.user, contract.name), {})
            while calls and now - next(iter(calls.values())) >= limit.seconds:
                del calls[next(iter(calls))]
            if call in calls:
                return ALLOW
            if len(calls) >= limit.calls:
                wait = next(iter(calls.values())) + limit.seconds - now
                return Deny(
                    reason=f"denied: at most {limit.calls} calls of {contract.name} in {limit.seconds:g} seconds; "
                    f"the next is possible in {math.ceil(wait)} seconds"
                )
            calls[call] = now
        return ALLOW

    rate_limit_guard.__name__ = "rate_limit"
    return rate_limit_guard


def timeout(most_seconds: float, seconds_left: Callable[[Caller], float] = lambda caller: float("inf")) -> Guard:
    """Make the guard that asks: is it known when this call ends, and does that fit into what the run has left?

    A contract without a timeout, or with one above `most_seconds`, is refused. `seconds_left` says how long the
    caller's run may still take; a call that could outlast its run is not begun.
    """

    def timeout_guard(proposal: Proposal, contract: ToolContract | None, caller: Caller) -> Verdict:
        if contract is None:
            return ALLOW
        if contract.timeout is None or contract.timeout.seconds > most_seconds:
            return Deny(reason=f"denied: {contract.name} has no timeout of at most {most_seconds:g} seconds")
        left = seconds_left(caller)
        if contract.timeout.seconds > left:
            return Deny(
                reason=f"denied: {contract.name} may take {contract.timeout.seconds:g} seconds, "
                f"and the run has {left:.0f} seconds left"
            )
        return ALLOW

    timeout_guard.__name__ = "timeout"
    return timeout_guard
