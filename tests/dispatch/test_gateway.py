"""The gateway's seven guards: each answers its own question, in its place, and data that is misspelt does not load."""

import copy
import json

import pytest
from invoice_tool import Clock, Erp, post_call, post_contract

from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.config import build_guards, load_config, read_config
from agentlab.dispatch.contract import RateLimit, SideEffect, Timeout
from agentlab.dispatch.dispatcher import Dispatcher, Tool
from agentlab.dispatch.gateway import ORDER, authorization, rate_limit, timeout
from agentlab.dispatch.guards import ALLOW, Caller, Deny, propose
from agentlab.dispatch.ledger import Ledger, Outcome
from agentlab.dispatch.policy import table
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall
from agentlab.store import open_store

CLERK = Caller(user="clerk", roles=("ap_clerk",), tenant="north", run="run-1")
VISITOR = Caller(user="visitor", roles=("reader",), tenant="north", run="run-1")
TOOL = "erp_post_invoice"
OWNERS = {"INV-1": "north", "INV-2": "south"}
DATA = {
    "guards": list(ORDER),
    "identities": {
        "clerk": {"tenants": ["north"], "roles": ["ap_clerk"]},
        "visitor": {"tenants": ["north"], "roles": ["reader"]},
    },
    "policy": [
        {
            "id": "clerks post",
            "effect": "permit",
            "roles": ["ap_clerk"],
            "tools": ["erp_post_invoice"],
            "tenants": ["*"],
        },
        {"id": "closed", "effect": "forbid", "roles": ["reader"], "tools": ["*"], "tenants": ["north"]},
    ],
    "most_seconds": 30,
}


def contract(**changes):
    fields = {
        "roles": ("ap_clerk", "reader"),
        "resource": "invoice_id",
        "timeout": Timeout(seconds=10),
        "rate_limit": RateLimit(calls=3, seconds=60),
    }
    return post_contract(**(fields | changes))


def gateway(data=DATA, clock=None, erp=None, seconds_left=lambda caller: 100.0, within=None, **changes):
    engine = open_store("sqlite://")
    clock = clock or Clock()
    approvals = Approvals(engine, clock)
    contracts = [contract(**changes)]
    guards = build_guards(
        load_config(data, contracts),
        contracts,
        tenant_of=OWNERS.get,
        approvals=approvals,
        clock=clock,
        seconds_left=seconds_left,
    )
    tools = [Tool(contracts[0], (erp or Erp()).post)]
    return Dispatcher(tools, guards, Ledger(engine, clock), approvals, within=within or (lambda work, seconds: work()))


def edited(path, value):
    data = copy.deepcopy(DATA)
    place = data
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("call", "caller", "outcome", "guard"),
    [
        (post_call(), CLERK, Outcome.EXECUTED, None),
        (post_call(), CLERK.model_copy(update={"user": "stranger"}), Outcome.DENIED, "identity"),
        (post_call(), CLERK.model_copy(update={"tenant": "south"}), Outcome.DENIED, "identity"),
        (post_call(), CLERK.model_copy(update={"roles": ("ap_clerk", "ap_lead")}), Outcome.DENIED, "identity"),
        (post_call(), CLERK.model_copy(update={"run": ""}), Outcome.DENIED, "identity"),
        (
            post_call(),
            VISITOR,
            Outcome.DENIED,
            "authorization",
        ),
        (post_call(), CLERK.model_copy(update={"roles": ()}), Outcome.DENIED, "authorization"),
        (ToolCall(id="c", name="erp_delete", arguments={}), CLERK, Outcome.INVALID, "authorization"),
        (post_call(amount_cents="1"), CLERK, Outcome.INVALID, "valid_arguments"),
        (post_call(invoice_id="INV-2"), CLERK, Outcome.DENIED, "resource_scope"),
        (post_call(amount_cents=900_000), CLERK, Outcome.PENDING, "approval"),
    ],
)
def test_each_of_the_seven_answers_its_own_question(call, caller, outcome, guard):
    receipt = gateway().dispatch(call, caller).receipt
    assert (receipt.outcome, receipt.guard) == (outcome, guard)


def test_an_earlier_guard_answers_before_a_later_one_learns_of_the_call():
    everything_wrong = post_call(invoice_id="INV-2", amount_cents=-1)
    stranger = Caller(user="stranger", roles=("x",), tenant="south", run="")
    answered = []
    for call, caller in [
        (everything_wrong, stranger),
        (everything_wrong, CLERK.model_copy(update={"roles": ()})),
        (everything_wrong, CLERK),
        (post_call(invoice_id="INV-2"), CLERK),
    ]:
        dispatcher = gateway(seconds_left=lambda caller: 0.0, rate_limit=RateLimit(calls=1, seconds=60))
        answered.append(dispatcher.dispatch(call, caller).receipt.guard)
    assert answered == list(ORDER[:4])
    assert gateway(seconds_left=lambda caller: 0.0).dispatch(post_call(), CLERK).receipt.guard == "timeout"


