"""An approval is for one exact call: the table of lesson 02 shows what each change makes of it."""

from agentlab.dispatch.ledger import Outcome
from agentlab.views import bound, policy
from agentlab.views.proposals import post_invoice


def test_only_the_call_that_was_approved_runs_and_it_runs_once() -> None:
    outcomes = {change.said: bound.asked_after(change) for change in bound.changes()}
    ran = {said: effects for said, (_, effects) in outcomes.items()}
    first, *others = ran
    assert ran[first] == 1
    assert {ran[said] for said in others} == {0}
    assert outcomes["once more, after it has run"][0].outcome is Outcome.REPLAYED
    asked_anew = set(outcomes) - {first, "once more, after it has run"}
    assert {outcomes[said][0].outcome for said in asked_anew} == {Outcome.PENDING}


def test_every_change_of_the_call_changes_its_id_and_time_does_not() -> None:
    ids = {change.said: bound.asked_after(change)[0].call_id for change in bound.changes()}
    same = {"exactly the call that was approved", "a day later", "once more, after it has run"}
    assert len({ids[said] for said in same}) == 1
    assert len(set(ids.values())) == len(ids) - len(same) + 1


def test_each_change_is_a_row_that_says_what_it_means() -> None:
    table = bound.bound_table(bound.changes())
    assert [row[0] for row in table.rows] == [change.said for change in bound.changes()]
    assert table.rows[0][2:] == ("executed", "runs, and uses the approval up")
    assert all(len(row[1]) < 64 for row in table.rows)


def test_engines_are_shown_side_by_side_with_the_rule_that_decided() -> None:
    from agentlab.dispatch.policy import AccessRequest, PolicyRule, table

    contract = post_invoice()
    rules = [
        PolicyRule(id="may", effect="permit", roles=("ap_clerk",), tools=(contract.name,), tenants=("*",)),
        PolicyRule(id="never", effect="forbid", roles=("*",), tools=("*",), tenants=("globex",)),
    ]
    requests = [
        AccessRequest(user, roles, tenant, contract.name, contract.side_effect)
        for user, roles, tenant in (("a", ("ap_clerk",), "acme"), ("b", (), "acme"), ("c", ("ap_clerk",), "globex"))
    ]
    shown = policy.decisions_table(requests, {"table": table(rules)})
    assert [row[-1] for row in shown.rows] == ["permitted: may", "denied: no rule permits it", "denied: never"]
    assert shown.rows[1][1] == "none"
