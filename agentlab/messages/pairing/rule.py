"""A row of the table of rules."""

from typing import Literal, NamedTuple

from agentlab.messages.conversation import Dialect

Evidence = Literal["recorded", "documented", "specified", "sdk", "reported", "unverified"]
"""How a rule is known: a recorded reply of the real API; the provider's docs of August 2026; its OpenAPI or the types
of its SDK; a checker inside its SDK; public reports that quote the error; not verified against anything."""


class Rule(NamedTuple):
    """A row of the table. ``says`` is the provider's message, abridged ("" where none is known)."""

    id: str
    dialect: Dialect | None
    demands: str
    says: str
    source: str
    evidence: Evidence
    fix: str
