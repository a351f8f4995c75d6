"""Real exchanges with the providers, recorded by others: the answers replayed to our models, the next request compared.

The source packages of the two SDKs hold them (Apache-2.0); nothing of them is kept here. To run these tests:

    pip download --no-deps --no-binary anthropic,openai anthropic==2.14.0 openai==3.57.0 -d FOLDER
    AGENTLAB_SDISTS=FOLDER pytest tests/messages/test_real_exchanges.py
"""

import ast
import json
import os
import tarfile
from pathlib import Path

import pytest
from loopback import NAMES, Body, Events, Loopback, Status

from agentlab.messages.conversation import Request, StopReason, UserMessage
from agentlab.messages.pairing import check
from agentlab.messages.received import with_sendable_arguments
from agentlab.messages.streams import assembled
from agentlab.messages.wire import from_wire, reply_from_wire

ANTHROPIC, OPENAI = "anthropic-2.14.0", "openai-3.57.0"


def source_files(package, wanted):
    """The texts of the files of a source package whose path holds one of `wanted`, by path."""
    folder = os.environ.get("AGENTLAB_SDISTS")
    path = Path(folder or "") / f"{package}.tar.gz"
    if not folder or not path.is_file():
        pytest.skip(f"needs {package}.tar.gz in the folder AGENTLAB_SDISTS, which pip download can fetch")
    with tarfile.open(path) as archive:
        members = [m for m in archive.getmembers() if m.isfile() and any(part in m.name for part in wanted)]
        return {member.name: archive.extractfile(member).read().decode() for member in members}


@pytest.fixture(scope="module")
def anthropic_runs():
    """Each file is one run: a list of requests and what came back."""
    files = source_files(ANTHROPIC, ["/__inline_snapshot__/"])
    return [json.loads(text) for name, text in sorted(files.items()) if name.endswith(".json")]


@pytest.fixture(scope="module")
def openai_completions():
    """The completions in one test module, each a text in a call of ``snapshot``."""
    texts = source_files(OPENAI, ["tests/lib/chat/test_completions.py"])
    calls = [node for text in texts.values() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    values = [call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant)]
    recorded = [json.loads(value) for value in values if str(value).startswith('{"id": "chatcmpl-')]
    assert recorded
    return recorded


def answer(response):
    body = response["body"]
    if response["status_code"] != 200:
        return Status(response["status_code"], body["error"]["message"], body["error"]["type"])
    return Events([body]) if isinstance(body, str) else Body(body)


def said(value):
    """`value` without the fields that say nothing: the SDK that recorded leaves some of them out when it sends back."""
    if isinstance(value, dict):
        return {key: said(inner) for key, inner in value.items() if inner is not None}
    return [said(inner) for inner in value] if isinstance(value, list) else value


def test_our_next_request_carries_the_messages_that_the_recorded_next_one_did(anthropic_runs, monkeypatch):
    compared = 0
    for run in anthropic_runs:
        sent = [exchange["request"]["body"] for exchange in run]
        with Loopback([answer(exchange["response"]) for exchange in run]) as server:
            model = server.model("anthropic:test", monkeypatch, stream="stream" in sent[0])
            history = from_wire(sent[0], "anthropic").messages
            reply = None
            for number, body in enumerate(sent):
                if number and body["messages"] == sent[number - 1]["messages"]:
                    continue  # the same request again, after a 429: our model has made it by itself
                if number:
                    # What the assistant said is what our model read; only what the user adds is from the recording.
                    added = body["messages"][len(sent[number - 1]["messages"]) + 1 :]
                    history = (*history, reply.message, *from_wire({"messages": added}, "anthropic").messages)
                reply = model.complete(from_wire(body, "anthropic").model_copy(update={"messages": history}))
            ours = [{**body, "model": None} for body in server.bodies]
        assert [said(body) for body in ours] == [said({**body, "model": None}) for body in sent]
        compared += len(sent)
    assert compared >= len(anthropic_runs) > 0


def test_no_rule_refuses_a_request_that_the_provider_answered(anthropic_runs):
    answered = [e["request"]["body"] for run in anthropic_runs for e in run if e["response"]["status_code"] == 200]
    assert answered
    assert [check(body, "anthropic", whole=True) for body in answered] == [[] for _ in answered]


def test_every_real_reply_of_anthropic_is_read_with_its_stop_and_its_usage(anthropic_runs):
    bodies = [exchange["response"]["body"] for run in anthropic_runs for exchange in run]
    replies = [body for body in bodies if isinstance(body, dict) and body["type"] == "message"]
    for body in replies:
        reply = reply_from_wire(body, "anthropic")
        usage = body["usage"]
        cached = usage.get("cache_creation_input_tokens", 0) + usage.get("cache_read_input_tokens", 0)
        assert reply.stop in (StopReason.TOOL, StopReason.END)
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (
            usage["input_tokens"] + cached,
            usage["output_tokens"],
        )
        assert [call.id for call in reply.tool_calls] == [b["id"] for b in body["content"] if b["type"] == "tool_use"]
    assert replies


def test_the_recorded_streams_add_up_to_what_the_sdk_makes_of_them(monkeypatch):
    # The SDK's own assembly is the oracle for streams that are whole; test_assembled_streams says where ours differs.
    import anthropic

    fixtures = source_files(ANTHROPIC, ["tests/lib/streaming/fixtures/"])
    broken = ("invalid_json", "incomplete_partial_json")
    whole = {name: text for name, text in fixtures.items() if not any(word in name for word in broken)}
    assert whole
    for name, text in sorted(whole.items()):
        events = [json.loads(line.removeprefix("data:")) for line in text.splitlines() if line.startswith("data:")]
        ours = with_sendable_arguments(assembled(events, "anthropic"), "anthropic")
        with Loopback([Events([text if text.endswith("\n\n") else text + "\n\n"])]) as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "")
            server.model("anthropic:test", monkeypatch)
            with (
                anthropic.Anthropic(base_url=server.url, max_retries=0) as client,
                client.beta.messages.stream(
                    model="m", max_tokens=5, messages=[{"role": "user", "content": "?"}]
                ) as stream,
            ):
                theirs = stream.get_final_message().to_dict(mode="json")
        for key in ("content", "stop_reason", "stop_sequence", "id"):
            assert said(ours.get(key)) == said(_unparsed(theirs.get(key))), (name, key)


def _unparsed(value):
    if isinstance(value, list):
        return [{k: v for k, v in block.items() if k != "parsed_output"} for block in value]
    return value


def test_every_real_completion_of_openai_is_read_and_goes_back_as_it_came(openai_completions, monkeypatch):
    ask = Request(messages=(UserMessage(content="?"),))
    for completion in openai_completions:
        choice = completion["choices"][0]
        with Loopback([Body(completion), Body(completion)], order=False) as server:
            model = server.model(NAMES["openai-chat"], monkeypatch)
            reply = model.complete(ask)
            model.complete(Request(messages=(*ask.messages, reply.message)))
        assert reply.content == (choice["message"]["content"] or "")
        assert reply.usage.input_tokens == completion["usage"]["prompt_tokens"]
        assert [(call.id, call.name) for call in reply.tool_calls] == [
            (call["id"], call["function"]["name"]) for call in choice["message"].get("tool_calls", [])
        ]
        expected = (
            StopReason.REFUSAL
            if choice["message"]["refusal"]
            else StopReason({"stop": "end", "tool_calls": "tool", "length": "length"}[choice["finish_reason"]])
        )
        assert reply.stop is expected
        assert said(server.bodies[1]["messages"][1]) == said(choice["message"])
