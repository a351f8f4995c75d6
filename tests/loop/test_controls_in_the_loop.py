"""What the calculator predicts, the loop does: the same object forecasts and acts, token for token."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invoice_tool import CLERK, Clock, make_dispatcher

from agentlab.context.archive import Archive
from agentlab.context.arrivals import LOAD_RESULT, CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.parts import SUMMARY_HEADING
from agentlab.context.subagents import SubAgents
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.dispatcher import Tool
from agentlab.errors import AgentlabError
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.load_result import load_result_tool
from agentlab.loop.machine import Event, State
from agentlab.loop.progress import RunResult
from agentlab.messages.conversation import Reply, Request, StopReason, ToolCall, ToolResult
from agentlab.messages.models import ModelError, Rules
from agentlab.messages.pairing import check
from agentlab.messages.wire import DIALECTS, to_wire
from agentlab.store import open_store

PLACEHOLDER = "[gone]"
LONG = Budgets(model_calls=1_000, tokens=10**9, seconds=10.0)
ANSWERED = Reply(content="done", stop=StopReason.END)


def size(request: Request) -> int:
    """Characters of content; a call's name and arguments weigh nothing here."""
    return len(request.system) + sum(len(message.content) for message in request.messages)


def numbered_tool(name: str, result: Callable[[int], str]) -> Tool:
    """A read-only tool with one argument, a number; what it returns is `result` of that number."""
    contract = ToolContract(
        name=name,
        version="1",
        description="Look.",
        roles=("ap_clerk",),
        side_effect=SideEffect.READ_ONLY,
        input_schema={"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]},
    )
    return Tool(contract, lambda arguments, caller: result(int(str(arguments["page"]))))


class Sent:
    """A model that makes the calls of a list, one a step, and keeps the sizes of the requests that it was sent."""

    def __init__(self, calls: list[ToolCall], a: int, answer: Reply = ANSWERED) -> None:
        self.calls, self.a, self.answer = calls, a, answer
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        done = len(self.requests) - 1
        if done == len(self.calls):
            return self.answer
        return Reply(content="a" * self.a, tool_calls=(self.calls[done],), stop=StopReason.TOOL)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(size, self.requests))


def looks(count: int) -> list[ToolCall]:
    return [ToolCall(id=f"c{k}", name="look", arguments={"page": k}) for k in range(count)]


def run_with(
    control: Control, S: int, U: int, calls: list[ToolCall], a: int, results: tuple[int, ...], **options: object
) -> tuple[RunResult, Sent]:
    """A run whose parts have exactly these sizes, result k being `results[k]`."""
    look = numbered_tool("look", lambda page: "r" * results[page])
    archive = Archive(open_store("sqlite://"))
    model = Sent(calls, a)
    result = run_task(
        "u" * U,
        system="s" * S,
        run_id=CLERK.run,
        budgets=LONG,
        model=Rules(model),
        dispatcher=make_dispatcher(look, load_result_tool(archive, ("ap_clerk",))),
        caller=CLERK,
        clock=Clock(),
        control=control,
        count=size,
        archive=archive,
        **options,  # type: ignore[arg-type]
    )
    return result, model


clearings = st.builds(
    ClearToolResults,
    keep=st.integers(0, 4),
    placeholder=st.just(len(PLACEHOLDER)),
    text=st.just(PLACEHOLDER),
    trigger=st.just(0) | st.integers(1, 600),
    at_least=st.just(0) | st.integers(1, 300),
)
compactions = st.builds(
    Compact, trigger=st.integers(0, 2_000), summary=st.integers(len(SUMMARY_HEADING) + 1, len(SUMMARY_HEADING) + 200)
)
arrivals = st.builds(CapResults, st.integers(6, 70)) | st.builds(
    lambda handle, over: Handles(over=over, handle=handle, text=lambda result: "h" * handle),
    st.integers(0, 20),
    st.integers(20, 60),
)
removals = st.just(KeepAll()) | clearings | st.builds(TrimTurns, window=st.integers(2, 9))


@st.composite
def combinations(draw: Callable) -> Combined:  # type: ignore[type-arg]
    """Any controls, in an order that is allowed."""
    return Combined(
        (
            *draw(st.lists(arrivals, max_size=2)),
            *draw(st.lists(removals, max_size=3)),
            *draw(st.lists(compactions, max_size=1)),
        )
    )


some = st.integers(0, 50)


