"""Policy: who may call which tool, as a plain table. What no rule permits is denied, and a rule that forbids wins.

The table is one engine behind ``decide(request) -> AccessDecision``; `cedar.py` is another one, for those whose
policies are written in Cedar. Both read the same request, and no engine sees a prompt.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from pydantic import field_validator

from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

ANY = "*"
"""Stands alone in a list of a rule and means everyone, or everything. It must be written; nothing is any by default."""


class AccessRequest(NamedTuple):
    """Who wants to call what. ``resource`` is the id of the record that the call names, or None."""

    user: str
    roles: tuple[str, ...]
    tenant: str
    tool: str
    side_effect: SideEffect
    resource: str | None = None


class AccessDecision(NamedTuple):
    """Whether the call is permitted, and the id of the rule that says so; None where no rule permits it."""

    allowed: bool
    rule: str | None


Decide = Callable[[AccessRequest], AccessDecision]

NO_RULE = AccessDecision(False, None)


class PolicyRule(Frozen):
    """One row of the table. It speaks of a request that matches all three lists; ``*`` alone matches anything."""

    id: str
    effect: Literal["permit", "forbid"]
    roles: tuple[str, ...]
    tools: tuple[str, ...]
    tenants: tuple[str, ...]

    @field_validator("roles", "tools", "tenants")
    @classmethod
    def _says_whom_it_means(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            raise ValueError(f"is empty and would match nothing; write {ANY!r} for all")
        if ANY in names and len(names) > 1:
            raise ValueError(f"mixes {ANY!r} with names; write one or the other")
        return names


def table(rules: Sequence[PolicyRule]) -> Decide:
    """The engine that looks the request up in `rules`: the first rule that forbids, else the first that permits.

    Raises AgentlabError where two rules have one id: a decision names its rule.
    """
    ids = [rule.id for rule in rules]
    twice = sorted({each for each in ids if ids.count(each) > 1})
    if twice:
        raise AgentlabError(f"the policy has two rules with the id {twice[0]!r}; give each an id of its own")
    # Rules that forbid come first, so that the first match is the answer.
    ordered = sorted(rules, key=lambda rule: rule.effect != "forbid")
    by_tool = {name: _rows(ordered, name) for rule in rules for name in rule.tools}
    elsewhere = _rows(ordered, ANY)

    def decide(request: AccessRequest) -> AccessDecision:
        for decision, roles, tenants in by_tool.get(request.tool, elsewhere):
            if (roles is None or not roles.isdisjoint(request.roles)) and (
                tenants is None or request.tenant in tenants
            ):
                return decision
        return NO_RULE

    return decide


_Row = tuple[AccessDecision, frozenset[str] | None, frozenset[str] | None]


def _rows(rules: Sequence[PolicyRule], tool: str) -> list[_Row]:
    return [
        (AccessDecision(rule.effect == "permit", rule.id), _names(rule.roles), _names(rule.tenants))
        for rule in rules
        if tool in rule.tools or ANY in rule.tools
    ]


def _names(names: tuple[str, ...]) -> frozenset[str] | None:
    return None if ANY in names else frozenset(names)


def rules_of(contracts: Sequence[ToolContract]) -> tuple[PolicyRule, ...]:
    """The table that says no more than the contracts do: each tool for the roles that its contract names."""
    return tuple(
        PolicyRule(id=contract.name, effect="permit", roles=contract.roles, tools=(contract.name,), tenants=(ANY,))
        for contract in contracts
        if contract.roles
    )
