"""Lesson 02, the guarded dispatcher: the exercises, their checks and their hints."""

import copy
from typing import Any, NoReturn

from agentlab.course.checks import Wrong, call, describe_call, expect, wrong
from agentlab.course.exercise import Exercise
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views.proposals import CASES, LIMIT, Answer, Case, answer_of, invoice, post_invoice

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


def _validate(validate: Any) -> str:
    good = invoice(120_000, "k")
    expect(validate, good, gives=None, why="these arguments are right; a guard that has nothing against them says None")
    for arguments, why in _BAD_ARGUMENTS:
        sent = copy.deepcopy(arguments)
        problem = _call(why, validate, sent)
        if problem is None:
            wrong(
                called=describe_call(validate, arguments), came_back=None, expected="a text with the problem", why=why
            )
        if not isinstance(problem, str) or not problem.strip():
            reason = "the model reads this answer: say in words what is wrong, so that it can mend the call"
            wrong(called=describe_call(validate, arguments), came_back=problem, expected="a text", why=reason)
        if sent != arguments:
            _changed(validate, arguments, sent)
    return f"All {len(_BAD_ARGUMENTS)} malformed proposals are refused in words, and none by an exception."


def _call_id(call_id: Any) -> str:
    first, sent = invoice(900_000, "k"), invoice(900_000, "k")
    identity = call(call_id, TOOL, sent)
    called = describe_call(call_id, TOOL, first)
    if not isinstance(identity, str) or len(identity) < 16:
        why = "an approval is stored under this id: use a text of 16 characters or more, so that no two calls share one"
        wrong(called=called, came_back=identity, expected="a text of 16 characters or more", why=why)
    if sent != first:
        _changed(call_id, first, sent)
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


def _decide(decide: Any) -> str:
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


class _Desk:
    """One ERP, one set of approvals and one store of first results, as the learner's dispatch gets them."""

    def __init__(self, dispatch: Any) -> None:
        self.dispatch = dispatch
        self.approved: set[str] = set()
        self.first: dict[str, Any] = {}
        self.posts: list[tuple[Any, Any]] = []

    def send(self, case: Case, why: str) -> dict[str, Any]:
        """The learner's answer; whatever is no answer in the agreed form ends the check."""

        def post(invoice_id: Any, amount_cents: Any) -> dict[str, Any]:
            self.posts.append((invoice_id, amount_cents))
            return {"status": "posted", "posting": len(self.posts)}

        arguments = copy.deepcopy(case.arguments)
        roles = frozenset(case.roles)
        answer = _call(why, self.dispatch, case.tool, arguments, roles, self.approved, self.first, post)
        if arguments != case.arguments:
            _changed(self.dispatch, case.arguments, arguments)
        if not isinstance(answer, dict) or not isinstance(answer.get("is_error"), bool) or "content" not in answer:
            reason = "the loop hands this answer to the model; it must always have the same two fields"
            self.wrong(case, answer, "a dict with is_error (True or False) and content", reason)
        return answer

    def wrong(self, case: Case, came_back: object, expected: str, why: str) -> NoReturn:
        """End the check, with the call as the learner would read it and what the ERP holds."""
        called = (
            f"{getattr(self.dispatch, '__name__', 'dispatch')}({case.tool!r}, {case.arguments!r}, ...), {case.said}"
        )
        wrong(called=called, came_back=f"{came_back!r}; postings: {self.posts}", expected=expected, why=why)

    def posts_once(self, case: Case, why: str) -> dict[str, Any]:
        """The call must run, once."""
        before = len(self.posts)
        answer = self.send(case, why)
        if answer["is_error"] or len(self.posts) != before + 1:
            self.wrong(case, answer, f"is_error False and {_count(before + 1, 'posting')}", why)
        return answer

    def refuses(self, case: Case, why: str, after_effect: str, ran_as_well: str = "") -> dict[str, Any]:
        """The call must be answered with an error, and must not run; each way to fail has its reason."""
        before = len(self.posts)
        answer = self.send(case, why)
        ran = len(self.posts) > before
        if ran or not answer["is_error"]:
            reason = (after_effect if answer["is_error"] else ran_as_well or why) if ran else why
            self.wrong(case, answer, f"is_error True and still {_count(before, 'posting')}", reason)
        return answer


_TOO_LATE = "it was refused after it had run: every guard comes before the effect"
_REFUSALS = {
    "the amount is text": "an amount written as text was let through",
    "the amount is true": "True passed as an amount: in Python it is an int",
    "an extra argument": "the model added approved=True and was let through; only the three arguments may come",
    "a negative amount": "a negative amount reached the ERP",
    "a caller without the role": "a caller without the role ap_clerk was served; what a model writes gives no role",
    "an unknown tool": "an unknown tool is an error for the model to read, not a crash of the loop",
}


