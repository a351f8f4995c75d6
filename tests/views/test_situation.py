"""One proposal in all its circumstances: the gateway answers as its rules say, and the console shows just that."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.dispatch.gateway import ORDER
from agentlab.dispatch.ledger import Outcome
from agentlab.errors import AgentlabError
from agentlab.views import company, console, situation
from agentlab.views.dispatch import KEY_STEP, sentence
from agentlab.views.proposals import LIMIT, post_invoice
from agentlab.views.situation import Situation, outcome

LARGE = {"amount_cents": 900_000}


@pytest.mark.parametrize(
    ("given", "outcome_", "guard", "effects"),
    [
        ({}, Outcome.EXECUTED, None, 1),
        ({"caller": "stranger"}, Outcome.DENIED, "identity", 0),
        ({"caller": "viewer who says ap_clerk"}, Outcome.DENIED, "identity", 0),
        ({"caller": "viewer"}, Outcome.DENIED, "authorization", 0),
        ({"tool": "erp_delete_invoice"}, Outcome.INVALID, "authorization", 0),
        ({"tool": "erp_close_year"}, Outcome.DENIED, "authorization", 0),
        ({"sent_as": "text"}, Outcome.INVALID, "valid_arguments", 0),
        ({"sent_as": "true"}, Outcome.INVALID, "valid_arguments", 0),
        ({"sent_as": "whole number, and approved: true"}, Outcome.INVALID, "valid_arguments", 0),
        ({"amount_cents": 0}, Outcome.INVALID, "valid_arguments", 0),
        ({"invoice": "INV-2001 of another tenant"}, Outcome.DENIED, "resource_scope", 0),
        ({"invoice": "INV-9999 that is not there"}, Outcome.DENIED, "resource_scope", 0),
        ({"calls_before": 4}, Outcome.EXECUTED, None, 1),
        ({"calls_before": 5}, Outcome.DENIED, "rate_limit", 0),
        ({"seconds_left": 10}, Outcome.EXECUTED, None, 1),
        ({"seconds_left": 9}, Outcome.DENIED, "timeout", 0),
        ({"amount_cents": LIMIT}, Outcome.EXECUTED, None, 1),
        ({"amount_cents": LIMIT + 1}, Outcome.PENDING, "approval", 0),
        ({**LARGE, "approved": "this call"}, Outcome.EXECUTED, None, 1),
        ({**LARGE, "approved": "another amount"}, Outcome.PENDING, "approval", 0),
        ({**LARGE, "approved": "refused"}, Outcome.DENIED, "approval", 0),
        ({**LARGE, "approved": "expired"}, Outcome.PENDING, "approval", 0),
        ({"earlier": "the same call"}, Outcome.REPLAYED, None, 0),
        ({"earlier": "the key with another amount"}, Outcome.CONFLICT, None, 0),
        ({"earlier": "the same call, cut off"}, Outcome.UNKNOWN, None, 0),
        ({**LARGE, "earlier": "the same call"}, Outcome.REPLAYED, None, 0),
        ({**LARGE, "earlier": "the key with another amount"}, Outcome.CONFLICT, None, 0),
        ({**LARGE, "earlier": "the same call, cut off"}, Outcome.UNKNOWN, None, 0),
        ({**LARGE, "approved": "refused", "earlier": "the key with another amount"}, Outcome.DENIED, "approval", 0),
        # Each guard comes before the next one: what two of them would refuse, the first one answers.
        ({"caller": "stranger", "tool": "erp_delete_invoice"}, Outcome.DENIED, "identity", 0),
        ({"caller": "viewer", "sent_as": "text"}, Outcome.DENIED, "authorization", 0),
        ({"sent_as": "text", "invoice": "INV-9999 that is not there"}, Outcome.INVALID, "valid_arguments", 0),
        ({"invoice": "INV-9999 that is not there", "calls_before": 9}, Outcome.DENIED, "resource_scope", 0),
        ({"calls_before": 5, "seconds_left": 0}, Outcome.DENIED, "rate_limit", 0),
        ({**LARGE, "seconds_left": 0}, Outcome.DENIED, "timeout", 0),
        ({"caller": "viewer", "earlier": "the same call"}, Outcome.DENIED, "authorization", 0),
    ],
)
def test_each_setting_ends_as_the_rules_say(given, outcome_, guard, effects) -> None:
    result = outcome(Situation(**given))
    assert (result.receipt.outcome, result.receipt.guard, result.effects) == (outcome_, guard, effects)


def test_the_same_setting_gives_the_same_outcome_to_the_letter() -> None:
    given = Situation(**LARGE, approved="this call")
    assert outcome(given) == outcome(given)


@settings(max_examples=40, deadline=None)  # each example opens a database; how long that takes is no claim here
@given(
    st.builds(
        Situation,
        caller=st.sampled_from(get_args(company.Who)),
        tool=st.sampled_from(["erp_post_invoice"] * 3 + ["erp_close_year", "erp_delete_invoice"]),
        invoice=st.sampled_from(get_args(situation.Invoice)),
        amount_cents=st.integers(-LIMIT, 3 * LIMIT),
        sent_as=st.sampled_from(get_args(situation.SentAs)),
        calls_before=st.integers(0, 6),
        seconds_left=st.integers(0, 20),
        approved=st.sampled_from(get_args(situation.Approved)),
        earlier=st.sampled_from(get_args(situation.Earlier)),
    )
)
def test_whatever_is_set_a_call_runs_only_when_every_rule_allows_it(given) -> None:
    result = outcome(given)
    contract = post_invoice()
    free = (
        given.caller == "clerk"
        and given.tool == contract.name
        and given.invoice == "INV-1042"
        and given.sent_as == "whole number"
        and given.amount_cents > 0
        and given.calls_before < contract.rate_limit.calls
        and given.seconds_left >= contract.timeout.seconds
        and (given.amount_cents <= LIMIT or given.approved == "this call")
    )
    assert result.effects == (1 if free and given.earlier == "nothing" else 0)
    assert (result.receipt.outcome is Outcome.EXECUTED) == (result.effects == 1)
    assert [step.name for step in result.steps] == [*ORDER, KEY_STEP]


def test_another_gateway_is_another_set_of_answers() -> None:
    without = {
        **company.CONFIG,
        "guards": [name for name in ORDER if name != "approval"],
        "left_out": ["approval"],
    }
    seen = outcome(Situation(**LARGE), without)
    # The ledger still wants the approval that the contract asks for.
    assert (seen.receipt.outcome, seen.receipt.guard, seen.effects) == (Outcome.DENIED, None, 0)
    with pytest.raises(AgentlabError, match="did you mean 'approval'"):
        outcome(Situation(), {**company.CONFIG, "guards": [*ORDER[:-1], "aproval"]})


def test_the_table_of_situations_names_who_answers() -> None:
    table = situation.situations_table([("good", Situation()), ("foreign", Situation(caller="stranger"))])
    assert [row[:3] for row in table.rows] == [("good", "the key", "executed"), ("foreign", "identity", "denied")]


def test_the_console_shows_the_outcome_of_what_is_set() -> None:
    made = console.panel(Situation(**LARGE))
    assert sentence(outcome(Situation(**LARGE))) in made.sentence.value
    made.controls["approved"].value = "this call"
    assert "The tool ran once." in made.sentence.value
    made.controls["sent_as"].value = "text"
    assert "valid_arguments: refuses the call." in made.sentence.value
    assert "refuses the call" in made.steps.value
    made.controls["caller"].value = "viewer"
    assert "&quot;900000&quot;" in made.receipt.value
    assert "authorization: refuses the call." in made.sentence.value


def test_the_console_has_a_control_for_every_part_of_a_situation_and_keys_reach_each() -> None:
    import ipywidgets

    start = Situation(caller="viewer", amount_cents=3_000_000, calls_before=2)
    made = console.panel(start)
    assert tuple(made.controls) == Situation._fields
    assert {name: control.value for name, control in made.controls.items()} == start._asdict()
    # JupyterLab takes the arrow keys of drop-down lists for itself.
    assert {type(control) for control in made.controls.values()} == {
        ipywidgets.ToggleButtons,
        ipywidgets.BoundedIntText,
    }
    assert all(control.description for control in made.controls.values())
