"""Policy seen: the same requests put to one or more engines, side by side."""

from collections.abc import Mapping, Sequence

from agentlab.dispatch.policy import AccessDecision, AccessRequest, Decide
from agentlab.views.tables import Table


def decisions_table(requests: Sequence[AccessRequest], engines: Mapping[str, Decide]) -> Table:
    """One request in each row, one column for each engine: what it decides, and by which rule."""
    columns = ("user", "roles", "tenant", "tool", *engines)
    rows = tuple(
        (
            request.user,
            ", ".join(request.roles) or "none",
            request.tenant,
            request.tool,
            *(_decided(decide(request)) for decide in engines.values()),
        )
        for request in requests
    )
    return Table("What the policy decides", columns, rows, words=columns[1:])


def _decided(decision: AccessDecision) -> str:
    if decision.rule is None:
        return "denied: no rule permits it"
    return f"{'permitted' if decision.allowed else 'denied'}: {decision.rule}"
