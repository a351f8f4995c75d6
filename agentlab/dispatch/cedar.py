"""Cedar as the policy engine, in place of the table: the same request, the same answer, other people's language.

What a request is in Cedar: the principal is ``User::"..."`` in its ``Role::"..."``s, the action ``Action::"call"``, the
resource ``Tool::"..."`` with its ``side_effect``, and the context holds ``tenant`` and, where the call names one, the
``record``. Needs the extra ``policy``.
"""

import json
from collections.abc import Sequence
from typing import Any

from agentlab.dispatch.policy import ANY, NO_RULE, AccessDecision, AccessRequest, Decide, PolicyRule
from agentlab.errors import AgentlabError

SCHEMA = """
entity Role;
entity User in [Role];
entity Tool { side_effect: String };
action "call" appliesTo { principal: [User], resource: [Tool], context: { tenant: String, record?: String } };
"""
"""What a policy may speak of. A policy that names anything else is refused when it is loaded."""


def cedar(policies: str) -> Decide:
    """The engine that asks these policies, written in Cedar.

    Raises AgentlabError where cedarpy is not installed, the text is no Cedar, names what `SCHEMA` does not know, or
    holds no policy at all. A request in whose evaluation any policy fails is denied: Cedar itself would pass over a
    rule that forbids and could not be evaluated.
    """
    try:
        import cedarpy
    except ModuleNotFoundError:
        raise AgentlabError(
            "the policy engine cedar needs the package cedarpy; install agentlab-toolkit[policy], or use the table"
        ) from None
    try:
        parsed = cedarpy.PolicySet.from_str(policies)
        problems = [str(error.error) for error in cedarpy.validate_policies(policies, SCHEMA).errors]
        holds_any = bool(json.loads(cedarpy.policies_to_json_str(policies))["staticPolicies"])
    except ValueError as error:
        problems = [str(error)]
    if problems:
        raise AgentlabError(f"the Cedar policy cannot be used: {_one_line(problems[0])}")
    if not holds_any:
        raise AgentlabError("the Cedar policy holds no policy; it would deny everything")

    def decide(request: AccessRequest) -> AccessDecision:
        question, entities = _in_cedar(request)
        try:
            answer = cedarpy.is_authorized(question, parsed, entities)
        except ValueError:
            return NO_RULE  # what Cedar cannot read, no policy has permitted
        diagnostics = answer.diagnostics
        if diagnostics.errors or answer.decision is cedarpy.Decision.NoDecision:
            return NO_RULE
        first = min(diagnostics.reasons, key=lambda each: int(each.removeprefix("policy")), default=None)
        if first is None:
            return NO_RULE
        return AccessDecision(answer.allowed is True, diagnostics.id_annotations_by_reason.get(first, first))

    return decide


def to_cedar(rules: Sequence[PolicyRule]) -> str:
    """The table written in Cedar, one policy for each rule, in their order and with their ids."""
    return "\n".join(
        f"@id({_quoted(rule.id)})\n{rule.effect}(principal, action, resource) when {{\n  "
        + " &&\n  ".join(
            (
                _one_of("principal in Role::", rule.roles),
                _one_of("resource == Tool::", rule.tools),
                _one_of("context.tenant == ", rule.tenants),
            )
        )
        + "\n};"
        for rule in rules
    )


def _in_cedar(request: AccessRequest) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    user, tool = {"type": "User", "id": request.user}, {"type": "Tool", "id": request.tool}
    roles = [{"type": "Role", "id": role} for role in dict.fromkeys(request.roles)]
    context = {"tenant": request.tenant} | ({} if request.resource is None else {"record": request.resource})
    entities: list[dict[str, Any]] = [
        {"uid": user, "attrs": {}, "parents": roles},
        {"uid": tool, "attrs": {"side_effect": request.side_effect.value}, "parents": []},
    ]
    question = {
        "principal": user,
        "action": {"type": "Action", "id": "call"},
        "resource": tool,
        "context": context,
    }
    return question, entities


def _one_of(question: str, names: Sequence[str]) -> str:
    return "true" if ANY in names else "(" + " || ".join(question + _quoted(name) for name in names) + ")"


def _quoted(text: str) -> str:
    """A Cedar string: everything but plain letters and digits as its code point, so that no name can end it."""
    return '"' + "".join(each if each.isascii() and each.isalnum() else f"\\u{{{ord(each):x}}}" for each in text) + '"'


def _one_line(text: str) -> str:
    return " ".join(text.split())
