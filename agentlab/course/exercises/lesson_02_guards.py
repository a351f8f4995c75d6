"""Lesson 02: the checks of the parts that decide and run nothing (validate, call_id, decide)."""

import copy
from typing import Any, NoReturn

from agentlab.course.checks import Wrong, call, describe_call, expect, wrong
from agentlab.views.proposals import CASES, LIMIT, invoice

TOOL = CASES[0].tool
CLERK = frozenset({"ap_clerk"})
GUARDS = ("known_tool", "arguments", "role", "approval")

# What validate must refuse, each with the reason that only this mistake deserves.
_BAD_ARGUMENTS: tuple[tuple[Any, str], ...] = (
    ({"invoice_id": "INV-1", "amount_cents": 5}, "an argument is missing; a later step would fail on it, or guess it"),
    (invoice(120_000, "k", approved=True), "an extra argument is how a model smuggles in a wish such as approved=True"),
    (invoice("120000", "k"), "text is no number; if you convert it, you post what nobody sent"),
    (invoice(True, "k"), "True is an instance of int in Python and would post 1 cent; compare the exact type"),
    (invoice(120_000.0, "k"), "money in cents is a whole number; a float has passed through rounding"),
    (
        {**invoice(5, "k"), "invoice_id": 1042},
        "the invoice's id is text; every field has a type, not only the amount",
    ),
    (invoice(-120_000, "k"), "a negative amount turns a payment into its opposite"),
    (invoice(0, "k"), "an amount of zero is not greater than zero"),
    ({**invoice(5, "k"), "invoice_id": ""}, "an empty id names no invoice; nobody can say what was posted"),
    (invoice(5, ""), "an empty key is the same for all calls: the second invoice would get the result of the first"),
    (["INV-1042", 120_000, "k"], "a model may send a list where an object was asked for; that is a problem to report"),
    (None, "a model may send no arguments at all; that is a problem to report"),
)


def check_validate(validate: Any) -> str:
    """02.1: every malformed proposal is refused in words, and a good one is not."""
    good = invoice(120_000, "k")
    expect(validate, good, gives=None, why="these arguments are right; a guard that has nothing against them says None")
    for arguments, why in _BAD_ARGUMENTS:
        sent = copy.deepcopy(arguments)
        problem = call_or_wrong(why, validate, sent)
        if problem is None:
            wrong(
                called=describe_call(validate, arguments),
                came_back=None,
                expected="a text with the problem",
                why=why,
            )
        if not isinstance(problem, str) or not problem.strip():
            reason = "the model reads this answer: say in words what is wrong, so that it can mend the call"
            wrong(called=describe_call(validate, arguments), came_back=problem, expected="a text", why=reason)
        if sent != arguments:
            wrong_for_changing(validate, arguments, sent)
    return f"All {len(_BAD_ARGUMENTS)} malformed proposals are refused in words, and none by an exception."


def check_call_id(call_id: Any) -> str:
    """02.2: the same call has one id, in any order of its arguments; every other call has another."""
    first, sent = invoice(900_000, "k"), invoice(900_000, "k")
    identity = call(call_id, TOOL, sent)
    called = describe_call(call_id, TOOL, first)
    if not isinstance(identity, str) or len(identity) < 16:
        why = "an approval is stored under this id: use a text of 16 characters or more, so that no two calls share one"
        wrong(called=called, came_back=identity, expected="a text of 16 characters or more", why=why)
    if sent != first:
        wrong_for_changing(call_id, first, sent)
    reordered = dict(reversed(first.items()))
    expect(call_id, TOOL, reordered, gives=identity, why="the same call in another key order is the same call")
    others: tuple[tuple[str, dict[str, Any], str], ...] = (
        (TOOL, invoice(900_001, "k"), "one cent more is another call; nobody has approved that cent"),
        (TOOL, {**first, "invoice_id": "INV-1043"}, "another invoice of the same amount is another call"),
        ("erp_delete_invoice", first, "another tool with the same arguments is another call"),
        (TOOL, invoice(900_000, "k2"), "another idempotency key is a second posting, which nobody has approved"),
        (
            TOOL,
            {**first, "invoice_id": "INV-10", "amount_cents": 42_900_000},
            "INV-10 with 42,900,000 reads like INV-1042 with 900,000 when the values stand side by side",
        ),
        (
            TOOL,
            invoice("900000", "k"),
            "900000 and '900000' are two values; encode them as JSON, which tells them apart",
        ),
    )
    for name, arguments, why in others:
        other = call(call_id, name, copy.deepcopy(arguments))
        if other == identity:
            expected = f"another id than {identity!r}, which is that of {describe_call(call_id, TOOL, first)}"
            wrong(called=describe_call(call_id, name, arguments), came_back=other, expected=expected, why=why)
    return "One cent, one letter or one key more: each gives another id."


