"""The dispatcher: every outcome that the source text lists, and what its thirty lines could not do."""

import functools

import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st
from invoice_tool import CLERK, INTERN, Clock, Erp, make_dispatcher, post_call, post_contract, read_contract

from agentlab.dispatch.dispatcher import Dispatcher, Tool, ToolError
from agentlab.dispatch.guards import Caller, Deny, call_id, propose, resource_scope
from agentlab.dispatch.ledger import Outcome
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolCall

DAY = 86_400.0


def outcome(dispatcher, call, caller=CLERK):
    return dispatcher.dispatch(call, caller).receipt.outcome


def test_a_first_call_posts_and_the_same_call_again_returns_the_first_result():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    first, again = dispatcher.dispatch(post_call(), CLERK), dispatcher.dispatch(post_call(2), CLERK)
    assert (first.receipt.outcome, again.receipt.outcome) == (Outcome.EXECUTED, Outcome.REPLAYED)
    assert first.result.content == again.result.content
    assert again.result.call_id == "call_2"
    assert len(erp.posted) == 1


@pytest.mark.parametrize(
    ("call", "caller", "expected", "guard"),
    [
        (post_call(amount_cents="120000"), CLERK, Outcome.INVALID, "valid_arguments"),
        (post_call(amount_cents=True), CLERK, Outcome.INVALID, "valid_arguments"),
        (post_call(amount_cents=-1), CLERK, Outcome.INVALID, "valid_arguments"),
        (post_call(approved=True), CLERK, Outcome.INVALID, "valid_arguments"),
        (post_call(), INTERN, Outcome.DENIED, "role"),
        (post_call(amount_cents=500_001), CLERK, Outcome.PENDING, "approval"),
        (post_call(amount_cents=500_000), CLERK, Outcome.EXECUTED, None),
        (ToolCall(id="c", name="erp_delete", arguments={}), CLERK, Outcome.INVALID, "known_tool"),
        (ToolCall(id="c", name="erp_post_invoice", arguments="{"), CLERK, Outcome.INVALID, "valid_arguments"),
    ],
)
def test_each_call_is_answered_by_the_guard_that_owns_the_question(call, caller, expected, guard):
    erp = Erp()
    dispatched = make_dispatcher(erp=erp).dispatch(call, caller)
    assert (dispatched.receipt.outcome, dispatched.receipt.guard) == (expected, guard)
    assert dispatched.result.is_error is (expected is not Outcome.EXECUTED)
    assert len(erp.posted) == (expected is Outcome.EXECUTED)


def test_an_approved_call_posts_once_and_another_amount_is_not_covered():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    pending = dispatcher.dispatch(post_call(amount_cents=900_000), CLERK)
    dispatcher.approvals.decide(pending.receipt.call_id, "lead", True)
    assert outcome(dispatcher, post_call(amount_cents=900_000)) is Outcome.EXECUTED
    assert outcome(dispatcher, post_call(amount_cents=900_000)) is Outcome.REPLAYED
    assert outcome(dispatcher, post_call(amount_cents=950_000, idempotency_key="key-2")) is Outcome.PENDING
    assert len(erp.posted) == 1


def test_nobody_is_asked_about_a_call_whose_key_has_been_used():
    dispatcher = make_dispatcher()
    pending = dispatcher.dispatch(post_call(amount_cents=900_000), CLERK)
    dispatcher.approvals.decide(pending.receipt.call_id, "lead", True)
    dispatcher.dispatch(post_call(amount_cents=900_000), CLERK)
    another_run = Caller(user="agent", roles=("ap_clerk",), tenant="north", run="run-2")
    assert outcome(dispatcher, post_call(amount_cents=950_000)) is Outcome.CONFLICT
    assert outcome(dispatcher, post_call(amount_cents=900_000), another_run) is Outcome.REPLAYED
    assert len(dispatcher.approvals.all()) == 1


def test_what_was_decided_is_what_runs_even_if_somebody_changes_the_call_in_between():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    call = post_call()
    decision = dispatcher.decide(call, CLERK)
    call.arguments["amount_cents"] = 99_999_999
    dispatcher.run(decision)
    assert erp.posted[0]["amount_cents"] == 120_000


def test_a_tool_that_changes_its_arguments_does_not_change_the_receipt():
    base = make_dispatcher()

    def greedy(arguments, caller):
        arguments["amount_cents"] = 1
        return "done"

    dispatcher = Dispatcher([Tool(post_contract(), greedy)], [], base.ledger, base.approvals)
    assert '"amount_cents":120000' in dispatcher.dispatch(post_call(), CLERK).receipt.arguments


