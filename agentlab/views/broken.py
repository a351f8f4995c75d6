"""For each rule on the order of messages a short history that breaks it, and what the check says of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing import RULES, check
from agentlab.shapes import Finding
from agentlab.views.tables import Table

Json = dict[str, JsonValue]

# The first letter of a rule of order names its dialect.
_DIALECTS: dict[str, Dialect] = {"A": "anthropic", "C": "openai-chat", "R": "openai-responses"}


class Broken(NamedTuple):
    """A history that breaks `rule`: a body, or its messages (items). A8 needs the history as it came (`before`)."""

    rule: str
    history: Json | list[JsonValue]
    before: list[JsonValue] | None = None

    @property
    def dialect(self) -> Dialect:
        """The dialect of the rule and so of the history."""
        return _DIALECTS[self.rule[0]]

    @property
    def findings(self) -> list[Finding]:
        """All that the check says; the first of its own rule is the one to show."""
        return check(self.history, self.dialect, before=self.before)

    @property
    def finding(self) -> Finding:
        """What the check says by this rule."""
        return next(finding for finding in self.findings if finding.rule == self.rule)


def broken_histories() -> tuple[Broken, ...]:
    """One for each of A1 to A11, C1 to C3, R1 and R2, in that order."""
    ask = _user(_text("status?"))
    pair = [ask, _assistant(_use("a")), _user(_result("a"))]
    thought: JsonValue = {"type": "thinking", "thinking": "It is INV-7.", "signature": "s1"}
    search: JsonValue = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    question: JsonValue = {"role": "user", "content": "status?"}
    return (
        Broken("A1", [ask, _assistant(_use("a"), _use("b")), _user(_result("a"))]),
        Broken("A2", [ask, _assistant(_text("One moment.")), _user(_result("a"))]),
        Broken("A3", [*pair[:2], _user(_text("Here it is:"), _result("a"))]),
        Broken("A4", [*pair, _assistant(_use("a")), _user(_result("a"))]),
        Broken("A5", [*pair[:2], _user(_result("a"), _result("a"))]),
        Broken("A6", {"messages": pair, "tools": [_tool("look"), _tool("look")]}),
        Broken("A7", [ask, _assistant(search, _use("a")), _user(_result("a"), _text("Go on."))]),
        Broken(
            "A8",
            [ask, _assistant(_use("a")), _user(_result("a"))],
            before=[ask, _assistant(thought, _use("a"))],
        ),
        Broken("A9", [_user(_text("status\ud83d"))]),
        Broken("A10", {"messages": pair, "tools": [_tool("look", defer_loading=True)]}),
        Broken("A11", [ask, _assistant(_compaction()), ask]),
        Broken("C1", [question, _chat_calls("a", "b"), _chat_result("a")]),
        Broken("C2", [question, _chat_result("a")]),
        Broken("C3", [question, _chat_calls("a"), _chat_result("a", None)]),
        Broken("R1", [question, _item("a"), _item("b"), _output("a")]),
        Broken("R2", [question, _output("a")]),
    )


def rules_table(cases: Sequence[Broken]) -> Table:
    """One row for each broken history: its rule, its shape, the finding, and how the rule is known."""
    rows = tuple(
        (case.rule, shape(case.history), f"{case.finding.where}: {case.finding.message}", RULES[case.rule].evidence)
        for case in cases
    )
    columns = ("rule", "history", "finding", "known from")
    return Table("A history that breaks each rule", columns, rows, words=columns[1:])


def demands_table(rules: Sequence[str]) -> Table:
    """What each rule demands, and where that is from."""
    rows = tuple((rule, RULES[rule].demands, RULES[rule].source) for rule in rules)
    columns = ("rule", "demands", "source")
    return Table("What these rules demand", columns, rows, words=columns[1:])


def shape(history: Mapping[str, JsonValue] | Sequence[JsonValue]) -> str:
    """A history on one line: who says what, as in "user: text > assistant: call a > user: result a"."""
    if isinstance(history, Mapping):
        tools = history.get("tools")
        named = ", ".join(_tool_shape(tool) for tool in tools) if isinstance(tools, list) else ""
        messages = history.get("messages", history.get("input"))
        said = shape(messages) if isinstance(messages, list) else ""
        return f"tools: {named} > {said}" if named else said
    return " > ".join(_element_shape(element) for element in history if isinstance(element, dict))


def _element_shape(element: Json) -> str:
    role = element.get("role")
    if role is None:
        return _block_shape(element)
    return f"{role}: {', '.join(_content_shapes(element))}"


def _content_shapes(message: Json) -> Iterator[str]:
    content, calls = message.get("content"), message.get("tool_calls")
    if message.get("role") == "tool":
        yield f"result {message.get('tool_call_id')}" + (" (null)" if content is None else "")
    elif isinstance(content, list):
        yield from (_block_shape(block) for block in content if isinstance(block, dict))
    elif content is not None:
        yield "text"
    if isinstance(calls, list):
        yield from (f"call {call.get('id')}" for call in calls if isinstance(call, dict))


def _block_shape(block: Json) -> str:
    match block.get("type"):
        case "tool_use":
            return f"call {block.get('id')}"
        case "function_call":
            return f"call {block.get('call_id')}"
        case "tool_result":
            return f"result {block.get('tool_use_id')}"
        case "function_call_output":
            return f"result {block.get('call_id')}"
        case "server_tool_use":
            return f"server's call {block.get('id')}"
        case "text":
            is_whole = not any("\ud800" <= character <= "\udfff" for character in str(block.get("text")))
            return "text" if is_whole else "text with half a surrogate pair"
        case kind:
            return str(kind)


def _tool_shape(tool: JsonValue) -> str:
    if not isinstance(tool, dict):
        return "?"
    return f"{tool.get('name')}{' (deferred)' if tool.get('defer_loading') else ''}"


def _user(*blocks: JsonValue) -> JsonValue:
    return {"role": "user", "content": list(blocks)}


def _assistant(*blocks: JsonValue) -> JsonValue:
    return {"role": "assistant", "content": list(blocks)}


def _text(words: str) -> JsonValue:
    return {"type": "text", "text": words}


def _use(call_id: str, name: str = "look", **arguments: JsonValue) -> JsonValue:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, content: str = "approved") -> JsonValue:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def _compaction() -> JsonValue:
    return {"type": "compaction", "content": "so far", "signature": "s1"}


def _tool(name: str, **more: JsonValue) -> JsonValue:
    return {"name": name, "description": "Look.", "input_schema": {"type": "object"}, **more}


def _chat_calls(*call_ids: str) -> JsonValue:
    calls: list[JsonValue] = [
        {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for call_id in call_ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _chat_result(call_id: str, content: str | None = "approved") -> JsonValue:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _item(call_id: str) -> JsonValue:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}"}


def _output(call_id: str) -> JsonValue:
    return {"type": "function_call_output", "call_id": call_id, "output": "approved"}


def mishap() -> list[JsonValue]:
    """The history of the exercise, made anew each time: text before a result, a result too late, a result twice."""
    question = _text("Is INV-1042 approved, and has its order arrived? Then tell me who supplied it.")
    remark = _text("I need it for the meeting at ten.")
    return [
        _user(question),
        _assistant(
            _use("toolu_1", "invoice_get", invoice_id="INV-1042"), _use("toolu_2", "order_get", order_id="PO-77")
        ),
        _user(remark, _result("toolu_1", "INV-1042: approved, 1,200.00 EUR")),
        _assistant(_use("toolu_3", "supplier_get", order_id="PO-77")),
        _user(
            _result("toolu_2", "PO-77: delivered"),
            _result("toolu_3", "Nordlicht GmbH"),
            _result("toolu_3", "Nordlicht GmbH"),
        ),
    ]
