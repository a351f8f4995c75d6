"""`agentlab tokens`: the parts of a request on a terminal and as JSON, and one line for what cannot be read."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentlab import cli
from agentlab.messages.conversation import AssistantMessage, Request, ToolCall, ToolResult, ToolSchema, UserMessage
from agentlab.messages.counters import count_text
from agentlab.messages.wire import DIALECTS, to_wire

KEYS = ["file", "dialect", "dialect_detected", "model", "tokenizer", "tokenizer_source", "parts", "total"]
KEYS += ["not_counted", "may_shrink", "provider", "warnings"]
PARTS = ["system", "tools", "user", "assistant", "tool_results", "provider_adds"]
QUANTITY = {"tokens", "unit", "origin", "source", "low", "high", "share"}

REQUEST = Request(
    system="Be brief.",
    tools=(ToolSchema(name="due", description="List what is due.", parameters={"type": "object"}),),
    messages=(
        UserMessage(content="What is due?"),
        AssistantMessage(tool_calls=(ToolCall(id="call_1", name="due", arguments={"month": 11}),)),
        ToolResult(call_id="call_1", content="INV-7"),
    ),
)


@pytest.fixture
def write(tmp_path):
    def write(content: object, name: str = "request.json") -> str:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(file)

    return write


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:  # type: ignore[type-arg]
    assert cli.call(["tokens", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("named", [True, False])
def test_a_body_of_each_dialect_is_split_into_its_parts(capsys, write, dialect, named):
    file = write({"model": "gpt-5.2", **to_wire(REQUEST, dialect).body})
    result = as_json(capsys, file, *(["--dialect", dialect] if named else []))
    assert list(result) == KEYS
    assert (result["file"], result["dialect"], result["dialect_detected"]) == (file, dialect, not named)
    assert result["model"] == "gpt-5.2"
    assert list(result["parts"]) == PARTS
    assert result["parts"]["system"]["tokens"] == count_text("Be brief.")
    assert result["parts"]["user"]["tokens"] == count_text("What is due?")
    assert result["parts"]["tool_results"]["tokens"] == count_text("INV-7")
    known = [part for part in result["parts"].values() if part is not None]
    assert all(set(part) == QUANTITY for part in known)
    assert all(part["source"] for part in [*known, result["total"]])
    assert set(result["total"]) == {*QUANTITY, "at_least"}
    assert result["total"]["at_least"] is bool(result["not_counted"]) is (dialect != "openai-chat")
    assert result["total"]["high"] is None
    assert len(result["warnings"]) == (dialect == "anthropic")
    assert sum(part["tokens"] for part in known) == result["total"]["tokens"]
    assert (result["parts"]["provider_adds"] is not None) is (dialect == "openai-chat")
    assert result["provider"] is None


def test_a_bare_list_of_messages_is_read_too(capsys, write):
    file = write([{"role": "user", "content": "What is due?"}])
    result = as_json(capsys, file, "--dialect", "anthropic", "--model", "claude-opus-4-7")
    assert result["parts"]["user"]["origin"] == "estimated"
    assert result["parts"]["user"]["low"] < result["parts"]["user"]["tokens"] < result["parts"]["user"]["high"]


def test_the_model_named_is_stronger_than_the_one_in_the_file(capsys, write):
    file = write({"model": "gpt-5.2", **to_wire(REQUEST, "anthropic").body})
    assert as_json(capsys, file)["parts"]["user"]["origin"] == "exact"
    asked = as_json(capsys, file, "--model", "claude-opus-4-7")
    assert asked["model"] == "claude-opus-4-7"
    assert asked["parts"]["provider_adds"]["tokens"] == 675


def test_a_dash_is_standard_input(capsys, write, monkeypatch):
    body = json.dumps(to_wire(REQUEST, "anthropic").body).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(body)))
    assert as_json(capsys, "-", "--dialect", "anthropic")["file"] == "-"


def test_a_person_sees_each_part_its_share_its_band_and_what_is_missing(capsys, write):
    image = {"type": "image", "source": {}}
    body = to_wire(REQUEST, "anthropic").body
    body["messages"].append({"role": "user", "content": [image]})
    assert cli.call(["tokens", write({"model": "claude-opus-4-7", **body})]) == 0
    said = capsys.readouterr().out
    assert "Dialect: anthropic (detected). Model: claude-opus-4-7." in said
    rows = {line.split("  ")[0]: line for line in said.splitlines()}
    for part in ("system", "tools", "user", "assistant", "tool results", "provider adds", "at least"):
        assert "%" in rows[part]
        assert "estimated" in rows[part]
        assert (" to " in rows[part]) is (part not in ("provider adds", "at least"))
    assert "total" not in rows
    assert "The request has at least about" in said
    assert "are tool schemas" in said
    assert "data/facts/tokenizers.csv" in said
    assert "Provider adds: documented for Opus 4.7, not counted here" in said
    assert "Not counted: the part of type 'image' (messages[3].content[0])." in said


def test_an_estimate_for_a_model_that_nobody_measured_says_so(capsys, write):
    assert cli.call(["tokens", write({"model": "claude-sonnet-5-5", **to_wire(REQUEST, "anthropic").body})]) == 0
    said = capsys.readouterr().out
    assert "unverified" in said
    assert "no number is known for claude-sonnet-5-5" in said


@pytest.mark.parametrize("dialect", DIALECTS)
def test_on_a_terminal_of_80_columns_no_line_is_longer(capsys, write, monkeypatch, dialect):
    monkeypatch.setenv("COLUMNS", "80")
    file = write({**to_wire(REQUEST, dialect).body, "previous_response_id": "resp_1", "truncation": "auto"})
    assert cli.call(["tokens", file, "--dialect", dialect, "--model", "claude-sonnet-4-5"]) == 0
    captured = capsys.readouterr()
    assert max(len(line) for line in captured.out.splitlines()) <= 80
    assert "stored (previous_response_id)" in " ".join(captured.out.split())


def test_an_empty_request_is_no_failure(capsys, write):
    assert cli.call(["tokens", write([]), "--dialect", "anthropic"]) == 0
    assert "The request is empty." in capsys.readouterr().out


def test_ambiguous_text_is_asked_about_and_never_guessed(capsys, write):
    assert cli.call(["tokens", write({"messages": [{"role": "user", "content": "hi"}]})]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "anthropic or openai-chat; say which with --dialect" in captured.err


PLAIN = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("model", "dialect"),
    [("claude-opus-4-7", "anthropic"), ("gpt-5.2", "openai-chat"), ("o9-mini", "openai-chat")],
)
def test_where_two_dialects_read_a_body_its_model_decides(capsys, write, model, dialect):
    for found in (
        as_json(capsys, write({"model": model, "messages": PLAIN})),
        as_json(capsys, write({"model": "llama", "messages": PLAIN}), "--model", model),
    ):
        assert (found["dialect"], found["dialect_detected"], found["warnings"]) == (dialect, True, [])


def test_a_model_of_openai_leaves_two_dialects_for_a_bare_list(capsys, write):
    assert cli.call(["tokens", write(PLAIN), "--model", "gpt-5.2"]) == 2
    assert "openai-chat or openai-responses; say which with --dialect" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dialect", "model"), [("anthropic", "gpt-5.2"), ("openai-chat", "claude-opus-5"), ("openai-responses", "claude-3")]
)
def test_a_body_of_one_provider_and_a_model_of_another_is_counted_with_a_warning(capsys, write, dialect, model):
    file = write({"model": model, **to_wire(REQUEST, dialect).body})
    assert cli.call(["tokens", file, "--json"]) == 0
    captured = capsys.readouterr()
    (said,) = json.loads(captured.out)["warnings"]
    assert captured.err == f"warning: {said}\n"
    assert dialect in said
    assert model in said


@pytest.mark.parametrize(
    ("content", "options", "named"),
    [
        (b"{", [], "is no JSON"),
        (b"", [], "is no JSON"),
        (b"\xff\xfe", [], "is no JSON"),
        (b'{"messages": [NaN]}', [], "NaN is no JSON number"),
        (b'{"messages": [], "messages": []}', [], "the key 'messages' is written twice"),
        (b'{"messages": [], "temperature": 1e999}', [], "1e999 is larger than any"),
        (b"\xef\xbb\xbf[]", ["--dialect", "openai-chat"], "byte order mark"),
        (b"[" * 100_000, [], "nested too deeply"),
        (b"9" * 5_000, [], "is no JSON"),
        (b'"hi"', [], "no request in a dialect"),
        (b"{}", [], "no request in a dialect"),
        (b"null", ["--dialect", "anthropic"], "must be an object"),
        (b'{"messages": [1]}', ["--dialect", "openai-chat"], "messages[0] must be an object"),
        (b'{"input": "hi"}', ["--dialect", "anthropic"], "messages must be a list"),
        (b"[]", ["--dialect", "gemini"], "--dialect is gemini; it is one of anthropic, openai-chat"),
        (b"[]", ["--dialect", "anthropic", "--ask-provider"], "give --model"),
        (b"[]", ["--dialect", "anthropic", "--ask-provider", "--model", "llama"], "anthropic:llama"),
    ],
)
def test_what_cannot_be_read_costs_one_line_and_status_2(capsys, write, content, options, named):
    file = write(content)
    assert cli.call(["tokens", file, *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert named in captured.err


@pytest.mark.parametrize("file", ["missing.json", ".", "a\0b"])
def test_a_file_that_is_none_costs_one_line_and_status_2(capsys, file):
    assert cli.call(["tokens", file]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "cannot be read" in captured.err


def test_without_a_key_the_provider_is_not_asked(capsys, write, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert cli.call(["tokens", write([]), "--dialect", "openai-chat", "--model", "gpt-5.2", "--ask-provider"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_a_surrogate_and_a_huge_number_in_the_file_are_counted(tmp_path: Path):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"n": 12345678901234567890}'}}
    messages = [{"role": "user", "content": "\ud800"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    file = tmp_path / "request.json"
    file.write_text(json.dumps(messages), encoding="ascii")
    done = subprocess.run(
        [sys.executable, "-m", "agentlab.cli", "tokens", str(file)], capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "openai-chat (detected)" in done.stdout
