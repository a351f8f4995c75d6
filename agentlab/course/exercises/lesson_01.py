"""Lesson 01, function calling at the wire: its exercises with their hints, and the check of the first."""

from typing import Any

from agentlab.course.checks import wrong
from agentlab.course.exercise import Exercise
from agentlab.course.exercises.lesson_01_replies import check_ids_to_run
from agentlab.course.exercises.lesson_01_schema import check_own_tool
from agentlab.messages.pairing import check as check_order
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
        check=check_own_tool,
        hints=(
            "Take an action that your system has today: one verb, one object, two or three arguments.",
            "Every object needs `type`, `properties`, `required` and `additionalProperties: False`: the one at the "
            "top, and each that is nested in a field or in the items of a list. Every property needs a type and a "
            "description. Use an `enum` where only some values make sense.",
            'For example `{"type": "object", "properties": {"ticket_id": {"type": "string", "description": "..."}}, '
            '"required": ["ticket_id"], "additionalProperties": False}`; a bad call sends `{"ticket_id": 7}`.',
        ),
    ),
    Exercise(
        id="01.3",
        lesson="01",
        title="Which calls may run",
        minutes=8,
        check=check_ids_to_run,
        hints=(
            "Do not read three dialects by hand: `reply_from_wire(body, dialect)` gives one form and one stop reason.",
            "Nothing runs unless `reply.stop is StopReason.TOOL`. Then look at each call's arguments by themselves.",
            "`[call.id for call in reply.tool_calls if parse_arguments(call.arguments).values is not None]`, behind "
            "the question for the stop reason.",
        ),
    ),
)
