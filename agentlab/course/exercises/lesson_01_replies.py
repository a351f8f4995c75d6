"""Exercise 01.3, which calls of a reply may run: the replies that it is tried with, and its check."""

import copy
from typing import Any

from agentlab.course.checks import call, describe_call, wrong


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


def check_ids_to_run(ids_to_run: Any) -> str:
    """The function gives the right ids for every reply, and changes none of them."""
    for dialect, body, ids, why in _REPLIES:
        sent = copy.deepcopy(body)
        came_back = call(ids_to_run, sent, dialect)
        called = describe_call(ids_to_run, body, dialect)
        if isinstance(came_back, tuple):
            came_back = list(came_back)
        if came_back != ids:
            wrong(called=called, came_back=came_back, expected=ids, why=why)
        if sent != body:
            reason = "the reply was changed; it goes back into the next request to the letter"
            wrong(called=called, came_back=sent, expected=body, why=reason)
    runnable = sum(len(ids) for _, _, ids, _ in _REPLIES)
    return f"{runnable} calls of {len(_REPLIES)} replies may run, in three dialects."
