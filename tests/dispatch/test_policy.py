"""The policy table: nothing is permitted that no rule permits, and Cedar gives every answer that the table gives."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invoice_tool import post_contract
from pydantic import ValidationError

from agentlab.dispatch.cedar import cedar, to_cedar
from agentlab.dispatch.contract import SideEffect
from agentlab.dispatch.policy import NO_RULE, AccessRequest, PolicyRule, rules_of, table
from agentlab.errors import AgentlabError


def rule(id, effect="permit", roles=("ap_clerk",), tools=("post",), tenants=("*",)):
    return PolicyRule(id=id, effect=effect, roles=roles, tools=tools, tenants=tenants)


def request(roles=("ap_clerk",), tool="post", tenant="north", resource=None):
    return AccessRequest("clerk", roles, tenant, tool, SideEffect.CONSEQUENTIAL, resource)


@pytest.mark.parametrize("engine", [table, lambda rules: cedar(to_cedar(rules))], ids=["table", "cedar"])
@pytest.mark.parametrize(
    ("asked", "allowed", "by"),
    [
        (request(), True, "post"),
        (request(roles=("reader", "ap_clerk")), True, "post"),
        (request(roles=()), False, None),
        (request(tool="delete"), False, None),
        (request(tenant="south"), False, "not south"),
        (request(roles=("auditor",), tool="whatever"), True, "auditors"),
        (request(roles=("auditor",), tenant="south", tool="whatever"), False, "not south"),
    ],
)
def test_what_no_rule_permits_is_denied_and_a_rule_that_forbids_wins(engine, asked, allowed, by):
    rules = [
        rule("post"),
        rule("auditors", roles=("auditor",), tools=("*",)),
        rule("not south", "forbid", roles=("*",), tools=("*",), tenants=("south",)),
    ]
    assert engine(rules)(asked) == (allowed, by)


NAMES = ["a", "b", "Ap_Clerk", 'q"', "back\\slash", "new\nline", "é", "*x", '") || true', "\x00"]
names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple)
some = st.just(("*",)) | names
rules_in_any_order = st.lists(
    st.tuples(st.sampled_from(["permit", "forbid"]), some, some, some), min_size=1, max_size=6
).map(lambda rows: [rule(f"{number} of '\"\\", *row) for number, row in enumerate(rows)])
requests = st.builds(
    request,
    roles=st.lists(st.sampled_from([*NAMES, "c"]), max_size=3).map(tuple),
    tool=st.sampled_from([*NAMES, "c"]),
    tenant=st.sampled_from([*NAMES, "c"]),
    resource=st.none() | st.sampled_from(NAMES),
)


@settings(max_examples=150)
@given(rules_in_any_order, st.lists(requests, min_size=1, max_size=5))
def test_the_table_and_cedar_give_the_same_answer_by_the_same_rule(rules, asked):
    one, other = table(rules), cedar(to_cedar(rules))
    assert [one(each) for each in asked] == [other(each) for each in asked]


def test_without_a_table_of_its_own_a_contract_permits_the_roles_that_it_names():
    decide = table(rules_of([post_contract(), post_contract(name="closed", roles=())]))
    assert decide(request(tool="erp_post_invoice")).allowed
    assert not decide(request(tool="erp_post_invoice", roles=("reader",))).allowed
    assert decide(request(tool="closed")) == NO_RULE


@pytest.mark.parametrize("names", [(), ("*", "ap_clerk")])
def test_a_rule_says_whom_it_means(names):
    with pytest.raises(ValidationError, match="write"):
        rule("x", roles=names)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("permitt(principal, action, resource);", "permitt"),
        ("", "holds no policy"),
        ("// only a comment", "holds no policy"),
        ('permit(principal, action, resource) when { context.tennant == "north" };', "tennant"),
        ('permit(principal, action, resource) when { context.record == "INV-1" };', "record"),
        ('permit(principal in Group::"x", action, resource);', "Group"),
        ('permit(principal, action == Action::"cal", resource);', "cal"),
    ],
)
def test_a_misspelt_cedar_policy_does_not_load(text, says):
    with pytest.raises(AgentlabError, match=says) as refused:
        cedar(text)
    assert "\n" not in str(refused.value)


def test_a_policy_that_fails_while_it_is_evaluated_denies_also_where_it_would_have_forbidden():
    overflow = "forbid(principal, action, resource) when { 9223372036854775807 + 1 > 0 };"
    decide = cedar(f"permit(principal, action, resource);\n{overflow}")
    assert decide(request()) == NO_RULE


def test_a_cedar_policy_of_ones_own_may_speak_of_the_record():
    decide = cedar(
        '@id("own") permit(principal, action, resource) when { context has record && context.record == "A" };'
    )
    assert decide(request(resource="A")) == (True, "own")
    assert decide(request(resource="B")) == NO_RULE
    assert decide(request()) == NO_RULE


def test_without_cedarpy_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cedarpy", None)
    with pytest.raises(AgentlabError, match=r"install agentlab-toolkit\[policy\]"):
        cedar("permit(principal, action, resource);")
