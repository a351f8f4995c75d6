"""The dispatcher seen: which guard answers a call, what came of it, and the receipt. No front end is needed for any."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.dispatch.ledger import Outcome, Receipt
from agentlab.views.tables import Table

Arguments = dict[str, JsonValue]

MORNING = datetime(2026, 1, 5, 9, 0, tzinfo=UTC).timestamp()
"""The fixed time of every outcome here, in seconds since 1970: what is shown must come out the same every time."""

KEY_STEP = "key"
APPROVAL_STEP = "approval"
NOBODY_ASKED = "no person is asked"
QUESTIONS = {
    "known_tool": "Is there such a tool?",
    "identity": "Is the caller on record, with this tenant and these roles?",
    "authorization": "Is there such a tool, and may this caller use it?",
    "valid_arguments": "Do the arguments fit the schema?",
    "role": "May this caller use the tool?",
    "resource_scope": "Does the record belong to the caller's tenant?",
    "rate_limit": "Has this user called the tool too often?",
    "timeout": "Will the call be over before its run is?",
    "approval": "Has a person approved exactly this call, if one must?",
    KEY_STEP: "Has this idempotency key been used?",
}


class Step(NamedTuple):
    """What one guard, or the key, had to say of a call; "not asked" after one before it had the last word."""

    name: str
    said: str


@dataclass(frozen=True)
class Seen:
    """One call with everything that came of it; ``effects`` is how often the tool ran for it (0 or 1)."""

    steps: tuple[Step, ...]
    receipt: Receipt
    effects: int


def steps(guards: Sequence[str], receipt: Receipt) -> tuple[Step, ...]:
    """Each guard in order, and the key after them, with what it said according to the receipt.

    Nobody is asked about a key that has been used: then the ledger answers, whether a person would be needed or not.
    """
    if receipt.guard is None:
        approval = "nothing against it" if receipt.outcome is Outcome.EXECUTED else NOBODY_ASKED
        passed = [Step(name, approval if name == APPROVAL_STEP else "nothing against it") for name in guards]
        return *passed, Step(KEY_STEP, _KEY_SAID.get(receipt.outcome, receipt.detail))
    last = list(guards).index(receipt.guard)
    said = "a person must approve" if receipt.outcome is Outcome.PENDING else "refuses the call"
    return (
        *(Step(name, "nothing against it") for name in guards[:last]),
        Step(receipt.guard, said),
        *(Step(name, "not asked") for name in [*guards[last + 1 :], KEY_STEP]),
    )


_KEY_SAID = {
    Outcome.EXECUTED: "new: the tool runs, and its result is kept",
    Outcome.REPLAYED: "used for this very call: the first result is returned",
    Outcome.CONFLICT: "used for another payload: refused",
    Outcome.UNKNOWN: "used by a call that left no result: nobody knows, and it is not run again",
}


def sentence(seen: Seen) -> str:
    """Who had the last word, and whether anything happened."""
    last = next((step for step in reversed(seen.steps) if step.said != "not asked"), seen.steps[-1])
    who = "No guard refused the call; the key is " if last.name == KEY_STEP else f"{last.name}: "
    ran = "The tool ran once." if seen.effects == 1 else "The tool did not run."
    return f"{who}{last.said}. {ran}"


def steps_table(seen: Seen) -> Table:
    """The guards in their order, the question of each, and its answer."""
    rows = tuple((step.name, QUESTIONS.get(step.name, ""), step.said) for step in seen.steps)
    return Table("The guards, in their order", ("guard", "question", "answer"), rows, words=("question", "answer"))


def flow(guards: Sequence[str]) -> str:
    """The path of a call past these guards and the key to the tool, as a Mermaid flowchart."""
    names = [*guards, KEY_STEP]
    lines = [
        # Short arrows and few words: Mermaid makes the letters smaller until the whole row fits the page.
        '%%{init: {"flowchart": {"rankSpacing": 10}}}%%',
        "flowchart LR",
        "    accTitle: The path of a call through the dispatcher",
        f"    accDescr: A proposed call passes {', '.join(names)} in this order. Each can refuse it, "
        "which is a dotted line. "
        "What passes all of them runs once. Every call leaves a receipt.",
        f"    proposed([proposal]) --> {names[0]}",
    ]
    lines += [f"    {name}{{{{{name}}}}} --> {after}" for name, after in pairwise(names)]
    lines += [f"    {KEY_STEP}{{{{{KEY_STEP}}}}} -- new --> tool[tool runs] --> receipt[(receipt)]"]
    lines += [f"    {name} -.-> receipt" for name in names]
    return "\n".join(lines) + "\n"