def _dispatch(dispatch: Any) -> str:
    desk = _Desk(dispatch)
    cases = {case.said: case for case in CASES}
    first = cases["120,000 cents, first call"]
    result = desk.posts_once(first, "a valid call of a clerk below the limit runs; first is empty, so its key is new")
    if result["content"] != {"status": "posted", "posting": 1}:
        why = "the model must read what the ERP answered, so that it can tell the user the truth"
        desk.wrong(first, result, "content equal to what post returned", why)
    for said, reason, other in (
        (
            "the same call again",
            "a retry with the same key posted a second time",
            "a retry is no mistake of the model: it may never have seen the first answer",
        ),
        (
            "the same call, its arguments in another order",
            "in another order the arguments posted a second time",
            "the order of the keys does not make another payload",
        ),
    ):
        again = Case(said, TOOL, dict(reversed(first.arguments.items())), first.roles)
        again = cases.get(said, again)
        repeated = desk.send(again, reason)
        if len(desk.posts) != 1:
            desk.wrong(again, repeated, "still 1 posting", reason)
        if repeated != result:
            desk.wrong(
                again, repeated, f"the first answer, {result!r}", f"{other}; a repeated call gets the first result"
            )
    reused = Case("the same key with another amount", TOOL, invoice(130_000, "k-1"), first.roles)
    lie = "nothing of 130,000 was posted, yet the model is told so: a key used for another payload is refused"
    twice = "one key now stands for two postings, so no retry can be told from a new call"
    desk.refuses(reused, lie, _TOO_LATE, ran_as_well=twice)
    for said, why in _REFUSALS.items():
        desk.refuses(cases[said], why, f"{said}: {_TOO_LATE}")
    at_limit = Case("500,000 cents", TOOL, invoice(LIMIT, "k-limit"), first.roles)
    desk.posts_once(at_limit, f"{LIMIT} is the limit itself; only what is above it needs a person")

    large = cases["900,000 cents"]
    asked = desk.refuses(large, "900,000 cents ran, and no person had approved them", f"900,000 cents: {_TOO_LATE}")
    if not isinstance(asked.get("approval_id"), str):
        why = "a person approves an id; pass on the approval_id of the refusal"
        desk.wrong(large, asked, "a text approval_id beside is_error and content", why)
    desk.approved.add(asked["approval_id"])
    kept = "the call is approved and must run now; a refused call must not have taken the key"
    desk.posts_once(cases["the same, approved by a person"], kept)
    new_key = {**cases["950,000 cents on that approval"].arguments, "idempotency_key": "k-8"}
    grown = Case("950,000 cents on the approval for 900,000", TOOL, new_key, first.roles)
    desk.refuses(grown, "an approval for 900,000 let 950,000 pass: bind it to the exact call", _TOO_LATE)
    elsewhere = {**large.arguments, "invoice_id": "INV-9", "idempotency_key": "k-9"}
    moved = Case("another invoice", TOOL, elsewhere, first.roles)
    desk.refuses(moved, "an approval for INV-1042 let another invoice of that amount pass", _TOO_LATE)

    fresh = _Desk(dispatch)
    own_store = "this desk has a store of its own, and its key is new: keep first results in first, not in a global"
    fresh.posts_once(first, own_store)
    return f"{len(desk.posts)} postings for {len(desk.first)} keys, whatever was proposed."


def _own_case(case: Any, dispatch: Any) -> str:
    fields = {"name", "arguments", "roles"}
    if not isinstance(case, dict) or set(case) != fields:
        why = "a case says which tool is called, with what, and by whom"
        wrong(called="my_case", came_back=case, expected="a dict with name, arguments and roles", why=why)
    if not isinstance(case["name"], str) or not isinstance(case["roles"], set | frozenset | list | tuple):
        why = "the name is text, and roles holds the roles of the caller, as in {'ap_clerk'}"
        wrong(called="my_case", came_back=case, expected="a text and a set of texts", why=why)
    mine = Case("my_case", case["name"], case["arguments"], tuple(sorted(map(str, case["roles"]))))
    for known in CASES:
        if _gist(known) == _gist(mine):
            why = f"it is the course's case {known.said!r}, at most under another key; find a hole that is not listed"
            wrong(called="my_case", came_back=case, expected="a case of your own", why=why)
    package = _package_answers(mine)
    if package.by in ("executed", "replayed"):
        why = "every guard of the package lets it through, and it posts; a case that should be refused breaks a rule"
        wrong(called="my_case", came_back=f"{package.by}: {package.content}", expected="a refusal", why=why)
    slips = f"the package refuses it ({package.by}: {package.content}), and your dispatch lets it through"
    _Desk(dispatch).refuses(mine, slips, f"my_case: {_TOO_LATE}")
    return f"Your dispatch refuses it, and so does the package: {package.by}, {package.content}"


def _package_answers(case: Case) -> Answer:
    engine = open_store("sqlite://")
    try:
        approvals = Approvals(engine)
        tool = Tool(post_invoice(), lambda arguments, caller: {"status": "posted"})
        dispatcher = Dispatcher([tool], four_guards(approvals), Ledger(engine), approvals)
        caller = Caller(user="clerk", roles=case.roles, tenant="acme", run="run-1")
        return answer_of(dispatcher.dispatch(ToolCall(id="call_1", name=case.tool, arguments=case.arguments), caller))
    finally:
        engine.dispose()


