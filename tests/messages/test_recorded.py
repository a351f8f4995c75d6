"""Recordings: what one run wrote down is what the next run gets, or a failure that says where they part."""

import json

import pytest
from invoice_tool import Erp, post_call, run_posting
from loopback import KEY, NAMES, Loopback, Status, set_keys

from agentlab.canonical import digest
from agentlab.loop.machine import State
from agentlab.messages.conversation import Reply, Request, StopReason, ToolSchema, Usage, UserMessage
from agentlab.messages.models import ModelError, Rules, Scripted, ScriptError
from agentlab.messages.recorded import Recorded, RecordingError, first_difference
from agentlab.messages.wire import DIALECTS

END = Reply(content="done", stop=StopReason.END, usage=Usage(input_tokens=3, output_tokens=1))
ASK = Request(messages=(UserMessage(content="one"),))
ASK_MORE = Request(messages=(UserMessage(content="two"),))


def recording(path, *requests):
    model = Recorded.record(Rules(lambda request: END), path)
    for request in requests:
        model.complete(request)
    return path


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_live_run_replays_to_the_same_messages_without_a_server(dialect, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    with Loopback([Reply(tool_calls=(post_call(),), stop=StopReason.TOOL), END]) as server:
        live = run_posting(Recorded.record(server.model(NAMES[dialect], monkeypatch), path), Erp())
    erp = Erp()
    with Recorded(path) as model:
        replayed = run_posting(model, erp)
    assert replayed == live
    assert len(erp.posted) == 1
    text = path.read_text()
    assert KEY not in text
    assert "authorization" not in text.lower()
    assert [sorted(json.loads(line)) for line in text.splitlines()] == [["digest", "reply", "request"]] * 2


def test_a_failure_is_recorded_and_fails_again(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    with Loopback([Status(400, f"bad key {KEY}")]) as server:
        live = run_posting(Recorded.record(server.model("openai:test", monkeypatch), path), Erp())
    with Recorded(path) as model:
        replayed = run_posting(model, Erp())
    assert (live.state, replayed) == (State.FAILED, live)
    assert KEY not in path.read_text()


def test_a_key_in_a_conversation_is_not_written_down(tmp_path, monkeypatch):
    set_keys(monkeypatch)
    asked = Request(messages=(UserMessage(content=f"Is {KEY} my key?"),))
    echo = Rules(lambda request: Reply(content=request.messages[0].content, stop=StopReason.END))
    path = tmp_path / "run.jsonl"
    Recorded.record(echo, path).complete(asked)
    assert KEY not in path.read_text()
    with Recorded(path) as model:
        assert model.complete(asked).content == "Is [key] my key?"


def test_recording_adds_to_a_file_and_never_replaces_it(tmp_path):
    path = recording(tmp_path / "run.jsonl", ASK)
    before = path.read_text()
    recording(path, ASK_MORE)
    assert path.read_text().startswith(before)
    with Recorded(path) as model:
        assert [model.complete(ASK), model.complete(ASK_MORE)] == [END, END]


def test_a_line_is_on_the_disk_before_its_reply_is_handed_on(tmp_path):
    path = tmp_path / "run.jsonl"
    recorder = Recorded.record(Scripted([END, END]), path)
    for number in (1, 2):
        recorder.complete(ASK)
        assert path.read_bytes().count(b"\n") == number


def test_the_digest_is_that_of_the_canonical_request_and_reply(tmp_path):
    line = json.loads(recording(tmp_path / "run.jsonl", ASK).read_text())
    call = {"request": ASK.model_dump(mode="json"), "reply": END.model_dump(mode="json")}
    assert line["digest"] == digest(call)


def test_one_request_too_many_and_one_too_few_are_failures(tmp_path):
    path = recording(tmp_path / "run.jsonl", ASK, ASK_MORE)
    model = Recorded(path)
    model.complete(ASK)
    model.complete(ASK_MORE)
    with pytest.raises(ScriptError, match="has 2 calls and was asked for one more"):
        model.complete(ASK)
    with (
        pytest.raises(ScriptError, match=r"1 of 2 calls of .* were never made, line 2 is the first"),
        Recorded(path) as m,
    ):
        m.complete(ASK)


def test_an_error_inside_the_block_is_not_hidden_by_unused_lines(tmp_path):
    with pytest.raises(ZeroDivisionError), Recorded(recording(tmp_path / "run.jsonl", ASK)):
        _ = 1 / 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"messages": ASK_MORE.messages}, r'request.messages\[0\].content is "one" in the recording and "two" now'),
        ({"messages": (*ASK.messages, *ASK.messages)}, "request.messages has 1 entries in the recording and 2 now"),
        ({"system": "Hi."}, 'request.system is "" in the recording and "Hi." now'),
        (
            {"tools": (ToolSchema(name="look", description="", parameters={}),)},
            "request.tools has 0 entries in the recording and 1 now",
        ),
        ({"max_output_tokens": 5}, "request.max_output_tokens is null in the recording and 5 now"),
    ],
)
def test_another_request_is_told_with_the_first_difference(changes, said, tmp_path):
    model = Recorded(recording(tmp_path / "run.jsonl", ASK))
    with pytest.raises(ScriptError, match=f"line 1 of .*run.jsonl was recorded for another request: {said}"):
        model.complete(ASK.model_copy(update=changes))
    assert model.complete(ASK) == END  # the line is still there for the right request


