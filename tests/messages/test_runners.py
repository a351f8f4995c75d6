"""Our loop beside the loops of the providers' own SDKs: the same replies, and what each sends and does about them."""

import pytest
from invoice_tool import CLERK, Clock, Erp, make_dispatcher, post_call, post_contract
from loopback import NAMES, Body, Loopback, set_keys

from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.machine import State
from agentlab.messages.conversation import Reply, StopReason, ToolCall
from agentlab.messages.wire import reply_to_wire

TASK = "Post the invoices."
END = Reply(content="Posted.", stop=StopReason.END)


def run(model, dispatcher):
    return run_task(
        TASK,
        run_id="run-1",
        budgets=Budgets(model_calls=9, tokens=99_999, seconds=99.0),
        model=model,
        dispatcher=dispatcher,
        caller=CLERK,
        clock=Clock(),
    )


def asks(*calls, content=""):
    return Reply(content=content, tool_calls=calls, stop=StopReason.TOOL)


def answers(replies):
    """The replies as responses whose items have ids of their own, as the SDK's runner insists."""
    return [
        Body(reply_to_wire(reply, "openai-responses", model="test", reply_id=f"r{number}"))
        for number, reply in enumerate(replies)
    ]


@pytest.mark.parametrize(
    "replies",
    [
        [END],
        [asks(post_call(1)), END],
        [asks(post_call(1), content="One moment."), END],
        [asks(post_call(1), post_call(2, invoice_id="INV-2", idempotency_key="key-2")), END],
        [asks(post_call(1)), asks(post_call(2, invoice_id="INV-2", idempotency_key="key-2"), content="And"), END],
    ],
    ids=["no-call", "one-call", "text-and-call", "two-at-once", "one-after-the-other"],
)
def test_our_loop_sends_the_histories_that_the_runner_of_openai_sends(replies, monkeypatch):
    from openai import OpenAI
    from openai.lib.responses_tool_runner import RegisteredFunction, ResponsesToolRunner

    dispatcher = make_dispatcher(erp=Erp())
    with Loopback(answers(replies)) as ours:
        result = run(ours.model("openai:test", monkeypatch), dispatcher)
    assert result.state is State.ANSWERED

    # The runner gets the tool as we declare it, and a function that says what our tool said.
    outputs = iter([message.content for message in result.messages if message.role == "tool"])
    ran = []

    def execute(arguments):
        ran.append(arguments)
        return next(outputs)

    function = RegisteredFunction(tool=ours.bodies[0]["tools"][0], execute=execute)
    with Loopback(answers(replies)) as theirs, OpenAI(base_url=f"{theirs.url}/v1", max_retries=0) as client:
        params = {"model": "test", "input": [{"role": "user", "content": TASK}], "store": False}
        ResponsesToolRunner(functions=[function]).run(client, params)
    assert [body["input"] for body in ours.bodies] == [body["input"] for body in theirs.bodies]
    assert [body["tools"] for body in ours.bodies] == [body["tools"] for body in theirs.bodies]
    assert ran == [call.arguments for reply in replies for call in reply.tool_calls]


def steps_of_the_sdk():
    """The SDK's table from a stop reason to what its runner does, and the function that also covers the rest.

    Both are private names: nobody promised them to us. They are used here because nothing public says as a fact that
    can be read by a program what a stop reason means for a loop. The version is checked, so that a change of the SDK
    shows as this sentence and not as a riddle.
    """
    import anthropic
    from anthropic.lib.tools import _beta_runner as runner

    assert anthropic.__version__.startswith("2.14."), "look up again what the new SDK's runner does at each stop"
    return runner._STOP_REASON_STEPS, runner._determine_next_step_from_stop_reason


def test_our_loop_does_at_every_stop_what_the_runner_of_anthropic_does(monkeypatch):
    table, step_at = steps_of_the_sdk()
    call = {"type": "tool_use", "id": "call_1", "name": "erp_post_invoice", "input": post_call().arguments}
    text = {"type": "text", "text": "So far."}
    done = {}
    for stop in [*table, "something_new", None]:
        # A reply that pauses or ends holds no call to be answered; one that was cut or refused may hold one.
        has_call = step_at(stop) == "run_tools" or stop in ("max_tokens", "refusal", "model_context_window_exceeded")
        content = [text, call] if has_call else [text]
        reply = {"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": stop}
        erp = Erp()
        with Loopback([Body(reply), END]) as server:
            result = run(server.model("anthropic:test", monkeypatch), make_dispatcher(erp=erp))
            server._answers.clear()
        went_on = len(server.seen) == 2
        done[stop] = "run_tools" if erp.posted else "resume" if went_on else "stop"
        assert len(erp.posted) <= 1
        assert (result.state is State.ANSWERED) is (went_on or stop in ("end_turn", "stop_sequence"))
    assert done == {stop: step_at(stop) for stop in [*table, "something_new", None]}


def test_the_runner_of_anthropic_without_its_thread_sends_the_histories_that_we_send(monkeypatch):
    import anthropic
    from anthropic import beta_tool

    calls = (
        ToolCall(id="call_1", name="weather", arguments={"city": "Paris"}),
        ToolCall(id="call_2", name="weather", arguments={"city": "Rome"}),
    )
    script = [
        asks(*calls, content="One moment."),
        asks(ToolCall(id="call_3", name="weather", arguments={"city": "Oslo"})),
        END,
    ]

    @beta_tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"

    set_keys(monkeypatch)
    with Loopback(script) as theirs, anthropic.Anthropic(base_url=theirs.url, max_retries=0) as client:
        start = [{"role": "user", "content": TASK}]
        runner = client.beta.messages.tool_runner(
            model="test", max_tokens=99, messages=start, tools=[weather], thread=False
        )
        runner.until_done()
    with Loopback(script) as ours:
        model = ours.model(NAMES["anthropic"], monkeypatch)
        result = run(model, make_dispatcher(weather_tool()))
    assert result.state is State.ANSWERED
    assert [unmarked(body["messages"]) for body in ours.bodies] == [
        unmarked(body["messages"]) for body in theirs.bodies
    ]


def weather_tool():
    from agentlab.dispatch.contract import SideEffect
    from agentlab.dispatch.dispatcher import Tool

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    contract = post_contract(
        name="weather",
        input_schema=schema,
        side_effect=SideEffect.READ_ONLY,
        idempotency_key=None,
        approval=None,
    )
    return Tool(contract, lambda arguments, caller: f"sunny in {arguments['city']}")


def unmarked(value):
    """Without what says nothing: nulls, and is_error where there is no error."""
    if isinstance(value, dict):
        return {k: unmarked(v) for k, v in value.items() if v is not None and (k, v) != ("is_error", False)}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value