def check_decide(decide: Any) -> str:
    """02.3: the right guard answers each proposal, in the right order, and an approval is for one call."""
    good, large = invoice(120_000, "k"), invoice(900_000, "k")
    may_run = "every guard has looked and none objects: None means that the call may run"
    _allowed(decide, TOOL, good, CLERK, why=may_run)
    unknown = "a tool that is not there is an answer for the model, whatever its arguments are"
    _refused_by(decide, "known_tool", "erp_delete_invoice", {"x": 1}, CLERK, why=unknown)
    malformed = "arguments come before the role: a role is looked up for a call that can be understood"
    _refused_by(decide, "arguments", TOOL, invoice("120000", "k"), frozenset(), why=malformed)
    early = "a check of the limit needs valid arguments: compare amounts only after validate has said None"
    _refused_by(decide, "arguments", TOOL, invoice("900000", "k"), CLERK, why=early)
    _refused_by(decide, "role", TOOL, good, {"viewer"}, why="having some role is not having this role: ap_clerk")
    order = "who may not call is refused before any person is asked; otherwise anyone can fill a manager's inbox"
    _refused_by(decide, "role", TOOL, large, {"viewer"}, why=order)
    limit = invoice(LIMIT, "k")
    _allowed(decide, TOOL, limit, CLERK, why=f"{LIMIT} is the limit itself; only what is above it needs a person")
    above = "one cent above the limit needs a person"
    _refused_by(decide, "approval", TOOL, invoice(LIMIT + 1, "k"), CLERK, why=above)
    asked = _refused_by(decide, "approval", TOOL, large, CLERK, why="900,000 cents need a person, and nobody said yes")
    identity = asked.get("approval_id")
    if not isinstance(identity, str):
        why = "a person approves an id; without approval_id in the answer nobody can approve this call"
        wrong(called=_text(decide, large, set()), came_back=asked, expected="a dict with a text approval_id", why=why)
    approved = {identity}
    _allowed(decide, TOOL, large, CLERK, approved, why="a person has approved exactly this call, so it may run")
    grown = "the approval was for 900,000 cents; any approval at all, or one for the tool, must not let 950,000 pass"
    _refused_by(decide, "approval", TOOL, invoice(950_000, "k"), CLERK, approved, why=grown)
    moved = "the approval was for another invoice; the amount alone does not name a call"
    other = {**large, "invoice_id": "INV-1043"}
    _refused_by(decide, "approval", TOOL, other, CLERK, approved, why=moved)
    return f"The order holds: {', '.join(GUARDS)}."


def _allowed(decide: Any, name: str, arguments: Any, roles: Any, approved: Any = frozenset(), *, why: str) -> None:
    answer = call_or_wrong(why, decide, name, copy.deepcopy(arguments), roles, approved)
    if answer is not None:
        wrong(called=_text(decide, arguments, approved), came_back=answer, expected="None: the call may run", why=why)


def _refused_by(
    decide: Any, guard: str, name: str, arguments: Any, roles: Any, approved: Any = frozenset(), *, why: str
) -> dict[str, Any]:
    answer = call_or_wrong(why, decide, name, copy.deepcopy(arguments), roles, approved)
    if not isinstance(answer, dict) or answer.get("guard") != guard or not answer.get("content"):
        called = describe_call(decide, name, arguments, roles, approved)
        expected = f"a dict with guard {guard!r} and the reason as content"
        if isinstance(answer, bool):
            why = "True and False do not say which guard refused, nor why; the receipt and the model need both"
        wrong(called=called, came_back=answer, expected=expected, why=why)
    return answer


def _text(decide: Any, arguments: Any, approved: Any) -> str:
    return describe_call(decide, TOOL, arguments, set(CLERK), approved)


def call_or_wrong(why: str, function: Any, *args: Any) -> Any:
    """Call the learner's function; an exception is wrong, and the reason names the case it came from."""
    try:
        return call(function, *args)
    except Wrong as end:
        raise Wrong(end.called, end.came_back, end.expected, f"{why}; and {end.why}") from end


def wrong_for_changing(function: Any, before: object, after: object) -> NoReturn:
    """End the check: the arguments are not what they were."""
    why = "the arguments were changed; what was approved and what the receipt shows must be what the model proposed"
    wrong(
        called=describe_call(function, before),
        came_back=f"arguments changed to {after!r}",
        expected=before,
        why=why,
    )
