"""Lesson 02: the checks of the whole dispatcher, on every proposal of the lesson and on one of the learner's own."""

import copy
from typing import Any, NoReturn

from agentlab.course.checks import wrong
from agentlab.course.exercises.lesson_02_guards import TOOL, call_or_wrong, wrong_for_changing
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views.proposals import CASES, LIMIT, Answer, Case, answer_of, invoice, post_invoice


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
        answer = call_or_wrong(why, self.dispatch, case.tool, arguments, roles, self.approved, self.first, post)
        if arguments != case.arguments:
            wrong_for_changing(self.dispatch, case.arguments, arguments)
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


def check_dispatch(dispatch: Any) -> str:
    """02.4: each of the lesson's proposals ends as it must, and what is posted is posted once."""
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
        # What else a dispatcher says of a repeated call (that it is one, say) is its own affair.
        if (repeated["is_error"], repeated["content"]) != (False, result["content"]):
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


def check_own_case(case: Any, dispatch: Any) -> str:
    """02.5: a case that the lesson does not list, and that both dispatchers refuse."""
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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