def test_a_prohibited_tool_runs_for_nobody_under_any_list_of_guards():
    erp = Erp()
    for guards in ([], None):
        dispatcher = gateway(erp=erp, side_effect=SideEffect.PROHIBITED)
        if guards is not None:
            dispatcher = Dispatcher(
                [Tool(contract(side_effect=SideEffect.PROHIBITED), erp.post)],
                guards,
                dispatcher.ledger,
                dispatcher.approvals,
            )
        assert dispatcher.dispatch(post_call(), CLERK).receipt.outcome is Outcome.DENIED
    assert erp.posted == []


def test_calls_past_the_rate_limit_are_refused_until_the_time_has_passed():
    clock = Clock()
    dispatcher = gateway(clock=clock)

    def outcome(number):
        return dispatcher.dispatch(post_call(number, idempotency_key=f"k-{number}"), CLERK).receipt.outcome

    assert [outcome(number) for number in range(4)] == [Outcome.EXECUTED] * 3 + [Outcome.DENIED]
    clock.now += 59.9
    refused = dispatcher.dispatch(post_call(5, idempotency_key="k-5"), CLERK)
    assert refused.receipt.guard == "rate_limit"
    assert "the next is possible in 1 seconds" in refused.result.content
    clock.now += 0.1
    assert outcome(6) is Outcome.EXECUTED


def test_a_call_that_is_decided_again_after_its_approval_counts_once():
    dispatcher = gateway(rate_limit=RateLimit(calls=1, seconds=60))
    pending = dispatcher.dispatch(post_call(amount_cents=900_000), CLERK)
    dispatcher.approvals.decide(pending.receipt.call_id, "lead", True)
    assert dispatcher.dispatch(post_call(amount_cents=900_000), CLERK).receipt.outcome is Outcome.EXECUTED
    assert dispatcher.dispatch(post_call(2, idempotency_key="k-2"), CLERK).receipt.guard == "rate_limit"


def test_a_rate_limit_belongs_to_one_user_of_one_tenant_and_one_tool():
    guard = rate_limit(Clock())
    one = contract(rate_limit=RateLimit(calls=1, seconds=60))
    other_tool = one.model_copy(update={"name": "other"})
    proposal, another = propose(post_call(1)), propose(post_call(2))
    assert guard(proposal, one, CLERK) is ALLOW
    assert isinstance(guard(another, one, CLERK), Deny)
    for field in ("user", "tenant"):
        assert guard(another, one, CLERK.model_copy(update={field: "another"})) is ALLOW
    assert guard(another, other_tool, CLERK) is ALLOW


def test_a_call_that_could_outlast_its_run_is_not_begun():
    guard = timeout(30, lambda caller: {"run-1": 10.0, "run-2": 9.9}[caller.run])
    assert guard(propose(post_call()), contract(), CLERK) is ALLOW
    late = guard(propose(post_call()), contract(), CLERK.model_copy(update={"run": "run-2"}))
    assert "may take 10 seconds, and the run has 10 seconds left" in late.reason
    assert isinstance(guard(propose(post_call()), contract(timeout=None), CLERK), Deny)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (
            ("guards", 1),
            "authorisation",
            "which is no guard; did you mean 'authorization'?",
        ),
        (("guards", 1), None, "the guard 'authorization' is missing; put it into guards, or into left_out"),
        (("guards", 1), "identity", "'identity' is named 2 times"),
        (("guards",), [], "is missing"),
        (("guards",), list(reversed(ORDER)), "another order"),
        (("left_out",), ["approval"], "'approval' is named 2 times"),
        (("left_out",), ["aproval"], "did you mean 'approval'?"),
        (("guard",), list(ORDER), "the key guard is not known; did you mean 'guards'?"),
        (("polcy",), [], "the key polcy is not known; did you mean 'policy'?"),
        (("policy",), [], "policy: "),
        (("policy", 0, "tools"), ["erp_post_invoices"], "did you mean 'erp_post_invoice'?"),
        (("policy", 0, "tools"), [], "is empty"),
        (("policy", 0, "tools"), ["*", "erp_post_invoice"], "mixes '*' with names"),
        (("policy", 0, "tools"), "erp_post_invoice", "policy.0.tools"),
        (("policy", 0, "tools"), None, "policy.0.tools: Field required"),
        (("policy", 0, "roles"), ["ap_clrk"], "did you mean 'ap_clerk'?"),
        (("policy", 0, "roles"), ["ap_lead"], "the policy 'clerks post' names the role 'ap_lead', which nobody holds"),
        (("policy", 1, "tenants"), ["nort"], "did you mean 'north'?"),
        (("policy", 1, "effect"), "forbidd", "policy.1.effect"),
        (("policy", 1, "efect"), "forbid", "the key policy.1.efect is not known"),
        (("policy", 1, "id"), "clerks post", "two rules with the id 'clerks post'"),
        (("identities",), {}, "identities"),
        (("identities", "clerk", "roles"), ["ap_clerc"], "names the role 'ap_clerc', which no tool asks for"),
        (("identities", "clerk", "roles"), [], "at least one tenant and one role"),
        (("identities", "clerk", "admin"), True, "not known"),
        (("most_seconds",), "30", "most_seconds"),
        (("most_seconds",), 5, "no timeout of at most 5 seconds"),
        (("most_seconds",), 0, "most_seconds"),
        (("engine",), "ceder", "engine"),
    ],
)
def test_a_misspelt_policy_does_not_switch_the_gate_off_but_does_not_load(path, value, says):
    with pytest.raises(AgentlabError) as refused:
        load_config(edited(path, value), [contract()])
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_key_that_was_renamed_by_a_slip_is_told_as_the_slip_and_not_as_a_gap():
    renamed = {"guard" if name == "guards" else name: value for name, value in DATA.items()}
    with pytest.raises(AgentlabError, match="the key guard is not known; did you mean 'guards'"):
        load_config(renamed, [contract()])


