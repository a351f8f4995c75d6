"""`agentlab messages`: check a history against a provider's rules, and convert it to another provider's form."""

import io
import json
import os
import subprocess
import sys

import pytest

from agentlab import cli
from agentlab.messages.wire import DIALECTS

CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"q": "6 x 7"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"}
TASK = {"role": "user", "content": "What is 6 x 7?"}
SOUND = [TASK, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}]
SECOND = {**CALL, "id": "toolu_2"}
SPLIT = [
    TASK,
    {"role": "assistant", "content": [CALL, SECOND]},
    {"role": "user", "content": [RESULT]},
    {"role": "user", "content": [{**RESULT, "tool_use_id": "toolu_2"}]},
]


@pytest.fixture
def written(tmp_path):
    def write(value, name="history.json"):
        path = tmp_path / name
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return str(path)

    return write


def check(file, dialect, *options):
    return cli.call(["messages", "check", file, "--dialect", dialect, *options])


def convert(file, source, target, *options):
    return cli.call(["messages", "convert", file, "--from", source, "--to", target, *options])


@pytest.mark.parametrize("history", [SOUND, {"messages": SOUND, "model": "m", "max_tokens": 9}])
def test_a_sound_history_gives_an_empty_list_and_status_0(written, capsys, history):
    assert check(written(history), "anthropic", "--json") == 0
    assert capsys.readouterr() == ("[]\n", "")
    assert check(written(history), "anthropic") == 0
    assert "no findings" in capsys.readouterr().out


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_all_clear_names_what_was_looked_at_and_says_so_where_only_messages_were(written, capsys, dialect):
    listed = [TASK]
    limit = {"max_tokens": 9} if dialect == "anthropic" else {}
    body = {"model": "m", "input" if dialect == "openai-responses" else "messages": listed, **limit}
    assert check(written(listed), dialect) == 0
    bare = " ".join(capsys.readouterr().out.split())
    assert check(written(body), dialect) == 0
    whole = " ".join(capsys.readouterr().out.split())
    assert "bare list" in bare
    assert "tool_choice" not in bare
    assert "tool_choice" in whole
    assert "model" in whole
    assert ("temperature" in whole) == (dialect == "anthropic")


def test_a_file_is_taken_for_what_is_sent_and_a_bare_list_is_not(written, capsys):
    assert check(written({"messages": SOUND}), "anthropic", "--json") == 1
    assert [finding["rule"] for finding in json.loads(capsys.readouterr().out)] == ["B1", "B9"]
    assert check(written(SOUND), "anthropic", "--json") == 0


def test_an_odd_message_is_a_finding_beside_the_others(written, capsys):
    history = [*SOUND[:2], {"role": "tool", "tool_call_id": "toolu_1", "content": "42"}]
    body = {"model": "m", "max_tokens": 9, "tools": [{"name": "f"}], "messages": history}
    assert check(written(body), "anthropic", "--json") == 1
    found = {finding["rule"]: finding["where"] for finding in json.loads(capsys.readouterr().out)}
    assert found == {
        "M1": "messages[2].role",
        "A1": "messages[1].content[0]",
        "T2": "tools[0].input_schema",
    }


def test_a_missing_result_is_a_finding_and_status_1(written, capsys):
    assert check(written(SOUND[:2]), "anthropic", "--json") == 1
    said, err = capsys.readouterr()
    (found,) = json.loads(said)
    assert list(found) == ["rule", "level", "where", "message", "fix"]
    assert (found["rule"], found["level"], found["where"]) == ("A1", "must", "messages[1].content[0]")
    assert "toolu_1" in found["message"]
    assert err == ""


def test_a_person_sees_a_table_with_the_way_out(written, capsys):
    assert check(written(SOUND[:2]), "anthropic") == 1
    said = capsys.readouterr().out
    for word in ("rule", "A1", "must", "messages[1].content[0]", "toolu_1", "answer every call"):
        assert word in said