def _gist(case: Case) -> tuple[str, Any, frozenset[str]]:
    # Which key it is, is no part of what a case tries out, unless it is none; repr tells 1 from True.
    arguments: Any = case.arguments
    if isinstance(arguments, dict):
        key = arguments.get("idempotency_key")
        usual = {"idempotency_key": "some key"} if isinstance(key, str) and key else {}
        arguments = sorted((name, repr(value)) for name, value in {**arguments, **usual}.items())
    return case.tool, repr(arguments), frozenset(case.roles)


def _allowed(decide: Any, name: str, arguments: Any, roles: Any, approved: Any = frozenset(), *, why: str) -> None:
    answer = _call(why, decide, name, copy.deepcopy(arguments), roles, approved)
    if answer is not None:
        wrong(called=_text(decide, arguments, approved), came_back=answer, expected="None: the call may run", why=why)


def _refused_by(
    decide: Any, guard: str, name: str, arguments: Any, roles: Any, approved: Any = frozenset(), *, why: str
) -> dict[str, Any]:
    answer = _call(why, decide, name, copy.deepcopy(arguments), roles, approved)
    if not isinstance(answer, dict) or answer.get("guard") != guard or not answer.get("content"):
        called = describe_call(decide, name, arguments, roles, approved)
        expected = f"a dict with guard {guard!r} and the reason as content"
        if isinstance(answer, bool):
            why = "True and False do not say which guard refused, nor why; the receipt and the model need both"
        wrong(called=called, came_back=answer, expected=expected, why=why)
    return answer


def _text(decide: Any, arguments: Any, approved: Any) -> str:
    return describe_call(decide, TOOL, arguments, set(CLERK), approved)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _call(why: str, function: Any, *args: Any) -> Any:
    """Call the learner's function; an exception is wrong, and the reason names the case it came from."""
    try:
        return call(function, *args)
    except Wrong as end:
        raise Wrong(end.called, end.came_back, end.expected, f"{why}; and {end.why}") from end


def _changed(function: Any, before: object, after: object) -> NoReturn:
    why = "the arguments were changed; what was approved and what the receipt shows must be what the model proposed"
    wrong(called=describe_call(function, before), came_back=f"arguments changed to {after!r}", expected=before, why=why)


EXERCISES = (
    Exercise(
        id="02.1",
        lesson="02",
        title="Validate the arguments",
        minutes=7,
        check=_validate,
        hints=(
            "Four questions: a dict with exactly the three keys? each value of its type? no text empty? the amount "
            "above 0?",
            "`set(arguments) != set(FIELDS)` finds a missing and an extra key at once. For the types ask "
            "`type(value) is kind`, because `isinstance(True, int)` is true.",
            "First `if not isinstance(arguments, dict) or set(arguments) != set(FIELDS): return ...`, then a loop over "
            "`FIELDS.items()` that returns a text for the first wrong type, then `if '' in arguments.values()`, then "
            "the amount, then `return None`.",
        ),
    ),
    Exercise(
        id="02.2",
        lesson="02",
        title="Name one exact call",
        minutes=5,
        check=_call_id,
        hints=(
            "You need one text for name and arguments together that does not depend on the order of the keys.",
            "`json.dumps(..., sort_keys=True)` gives such a text, and `hashlib.sha256` makes a short id of it.",
            "`text = json.dumps([name, arguments], sort_keys=True)`, then `hashlib.sha256(text.encode()).hexdigest()`.",
        ),
    ),
    Exercise(
        id="02.3",
        lesson="02",
        title="Ask the guards in order",
        minutes=8,
        check=_decide,
        hints=(
            "Four questions in the order known tool, arguments, role, approval; the first objection is returned.",
            "Each refusal is `{'guard': ..., 'content': ...}`. Use `validate` for the second question. The fourth asks "
            "only above the limit, and only if `call_id(name, arguments)` is not in `approved_ids`.",
            "The last one: `identity = call_id(name, arguments)`, then `if arguments['amount_cents'] > LIMIT and "
            "identity not in approved_ids: return {'guard': 'approval', 'content': 'approval required', "
            "'approval_id': identity}`, then `return None`.",
        ),
    ),
    Exercise(
        id="02.4",
        lesson="02",
        title="Run once for each key",
        minutes=10,
        check=_dispatch,
        hints=(
            "Decide first. Only a call that may run looks at its key. Beside the first result, store what it was for.",
            "A refusal is the dict of `decide` with `is_error` True. For a key that is in `first`, compare the stored "
            "identity with `call_id(name, arguments)`: equal gives the stored result, other gives an error.",
            "For a new key: `first[key] = (call_id(name, arguments), post(arguments['invoice_id'], "
            "arguments['amount_cents']))`. The answer is `{'is_error': False, 'content': first[key][1]}`.",
        ),
    ),
    Exercise(
        id="02.5",
        lesson="02",
        title="A case of your own",
        minutes=5,
        check=_own_case,
        hints=(
            "What else could a model, a careless colleague or a clever e-mail put into such a call?",
            "Change one thing about a good call: another type, a missing key, one cent above the limit, no role.",
            "For example an amount of 500,001 by a clerk whom nobody has given an approval, or an amount of 1.5.",
        ),
    ),
)