@settings(max_examples=500)
@given(combinations(), some, st.integers(1, 50), st.integers(0, 30), st.lists(st.integers(0, 80), max_size=13))
def test_the_loop_sends_what_the_forecast_says(control, S, U, a, results):
    forecast = control.forecast(S, U, a, results, len(results) + 1)
    written: list[int] = []

    def summarise(request: Request) -> str:
        written.append(size(request))
        return "s" * (control.single()[-1].summary - len(SUMMARY_HEADING))

    result, model = run_with(control, S, U, looks(len(results)), a, tuple(results), summarise=summarise)
    assert result.state is State.ANSWERED
    assert model.sizes == forecast.requests
    assert written == [call.input for call in forecast.summaries]
    for request in model.requests[-2:]:
        for dialect in DIALECTS:
            body, _ = to_wire(request.model_copy(update={"max_output_tokens": 100}), dialect)
            assert not [finding for finding in check(body, dialect) if finding.level == "must"]


@given(some, st.integers(1, 50), st.integers(0, 30), st.lists(st.integers(1, 80), max_size=10), st.integers(0, 10))
def test_loading_what_a_handle_stands_for_costs_the_steps_that_the_forecast_adds(S, U, a, results, loads):
    control = Handles(over=40, handle=7, loads=loads, text=lambda result: "[h" + result.call_id.rjust(5, "."))
    forecast = control.forecast(S, U, a, results, len(results) + 1)
    arrived = control.arriving(tuple(results))
    calls: list[ToolCall] = []
    for call in looks(len(results)):
        calls.append(call)
        # A size above 40 can only be a loaded result: whatever was so large has become a handle.
        if len(calls) < len(arrived) and arrived[len(calls)] > 40:
            calls.append(ToolCall(id=f"load {call.id}", name=LOAD_RESULT, arguments={"call_id": call.id}))
    result, model = run_with(control, S, U, calls, a, tuple(results))
    assert result.state is State.ANSWERED
    assert model.sizes == forecast.requests


