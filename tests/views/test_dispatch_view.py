"""The dispatcher seen without a front end, and the console that puts controls on the same outcome."""

import itertools
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger, Outcome
from agentlab.errors import AgentlabError
from agentlab.loop.machine import State, mermaid
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views import console, proposals, records
from agentlab.views import dispatch as view
from agentlab.views.proposals import CASES, LIMIT, Answer, Case, invoice, post_invoice
from agentlab.views.tables import Table

CLERK = ("ap_clerk",)
GUARDS = ("known_tool", "valid_arguments", "role", "approval")


def seen(amount=120_000, roles=CLERK, approved="nothing", earlier="nothing", **more):
    return view.outcome(post_invoice(), {**invoice(amount, "k"), **more}, roles, approved, earlier)


@pytest.mark.parametrize(
    ("given", "outcome", "guard", "effects"),
    [
        ({}, Outcome.EXECUTED, None, 1),
        ({"earlier": "the same call"}, Outcome.REPLAYED, None, 0),
        ({"earlier": "the key with another amount"}, Outcome.CONFLICT, None, 0),
        ({"amount": "120000"}, Outcome.INVALID, "valid_arguments", 0),
        ({"amount": True}, Outcome.INVALID, "valid_arguments", 0),
        ({"amount": -1}, Outcome.INVALID, "valid_arguments", 0),
        ({"approved_by_model": True}, Outcome.INVALID, "valid_arguments", 0),
        ({"roles": ("viewer",)}, Outcome.DENIED, "role", 0),
        ({"amount": LIMIT}, Outcome.EXECUTED, None, 1),
        ({"amount": LIMIT + 1}, Outcome.PENDING, "approval", 0),
        ({"amount": 900_000, "approved": "this call"}, Outcome.EXECUTED, None, 1),
        ({"amount": 900_000, "approved": "another amount"}, Outcome.PENDING, "approval", 0),
        ({"amount": 900_000, "approved": "refused"}, Outcome.DENIED, "approval", 0),
        ({"amount": 900_000, "approved": "expired"}, Outcome.PENDING, "approval", 0),
        ({"amount": 900_000, "earlier": "the same call"}, Outcome.REPLAYED, None, 0),
        ({"amount": 900_000, "earlier": "the key with another amount"}, Outcome.CONFLICT, None, 0),
        ({"amount": 900_000, "roles": ("viewer",), "earlier": "the same call"}, Outcome.DENIED, "role", 0),
        ({"invoice_id": ""}, Outcome.INVALID, "valid_arguments", 0),
        ({"idempotency_key": ""}, Outcome.INVALID, "valid_arguments", 0),
        ({"amount": 900_000, "roles": ("viewer",), "approved": "this call"}, Outcome.DENIED, "role", 0),
    ],
)
def test_each_setting_ends_as_the_rules_say(given, outcome, guard, effects) -> None:
    result = seen(**given)
    assert (result.receipt.outcome, result.receipt.guard, result.effects) == (outcome, guard, effects)


def test_the_same_setting_gives_the_same_outcome_to_the_letter() -> None:
    assert seen(900_000, approved="this call") == seen(900_000, approved="this call")


@settings(max_examples=40, deadline=None)  # each example opens a database; how long that takes is no claim here
@given(
    st.one_of(st.integers(-2 * LIMIT, 2 * LIMIT), st.booleans(), st.text(max_size=5)),
    st.sampled_from([CLERK, ("viewer",), ()]),
    st.sampled_from(get_args(view.Approved)),
    st.sampled_from(get_args(view.Earlier)),
)
def test_whatever_is_set_a_call_runs_only_when_the_rules_allow_it(amount, roles, approved, earlier) -> None:
    result = seen(amount, roles, approved, earlier)
    fits = type(amount) is int and amount > 0 and roles == CLERK
    free = fits and (amount <= LIMIT or approved == "this call")
    assert result.effects == (1 if free and earlier == "nothing" else 0)
    assert (result.receipt.outcome is Outcome.EXECUTED) == (result.effects == 1)
    assert [step.name for step in result.steps] == [*GUARDS, view.KEY_STEP]


