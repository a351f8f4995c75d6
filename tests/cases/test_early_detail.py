"""What each control forgets, on a case where an early detail matters late."""

import pytest

from agentlab.cases.early_detail import DOCUMENTS, FORM, NOT_FOUND, run_case, stand_in
from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Compact, KeepAll, TrimTurns
from agentlab.context.summary import INSTRUCTION
from agentlab.messages.conversation import Reply, Request, StopReason, UserMessage
from agentlab.messages.models import Rules

READ_ALL = " ".join(f"read {name}." for name in DOCUMENTS)


def test_the_detail_stands_once_in_the_document_that_is_read_first() -> None:
    assert [name for name, text in DOCUMENTS.items() if FORM in text] == ["contract"]
    assert next(iter(DOCUMENTS)) == "contract"


@pytest.mark.parametrize("control", [ClearToolResults(keep=3), Compact(trigger=2_500), CapResults(200)])
def test_a_control_that_removes_content_loses_the_detail(control) -> None:
    run = run_case(control)
    assert (run.answer, run.is_right) == (NOT_FOUND, False)
    assert run.tokens < run_case(KeepAll()).tokens


def test_a_window_that_is_too_small_makes_the_agent_read_again_until_its_budget_ends() -> None:
    run = run_case(TrimTurns(window=8))
    assert "budget_stop" in run.answer
    assert run.tokens > run_case(KeepAll()).tokens


def test_a_handle_keeps_the_way_to_the_detail_and_costs_less_than_any_of_them() -> None:
    run = run_case(Handles(over=300))
    assert run.is_right
    assert run.requests == run_case(KeepAll()).requests + 1
    losing = (ClearToolResults(keep=3), Compact(trigger=2_500), CapResults(200))
    assert run.tokens < min(run_case(control).tokens for control in losing)


def test_a_summary_that_carries_the_rule_answers_right() -> None:
    def careful(request: Request) -> Reply:
        assert request.messages[-1] == UserMessage(content=INSTRUCTION)
        return Reply(content=f"{READ_ALL}\nFrom tools: above 2,000 EUR need form {FORM}", stop=StopReason.END)

    assert run_case(Compact(trigger=2_500), summariser=Rules(careful)).is_right


def test_the_stand_in_knows_nothing_but_its_request() -> None:
    # Were the form known to the function itself, every run would be right and the case would show nothing.
    without = Request(messages=(UserMessage(content=READ_ALL),))
    assert stand_in(without).content == NOT_FOUND
