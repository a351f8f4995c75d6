"""Lesson 01, function calling at the wire: the exercises, their checks and their hints."""

import copy
import re
from collections.abc import Iterator
from typing import Any

from agentlab.course.checks import call, describe_call, wrong
from agentlab.course.exercise import Exercise
from agentlab.dispatch.schemas import CompiledSchema
from agentlab.errors import AgentlabError
from agentlab.messages.pairing import check as check_order
from agentlab.messages.wire.aliases import LIMITS
from agentlab.views.broken import mishap, shape

_ORDER = {
    "A1": "a call without its result in the very next message is refused; the result is there, in another place",
    "A2": "a result answers a call of the message right before it; move it there",
    "A3": "in a user's message the results come first, and the text behind them",
    "A5": "a call has one result; what the provider does with a second one is not known, so send one",
}


def _repaired(history: Any) -> str:
    if not isinstance(history, list) or not all(_is_message(message) for message in history):
        why = "a history is a list of messages, each with a role and a list of blocks; user() and assistant() make one"
        wrong(called="repaired", came_back=history, expected="a list of messages", why=why)
    if history == mishap():
        why = "this is the history as it came; a provider answers it with an error, and nothing of it is processed"
        wrong(called="repaired", came_back=shape(history), expected="a history without findings", why=why)
    _nothing_changed(history)
    for finding in check_order(history, "anthropic"):
        lenient = check_order(history, "anthropic", strict=False)
        why = _ORDER.get(finding.rule, finding.fix)
        if all(each.level == "should" for each in lenient):
            why = (
                "results of one turn are in two messages: Anthropic joins them, other servers of its dialect refuse "
                "them, and the model learns to call one tool at a time; put them into one message"
            )
        came_back = f"{finding.rule}, {finding.where}: {finding.message}"
        wrong(called=f"repaired: {shape(history)}", came_back=came_back, expected="no finding", why=why)
    return f"No finding is left, and nothing is lost: {shape(history)}"


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and isinstance(message.get("content"), list)
        and all(isinstance(block, dict) for block in message["content"])
    )


def _nothing_changed(history: list[Any]) -> None:
    """Every block of the broken history once or more, none changed; what was said and called in its order."""
    before, now = _blocks(mishap()), _blocks(history)
    called = f"repaired: {shape(history)}"
    for block in now:
        if block not in before:
            why = "only places may change: what a tool or a person did not say must not appear in a history"
            wrong(called=called, came_back=block, expected="blocks of the broken history alone", why=why)
    lost = {
        "tool_use": "a call was dropped: it was made, perhaps with an effect, and the model will make it again",
        "tool_result": "a result was dropped: the tool has run, and the model would never learn what came of it",
        "text": "what the user said was dropped; a repair loses nothing",
    }
    for block in before:
        if block not in now:
            wrong(called=called, came_back="it is not there", expected=block, why=lost[block["type"]])
    said = [block for block in before if block["type"] != "tool_result"]
    says = [block for block in now if block["type"] != "tool_result"]
    if says != said:
        why = (
            "the order of what was said and called has changed: a remark that comes earlier or later makes another "
            "conversation; only results had lost their place"
        )
        wrong(called=called, came_back=_order(says), expected=_order(said), why=why)
    for message in history:
        for block in message["content"]:
            speaker = "assistant" if block["type"] == "tool_use" else "user"
            if message["role"] != speaker:
                why = f"a {block['type']} is the {speaker}'s to send; whose words they are decides what they may do"
                wrong(called=called, came_back=f"{block['type']} of the {message['role']}", expected=speaker, why=why)


def _blocks(history: list[Any]) -> list[dict[str, Any]]:
    return [block for message in history for block in message["content"]]


def _order(blocks: list[dict[str, Any]]) -> str:
    return ", ".join(str(block.get("id", block.get("text"))) for block in blocks)


_SAFE_LENGTH = min(limits.name_length for limits in LIMITS.values())
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_UNSUPPORTED = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "oneOf",
)


