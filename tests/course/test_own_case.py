"""02.5: which cases count as a case of the learner's own."""

import pytest

from agentlab.course.checks import judge
from agentlab.views.proposals import invoice


def refuses_all(name, arguments, roles, approved_ids, first, post):
    return {"is_error": True, "content": "no"}


def case(**changed):
    return {"name": "erp_post_invoice", "arguments": {**invoice(120_000, "mine"), **changed}, "roles": {"ap_clerk"}}


@pytest.mark.parametrize("changed", [{"idempotency_key": ""}, {"idempotency_key": 7}, {"invoice_id": ""}])
def test_a_case_without_a_usable_key_or_id_is_a_hole_of_its_own(changed):
    assert judge("02.5", case(**changed), refuses_all).state == "right"


def test_the_empty_form_of_the_task_is_a_case_too():
    empty = {"name": "", "arguments": {}, "roles": set()}
    assert judge("02.5", empty, refuses_all).state == "right"


def test_a_listed_case_under_another_key_is_not_the_learners_own():
    result = judge("02.5", case(amount_cents="120000"), refuses_all)
    assert result.state == "wrong"
    assert "the course's case 'the amount is text'" in result.why
