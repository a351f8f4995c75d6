"""Lesson 04, context growth: the exercises, their checks and their hints."""

from typing import Any

from agentlab.context import growth
from agentlab.context.controls import Compact, Control, TrimTurns
from agentlab.course.checks import call, describe_call, expect, expect_value, wrong
from agentlab.course.exercise import Exercise
from agentlab.messages.conversation import AssistantMessage, Message, ToolCall, ToolResult, UserMessage

AGENT = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
SIZES = (AGENT["S"], AGENT["U"], AGENT["a"], AGENT["r"])
SMALL = (7, 11, 1, 2)
REQUESTS, LIMIT, IN_FULL = 40, 20_000, 5
RUNS = (5, 10, 20)


def _total(total: Any) -> str:
    S, U, a, r = SIZES
    for N in (5, 1, 2, 40):  # 5 first: there every known mistake gives a number of its own
        value = expect(
            total,
            *SIZES,
            N,
            gives=growth.total(**AGENT, N=N),
            why="add the requests up by hand for N = 2: S + U, then S + U + a + r",
            mistakes=(
                (growth.request_size(**AGENT, k=N), "this is the last request alone; the total adds up all of them"),
                (N * (S + U) + (a + r) * N * N // 2, "the first request carries no step: N * (N - 1), not N * N"),
                (N * (S + U) + (a + r) * N * (N + 1) // 2, "the first request carries no step: k - 1 steps, not k"),
                (S + U + (a + r) * N * (N - 1) // 2, "S + U is sent again with every request, so it counts N times"),
                (N * (S + U) + (a + r) * N * (N - 1), "1 + 2 + ... + (N - 1) is N * (N - 1) / 2; the half is missing"),
                (N * (S + U + a + r), "each request carries all steps before it, not just one"),
                (
                    N * (S + U) + r * N * (N - 1) // 2,
                    "what the model wrote (a) is resent as well, not only the results",
                ),
            ),
        )
        if not isinstance(value, int):
            wrong(
                called=describe_call(total, *SIZES, N),
                came_back=value,
                expected=f"the whole number {growth.total(**AGENT, N=N)}",
                why="tokens are counted, so divide with //; a float loses digits where a total is large",
            )
    expect(total, *SMALL, 4, gives=growth.total(*SMALL, 4), why="use the arguments, not the numbers of one agent")
    return f"At N = {REQUESTS} this agent sends {growth.total(**AGENT, N=REQUESTS):,} input tokens."


def _first_over(first_over: Any) -> str:
    right = growth.first_over(**AGENT, trigger=LIMIT)
    exact = growth.request_size(**AGENT, k=7)
    cases = (
        (
            SIZES,
            LIMIT,
            f"request {right} is over it and the one before is not; k counts from 1, and request 1 carries 0 steps",
        ),
        (SIZES, exact, f"request 7 has exactly {exact} tokens; a request as large as the trigger is not over it"),
        (SIZES, 100, "the first request is over it already, before anything has been added: k = 1"),
        (
            (3_000, 500, 0, 0),
            LIMIT,
            "with a + r = 0 no request is larger than the first, so none is ever over the trigger",
        ),
        (SIZES, 1_000_000, "a run may be long: do not stop the search at a number of steps"),
        (SMALL, 25, "use the arguments, S and U both: this agent is a very small one"),
    )
    for sizes, trigger, why in cases:
        expect(first_over, *sizes, trigger, gives=growth.first_over(*sizes, trigger=trigger), why=why)
    return f"Request {right} is the first over {LIMIT:,} tokens."


def _own_agent(sizes: Any, totals: Any, trigger: Any, first: Any) -> str:
    if not isinstance(sizes, dict) or set(sizes) != set(AGENT):
        wrong(
            called="my_sizes",
            came_back=sizes,
            expected="a dict with S, U, a and r",
            why="the formula needs these four sizes, each in tokens",
        )
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= growth.MAX_TOKENS:
            wrong(
                called=f'my_sizes["{name}"]',
                came_back=repr(value),
                expected="a whole number of tokens above 0",
                why="count the text with count_text, or take the number from a trace of your agent",
            )
    right = {N: growth.total(**sizes, N=N) for N in RUNS}
    last = {N: growth.request_size(**sizes, k=N) for N in RUNS}
    expect_value(
        "my_totals",
        totals,
        gives=right,
        why="these are not the totals of my_sizes for N = 5, 10 and 20: use total from 04.1 with **my_sizes",
        mistakes=((last, "these are the last requests; a total adds up all requests of the run"),),
    )
    if isinstance(trigger, bool) or not isinstance(trigger, int) or not 0 <= trigger <= growth.MAX_TOKENS:
        wrong(
            called="my_trigger",
            came_back=repr(trigger),
            expected="a whole number of tokens",
            why="choose a size that a request of your agent should not go over, such as a share of the window",
        )
    expect_value(
        "my_first_over",
        first,
        gives=growth.first_over(**sizes, trigger=trigger),
        why="this is not the first request over my_trigger: use first_over from 04.2 with **my_sizes",
    )
    return f"Your agent sends {right[20]:,} input tokens in 20 requests."


def _control(choose_control: Any) -> str:
    control = call(choose_control)
    called = describe_call(choose_control)
    if not isinstance(control, Control):
        wrong(
            called=called,
            came_back=control,
            expected="a control, such as ClearToolResults(keep=3)",
            why="the check lets it predict a run and act on messages, so it needs the object itself",
        )
    forecast = control.forecast(**AGENT, N=REQUESTS)
    if forecast.largest > LIMIT:
        k = forecast.first_over(LIMIT)
        wrong(
            called=f"{called}.forecast(..., N={REQUESTS}).largest",
            came_back=f"{forecast.largest:,}",
            expected=f"{LIMIT:,} or less",
            why=f"request {k} is over the limit: this control removes too little, or too late",
        )
    left = _run_on_messages(control)
    results = [message.content for message in left if isinstance(message, ToolResult)]
    wanted = [f"result {k}" for k in range(REQUESTS - IN_FULL + 1, REQUESTS + 1)]
    if results[-IN_FULL:] != wanted:
        whole = sum(content in wanted for content in results)
        wrong(
            called=f"{called} on a run of {REQUESTS} steps",
            came_back=f"{whole} of the last {IN_FULL} results in full",
            expected=f"the last {IN_FULL} in full",
            why="a summary does not hold the results themselves"
            if _holds(control, Compact)
            else "it must keep as many results as the model needs to read again",
        )
    calls = sum(len(message.tool_calls) for message in left if isinstance(message, AssistantMessage))
    if calls != REQUESTS:
        wrong(
            called=f"{called} on a run of {REQUESTS} steps",
            came_back=f"{calls} calls visible",
            expected=f"all {REQUESTS}",
            why="a window drops the calls together with their results, so the model may repeat one"
            if _holds(control, TrimTurns)
            else "a summary takes the place of the calls, so the model no longer sees what it did",
        )
    plain = growth.total(**AGENT, N=REQUESTS)
    return f"The run sends {forecast.total:,} tokens, {forecast.total / plain:.0%} of keeping all."


def _run_on_messages(control: Control) -> tuple[Message, ...]:
    """What is left of a run of REQUESTS steps, with a summary made wherever it is due."""

    def counter(messages: tuple[Message, ...]) -> int:
        steps = sum(isinstance(message, AssistantMessage) for message in messages)
        return AGENT["S"] + AGENT["U"] + steps * (AGENT["a"] + AGENT["r"])

    messages: tuple[Message, ...] = (UserMessage(content="the task"),)
    for k in range(1, REQUESTS + 1):
        step = ToolCall(id=f"call_{k}", name="look_up", arguments={"k": k})
        messages += (AssistantMessage(tool_calls=(step,)), ToolResult(call_id=step.id, content=f"result {k}"))
        messages = control.apply(messages)
        if control.due(messages, counter):
            messages = control.apply(messages, summary="what happened so far")
    return messages


def _holds(control: Control, kind: type[Control]) -> bool:
    return any(isinstance(part, kind) for part in control.single())


EXERCISES = (
    Exercise(
        id="04.1",
        lesson="04",
        title="The total of a run",
        minutes=7,
        check=_total,
        hints=(
            "Write down the first three requests: S + U, then S + U + (a + r), then S + U + 2(a + r). What repeats?",
            "S + U is there N times. The steps are 0 + 1 + 2 + ... + (N - 1), and that sum is N(N - 1)/2.",
            "`N * (S + U) + (a + r) * N * (N - 1) // 2`",
        ),
    ),
    Exercise(
        id="04.2",
        lesson="04",
        title="The first request over a limit",
        minutes=7,
        check=_first_over,
        hints=(
            "There are three cases: the first request is over already; nothing grows; or it grows until it is over.",
            "The room above S + U holds (trigger - S - U) // (a + r) whole steps. How many steps does request k carry?",
            "That many steps still fit, and request 1 carries none: so k = (trigger - S - U) // (a + r) + 2.",
        ),
    ),
    Exercise(
        id="04.3",
        lesson="04",
        title="Your own agent",
        minutes=8,
        check=_own_agent,
        hints=(
            "`count_text(text)` gives the tokens of a text. The names of the sizes are the letters of the formula.",
            "`total(**my_sizes, N=5)` passes the four sizes by name. The totals are a dict with the keys 5, 10 and 20.",
            "`my_totals = {n: total(**my_sizes, N=n) for n in (5, 10, 20)}`, and the same way with first_over.",
        ),
    ),
    Exercise(
        id="04.4",
        lesson="04",
        title="Choose a control",
        minutes=8,
        check=_control,
        hints=(
            "Go through the three controls and ask of each: are the last results there, and are the old calls there?",
            "Only one of them leaves every call in place. It has one number that says how many results stay.",
            "`ClearToolResults(keep=...)` with five or a few more; ask `.forecast(...).largest` how many more fit.",
        ),
    ),
)
