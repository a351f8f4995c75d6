"""Pieces of wire histories, and for each rule on their order a history that breaks it and one that does not."""

from typing import NamedTuple

from agentlab.messages.pairing import RULES
from agentlab.messages.wire import DIALECTS

HALF = "\ud83d"
"""Half of a surrogate pair."""


# Anthropic


def user(*content):
    return {"role": "user", "content": list(content)}


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


def text(words="go on"):
    return {"type": "text", "text": words}


def use(call_id, name="look"):
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def result(call_id, **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": "42", **more}


def search(call_id="srvtoolu_1"):
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": "q"}}


def found(call_id="srvtoolu_1"):
    return {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}


def think(words="hm", signature="s"):
    return {"type": "thinking", "thinking": words, "signature": signature}


def summary(words="so far", **more):
    return {"type": "compaction", "content": words, "signature": "sig", **more}


def tool(name, **more):
    return {"name": name, "description": "", "input_schema": {"type": "object"}, **more}


TASK = user(text("What is 6 x 7?"))
PAIR = [TASK, assistant(use("a")), user(result("a"))]
BOTH = assistant(use("a"), use("b"))


# OpenAI


def chat_calls(*ids, **more):
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def chat_result(call_id, content="42"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def say(words="go on", role="user"):
    return {"role": role, "content": words}


def item(call_id, name="look"):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}


def output(call_id, text="42"):
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def said_in():
    return {"type": "input_text", "text": "go on"}


def said_out():
    return {"type": "output_text", "text": "go on", "annotations": []}


def function(name):
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def flat(name, **more):
    return {"type": "function", "name": name, "parameters": None, **more}


class Case(NamedTuple):
    """`sound` is a step away from `broken`. What is large is a function that makes it.

    `closer` is a piece of the way out, where it is a closer one than that of the rule.
    """

    rule: str
    dialect: str
    why: str
    broken: object
    sound: object
    level: str = "must"
    closer: str = ""

    @property
    def fix(self):
        """What the way out says: of a form, how it is written."""
        forms = {"T1": "write it as {", "T4": 'write "tool_choice"'}
        return self.closer or forms.get(self.rule, RULES[self.rule].fix)

    def histories(self):
        return tuple(history() if callable(history) else history for history in (self.broken, self.sound))


A, C, R = DIALECTS
CASES = [
    Case(
        "A1",
        A,
        "a call without any result",
        [TASK, BOTH, user(result("a"))],
        [TASK, BOTH, user(result("a"), result("b"))],
    ),
    Case(
        "A1",
        A,
        "a result that comes too late",
        [*PAIR[:2], user(text()), assistant(text()), PAIR[2]],
        PAIR,
        closer="move messages[4].content[0] right behind",
    ),
    Case("A1", A, "a history that ends with an open call", PAIR[:2], PAIR),
    Case(
        "A1",
        A,
        "an instruction between call and result",
        [*PAIR[:2], say(role="system"), PAIR[2]],
        [*PAIR, say(role="system")],
        closer="move messages[3].content[0] right behind",
    ),
    Case("A2", A, "a result of a call that nobody made", [TASK, assistant(text()), user(result("x"))], PAIR),
    Case("A2", A, "a result before its call", [user(result("a")), *PAIR[1:2]], PAIR),
    Case("A2", A, "a result in an assistant's message", [*PAIR[:2], assistant(result("a"))], PAIR),
    Case(
        "A2",
        A,
        "an answer to a tool of the server",
        [TASK, assistant(search(), found()), user(result("srvtoolu_1"))],
        PAIR,
    ),
    Case(
        "A3",
        A,
        "text before the result",
        [*PAIR[:2], user(text(), result("a"))],
        [*PAIR[:2], user(result("a"), text())],
    ),
    Case(
        "A3",
        A,
        "text between two results",
        [TASK, BOTH, user(result("a"), text(), result("b"))],
        [TASK, BOTH, user(result("b"), result("a"), text())],
    ),
    Case(
        "A4",
        A,
        "an id used again",
        [*PAIR, assistant(use("a")), user(result("a"))],
        [*PAIR, assistant(use("b")), user(result("b"))],
    ),
    Case("A4", A, "an id twice in a message", [TASK, assistant(use("a"), use("a")), user(result("a"))], PAIR),
    Case("A5", A, "two results of one call", [*PAIR[:2], user(result("a"), result("a"))], PAIR),
    Case("A5", A, "a second result much later", [*PAIR, assistant(text()), user(result("a"))], PAIR),
    Case(
        "A6",
        A,
        "two tools of one name",
        {"messages": PAIR, "tools": [tool("f"), tool("f")]},
        {"messages": PAIR, "tools": [tool("f"), tool("F")]},
    ),
    Case(
        "A7",
        A,
        "text while the server's tool is pending",
        [TASK, assistant(search(), use("a")), user(result("a"), text())],
        [TASK, assistant(search(), use("a")), user(result("a"))],
    ),
    Case("A7", A, "text after a pause", [TASK, assistant(search()), user(text())], [TASK, assistant(search())]),
    Case(
        "A7",
        A,
        "text in a later round, where the server's tool is still pending",
        [TASK, assistant(search(), use("a")), user(result("a")), assistant(use("b")), user(result("b"), text())],
        [
            TASK,
            assistant(search(), use("a")),
            user(result("a")),
            assistant(found(), use("b")),
            user(result("b"), text()),
        ],
    ),
    Case(
        "A7", A, "a server's result without its call", [TASK, assistant(found())], [TASK, assistant(search(), found())]
    ),
    Case("A9", A, "half a surrogate pair", [user(text(HALF))], [user(text("\U0001f600"))]),
    Case(
        "A9",
        A,
        "half a surrogate pair in a key",
        [TASK, assistant({**use("a"), "input": {HALF: 1}}), user(result("a"))],
        PAIR,
    ),
    Case(
        "A10",
        A,
        "all tools deferred",
        {"messages": PAIR, "tools": [tool("f", defer_loading=True)]},
        {"messages": PAIR, "tools": [tool("f", defer_loading=True), tool("g")]},
    ),
    Case(
        "A11",
        A,
        "two summaries",
        [user(summary("old"), summary("new"))],
        [user(summary("new")), assistant(text()), TASK],
    ),
    Case("A11", A, "a summary in the middle", [TASK, assistant(summary())], [user(summary(), text())]),
    Case(
        "A11",
        A,
        "a summary in a system message",
        [{"role": "system", "content": [summary()]}, TASK],
        [user(summary()), TASK],
    ),
    Case(
        "A11",
        A,
        "compaction in the middle of a turn",
        {"messages": PAIR[:2], "compaction": {"type": "summarize"}},
        {"messages": PAIR, "compaction": {"type": "summarize"}},
    ),
    Case(
        "A11",
        A,
        "compaction in a pause",
        {"messages": [TASK, assistant(search())], "compaction": {"type": "summarize"}},
        {"messages": [TASK, assistant(search(), found())], "compaction": {"type": "summarize"}},
    ),
    Case(
        "C1",
        C,
        "a call without a tool message",
        [say(), chat_calls("a", "b"), chat_result("a")],
        [say(), chat_calls("a", "b"), chat_result("b"), chat_result("a")],
    ),
    Case(
        "C1",
        C,
        "the user speaks before the tool",
        [say(), chat_calls("a"), say(), chat_result("a")],
        [say(), chat_calls("a"), chat_result("a"), say()],
        closer="right behind the call",
    ),
    Case(
        "C1",
        C,
        "a history that ends with an open call",
        [say(), chat_calls("a")],
        [say(), chat_calls("a"), chat_result("a")],
    ),
    Case(
        "C1",
        C,
        "one id for two calls",
        [say(), chat_calls("a", "a"), chat_result("a")],
        [say(), chat_calls("a"), chat_result("a")],
        closer="an id of its own",
    ),
    Case(
        "C2",
        C,
        "a tool message that answers nothing",
        [say(), chat_result("a")],
        [say(), chat_calls("a"), chat_result("a")],
    ),
    Case(
        "C2",
        C,
        "a tool message of another round",
        [say(), chat_calls("a"), chat_result("a"), say("x", "assistant"), chat_result("a")],
        [say(), chat_calls("a"), chat_result("a"), say("x", "assistant")],
        closer="keep one",
    ),
    Case(
        "C2",
        C,
        "two tool messages for a call",
        [say(), chat_calls("a"), chat_result("a"), chat_result("a")],
        [say(), chat_calls("a"), chat_result("a")],
        closer="keep one",
    ),
    Case(
        "C3",
        C,
        "a tool message without content",
        [say(), chat_calls("a"), chat_result("a", None)],
        [say(), chat_calls("a"), chat_result("a", "")],
    ),
    Case("C3", C, "a user message without content", [{"role": "user"}], [say("")]),
    Case(
        "C3",
        C,
        "an assistant message with neither",
        [say(), say(None, "assistant")],
        [say(), {"role": "assistant", "refusal": "no"}],
    ),
    Case(
        "R1",
        R,
        "a call without an output",
        [say(), item("a"), item("b"), output("a")],
        [say(), item("a"), item("b"), output("b"), output("a")],
    ),
    Case(
        "R1",
        R,
        "an output before its call",
        [say(), output("a"), item("a")],
        [say(), item("a"), say("wait"), output("a")],
        closer="behind the call",
    ),
    Case(
        "R1",
        R,
        "a call_id used again",
        [item("a"), output("a"), item("a")],
        [item("a"), output("a"), item("b"), output("b")],
        closer="a call_id of its own",
    ),
    Case("R2", R, "an output that answers nothing", [say(), output("a")], [say(), item("a"), output("a")]),
    Case(
        "R2",
        R,
        "two outputs of a call",
        [item("a"), output("a"), output("a")],
        [item("a"), output("a")],
        closer="keep one",
    ),
    Case(
        "R2",
        R,
        "an output of another kind",
        [{**item("a"), "type": "custom_tool_call", "input": ""}, output("a")],
        [{**item("a"), "type": "custom_tool_call", "input": ""}, {**output("a"), "type": "custom_tool_call_output"}],
    ),
    Case(
        "N1",
        A,
        "129 characters",
        {"messages": PAIR, "tools": [tool("f" * 129)]},
        {"messages": PAIR, "tools": [tool("f" * 128)]},
    ),
    Case(
        "N1",
        A,
        "a dot",
        {"messages": PAIR, "tools": [tool("files.read")]},
        {"messages": PAIR, "tools": [tool("files_read")]},
    ),
    Case(
        "N1",
        A,
        "201 characters in the history",
        [TASK, assistant(use("a", "f" * 201)), user(result("a"))],
        [TASK, assistant(use("a", "x." * 100)), user(result("a"))],
    ),
    Case(
        "N1",
        C,
        "65 characters",
        {"messages": [say()], "tools": [function("f" * 65)]},
        {"messages": [say()], "tools": [function("f" * 64)]},
    ),
    Case(
        "N1",
        R,
        "129 characters",
        {"input": "x", "tools": [flat("f" * 129)]},
        {"input": "x", "tools": [flat("f" * 128)]},
    ),
    Case(
        "N1", R, "a dot in the history", [item("a", "files.read"), output("a")], [item("a", "files_read"), output("a")]
    ),
    Case(
        "N2",
        A,
        "a colon",
        [TASK, assistant(use("f:1")), user(result("f:1"))],
        [TASK, assistant(use("f" * 999)), user(result("f" * 999))],
    ),
    Case(
        "N2",
        C,
        "41 characters",
        [chat_calls("a" * 41), chat_result("a" * 41)],
        [chat_calls(":" * 40), chat_result(":" * 40)],
    ),
    Case("N2", R, "65 characters", [item("a" * 65), output("a" * 65)], [item("a" * 64), output("a" * 64)]),
    Case("N2", R, "an empty id", [item(""), output("")], [item("a"), output("a")]),
    Case(
        "N3",
        C,
        "129 tools",
        {"messages": [say()], "tools": [function(f"f{n}") for n in range(129)]},
        {"messages": [say()], "tools": [function(f"f{n}") for n in range(128)]},
    ),
    Case("N4", A, "more than 100,000 messages", lambda: [TASK] * 100_001, [TASK] * 9),
    Case(
        "N4",
        A,
        "more than 32 MB",
        lambda: [user(text("\u00e9" * (17 * 1024 * 1024)))],
        lambda: [user(text("e" * (17 * 1024 * 1024)))],
    ),
    Case(
        "N5",
        R,
        "a very long output",
        lambda: [item("a"), output("a", "x" * 10_485_761)],
        lambda: [item("a"), output("a", "x" * 10_485_760)],
    ),
    Case("M1", A, "an input that is text", [TASK, assistant({**use("a"), "input": "{}"}), user(result("a"))], PAIR),
    Case("M1", A, "a result with no id", [TASK, user({"type": "tool_result", "content": ""})], PAIR),
    Case(
        "M1",
        A,
        "a flag that is text",
        [*PAIR[:2], user(result("a", is_error="yes"))],
        [*PAIR[:2], user(result("a", is_error=True))],
    ),
    Case("M1", A, "content that is a number", [{"role": "user", "content": 5}], [say()]),
    Case("M1", A, "a block that is no object", [user("x")], [say()]),
    Case("M1", A, "a call in a user's message", [user(use("a"))], PAIR),
    Case("M1", A, "tools that are no list", {"messages": PAIR, "tools": {}}, {"messages": PAIR, "tools": []}),
    Case("M1", A, "an empty summary", [user(summary(""))], [user({"type": "compaction", "content": None})]),
    Case(
        "M1",
        C,
        "arguments that are an object",
        [
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]},
            chat_result("a"),
        ],
        [chat_calls("a"), chat_result("a")],
    ),
    Case("M1", C, "calls that are no list", [{"role": "assistant", "tool_calls": {"id": "a"}}], [say()]),
    Case("M1", R, "an output that is an object", [item("a"), output("a", {})], [item("a"), output("a")]),
    Case(
        "M1",
        R,
        "a call without arguments",
        [{"type": "function_call", "call_id": "a", "name": "f"}, output("a")],
        [item("a"), output("a")],
    ),
    Case("M1", A, "a role of another dialect", [*PAIR, say(role="tool")], [*PAIR, say(role="system")]),
    Case("M1", A, "a message without a role", [*PAIR, {"content": "x"}], [*PAIR, say()]),
    Case("M1", A, "a message that is no object", [*PAIR, 5], PAIR),
    Case("M1", A, "a message of OpenAI among those of Anthropic", [*PAIR, chat_calls("b")], PAIR),
    Case(
        "M1", C, "a function's message without a name", [say(role="function")], [{**say(role="function"), "name": "f"}]
    ),
    Case("M1", C, "a role that nobody has", [say(), say(role="robot")], [say(), say(role="developer")]),
    Case("M1", C, "a text part without text", [user({"type": "text"})], [user(text())]),
    Case("M1", R, "a role of another dialect", [say(), say(role="tool")], [say(), say(role="developer")]),
    Case("M1", R, "a type that is a number", [say(), {"type": 5}], [say(), {"type": "telepathy"}]),
    Case(
        "M1", R, "a text part without text", [user({"type": "input_text"})], [user({"type": "input_text", "text": ""})]
    ),
    Case("M2", C, "half a surrogate pair", [say(HALF)], [say("\U0001f600")]),
    Case("M2", R, "half a surrogate pair", [say(HALF)], [say("\U0001f600")]),
    Case(
        "M3",
        C,
        "an image in a tool message",
        [say(), chat_calls("a"), chat_result("a", [text(), {"type": "image_url", "image_url": {"url": "x"}}])],
        [say(), chat_calls("a"), chat_result("a", [text(), text()])],
    ),
    Case(
        "M3",
        C,
        "a tool message with no part",
        [say(), chat_calls("a"), chat_result("a", [])],
        [say(), chat_calls("a"), chat_result("a", [text("")])],
    ),
    Case(
        "M1",
        A,
        "thinking without its signature",
        [TASK, assistant({"type": "thinking", "thinking": "hm"}, use("a")), user(result("a"))],
        [TASK, assistant(think(), use("a")), user(result("a"))],
    ),
    Case(
        "M4",
        A,
        "a reply of the SDK put back whole",
        [TASK, {**assistant(use("a")), "id": "msg_1", "model": "m", "stop_reason": "tool_use", "usage": {}}, PAIR[2]],
        PAIR,
    ),
    Case("M4", A, "a name of the user", [{**TASK, "name": "clerk"}], [TASK]),
    Case("M4", A, "an id that is null", [{**TASK, "id": None}], [TASK]),
    Case(
        "M4",
        R,
        "a status that is null",
        [{"type": "reasoning", "id": "rs_1", "summary": [], "status": None}],
        [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None}],
        "should",
        "exclude_none",
    ),
    Case(
        "M4",
        R,
        "a namespace that is null",
        [{**item("a"), "namespace": None}, output("a")],
        [{**item("a"), "caller": None}, {**output("a"), "id": None}],
        "should",
        "exclude_none",
    ),
    Case("M5", R, "a part as OpenAI Chat has it", [user(text())], [user(said_in())], closer="type input_text"),
    Case(
        "M5",
        R,
        "a part of the assistant as OpenAI Chat has it",
        [say(), assistant(text())],
        [say(), assistant(said_out())],
        closer="type output_text",
    ),
    Case("M5", R, "output of a user", [user(said_out())], [user(said_in())], closer="type input_text"),
    Case("M5", R, "a refusal of a user", [user({"type": "refusal", "refusal": "no"})], [user(said_in())]),
    Case(
        "M5",
        R,
        "a part of an output as OpenAI Chat has it",
        [item("a"), output("a", [text()])],
        [item("a"), output("a", [said_in()])],
        closer="type input_text",
    ),
    Case(
        "M5",
        R,
        "input of the assistant",
        [say(), assistant(said_in())],
        [say(), assistant(said_out(), {"type": "refusal", "refusal": "no"})],
        "should",
        "type output_text",
    ),
    Case("M6", A, "an empty text of the user", [say("")], [say()]),
    Case("M6", A, "no block of the user", [user()], [TASK]),
    Case("M6", A, "an empty text block", [user(text(""))], [TASK]),
    Case(
        "M6",
        A,
        "an empty text block of a result",
        [*PAIR[:2], user(result("a", content=[text("")]))],
        [*PAIR[:2], user(result("a", content=[]))],
    ),
    Case("M6", A, "no block of the assistant", [TASK, assistant(), TASK], [TASK, assistant(text("x")), TASK]),
    Case(
        "M6",
        C,
        "no call",
        [say(), chat_calls(content="x"), say()],
        [say(), say(role="assistant")],
        closer="leave the field",
    ),
    Case(
        "M6",
        C,
        "calls that are null",
        [say(), {**say(role="assistant"), "tool_calls": None}],
        [say(), {**say(role="assistant"), "refusal": None, "function_call": None}],
        closer="leave the field",
    ),
    Case("M6", C, "no part of the user", [user()], [say("")]),
    Case(
        "R1",
        R,
        "an output that may be behind a reference",
        [say(), item("a"), {"type": "item_reference", "id": "fco_1"}],
        [say(), item("a"), output("a"), {"type": "item_reference", "id": "fco_1"}],
        "should",
    ),
    Case(
        "R1",
        R,
        "an output that may be in the conversation of the provider",
        {"conversation": "conv_1", "input": [item("a")]},
        {"conversation": "conv_1", "input": [item("a"), output("a")]},
        "should",
    ),
    Case(
        "R1",
        R,
        "a reference before the call, which no output can be",
        [{"id": "fco_1"}, item("a")],
        [{"id": "fco_1"}, item("a"), output("a")],
    ),
]
