"""The dispatcher seen: which guard answers a call, what came of it, and the receipt. No front end is needed for any."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import JsonValue

from agentlab.dispatch.approvals import DAY, Approvals
from agentlab.dispatch.contract import ApprovalRule, ToolContract
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller, call_id, propose
from agentlab.dispatch.ledger import Ledger, Outcome, Receipt
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views.tables import Table

Arguments = dict[str, JsonValue]
Approved = Literal["nothing", "this call", "another amount", "refused", "expired"]
Earlier = Literal["nothing", "the same call", "the key with another amount"]

MORNING = datetime(2026, 1, 5, 9, 0, tzinfo=UTC).timestamp()
"""The fixed time of every outcome here, in seconds since 1970: what is shown must come out the same every time."""

KEY_STEP = "key"
APPROVAL_STEP = "approval"
NOBODY_ASKED = "no person is asked"
QUESTIONS = {
    "known_tool": "Is there such a tool?",
    "valid_arguments": "Do the arguments fit the schema?",
    "role": "May this caller use the tool?",
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


def outcome(
    contract: ToolContract,
    arguments: Arguments,
    roles: Sequence[str],
    approved: Approved = "nothing",
    earlier: Earlier = "nothing",
) -> Seen:
    """Dispatch one call through the four guards and the ledger, on a database in memory and at a fixed time.

    `approved` is what a person has said before the call, `earlier` what was posted before it under the same key (with
    an approval of its own where it needed one). Raises AgentlabError for a contract without an approval rule.
    """
    if not isinstance(contract.approval, ApprovalRule):
        raise AgentlabError(f"{contract.name} has no approval rule; give a contract with one to show approvals")
    amount = contract.approval.argument
    caller = Caller(user="clerk", roles=tuple(roles), tenant="acme", run="run-1")
    given = arguments.get(amount)
    other = {**arguments, amount: given - 1 if type(given) is int and given > 1 else 1}
    now = MORNING
    engine = open_store("sqlite://")
    try:
        approvals = Approvals(engine, lambda: now, valid_for=DAY)
        guards = four_guards(approvals)
        effects: list[Arguments] = []

        def post(values: Arguments, _caller: Caller) -> JsonValue:
            effects.append(values)
            return {"status": "posted", "posting": len(effects)}

        dispatcher = Dispatcher([Tool(contract, post)], guards, Ledger(engine, lambda: now), approvals)

        def person_says(values: Arguments, yes: bool) -> None:
            proposal = propose(ToolCall(id="call_0", name=contract.name, arguments=values))
            identity = call_id(proposal, contract, caller)
            if approvals.state(identity) == "absent":
                approvals.request(proposal, contract, caller)
                approvals.decide(identity, "lead", approve=yes)

        if approved != "nothing":
            person_says(other if approved == "another amount" else arguments, yes=approved != "refused")
        if earlier != "nothing":
            before = arguments if earlier == "the same call" else other
            person_says(before, yes=True)
            dispatcher.dispatch(ToolCall(id="call_1", name=contract.name, arguments=before), caller)
        if approved == "expired":
            now += DAY
        ran_before = len(effects)
        call = ToolCall(id="call_2", name=contract.name, arguments=arguments)
        receipt = dispatcher.dispatch(call, caller).receipt
    finally:
        engine.dispose()
    names = [guard.__name__ for guard in guards]
    return Seen(steps(names, receipt), receipt, len(effects) - ran_before)


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
        '%%{init: {"flowchart": {"rankSpacing": 20}}}%%',
        "flowchart LR",
        "    accTitle: The path of a call through the dispatcher",
        f"    accDescr: A proposed call passes {', '.join(names)} in this order. Each can refuse it. "
        "What passes all of them runs once. Every call leaves a receipt.",
        f"    proposed([proposal]) --> {names[0]}",
    ]
    lines += [f"    {name}{{{{{name}}}}} --> {after}" for name, after in pairwise(names)]
    lines += [f"    {KEY_STEP}{{{{{KEY_STEP}}}}} -- new --> tool[tool runs] --> receipt[(receipt)]"]
    lines += [f"    {name} -. refused .-> receipt" for name in names]
    return "\n".join(lines) + "\n"
