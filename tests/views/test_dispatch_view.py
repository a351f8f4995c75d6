"""The dispatcher seen without a front end: steps, sentence, proposals, records."""

import itertools

import pytest

from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.contract import FIELDS
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.gateway import ORDER
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.loop.machine import State, mermaid
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store
from agentlab.views import dispatch as view
from agentlab.views import proposals, records
from agentlab.views.proposals import CASES, LIMIT, Answer, Case, post_invoice
from agentlab.views.situation import Situation, outcome
from agentlab.views.tables import Table

CLERK = ("ap_clerk",)
GUARDS = ("known_tool", "valid_arguments", "role", "approval")


def seen(**settings):
    return outcome(Situation(**settings))


def test_the_steps_show_who_was_asked_and_who_was_not() -> None:
    steps = seen(caller="viewer").steps
    assert [step.name for step in steps] == [*ORDER, view.KEY_STEP]
    assert [step.said for step in steps] == ["nothing against it", "refuses the call", *["not asked"] * 6]
    assert seen().steps[-1].said == "new: the tool runs, and its result is kept"


@pytest.mark.parametrize("earlier", ["the same call", "the key with another amount", "the same call, cut off"])
@pytest.mark.parametrize("amount", [LIMIT, 900_000])
def test_no_step_says_that_a_person_was_asked_about_a_key_that_has_been_used(amount, earlier) -> None:
    said = {step.name: step.said for step in seen(amount_cents=amount, earlier=earlier).steps}
    assert said["approval"] == "no person is asked"
    assert said[view.KEY_STEP].startswith("used ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {},
            "No guard refused the call; the key is new: the tool runs, and its result is kept. The tool ran once.",
        ),
        ({"caller": "viewer"}, "authorization: refuses the call. The tool did not run."),
        ({"amount_cents": 900_000}, "approval: a person must approve. The tool did not run."),
        (
            {"earlier": "the key with another amount"},
            "No guard refused the call; the key is used for another payload: refused. The tool did not run.",
        ),
    ],
)
def test_the_sentence_says_who_had_the_last_word_and_whether_anything_happened(given, said) -> None:
    assert view.sentence(seen(**given)) == said


def test_every_guard_has_its_question_in_the_table() -> None:
    table = view.steps_table(seen())
    assert [row[0] for row in table.rows] == [*ORDER, view.KEY_STEP]
    assert all(row[1].endswith("?") or "?" in row[1] for row in table.rows)
    assert set(view.QUESTIONS) == {*GUARDS, *ORDER, view.KEY_STEP}


def test_the_flowchart_names_every_guard_in_order_and_describes_itself() -> None:
    drawn = view.flow(GUARDS)
    for one, other in itertools.pairwise([*GUARDS, view.KEY_STEP]):
        assert f"{one}{{{{{one}}}}} --> {other}" in drawn
    assert "accTitle:" in drawn
    assert "accDescr:" in drawn
    assert all(f"{name} -.-> receipt" in drawn for name in [*GUARDS, view.KEY_STEP])


def test_the_state_diagram_names_a_state_before_it_puts_a_note_on_it() -> None:
    lines = mermaid().splitlines()
    note = next(i for i, line in enumerate(lines) if "note right of" in line)
    assert any(line.startswith(f"    {State.CANCELLED.value} -->") for line in lines[:note])


def package_answers():
    engine = open_store("sqlite://")
    approvals = Approvals(engine, lambda: view.MORNING)
    tool = Tool(post_invoice(), lambda arguments, caller: {"status": "posted", "posting": 1})
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


def test_the_comparison_ends_with_what_each_erp_holds() -> None:
    answers = [Answer("posted", "p")] * len(CASES)
    table = proposals.comparison(CASES, {"one": answers, "other": answers}, {"one": 11, "other": 2})
    assert table.rows[-1] == ("postings in the ERP", "11", "2")
    assert len(table.rows) == len(CASES) + 1
    assert len(proposals.comparison(CASES, {"one": answers}).rows) == len(CASES)


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
    assert set(fields) == {*FIELDS, "hashes, computed"}
    told = " ".join(fields.values())
    assert all(name in told for name in post_invoice().model_dump())
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