@given(
    some, st.integers(1, 50), st.integers(0, 30), st.lists(st.integers(0, 80), max_size=9), st.integers(1, 4), removals
)
def test_a_lead_and_its_sub_agents_send_what_the_forecast_says(S, U, a, results, calls, inside):
    control = SubAgents(calls=calls, summary=9, S=11, U=5, inside=inside)
    forecast = control.forecast(S, U, a, results, len(results) + 1)
    subruns: list[tuple[int, ...]] = []

    def delegate(number: int) -> str:
        """One sub-agent: a run of its own with its share of the calls; only its answer comes back."""
        share = tuple(results[number * calls : (number + 1) * calls])
        model = Sent(looks(len(share)), a, Reply(content="found it.", stop=StopReason.END))
        result = run_task(
            "t" * 5,
            system="p" * 11,
            run_id=f"sub {number}",
            budgets=LONG,
            model=Rules(model),
            dispatcher=make_dispatcher(numbered_tool("look", lambda page: "r" * share[page])),
            caller=CLERK,
            clock=Clock(),
            control=inside,
            count=size,
        )
        subruns.append(model.sizes)
        return result.answer

    lead = Sent(
        [ToolCall(id=f"d{k}", name="delegate", arguments={"page": k}) for k in range(-(-len(results) // calls))], a
    )
    run_task(
        "u" * U,
        system="s" * S,
        run_id="lead",
        budgets=LONG,
        model=Rules(lead),
        dispatcher=make_dispatcher(numbered_tool("delegate", delegate)),
        caller=CLERK,
        clock=Clock(),
    )
    assert lead.sizes == forecast.requests
    assert subruns == [run.requests for run in forecast.subruns]


@pytest.mark.parametrize(
    ("control", "last", "total"),
    [(KeepAll(), 15_650, 95_750), (ClearToolResults(3, 6, PLACEHOLDER), 8_486, None)],
)
def test_the_sources_example_runs_as_computed(control, last, total):
    _, model = run_with(control, 3_000, 500, looks(9), 150, (1_200,) * 9)
    assert model.sizes[-1] == last
    assert total is None or sum(model.sizes) == total


# --- before anything is removed, and when no summary can be made --------------------------------


def failing(request: Request) -> str:
    raise ModelError("the provider is overloaded")


def test_the_whole_transcript_is_in_the_archive_before_anything_is_removed():
    archive = Archive(open_store("sqlite://"))
    transcripts = []

    class Watching(ClearToolResults):
        def apply(self, messages, counter=None, summary=None):
            transcripts.append((archive.transcript(CLERK.run), messages))
            return super().apply(messages, counter, summary)

    model = Sent(looks(4), 3)
    result = run_task(
        "task",
        run_id=CLERK.run,
        budgets=LONG,
        model=Rules(model),
        dispatcher=make_dispatcher(numbered_tool("look", lambda page: f"result {page}")),
        caller=CLERK,
        clock=Clock(),
        control=Watching(keep=1, text=PLACEHOLDER),
        archive=archive,
    )
    whole = [message for message in result.messages if isinstance(message, ToolResult)]
    assert [message.content for message in whole] == [f"result {page}" for page in range(4)]
    seen = [message.content for message in model.requests[-1].messages if isinstance(message, ToolResult)]
    assert seen == [PLACEHOLDER, PLACEHOLDER, PLACEHOLDER, "result 3"]
    # The last answer comes after the last removal, so it is the one message that no removal had to wait for.
    assert archive.transcript(CLERK.run) == result.messages[:-1]
    for stored, current in transcripts:
        cleared = [message.call_id for message in current if message.content == PLACEHOLDER]
        assert set(cleared) <= {message.call_id for message in stored if isinstance(message, ToolResult)}


def test_nothing_is_removed_where_nothing_can_be_archived():
    class Full:
        def save(self, run_id, messages):
            raise AgentlabError("the disk is full")

    model = Sent(looks(3), 3)
    result = run_task(
        "task",
        run_id="r",
        budgets=LONG,
        model=Rules(model),
        dispatcher=make_dispatcher(numbered_tool("look", lambda page: "found")),
        caller=CLERK,
        clock=Clock(),
        control=ClearToolResults(keep=1),
        archive=Full(),
    )
    assert (result.state, result.reason) == (State.FAILED, "the disk is full")
    assert len(model.requests) == 2
    assert [message.content for message in model.requests[-1].messages][-1] == "found"


@pytest.mark.parametrize(
    ("control", "again"),
    [
        (KeepAll(), "repeated call: look was called with these arguments before; use that result"),
        (Handles(over=3, handle=3, text=lambda result: "[h]"), "repeated call: look was called"),
        (ClearToolResults(keep=1), "found"),
        (TrimTurns(window=2), "found"),
    ],
)
def test_a_call_may_be_made_again_once_its_result_has_been_removed(control, again):
    calls = [ToolCall(id=f"c{n}", name="look", arguments={"page": page}) for n, page in enumerate((0, 1, 0))]
    result = run_task(
        "task",
        run_id=CLERK.run,
        budgets=LONG,
        model=Rules(Sent(calls, 3)),
        dispatcher=make_dispatcher(numbered_tool("look", lambda page: "found")),
        caller=CLERK,
        clock=Clock(),
        control=control,
        count=size,
    )
    assert [message.content for message in result.messages if isinstance(message, ToolResult)][2].startswith(again)


def test_results_are_cleared_where_no_summary_can_be_made():
    result, model = run_with(Compact(trigger=1_000, summary=99), 10, 10, looks(6), 5, (300,) * 6, summarise=failing)
    assert result.state is State.ANSWERED
    cleared = [step.detail for step in result.transitions if step.event is Event.COMPACTED]
    assert cleared[0].endswith("old results cleared, because the provider is overloaded")
    assert max(model.sizes) <= 1_000
    whole = [message.content for message in result.messages if isinstance(message, ToolResult)]
    assert whole == ["r" * 300] * 6


def test_a_run_stops_at_a_checkpoint_that_says_why_where_clearing_is_not_enough():
    result, model = run_with(Compact(trigger=100, summary=99), 10, 10, looks(3), 5, (300,) * 3, summarise=failing)
    assert result.state is State.FAILED
    assert result.reason.startswith("checkpoint: the provider is overloaded; clearing old results leaves")
    assert result.found == ("r" * 300,)
    assert len(model.requests) == 1


def test_a_handle_loads_the_result_of_its_own_run_alone_page_by_page():
    archive = Archive(open_store("sqlite://"))
    archive.save(CLERK.run, [ToolResult(call_id="c1", content="0123456789")])
    archive.save("another run", [ToolResult(call_id="c2", content="secret")])
    load = load_result_tool(archive, ("ap_clerk",), page=4)
    assert load.function({"call_id": "c1"}, CLERK) == "0123\n[Next page: start 4, of 10 characters.]"
    assert load.function({"call_id": "c1", "start": 8}, CLERK) == "89"
    for arguments, said in (
        ({"call_id": "c2"}, "no result of a call 'c2'"),
        ({"call_id": "c1", "start": 10}, "beyond"),
    ):
        with pytest.raises(Exception, match=said):
            load.function(arguments, CLERK)