def test_the_same_key_with_another_payload_is_refused_with_both_digests():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    dispatcher.dispatch(post_call(), CLERK)
    refused = dispatcher.dispatch(post_call(amount_cents=120_001), CLERK)
    assert refused.receipt.outcome is Outcome.CONFLICT
    assert "another payload" in refused.result.content
    assert len(erp.posted) == 1


def test_every_proposal_leaves_a_receipt_run_or_refused():
    dispatcher = make_dispatcher()
    for call, caller in [(post_call(), CLERK), (post_call(amount_cents="1"), CLERK), (post_call(), INTERN)]:
        dispatcher.dispatch(call, caller)
    assert [each.outcome for each in dispatcher.ledger.receipts("run-1")] == ["executed", "invalid", "denied"]
    assert dispatcher.ledger.receipts("another run") == []


def test_a_receipt_is_written_even_for_arguments_that_are_no_text():
    dispatcher = make_dispatcher()
    call = ToolCall(id="c", name="erp_\x00post", arguments='{"a": "\ud800"}')
    assert outcome(dispatcher, call) is Outcome.INVALID
    assert len(dispatcher.ledger.receipts()) == 1


def test_a_tool_error_gives_the_key_back():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    erp.raises = ToolError("the period is closed; post to the next one")
    failed = dispatcher.dispatch(post_call(), CLERK)
    assert (failed.receipt.outcome, failed.result.content) == (Outcome.FAILED, str(erp.raises))
    erp.raises = None
    assert outcome(dispatcher, post_call()) is Outcome.EXECUTED


def test_a_tool_that_breaks_off_leaves_the_outcome_unknown_and_is_never_run_again():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    erp.raises = TimeoutError("no reply from 10.0.0.7")
    broken = dispatcher.dispatch(post_call(), CLERK)
    erp.raises = None
    assert broken.receipt.outcome is Outcome.UNKNOWN
    assert "10.0.0.7" not in broken.result.content
    assert outcome(dispatcher, post_call()) is Outcome.UNKNOWN
    assert erp.posted == []


def test_a_target_that_honours_the_key_is_asked_again_after_an_unknown_outcome():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp, target_honours_key=True)
    erp.raises = TimeoutError()
    dispatcher.dispatch(post_call(), CLERK)
    erp.raises = None
    assert outcome(dispatcher, post_call()) is Outcome.EXECUTED


def test_a_key_belongs_to_one_tenant():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    for tenant in ("north", "south"):
        caller = Caller(user="agent", roles=("ap_clerk",), tenant=tenant, run="run-1")
        assert outcome(dispatcher, post_call(), caller) is Outcome.EXECUTED
    assert len(erp.posted) == 2


def test_keys_and_open_approvals_survive_a_restart(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    erp = Erp()
    before = make_dispatcher(erp=erp, url=url)
    before.dispatch(post_call(), CLERK)
    pending = before.dispatch(post_call(idempotency_key="key-2", amount_cents=600_000), CLERK)
    after = make_dispatcher(erp=erp, url=url)
    assert outcome(after, post_call()) is Outcome.REPLAYED
    after.approvals.decide(pending.receipt.call_id, "lead", True)
    assert outcome(after, post_call(idempotency_key="key-2", amount_cents=600_000)) is Outcome.EXECUTED


@pytest.mark.parametrize("answer", [None, "yes", 1, "True"])
def test_only_an_exact_yes_is_a_yes(answer):
    dispatcher = make_dispatcher()
    pending = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK)
    with pytest.raises(AgentlabError, match="True or False"):
        dispatcher.approvals.decide(pending.receipt.call_id, "lead", answer)
    assert dispatcher.approvals.state(pending.receipt.call_id) == "pending"


def test_nobody_approves_their_own_call_or_approves_without_a_name_or_twice():
    dispatcher = make_dispatcher()
    identity = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK).receipt.call_id
    for approver, says in [("agent", "cannot approve it"), (" ", "needs the name")]:
        with pytest.raises(AgentlabError, match=says):
            dispatcher.approvals.decide(identity, approver, True)
    dispatcher.approvals.decide(identity, "lead", False)
    with pytest.raises(AgentlabError, match="is denied, not pending"):
        dispatcher.approvals.decide(identity, "lead", True)
    with pytest.raises(AgentlabError, match="no request for approval"):
        dispatcher.approvals.decide("0" * 64, "lead", True)


def test_a_refused_approval_denies_exactly_that_call():
    dispatcher = make_dispatcher()
    identity = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK).receipt.call_id
    dispatcher.approvals.decide(identity, "lead", False)
    assert outcome(dispatcher, post_call(amount_cents=600_000)) is Outcome.DENIED
    assert outcome(dispatcher, post_call(amount_cents=600_001)) is Outcome.PENDING