def test_lenient_warns_of_what_strict_refuses(written, capsys):
    file = written(SPLIT)
    assert check(file, "anthropic", "--json") == 1
    strict = json.loads(capsys.readouterr().out)
    assert check(file, "anthropic", "--json", "--lenient") == 0
    lenient = json.loads(capsys.readouterr().out)
    assert {finding["level"] for finding in strict} == {"must"}
    assert lenient == [{**finding, "level": "should"} for finding in strict]


@pytest.mark.parametrize(
    ("dialect", "body", "rule"),
    [
        ("openai-chat", [TASK, {"role": "tool", "tool_call_id": "x", "content": "1"}], "C2"),
        ("openai-chat", [{"role": "user", "content": None}], "C3"),
        ("openai-responses", [{"type": "function_call_output", "call_id": "x", "output": "1"}], "R2"),
        ("openai-responses", [{"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"}], "R1"),
    ],
)
def test_each_dialect_has_its_rules(written, capsys, dialect, body, rule):
    assert check(written(body), dialect, "--json") == 1
    assert [finding["rule"] for finding in json.loads(capsys.readouterr().out)] == [rule]


def test_half_a_surrogate_pair_can_be_told_of(written, capsys):
    assert check(written(b'[{"role": "user", "content": "\\ud83d"}]'), "anthropic", "--json") == 1
    assert [finding["rule"] for finding in json.loads(capsys.readouterr().out)] == ["A9"]


def test_standard_input_is_a_file_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SOUND).encode())))
    assert check("-", "anthropic", "--json") == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[")))
    assert check("-", "anthropic") == 2
    assert "standard input" in capsys.readouterr().err


UNREADABLE = [
    pytest.param(b'[{"role": "user",\n "content": }]', "line 2 column 13", id="no JSON"),
    pytest.param(b"", "line 1 column 1", id="empty"),
    pytest.param(b'{"messages": [NaN]}', "NaN", id="NaN"),
    pytest.param(b'{"messages": [], "temperature": 1e999}', "1e999", id="a number without end"),
    pytest.param(b'{"messages": [], "messages": []}', "'messages' is written twice", id="a key twice"),
    pytest.param(b"\xef\xbb\xbf[]", "byte order mark", id="a byte order mark"),
    pytest.param(b"\xff\xfe[\x00]\x00", "utf-8", id="UTF-16"),
    pytest.param(b"[" * 200_000, "nested too deeply", id="nested without end"),
    pytest.param(b"5", "a request body", id="a number"),
    pytest.param(b'"text"', "a request body", id="text"),
    pytest.param(b"{}", "messages", id="no messages"),
    pytest.param(b'{"messages": 5}', "messages must be a list", id="messages that are none"),
    pytest.param(b'[{"role": "assistant", "tool_calls": []}]', "openai-chat", id="another dialect"),
]


@pytest.mark.parametrize(("content", "named"), UNREADABLE)
def test_what_cannot_be_read_as_that_dialect_costs_one_line_and_status_2(written, capsys, content, named):
    file = written(content)
    assert check(file, "anthropic") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert named in said.err
    assert file in said.err


@pytest.mark.parametrize(("content", "named"), [case for case in UNREADABLE if case.id != "another dialect"])
def test_convert_refuses_the_same_files(written, capsys, content, named):
    assert convert(written(content), "anthropic", "openai-chat") == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_nesting_that_no_message_can_hold_is_refused_by_convert(written, capsys):
    deep = (
        b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "x": '
        + b"[" * 300
        + b"]" * 300
        + b"}"
    )
    assert convert(written(deep), "anthropic", "openai-chat") == 2
    assert "nested deeper than" in capsys.readouterr().err
    assert check(written(deep), "anthropic") == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["check", "no such file", "--dialect", "anthropic"], "no such file cannot be read"),
        (["check", ".", "--dialect", "anthropic"], "cannot be read"),
        (["check", "a\0b", "--dialect", "anthropic"], "cannot be read"),
        (["check", "-", "--dialect", "gemini"], "--dialect is gemini; it is one of anthropic, openai-chat"),
        (["check", "-"], "--dialect"),
        (["check", "--dialect", "anthropic"], "FILE"),
        (["convert", "-", "--from", "anthropic"], "--to"),
        (["convert", "-", "--from", "anthropic", "--to", "x"], "--to is x"),
        (["convert", "-", "--from", "x", "--to", "anthropic"], "--from is x"),
    ],
)
def test_bad_arguments_cost_one_line_and_status_2(capsys, arguments, named):
    assert cli.call(["messages", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert named in said.err


def test_convert_prints_the_body_on_stdout_and_what_was_lost_on_stderr(written, capsys):
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "?"}, {"type": "image", "source": {"type": "url"}}]},
            {"role": "assistant", "content": [{**CALL, "name": "math.look"}]},
            {"role": "user", "content": [{**RESULT, "is_error": True}]},
        ],
    }
    assert convert(written(body), "anthropic", "openai-chat") == 1
    said = capsys.readouterr()
    messages = json.loads(said.out)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[2]["content"] == '{"error": "42"}'
    for rule, place in (("W1", "messages[0].content[1]"), ("W2", "model"), ("W3", "math.look"), ("W4", "toolu_1")):
        assert any(rule in line and place in line for line in said.err.splitlines())