def test_the_first_difference_tells_numbers_booleans_and_missing_keys_apart():
    assert first_difference({"a": 1}, {"a": True}) == "request.a is 1 in the recording and true now"
    assert first_difference({"a": 1}, {"a": 1.0}) == "request.a is 1 in the recording and 1.0 now"
    assert first_difference({"a": 1, "b": 2}, {"a": 1}) == "only the recorded one has request.b"
    assert first_difference({"a": 1}, {"a": 1, "b": 2}) == "only the given one has request.b"
    assert len(first_difference("x" * 999, "y" * 999)) < 250


@pytest.mark.parametrize("lost", [1, 20])
def test_a_last_line_that_a_crash_cut_off_is_told_in_one_line_by_reader_and_recorder(lost, tmp_path):
    path = recording(tmp_path / "run.jsonl", ASK, ASK_MORE)
    path.write_bytes(path.read_bytes()[:-lost])
    for open_it in (Recorded, lambda path: Recorded.record(Rules(lambda request: END), path)):
        with pytest.raises(RecordingError, match=r"line 2 of .*run.jsonl is cut off") as caught:
            open_it(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no json\n", "line 1 of .* is no recorded call: the line: Invalid JSON"),
        (b"\n", "line 1 of .* is no recorded call"),
        (b'{"digest": "x"}\n', "line 1 of .* is no recorded call: request: Field required"),
        (b"\xff\xfe\n", "is no text in UTF-8"),
        (
            b'{"digest": "", "request": {"messages": [], "raw": {"dialect": "anthropic", "value": NaN}},"error":""}\n',
            "line 1 of .* is no recorded call: it is no valid JSON: NaN is no JSON number; record it again",
        ),
        (
            b'{"digest": "x", "request": {"messages": []}, "error": "x", "error": "y"}\n',
            "line 1 of .* is no recorded call: .*'error' is written twice",
        ),
    ],
)
def test_a_file_that_is_no_recording_is_told_in_one_line(content, said, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=said):
        Recorded(path)


def test_a_missing_file_and_a_folder_that_cannot_be_written_are_told_in_one_line(tmp_path):
    with pytest.raises(RecordingError, match="No such file or directory; record it with"):
        Recorded(tmp_path / "none.jsonl")
    with pytest.raises(RecordingError, match=r"cannot write .*: No such file or directory"):
        Recorded.record(Rules(lambda request: END), tmp_path / "none" / "run.jsonl").complete(ASK)
    for path in (tmp_path, tmp_path / "a\0b"):
        with pytest.raises(RecordingError, match=r"cannot read .*; record it with"):
            Recorded(path)
    with pytest.raises(RecordingError, match=r"cannot write '.*a\\x00b': embedded null byte; give a path"):
        Recorded.record(Rules(lambda request: END), tmp_path / "a\0b").complete(ASK)


def test_a_line_that_was_changed_by_hand_is_not_replayed(tmp_path):
    path = recording(tmp_path / "run.jsonl", ASK)
    line = json.loads(path.read_text())
    path.write_text(json.dumps({**line, "error": "too"}) + "\n")
    with pytest.raises(RecordingError, match="must hold a reply or an error, and not both"):
        Recorded(path)
    request, reply = line["request"], line["reply"]
    changes = (
        {"request": {**request, "system": "Now obey me."}},
        {"reply": {**reply, "content": "All is well."}},
        {"reply": {**reply, "usage": {**reply["usage"], "input_tokens": 4}}},
        {"reply": {**reply, "stop": "length"}},
        {"reply": None, "error": "the provider is gone"},
    )
    for change in changes:
        path.write_text(json.dumps({**line, **change}) + "\n")
        with pytest.raises(RecordingError, match=r"line 1 of .* was changed after it was recorded"):
            Recorded(path)
    path.write_text(json.dumps(line, indent=None) + "\n")
    assert Recorded(path).complete(ASK) == END


def test_a_recorded_error_is_a_model_error(tmp_path):
    def fails(request):
        raise ModelError("the provider is gone")

    path = tmp_path / "run.jsonl"
    with pytest.raises(ModelError, match="the provider is gone"):
        Recorded.record(Rules(fails), path).complete(ASK)
    with Recorded(path) as replay, pytest.raises(ModelError, match="the provider is gone"):
        replay.complete(ASK)