def test_an_approval_that_expired_before_it_was_used_is_asked_for_anew():
    clock = Clock()
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp, clock=clock)
    identity = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK).receipt.call_id
    dispatcher.approvals.decide(identity, "lead", True)
    clock.now += DAY
    assert dispatcher.approvals.state(identity) == "expired"
    assert outcome(dispatcher, post_call(amount_cents=600_000)) is Outcome.PENDING
    assert dispatcher.approvals.state(identity) == "pending"
    assert erp.posted == []


def test_a_tool_error_gives_the_approval_back_with_the_key():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    identity = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK).receipt.call_id
    dispatcher.approvals.decide(identity, "lead", True)
    erp.raises = ToolError("closed")
    assert outcome(dispatcher, post_call(amount_cents=600_000)) is Outcome.FAILED
    erp.raises = None
    assert outcome(dispatcher, post_call(amount_cents=600_000)) is Outcome.EXECUTED
    assert dispatcher.approvals.state(identity) == "used"
    assert len(erp.posted) == 1


def test_a_tool_error_on_a_second_attempt_does_not_free_the_key_of_an_unknown_outcome():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp, target_honours_key=True)
    for raised in (ConnectionError("gone"), ToolError("busy, I did nothing")):
        erp.raises = raised
        assert outcome(dispatcher, post_call()) is Outcome.UNKNOWN
    erp.raises = None
    assert outcome(dispatcher, post_call(amount_cents=70)) is Outcome.CONFLICT
    assert outcome(dispatcher, post_call()) is Outcome.EXECUTED


@pytest.mark.parametrize("name", ["Agent", " agent ", "AGENT", "\uff41gent"])
def test_a_requester_does_not_approve_under_another_spelling(name):
    dispatcher = make_dispatcher()
    identity = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK).receipt.call_id
    with pytest.raises(AgentlabError, match="cannot approve it"):
        dispatcher.approvals.decide(identity, name, True)


@pytest.mark.parametrize("name", ["", " ", "\u200b", "agent\u200b", "lead\x00", "le\nad", "\ud800"])
def test_a_name_that_cannot_be_read_is_no_name(name):
    dispatcher = make_dispatcher()
    identity = dispatcher.dispatch(post_call(amount_cents=600_000), CLERK).receipt.call_id
    with pytest.raises(AgentlabError, match="is no name"):
        dispatcher.approvals.decide(identity, name, True)


def test_a_decision_that_was_changed_is_not_run():
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    decision = dispatcher.decide(post_call(), CLERK)
    decision.proposal.arguments["amount_cents"] = 777_777
    with pytest.raises(AgentlabError, match="changed after it was decided"):
        dispatcher.run(decision)
    assert erp.posted == []


def test_a_result_that_is_no_valid_text_is_kept_in_a_form_that_is():
    base = make_dispatcher()
    dispatcher = Dispatcher([Tool(post_contract(), lambda a, c: "ok \ud800")], [], base.ledger, base.approvals)
    first, again = (dispatcher.dispatch(post_call(), CLERK) for _ in range(2))
    assert (first.receipt.outcome, again.receipt.outcome) == (Outcome.EXECUTED, Outcome.REPLAYED)
    assert first.result.content == again.result.content == "ok \\ud800"


def test_a_guard_without_a_name_still_has_the_last_word():
    base = make_dispatcher()
    guard = functools.partial(lambda reason, *_: Deny(reason=reason), "closed today")
    dispatcher = Dispatcher([Tool(post_contract(), Erp().post)], [guard], base.ledger, base.approvals)
    assert dispatcher.dispatch(post_call(), CLERK).receipt.guard == "partial"


@pytest.mark.parametrize(
    "change",
    [
        {"call": post_call(amount_cents=600_001)},
        {"call": post_call(amount_cents=600_000, invoice_id="INV-2")},
        {"caller": Caller(user="agent", roles=("ap_clerk",), tenant="south", run="run-1")},
        {"caller": Caller(user="agent", roles=("ap_clerk",), tenant="north", run="run-2")},
        {"caller": Caller(user="another", roles=("ap_clerk",), tenant="north", run="run-1")},
        {"contract": post_contract(description="Post an invoice.")},
    ],
)
def test_a_call_id_is_bound_to_arguments_tenant_user_run_and_contract(change):
    base = {"call": post_call(amount_cents=600_000), "caller": CLERK, "contract": post_contract()}
    ids = {call_id(propose(each["call"]), each["contract"], each["caller"]) for each in (base, base | change)}
    assert len(ids) == 2