def test_convert_that_loses_nothing_succeeds_in_silence(written, capsys):
    assert convert(written(SOUND), "anthropic", "openai-responses") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert [item.get("type") for item in json.loads(said.out)["input"]] == [
        None,
        "function_call",
        "function_call_output",
    ]


@pytest.mark.parametrize("there", DIALECTS)
def test_there_and_back_keeps_calls_results_and_order(written, capsys, tmp_path, there):
    middle = tmp_path / "there.json"
    together = [*SPLIT[:2], {"role": "user", "content": [RESULT, {**RESULT, "tool_use_id": "toolu_2"}]}]
    body = {"max_tokens": 16, "messages": together}
    assert convert(written(body), "anthropic", there, "--output", str(middle)) == 0
    assert capsys.readouterr() == ("", "")
    check(str(middle), there, "--json")
    assert [finding["rule"] for finding in json.loads(capsys.readouterr().out)] == ["B9"]
    assert convert(str(middle), there, "anthropic") == 0
    assert json.loads(capsys.readouterr().out)["messages"] == together


def test_an_output_that_cannot_be_written_costs_one_line(written, capsys, tmp_path):
    assert convert(written(SOUND), "anthropic", "openai-chat", "--output", str(tmp_path)) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "cannot be written" in said.err


def test_a_converted_body_can_be_piped_into_the_check(written):
    environment = {**os.environ, "NO_COLOR": "1"}
    program = [sys.executable, "-m", "agentlab.cli", "messages"]
    made = subprocess.run(
        [*program, "convert", written(SOUND), "--from", "anthropic", "--to", "openai-chat"],
        capture_output=True, check=True, env=environment,
    )  # fmt: skip
    checked = subprocess.run(
        [*program, "check", "-", "--dialect", "openai-chat", "--json"],
        input=made.stdout, capture_output=True, check=False, env=environment,
    )  # fmt: skip
    # Which model it is for is the caller's to say.
    assert [finding["rule"] for finding in json.loads(checked.stdout)] == ["B9"]
    assert (checked.returncode, checked.stderr) == (1, b"")


@pytest.mark.parametrize("command", ["tokens -", "messages check - --dialect anthropic"])
def test_a_closed_standard_input_is_told_in_one_line(command: str) -> None:
    script = f'"{sys.executable}" -m agentlab.cli {command} <&-'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("agentlab: standard input cannot be read: standard input is closed;")
    assert done.stderr.count("\n") == 1