def _own_tool(tool: Any, good: Any, bad: Any) -> str:
    _definition(tool)
    parameters = tool["parameters"]
    for place, part in _objects(parameters):
        _object(place, part)
    try:
        schema = CompiledSchema(parameters)
    except AgentlabError as error:
        why = "a provider refuses a request with a schema that is none"
        wrong(called="my_tool['parameters']", came_back=str(error), expected="a valid JSON Schema", why=why)
    problems = schema.problems(good)
    if problems:
        why = "your schema refuses your own good call; the model would be told to mend what is right"
        wrong(called=f"my_good_call {good!r}", came_back="; ".join(problems), expected="no problem", why=why)
    if not isinstance(bad, dict) or not bad:
        why = "a call that is plausible teaches something: an object with arguments, one of them wrong"
        wrong(called="my_bad_call", came_back=bad, expected="an object with arguments", why=why)
    refused = schema.problems(bad)
    if not refused:
        why = (
            "the schema lets it through, so only code behind it could stop it; say more in the schema (a type, an "
            "enum, a required field), or choose a call that a schema can refuse"
        )
        wrong(called=f"my_bad_call {bad!r}", came_back="no problem", expected="a problem", why=why)
    return " ".join([f"The schema refuses the bad call: {'; '.join(refused)}.", *_strict_hints(parameters)])


