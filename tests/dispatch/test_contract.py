"""Contracts refuse what would make a control meaningless, and their digest moves with every field."""

import pytest
from invoice_tool import post_contract
from pydantic import ValidationError

from agentlab.dispatch.contract import ApprovalRule, SideEffect
from agentlab.dispatch.schemas import CompiledSchema
from agentlab.errors import AgentlabError

GOOD = {"invoice_id": "INV-1", "amount_cents": 1, "idempotency_key": "k"}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"amount_cents": "1"}, "amount_cents"),
        ({"amount_cents": True}, "amount_cents"),
        ({"amount_cents": 1.0}, "amount_cents"),
        ({"amount_cents": 1.5}, "amount_cents"),
        ({"amount_cents": 0}, "amount_cents"),
        ({"amount_cents": -1}, "amount_cents"),
        ({"amount_cents": None}, "amount_cents"),
        ({"invoice_id": 7}, "invoice_id"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"approve": True}, "approve"),
    ],
)
def test_arguments_are_never_bent_to_fit(change, place):
    problems = post_contract().problems(GOOD | change)
    assert len(problems) == 1
    assert place in problems[0]


def test_every_problem_is_told_at_once():
    problems = post_contract().problems({"amount_cents": "1", "extra": 1})
    assert len(problems) == 4
    assert [word for word in ("invoice_id", "idempotency_key", "extra", "amount_cents") if word in " ".join(problems)]


def test_a_large_whole_number_stays_exact():
    assert post_contract().problems(GOOD | {"amount_cents": 10**30}) == []


def test_strict_integers_hold_inside_nested_schemas_and_leave_values_alone():
    schema = CompiledSchema(
        {
            "type": "object",
            "properties": {
                "type": {"enum": [{"type": "integer"}, 1.0]},
                "rows": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/n"}]}},
                "free": {"type": ["integer", "number"]},
            },
            "$defs": {"n": {"type": ["integer", "null"]}},
        }
    )
    assert schema.problems({"type": {"type": "integer"}, "rows": [1, None], "free": 1.0}) == []
    assert schema.problems({"rows": [1.0]}) != []


@pytest.mark.parametrize(
    "schema", [{"type": "whole"}, {"$ref": "https://example.com/x"}, {"properties": 7}, {"a": float("nan")}]
)
def test_a_schema_that_is_none_is_refused_when_it_is_given(schema):
    with pytest.raises(AgentlabError) as refused:
        CompiledSchema(schema)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"idempotency_key": None, "approval": None}, "needs an idempotency_key"),
        ({"idempotency_key": "nope"}, "no required argument"),
        ({"resource": "nope"}, "no required argument"),
        ({"approval": ApprovalRule(argument="nope", above=1)}, "no required argument"),
        ({"approval": ApprovalRule(argument="invoice_id", above=1)}, "whole numbers"),
        ({"side_effect": SideEffect.REVERSIBLE, "idempotency_key": None}, "used up together with the key"),
        ({"idempotency": "idempotency_key"}, "Extra inputs"),
    ],
)
def test_a_contract_whose_control_could_not_work_is_refused(change, says):
    with pytest.raises(ValidationError, match=says):
        post_contract(**change)


def test_the_digest_changes_with_every_field():
    base = post_contract()
    changes = {
        "name": "other",
        "version": "2",
        "description": "Post.",
        "input_schema": base.input_schema | {"title": "Post"},
        "roles": ("ap_clerk", "ap_lead"),
        "side_effect": SideEffect.REVERSIBLE,
        "resource": "invoice_id",
        "idempotency_key": "invoice_id",
        "target_honours_key": True,
        "approval": ApprovalRule(argument="amount_cents", above=500_001),
        "repeatable": True,
        "denial_ends_run": True,
    }
    assert set(changes) == set(type(base).model_fields)
    digests = {post_contract(**{field: value}).digest for field, value in changes.items()}
    assert len(digests | {base.digest}) == len(changes) + 1


def test_the_model_is_not_told_who_may_call_or_what_needs_approval():
    told = post_contract().schema_for_model.model_dump_json()
    assert "ap_clerk" not in told
    assert "500000" not in told


def test_a_contract_that_is_copied_with_changes_is_a_new_contract():
    changed = post_contract().model_copy(update={"version": "2"})
    assert changed.digest == post_contract(version="2").digest != post_contract().digest
    with pytest.raises(ValidationError, match="no required argument"):
        post_contract().model_copy(update={"resource": "nope"})
