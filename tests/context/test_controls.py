"""What a control predicts on sizes, and what it does to real messages: one thing."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.context import growth
from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.forecast import Forecast, SummaryCall
from agentlab.context.parts import SUMMARY_HEADING, Cleared, Summary, is_summary
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import AssistantMessage, Message, Request, ToolCall, ToolResult, UserMessage

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
sizes = st.integers(0, 400)
steps = st.integers(1, 40)
HEADING = len(SUMMARY_HEADING)


def test_keeping_all_gives_the_figures_of_the_course() -> None:
    forecast = KeepAll().forecast(**COURSE, N=40)
    assert (forecast.last, forecast.largest, forecast.total) == (56_150, 56_150, 1_193_000)
    assert (forecast.compactions, forecast.summary_input, forecast.summary_output) == (0, 0, 0)


def test_clearing_gives_the_figures_of_the_course() -> None:
    forecast = ClearToolResults(keep=3, placeholder=20).forecast(**COURSE, N=40)
    assert (forecast.last, forecast.total) == (13_670, 407_120)


def test_compaction_gives_the_figures_of_the_course() -> None:
    forecast = Compact(trigger=20_000, summary=1_500).forecast(**COURSE, N=40)
    assert (forecast.compactions, forecast.largest, forecast.total) == (3, 19_850, 468_050)
    assert (forecast.summary_input, forecast.summary_output) == (63_450, 4_500)
    assert forecast.all_input == 468_050 + 63_450


def test_trimming_holds_ten_steps_in_twenty_messages() -> None:
    forecast = TrimTurns(window=20).forecast(**COURSE, N=40)
    assert forecast.requests[:12] == (*(3_500 + 1_350 * k for k in range(11)), 17_000)
    assert forecast.largest == forecast.last == 17_000


@given(sizes, sizes, sizes, sizes, steps, st.integers(0, 50), st.integers(0, 90))
def test_the_simulation_sums_to_the_closed_forms(
    S: int, U: int, a: int, r: int, N: int, some: int, window: int
) -> None:
    assert KeepAll().forecast(S, U, a, r, N).total == growth.total(S, U, a, r, N)
    clearing = ClearToolResults(keep=some, placeholder=20).forecast(S, U, a, r, N)
    assert clearing.total == growth.total_clearing(S, U, a, r, N, some, 20)
    trimming = TrimTurns(window=window + 1).forecast(S, U, a, r, N)
    assert trimming.total == growth.total_trimming(S, U, a, r, N, window + 1)


@given(sizes, sizes, sizes, sizes, steps, st.integers(0, 4_000), sizes)
def test_compaction_is_the_loop_one_would_write_by_hand(
    S: int, U: int, a: int, r: int, N: int, trigger: int, summary: int
) -> None:
    requests, calls, history = [], [], 0
    for k in range(1, N + 1):
        pending = S + U + history
        if k > 1 and pending > trigger:
            calls.append(pending)
            history = summary
        requests.append(S + U + history)
        history += a + r
    forecast = Compact(trigger=trigger, summary=summary).forecast(S, U, a, r, N)
    assert forecast.requests == tuple(requests)
    assert [call.input for call in forecast.summaries] == calls
    assert all(call.output == summary for call in forecast.summaries)


def test_a_trigger_that_no_summary_can_meet_fires_once_before_each_request_but_the_first() -> None:
    forecast = Compact(trigger=3_000, summary=1_500).forecast(**COURSE, N=10)
    assert forecast.compactions == 9
    assert set(forecast.requests[1:]) == {5_000}


@given(sizes, sizes, sizes, sizes, steps, st.integers(0, 9_000))
def test_a_forecast_finds_the_first_request_over_a_trigger_as_the_formula_does(
    S: int, U: int, a: int, r: int, N: int, trigger: int
) -> None:
    expected = growth.first_over(S, U, a, r, trigger)
    found = KeepAll().forecast(S, U, a, r, N).first_over(trigger)
    assert found == (expected if expected is not None and expected <= N else None)


# --- the same objects on real messages ---------------------------------------------------------


def run_on_messages(control: Control, S: int, U: int, a: int, results: tuple[int, ...], summary: int) -> Forecast:
    """A loop whose messages have exactly these sizes; a character counts as a token.

    ``same`` is what the text of a request and of the one before have in common at their beginning, message by message.
    """

    def counter(messages: tuple[Message, ...]) -> int:
        return S + sum(len(message.content) for message in messages)

    def same(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
        common = 0
        for one, other in zip(before, now, strict=False):
            if one != other:
                break
            common += len(one.content)
        return S + common if before else 0

    messages: tuple[Message, ...] = (UserMessage(content="u" * U),)
    sent: tuple[Message, ...] = ()
    requests: list[int] = []
    sames: list[int] = []
    summaries: list[SummaryCall] = []
    for k in range(1, len(results) + 2):
        messages = control.apply(messages, counter)
        if control.due(messages, counter):
            call = SummaryCall(before=k, input=counter(messages), same=same(sent, messages), output=summary)
            summaries.append(call)
            sent = messages
            # Each summary says something new, so that it does not stand as the one before it.
            messages = control.apply(messages, counter, summary=chr(0x4E00 + k) * (summary - HEADING))
        requests.append(counter(messages))
        sames.append(same(sent, messages))
        sent = messages
        if k <= len(results):
            call_k = ToolCall(id=f"call_{k}", name="look_up", arguments={"k": k})
            messages += (
                AssistantMessage(content="a" * a, tool_calls=(call_k,)),
                ToolResult(call_id=call_k.id, content="r" * results[k - 1]),
            )
    return Forecast(requests=tuple(requests), same=tuple(sames), a=a, summaries=tuple(summaries))


def clear(keep: int, placeholder: int) -> ClearToolResults:
    return ClearToolResults(keep=keep, placeholder=placeholder, text="p" * placeholder)


def handles(handle: int, over: int, loads: int = 0) -> Handles:
    return Handles(over=max(over, handle), handle=handle, loads=loads, text=lambda result: "h" * handle)


summaries = st.integers(HEADING + 1, HEADING + 300)
triggers = st.integers(0, 5_000)
removals = st.one_of(
    st.just(KeepAll()),
    st.builds(clear, st.integers(0, 45), st.integers(0, 60)),
    st.builds(
        ClearToolResults,
        keep=st.integers(0, 10),
        placeholder=st.just(6),
        text=st.just("p" * 6),
        trigger=triggers,
        at_least=st.integers(0, 2_000),
    ),
    st.builds(TrimTurns, st.integers(1, 90)),
)
# Not below 60, the largest placeholder above: what stands for a cleared result must not be cut itself.
arrivals = st.one_of(st.builds(CapResults, st.integers(60, 500)), st.builds(handles, sizes, st.integers(60, 500)))
# A result of no size looks like a placeholder of no size, so that nothing would seem to change where it is cleared.
results = st.lists(st.integers(1, 400), max_size=40).map(tuple) | st.builds(
    lambda r, N: (r,) * N, st.integers(1, 400), st.integers(0, 40)
)


@st.composite
def combinations(draw: Callable) -> tuple[Control, int]:  # type: ignore[type-arg]
    """Any controls in an order that is allowed, and the size of the summary."""
    others = draw(st.lists(removals, max_size=3))
    first = [part for part in others if isinstance(part, ClearToolResults)][:1]
    summary = draw(summaries)
    last = draw(st.one_of(st.just([]), st.builds(lambda t: [Compact(t, summary)], triggers)))
    rest = [part for part in others if not isinstance(part, ClearToolResults)]
    removing = draw(st.permutations(first + rest))
    return Combined((*draw(st.lists(arrivals, max_size=2)), *removing, *last)), summary


@settings(max_examples=600)
@given(combinations(), sizes, sizes, sizes, results)
def test_what_controls_predict_the_loop_sends_and_keeps_the_same(
    chosen: tuple[Control, int], S: int, U: int, a: int, results: tuple[int, ...]
) -> None:
    control, summary = chosen
    predicted = control.forecast(S, U, a, results, len(results) + 1)
    assert run_on_messages(control, S, U, a, results, summary) == predicted


@given(sizes, sizes, sizes, steps, st.one_of(removals, arrivals))
def test_one_size_of_result_is_that_size_again_and_again(S: int, a: int, r: int, N: int, control: Control) -> None:
    assert control.forecast(S, 0, a, r, N) == control.forecast(S, 0, a, (r,) * (N - 1), N)


@pytest.mark.parametrize(
    ("controls", "said"),
    [
        ((ClearToolResults(), CapResults(900)), "before the other controls"),
        ((Compact(9_000), KeepAll()), "compaction must be the last"),
        ((ClearToolResults(placeholder=1), ClearToolResults(placeholder=2)), "1 and 2 tokens"),
        ((CapResults(10), ClearToolResults(placeholder=20)), "would itself be cut"),
    ],
)
def test_controls_that_cannot_work_together_are_refused(controls: tuple[Control, ...], said: str) -> None:
    with pytest.raises(AgentlabError, match=said):
        Combined(controls)


@pytest.mark.parametrize(
    "control", [CapResults(9), Handles(), ClearToolResults(trigger=1), ClearToolResults(at_least=1)]
)
def test_a_control_that_decides_by_size_asks_for_a_counter(control: Control) -> None:
    with pytest.raises(AgentlabError, match="give apply"):
        control.apply(three_steps())


def test_results_are_one_fewer_than_requests() -> None:
    with pytest.raises(AgentlabError, match="r has 2 sizes; a run of 2 requests has 1 results"):
        KeepAll().forecast(1, 1, 1, (5, 5), 2)


# --- conversations as they come in life ---------------------------------------------------------


@st.composite
def conversations(draw: Callable) -> tuple[Message, ...]:  # type: ignore[type-arg]
    """Turns of steps with parallel calls; the last message is one that a model may be sent."""
    messages: list[Message] = []
    number = 0
    for turn in range(draw(st.integers(1, 3))):
        if turn:
            messages.append(AssistantMessage(content=f"answer {turn}"))
        messages.append(UserMessage(content=f"question {turn}"))
        for _ in range(draw(st.integers(0, 4))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                calls.append(ToolCall(id=f"call_{number}", name="look_up", arguments={}))
            messages.append(AssistantMessage(tool_calls=tuple(calls)))
            messages.extend(ToolResult(call_id=call.id, content=f"result of {call.id}") for call in calls)
    return tuple(messages)


def characters(messages: tuple[Message, ...]) -> int:
    return sum(len(message.content) for message in messages)


any_control = st.one_of(arrivals, removals, st.builds(Compact, triggers, summaries))


@settings(max_examples=300)
@given(conversations(), st.lists(any_control, min_size=1, max_size=5))
def test_every_call_keeps_its_result_right_behind_it_and_the_task_stays(
    messages: tuple[Message, ...], controls: list[Control]
) -> None:
    latest = [message for message in messages if isinstance(message, UserMessage)][-1]
    current = messages
    for control in controls:
        current = control.apply(current, lambda _: 10_000)
        if control.due(current, counter=lambda _: 10_000):
            current = control.apply(current, summary="what happened")
        assert current[0] == messages[0]
        assert latest in current
        open_calls: list[str] = []
        for message in current:
            if isinstance(message, ToolResult):
                assert open_calls, "a result without its call"
                assert message.call_id == open_calls.pop(0)
            else:
                assert not open_calls, "a call without its result"
                if isinstance(message, AssistantMessage):
                    open_calls = [call.id for call in message.tool_calls]
        assert not open_calls


@given(conversations(), st.one_of(removals, arrivals))
def test_a_removal_done_twice_is_a_removal_done_once(messages: tuple[Message, ...], control: Control) -> None:
    once = control.apply(messages, characters)
    assert control.apply(once, characters) == once


@given(conversations(), st.integers(1, 12))
def test_a_window_holds_no_more_messages_than_it_says(messages: tuple[Message, ...], window: int) -> None:
    after_task = TrimTurns(window=window).apply(messages)[1:]
    assert len(after_task) <= window


def three_steps() -> tuple[Message, ...]:
    messages: list[Message] = [UserMessage(content="the task")]
    for k in (1, 2, 3):
        messages.append(AssistantMessage(tool_calls=(ToolCall(id=f"c{k}", name="look_up", arguments={}),)))
        messages.append(ToolResult(call_id=f"c{k}", content=f"result {k}", is_error=k == 1))
    return tuple(messages)


def test_clearing_replaces_the_text_of_old_results_and_nothing_else() -> None:
    before = three_steps()
    after = ClearToolResults(keep=1, text="gone").apply(before)
    contents = [message.content for message in after if isinstance(message, ToolResult)]
    assert contents == ["gone", "gone", "result 3"]
    assert [message.role for message in after] == [message.role for message in before]
    assert after[2] == Cleared(call_id="c1", content="gone", is_error=True)
    assert before == three_steps()


def test_a_tool_that_says_what_a_placeholder_says_has_not_been_cleared() -> None:
    before = (UserMessage(content="u"), *three_steps()[1:])
    said = ClearToolResults(keep=0, text="result 3")
    assert [type(message) for message in said.apply(before) if isinstance(message, ToolResult)] == [Cleared] * 3
    assert said.apply(said.apply(before)) == said.apply(before)


def test_trimming_takes_the_oldest_steps_whole() -> None:
    before = three_steps()
    assert TrimTurns(window=4).apply(before) == (before[0], *before[3:])
    assert TrimTurns(window=5).apply(before) == (before[0], *before[3:])
    assert TrimTurns(window=1).apply(before) == (before[0],)


def test_trimming_takes_an_old_turn_with_its_question() -> None:
    question = UserMessage(content="and now?")
    before = (*three_steps(), AssistantMessage(content="done"), question)
    assert TrimTurns(window=3).apply(before) == (before[0], question)


def test_a_summary_says_that_a_model_wrote_it_and_replaces_the_one_before() -> None:
    control = Compact(trigger=10)
    first = control.apply(three_steps(), summary="first notes")
    assert first == (UserMessage(content="the task"), Summary(content=SUMMARY_HEADING + "first notes"))
    second = control.apply((*first, *three_steps()[1:]), summary="second notes")
    assert second == (UserMessage(content="the task"), Summary(content=SUMMARY_HEADING + "second notes"))
    assert is_summary(second[1])


def test_compaction_is_due_above_the_trigger_only_and_not_where_there_is_nothing_to_summarise() -> None:
    control = Compact(trigger=100)
    assert control.due(three_steps(), lambda _: 101)
    assert not control.due(three_steps(), lambda _: 100)
    assert not control.due(three_steps()[:1], lambda _: 101)
    assert not control.due(control.apply(three_steps(), summary="notes"), lambda _: 101)


def test_without_a_summary_compaction_removes_nothing() -> None:
    assert Compact(trigger=0).apply(three_steps()) == three_steps()


def test_a_history_without_a_task_is_refused() -> None:
    with pytest.raises(AgentlabError, match="no user message"):
        TrimTurns().apply((AssistantMessage(content="hello"),))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ClearToolResults(keep=-1), "keep"),
        (lambda: ClearToolResults(placeholder=2.5), "placeholder"),  # type: ignore[arg-type]
        (lambda: TrimTurns(window=0), "window"),
        (lambda: Compact(trigger=-1), "trigger"),
        (lambda: Compact(trigger=1, summary=True), "summary"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused_in_one_line(make: Callable[[], Control], name: str) -> None:
    with pytest.raises(AgentlabError, match=f"^{name} is ") as refused:
        make()
    assert "\n" not in str(refused.value)


def test_a_combination_ends_with_its_compaction() -> None:
    with pytest.raises(AgentlabError, match="last control"):
        Combined((Compact(trigger=10), KeepAll()))


QUOTED = UserMessage(content=SUMMARY_HEADING + "you wrote this above; is it right?")


@pytest.mark.parametrize(
    "before",
    [
        (*three_steps(), AssistantMessage(content="done"), QUOTED),
        (three_steps()[0], QUOTED),
        TrimTurns(window=1).apply((*three_steps(), AssistantMessage(content="done"), QUOTED)),
    ],
    ids=["after a turn", "right after the task", "where a window put it right after the task"],
)
def test_a_user_may_write_what_a_summary_begins_with_and_keeps_the_message(before: tuple[Message, ...]) -> None:
    after = Compact(trigger=0).apply(before, summary="notes")
    assert after == (before[0], Summary(content=SUMMARY_HEADING + "notes"), QUOTED)
    again = Compact(trigger=0).apply(after, summary="more notes")
    assert again == (before[0], Summary(content=SUMMARY_HEADING + "more notes"), QUOTED)


def test_a_task_that_begins_like_a_summary_stays_the_task() -> None:
    step = three_steps()[1:3]
    assert Compact(trigger=0).apply((QUOTED, *step), summary="notes")[0] == QUOTED


def test_a_summary_is_never_taken_for_the_task() -> None:
    with pytest.raises(AgentlabError, match="no user message"):
        TrimTurns().apply((Summary(content=SUMMARY_HEADING + "notes"),))


def test_a_summary_reaches_the_model_as_a_user_message_and_stays_a_summary_in_a_request() -> None:
    request = Request(messages=Compact(trigger=0).apply(three_steps(), summary="notes"))
    assert is_summary(request.messages[1])
    sent = request.model_dump(exclude_none=True)["messages"][1]
    assert sent == {"role": "user", "content": SUMMARY_HEADING + "notes"}
    # Read back, it is the user's for all anybody can tell, and so it stays.
    assert not is_summary(Request.model_validate_json(request.model_dump_json()).messages[1])


@pytest.mark.parametrize(
    "control", [KeepAll(), ClearToolResults(), Compact(trigger=0), Combined((ClearToolResults(),))]
)
def test_a_control_that_needs_no_task_returns_an_empty_history_as_it_is(control: Control) -> None:
    assert control.apply(()) == ()


@pytest.mark.parametrize("control", [TrimTurns(), Compact(trigger=0), Combined((KeepAll(), TrimTurns()))])
def test_a_control_that_must_find_the_task_refuses_an_empty_history(control: Control) -> None:
    with pytest.raises(AgentlabError, match="no user message"):
        control.apply((), summary="notes")


def test_two_clearings_in_a_combination_have_placeholders_of_one_size() -> None:
    Combined((clear(3, 20), TrimTurns(), clear(1, 20)))
    for other in (clear(1, 6), Combined((clear(1, 6),))):
        with pytest.raises(AgentlabError, match=r"^the clearings have placeholders of 6 and 20 tokens; [^\n]*$"):
            Combined((clear(3, 20), other))


def test_a_compaction_inside_an_inner_combination_is_the_last_one_too() -> None:
    with pytest.raises(AgentlabError, match="last control"):
        Combined((Combined((Compact(trigger=10),)), KeepAll()))