def _definition(tool: Any) -> None:
    if not isinstance(tool, dict) or set(tool) != {"name", "description", "parameters"}:
        why = "these three are what the model sees of a tool; roles, limits and code are none of its business"
        wrong(called="my_tool", came_back=tool, expected="a dict with name, description and parameters", why=why)
    name, description = tool["name"], tool["description"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        why = "all three providers take letters, digits, _ and -; a dot or a space in the name is a 400"
        wrong(called="my_tool['name']", came_back=name, expected="letters, digits, _ and - only", why=why)
    if len(name) > _SAFE_LENGTH:
        why = f"{len(name)} characters: the provider with the lowest limit takes {_SAFE_LENGTH}"
        wrong(called="my_tool['name']", came_back=name, expected=f"at most {_SAFE_LENGTH} characters", why=why)
    if name == "invoice_get":
        why = "that is the tool of the lesson; take one that your own system has or needs"
        wrong(called="my_tool['name']", came_back=name, expected="a tool of your own", why=why)
    if not isinstance(description, str) or len(description.split()) < 5:
        why = "the model chooses by this text: say what the tool does, and whether it changes anything"
        wrong(called="my_tool['description']", came_back=description, expected="five words or more", why=why)


def _object(place: str, part: dict[str, Any]) -> None:
    called = f"my_tool['parameters'], {place}"
    if part.get("type") != "object":
        why = "arguments are one object; every provider demands it at the top"
        wrong(called=called, came_back=part.get("type"), expected="type 'object'", why=why)
    if part.get("additionalProperties") is not False:
        why = "without additionalProperties false the model may add approved=true, and the schema lets it through"
        came_back = part.get("additionalProperties", "no additionalProperties")
        wrong(called=called, came_back=came_back, expected="additionalProperties False", why=why)
    properties, required = part.get("properties"), part.get("required")
    if not isinstance(properties, dict) or not properties:
        why = "a tool without arguments has nothing to check; choose one that takes some"
        wrong(called=called, came_back=properties, expected="properties with at least one field", why=why)
    if not isinstance(required, list):
        why = "without a list of required fields every field is optional, and an empty call is a valid one"
        wrong(called=called, came_back=required, expected="a list of required names", why=why)
    unknown = [name for name in required if name not in properties]
    if unknown:
        why = "a required field that has no schema can never be sent: nothing else than the properties is allowed"
        wrong(called=f"{called}, required", came_back=unknown, expected="names of properties", why=why)
    for name, field in properties.items():
        if not isinstance(field, dict) or not str(field.get("description", "")).strip():
            why = "a field without a description is filled by guessing: say what it is, its unit, an example"
            wrong(called=f"{called}.{name}", came_back=field, expected="a description", why=why)
        if not any(keyword in field for keyword in ("type", "enum", "const", "anyOf", "$ref")):
            why = "a field without a type takes anything: text for a number, a list for a name"
            wrong(called=f"{called}.{name}", came_back=field, expected="a type (or an enum, const, anyOf)", why=why)


def _objects(schema: Any, place: str = "the top") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema itself and every object schema inside it, each with its place."""
    if not isinstance(schema, dict):
        wrong(called="my_tool['parameters']", came_back=schema, expected="a dict", why="a JSON Schema is an object")
    for inner, part in _schemas(schema, place):
        if inner == place or part.get("type") == "object" or "properties" in part:
            yield inner, part


def _schemas(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield place, schema
    for group in ("properties", "$defs"):
        inner = schema.get(group)
        for name, part in inner.items() if isinstance(inner, dict) else ():
            if isinstance(part, dict):
                yield from _schemas(part, name)
    listed = [schema.get("items"), *(part for group in ("anyOf", "oneOf", "allOf") for part in schema.get(group) or [])]
    for part in listed:
        if isinstance(part, dict):
            yield from _schemas(part, f"inside {place}")


def _strict_hints(parameters: dict[str, Any]) -> list[str]:
    """What the providers' strict modes would say of a schema that is right as it is.

    From OpenAI's own error text and Anthropic's documentation of August 2026; not all that they refuse is looked for.
    """
    optional = [
        name
        for _, part in _objects(parameters)
        for name in part.get("properties", {})
        if name not in part.get("required", [])
    ]
    keywords = sorted({word for _, part in _schemas(parameters, "") for word in part if word in _UNSUPPORTED})
    hints = []
    if optional:
        hints.append(
            f"Hint: OpenAI's strict mode demands every property in required; make {', '.join(optional)} nullable."
        )
    if keywords:
        hints.append(
            f"Hint: Anthropic's strict mode refuses {', '.join(keywords)}; say it in the description and check it "
            "in code."
        )
    return hints or [
        "Hint: no field is optional (OpenAI's strict mode would refuse that), and no limit such as minimum or "
        "maxLength is used (Anthropic's would)."
    ]


def _use(call_id: str, arguments: Any = None) -> dict[str, Any]:
    given = {"invoice_id": "INV-1042"} if arguments is None else arguments
    return {"type": "tool_use", "id": call_id, "name": "invoice_get", "input": given}


def _chat(reason: str, *calls: tuple[str, str]) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": "invoice_get", "arguments": text}}
        for call_id, text in calls
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _responses(status: str, reason: str | None) -> dict[str, Any]:
    item = {
        "type": "function_call",
        "id": "fc_9",
        "call_id": "call_9",
        "name": "invoice_get",
        "arguments": '{"invoice_id": "INV-1042"}',
    }
    return {"status": status, "incomplete_details": {"reason": reason} if reason else None, "output": [item]}


_GOOD, _CUT = '{"invoice_id": "INV-1042"}', '{"invoice_id": "INV-10'
# A dialect, a reply of it, the ids that may run, and the reason that only this mistake deserves.
_REPLIES: tuple[tuple[str, dict[str, Any], list[str], str], ...] = (
    (
        "anthropic",
        {"content": [_use("toolu_1"), _use("toolu_2")], "stop_reason": "tool_use"},
        ["toolu_1", "toolu_2"],
        "the reply ended in order and asks for two calls: both may run",
    ),
    (
        "openai-chat",
        _chat("tool_calls", ("call_1", _GOOD)),
        ["call_1"],
        "in OpenAI Chat the calls are in choices[0].message.tool_calls; the reply ended in order",
    ),
    (
        "openai-responses",
        _responses("completed", None),
        ["call_9"],
        "in OpenAI Responses a call is paired by its call_id; the field id names the item and answers nothing",
    ),
    (
        "anthropic",
        {"content": [_use("toolu_1"), _use("toolu_2")], "stop_reason": "max_tokens"},
        [],
        "the reply was cut by the limit of output: its arguments may be cut, and more calls may have been meant",
    ),
    (
        "openai-chat",
        _chat("length", ("call_1", _GOOD)),
        [],
        "finish_reason length is a cut reply too, under another name",
    ),
    (
        "openai-responses",
        _responses("incomplete", "max_output_tokens"),
        [],
        "status incomplete: a Responses reply has no stop reason, and its call is there all the same",
    ),
    (
        "anthropic",
        {"content": [_use("toolu_1")], "stop_reason": "refusal"},
        [],
        "the model refused in the middle of its reply; what it had written by then is no wish",
    ),
    (
        "anthropic",
        {"content": [_use("toolu_1")], "stop_reason": "a_new_one"},
        [],
        "a stop reason that you do not know may mean anything; run calls only where you know that you may",
    ),
    (
        "openai-chat",
        _chat("tool_calls", ("call_1", _CUT), ("call_2", _GOOD)),
        ["call_2"],
        "the arguments of call_1 are no JSON: that call gets an error as its result, and its neighbour runs",
    ),
    (
        "anthropic",
        {"content": [_use("toolu_1", ["INV-1042"])], "stop_reason": "tool_use"},
        [],
        "arguments that are a list are no arguments; the parser of the lesson refuses them",
    ),
    (
        "anthropic",
        {"content": [{"type": "text", "text": "It is approved."}], "stop_reason": "end_turn"},
        [],
        "no call, so nothing to run: an empty list, not None",
    ),
)


def _ids_to_run(ids_to_run: Any) -> str:
    for dialect, body, ids, why in _REPLIES:
        sent = copy.deepcopy(body)
        came_back = call(ids_to_run, dialect, sent)
        called = describe_call(ids_to_run, dialect, body)
        if isinstance(came_back, tuple):
            came_back = list(came_back)
        if came_back != ids:
            wrong(called=called, came_back=came_back, expected=ids, why=why)
        if sent != body:
            reason = "the reply was changed; it goes back into the next request to the letter"
            wrong(called=called, came_back=sent, expected=body, why=reason)
    runnable = sum(len(ids) for _, _, ids, _ in _REPLIES)
    return f"{runnable} calls of {len(_REPLIES)} replies may run, in three dialects."


EXERCISES = (
    Exercise(
        id="01.1",
        lesson="01",
        title="Repair a broken history",
        minutes=10,
        check=_repaired,
        hints=(
            "Read the findings from the top. Three things are wrong, and one of them gives two findings: a call whose "
            "result comes too late, and that result where it stands.",
            "`toolu_1` and `toolu_2` were called in one message, so both results belong in the one user message "
            "right behind it, before any text. A result that is there twice is sent once.",
            "The third message is `user(result_1, result_2, remark)`; the last one holds `result_3` alone.",
        ),
    ),
    Exercise(
        id="01.2",
        lesson="01",
        title="The schema of a tool of your own",
        minutes=12,
        check=_own_tool,
        hints=(
            "Take an action that your system has today: one verb, one object, two or three arguments.",
            "Every object needs `type`, `properties`, `required` and `additionalProperties: False`; every property a "
            "type and a description. Use an `enum` where only some values make sense.",
            'For example `{"type": "object", "properties": {"ticket_id": {"type": "string", "description": "..."}}, '
            '"required": ["ticket_id"], "additionalProperties": False}`; a bad call sends `{"ticket_id": 7}`.',
        ),
    ),
    Exercise(
        id="01.3",
        lesson="01",
        title="Which calls may run",
        minutes=8,
        check=_ids_to_run,
        hints=(
            "Do not read three dialects by hand: `reply_from_wire` gives one form, with one stop reason.",
            "Nothing runs unless `reply.stop is StopReason.TOOL`. Then look at each call's arguments by themselves.",
            "`[call.id for call in reply.tool_calls if parse_arguments(call.arguments).values is not None]`, behind "
            "the question for the stop reason.",
        ),
    ),
)