def test_the_steps_show_who_was_asked_and_who_was_not() -> None:
    assert [step.said for step in seen(roles=("viewer",)).steps] == [
        "nothing against it",
        "nothing against it",
        "refuses the call",
        "not asked",
        "not asked",
    ]
    assert seen().steps[-1].said == "new: the tool runs, and its result is kept"


@pytest.mark.parametrize("earlier", ["the same call", "the key with another amount"])
@pytest.mark.parametrize("amount", [LIMIT, 900_000])
def test_no_step_says_that_a_person_was_asked_about_a_key_that_has_been_used(amount, earlier) -> None:
    said = {step.name: step.said for step in seen(amount, earlier=earlier).steps}
    assert said["approval"] == "no person is asked"
    assert said[view.KEY_STEP].startswith("used for")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {},
            "No guard refused the call; the key is new: the tool runs, and its result is kept. The tool ran once.",
        ),
        ({"roles": ("viewer",)}, "role: refuses the call. The tool did not run."),
        ({"amount": 900_000}, "approval: a person must approve. The tool did not run."),
        (
            {"earlier": "the key with another amount"},
            "No guard refused the call; the key is used for another payload: refused. The tool did not run.",
        ),
    ],
)
def test_the_sentence_says_who_had_the_last_word_and_whether_anything_happened(given, said) -> None:
    assert view.sentence(seen(**given)) == said


def test_a_contract_without_an_approval_rule_is_refused_in_one_line() -> None:
    contract = post_invoice().model_copy(update={"approval": None})
    with pytest.raises(AgentlabError, match=r"erp_post_invoice has no approval rule; give a contract with one"):
        view.outcome(contract, invoice(1, "k"), CLERK)
    with pytest.raises(AgentlabError, match="erp_post_invoice has no approval rule"):
        console.panel(contract, invoice(1, "k"))


def test_every_guard_has_its_question_in_the_table() -> None:
    table = view.steps_table(seen())
    assert [row[0] for row in table.rows] == [*GUARDS, view.KEY_STEP]
    assert all(row[1].endswith("?") or "?" in row[1] for row in table.rows)


def test_the_flowchart_names_every_guard_in_order_and_describes_itself() -> None:
    drawn = view.flow(GUARDS)
    for one, other in itertools.pairwise([*GUARDS, view.KEY_STEP]):
        assert f"{one}{{{{{one}}}}} --> {other}" in drawn
    assert "accTitle:" in drawn
    assert "accDescr:" in drawn
    assert all(f"{name} -. refused .-> receipt" in drawn for name in [*GUARDS, view.KEY_STEP])


def test_the_state_diagram_names_a_state_before_it_puts_a_note_on_it() -> None:
    lines = mermaid().splitlines()
    note = next(i for i, line in enumerate(lines) if "note right of" in line)
    assert any(line.startswith(f"    {State.CANCELLED.value} -->") for line in lines[:note])


def package_answers():
    engine = open_store("sqlite://")
    approvals = Approvals(engine, lambda: view.MORNING)
    tool = Tool(post_invoice(), lambda arguments, caller: "posted")
    dispatcher = Dispatcher([tool], four_guards(approvals), Ledger(engine, lambda: view.MORNING), approvals)

    def propose(case: Case) -> Answer:
        caller = Caller(user="clerk", roles=case.roles, tenant="acme", run="run-1")
        return proposals.answer_of(
            dispatcher.dispatch(ToolCall(id="c", name=case.tool, arguments=case.arguments), caller)
        )

    answers = proposals.play(CASES, propose, lambda identity: approvals.decide(identity, "lead", approve=True))
    return answers, dispatcher