def test_a_guard_that_is_left_out_on_purpose_is_written_down_as_such():
    data = DATA | {"guards": [name for name in ORDER if name != "timeout"], "left_out": ["timeout"]}
    assert gateway(data, timeout=None).dispatch(post_call(), CLERK).receipt.outcome is Outcome.EXECUTED


def test_a_tool_whose_role_nobody_holds_is_a_slip_and_does_not_load():
    with pytest.raises(AgentlabError, match="asks for a role that nobody holds: ap_lead"):
        load_config(DATA, [contract(), contract(name="other", roles=("ap_lead",))])


def test_without_a_policy_the_contracts_roles_are_the_policy():
    data = edited(("policy",), None)
    assert gateway(data).dispatch(post_call(), VISITOR).receipt.outcome is Outcome.EXECUTED
    data = edited(("policy",), None) | {"identities": {"clerk": DATA["identities"]["clerk"]}}
    assert gateway(data, roles=("ap_clerk",)).dispatch(post_call(), CLERK).receipt.outcome is Outcome.EXECUTED


def test_the_policy_can_only_narrow_what_the_contract_allows():
    assert "the rule 'closed' forbids it" in gateway().dispatch(post_call(), VISITOR).receipt.detail
    generous = edited(("policy", 1, "effect"), "permit")
    assert gateway(generous).dispatch(post_call(), VISITOR).receipt.outcome is Outcome.EXECUTED
    guard = authorization(table(load_config(generous, [contract()]).policy))
    assert isinstance(guard(propose(post_call()), contract(roles=("ap_clerk",)), VISITOR), Deny)


TOML = """
guards = ["identity", "authorization", "valid_arguments", "resource_scope", "rate_limit", "timeout", "approval"]
most_seconds = 30

[identities.clerk]
tenants = ["north"]
roles = ["ap_clerk"]

[identities.visitor]
tenants = ["north"]
roles = ["reader"]

[[policy]]
id = "clerks post"
effect = "permit"
roles = ["ap_clerk"]
tools = ["erp_post_invoice"]
tenants = ["*"]

[[policy]]
id = "closed"
effect = "forbid"
roles = ["reader"]
tools = ["*"]
tenants = ["north"]
"""


def test_toml_and_json_say_the_same(tmp_path):
    toml, as_json = tmp_path / "gateway.toml", tmp_path / "gateway.json"
    toml.write_text(TOML, "utf-8")
    as_json.write_text(json.dumps(DATA), "utf-8")
    assert read_config(toml) == read_config(as_json) == DATA


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.toml", "guards = [", "no TOML"),
        ("a.toml", "most_seconds = 1\nmost_seconds = 2", "no TOML"),
        ("a.json", '{"guards": [], "guards": []}', "written twice"),
        ("a.json", "", "empty"),
        ("a.json", "[]", "one JSON object"),
        ("a.yaml", "guards:", "a .toml or a .json file"),
        ("none.json", None, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_in_one_way_only_is_refused(tmp_path, name, text, says):
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(AgentlabError, match=says):
        read_config(tmp_path / name)