def test_a_call_id_does_not_depend_on_the_order_of_arguments_or_the_models_own_id():
    one = ToolCall(id="a", name="t", arguments='{"x": 1, "y": 2}')
    other = ToolCall(id="b", name="t", arguments={"y": 2, "x": 1})
    assert call_id(propose(one), post_contract(), CLERK) == call_id(propose(other), post_contract(), CLERK)


def test_a_record_of_another_tenant_and_one_that_is_not_there_get_the_same_refusal():
    owners = {"INV-1": "north", "INV-2": "south"}
    erp = Erp()
    base = make_dispatcher(erp=erp, resource="invoice_id")
    tools = [Tool(post_contract(resource="invoice_id"), erp.post)]
    dispatcher = Dispatcher(tools, [resource_scope(owners.get)], base.ledger, base.approvals)
    assert outcome(dispatcher, post_call(invoice_id="INV-1")) is Outcome.EXECUTED
    refusals = {
        dispatcher.dispatch(post_call(invoice_id=each), CLERK).result.content.replace(each, "X")
        for each in ("INV-2", "INV-3")
    }
    assert len(refusals) == 1
    assert len(erp.posted) == 1


def test_without_any_guard_an_unknown_or_malformed_call_still_does_not_run():
    erp = Erp()
    base = make_dispatcher(erp=erp)
    dispatcher = Dispatcher([Tool(post_contract(), erp.post)], [], base.ledger, base.approvals)
    assert outcome(dispatcher, ToolCall(id="c", name="nope", arguments={})) is Outcome.INVALID
    assert outcome(dispatcher, post_call(amount_cents="1")) is Outcome.INVALID
    assert erp.posted == []


def test_without_the_approval_guard_the_ledger_still_refuses_to_start_an_unapproved_effect():
    erp = Erp()
    base = make_dispatcher(erp=erp)
    dispatcher = Dispatcher([Tool(post_contract(), erp.post)], [], base.ledger, base.approvals)
    assert outcome(dispatcher, post_call(amount_cents=600_000)) is Outcome.DENIED
    assert erp.posted == []


def test_a_read_only_tool_that_fails_says_so_without_the_hosts_words():
    contract = read_contract()

    def broken(arguments, caller):
        raise FileNotFoundError("/srv/secret/path")

    dispatched = make_dispatcher(Tool(contract, broken)).dispatch(ToolCall(id="c", name="read", arguments={}), CLERK)
    assert dispatched.receipt.outcome is Outcome.FAILED
    assert "secret" not in dispatched.result.content + dispatched.receipt.detail


def test_a_refused_decision_cannot_be_run_and_an_allowed_one_cannot_be_refused():
    dispatcher = make_dispatcher()
    with pytest.raises(AgentlabError, match="only an allowed call runs"):
        dispatcher.run(dispatcher.decide(post_call(), INTERN))
    with pytest.raises(AgentlabError, match="run it instead"):
        dispatcher.refuse(dispatcher.decide(post_call(), CLERK))


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(AgentlabError, match="same name"):
        make_dispatcher(Tool(post_contract(), Erp().post))


amounts = st.integers(min_value=-2, max_value=1_000_000)


@given(st.lists(st.tuples(st.sampled_from(["k1", "k2", "k3"]), amounts, st.sampled_from([CLERK, INTERN])), max_size=25))
def test_whatever_is_proposed_a_key_takes_effect_at_most_once_and_only_within_the_rules(proposals):
    erp = Erp()
    dispatcher = make_dispatcher(erp=erp)
    for number, (key, amount, caller) in enumerate(proposals):
        dispatcher.dispatch(post_call(number, idempotency_key=key, amount_cents=amount), caller)
    keys = [each["idempotency_key"] for each in erp.posted]
    assert len(keys) == len(set(keys))
    assert all(0 < each["amount_cents"] <= 500_000 for each in erp.posted)
    receipts = dispatcher.ledger.receipts()
    assert len(receipts) == len(proposals)
    assert sum(each.outcome is Outcome.EXECUTED for each in receipts) == len(erp.posted)


def test_times_of_keys_and_receipts_come_from_the_clock_that_was_given():
    dispatcher = make_dispatcher(clock=Clock(1_234.5))
    dispatcher.dispatch(post_call(), CLERK)
    assert dispatcher.ledger.receipts()[0].at == 1_234.5
    with dispatcher.ledger._engine.begin() as connection:
        row = connection.execute(sqlalchemy.text("SELECT reserved_at, done_at FROM effects")).one()
    assert tuple(row) == (1_234.5, 1_234.5)