def test_the_package_gives_every_outcome_that_the_course_lists() -> None:
    answers, dispatcher = package_answers()
    assert [answer.by for answer in answers] == [
        "executed",
        "replayed",
        "valid_arguments",
        "valid_arguments",
        "valid_arguments",
        "valid_arguments",
        "role",
        "approval",
        "executed",
        "conflict",
        "known_tool",
    ]
    assert len(dispatcher.ledger.receipts()) == len(CASES)


def test_nobody_is_asked_to_approve_before_an_id_was_shown() -> None:
    approved: list[str] = []
    case = Case("approved out of the blue", "t", {}, CLERK, approve=True)
    proposals.play([case], lambda case: Answer("posted", ""), approved.append)
    assert approved == []


def test_changes_shows_only_what_now_ends_otherwise() -> None:
    before = [Answer("posted", "p")] * len(CASES)
    after = [
        Answer("role", "denied: r") if case.roles != CLERK else one for case, one in zip(CASES, before, strict=True)
    ]
    table = proposals.changes(CASES, before, after)
    assert table.rows == (("a caller without the role", "posted", "role", "denied: r"),)
    assert table.caption == f"1 of {len(CASES)} proposals now end otherwise"


def test_a_digest_is_shortened_and_nothing_else_is() -> None:
    digest = "0123456789abcdef" * 4
    assert records.shortened(f"approval required: {digest}") == "approval required: 0123456789abcdef..."
    assert records.shortened("INV-1042 " + "z" * 64) == "INV-1042 " + "z" * 64


def test_the_records_show_what_the_ledger_holds() -> None:
    _, dispatcher = package_answers()
    receipts = records.receipts_table(dispatcher.ledger.receipts())
    assert [row[3] for row in receipts.rows] == [receipt.outcome.value for receipt in dispatcher.ledger.receipts()]
    approvals = records.approvals_table(dispatcher.approvals.all())
    assert [(row[3], row[4]) for row in approvals.rows] == [("used", "lead")]
    assert {row[5] for row in approvals.rows} == {"2026-01-06 09:00 UTC"}
    fields = dict(records.contract_table(post_invoice()).rows)
    assert set(fields) == {*post_invoice().model_dump(), "digest"}
    assert dict(records.receipt_table(dispatcher.ledger.receipts()[7]).rows)["outcome"] == "pending"


def test_words_lie_to_the_left_and_numbers_to_the_right() -> None:
    table = Table("t", ("name", "number", "word"), (("a", "1", "<b>"),), words=("word",))
    assert table.text.splitlines()[-1] == "a          1  <b>"
    assert '<td style="text-align:right">1</td><td style="text-align:left">&lt;b&gt;</td>' in table.html
    assert (repr(table), table._repr_html_()) == (table.text, table.html)


def test_compact_json_in_a_cell_can_be_wrapped_between_its_fields() -> None:
    table = Table("t", ("name", "arguments"), (("a", '{"x":1,"y":"1,200"}'),), words=("arguments",))
    assert "{&quot;x&quot;:1,<wbr>&quot;y&quot;:&quot;1,200&quot;}" in table.html
    assert '{"x":1,"y":"1,200"}' in table.text


def test_the_console_shows_the_outcome_of_what_is_set() -> None:
    made = console.panel(post_invoice(), invoice(900_000, "k"))
    assert view.sentence(seen(900_000)) in made.sentence.value
    made.controls["approved"].value = "this call"
    assert "The tool ran once." in made.sentence.value
    made.controls["kind"].value = "text"
    assert "valid_arguments: refuses the call." in made.sentence.value
    assert "refuses the call" in made.steps.value
    made.controls["role"].value = "viewer"
    assert "&quot;900000&quot;" in made.receipt.value


def test_slider_and_number_box_of_the_console_move_together() -> None:
    made = console.panel(post_invoice(), invoice(900_000, "k"))
    made.controls["slider"].value = LIMIT
    assert made.controls["amount"].value == LIMIT
    assert "The tool ran once." in made.sentence.value
    assert made.controls["amount"].description == "amount_cents"
