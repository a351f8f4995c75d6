"""Plausible wrong answers to the exercises of lesson 01. Each must be called wrong, for a reason of its own."""

import json

from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import StopReason
from agentlab.messages.wire import reply_from_wire
from agentlab.views.broken import mishap

# 01.1


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


(question,), (call_1, call_2), (remark, result_1), (call_3,), (result_2, result_3, _) = (
    message["content"] for message in mishap()
)
start = [user(question), assistant(call_1, call_2)]
end = [assistant(call_3), user(result_3)]
told = {"type": "tool_result", "tool_use_id": "toolu_2", "content": "not available"}


# 01.2


def tool(name="ticket_close", description="Close one support ticket. It cannot be undone.", **changes):
    parameters = {
        "type": "object",
        "properties": {"ticket_id": {"type": "string", "description": "As in T-1234."}},
        "required": ["ticket_id"],
        "additionalProperties": False,
    }
    parameters = {key: value for key, value in {**parameters, **changes}.items() if value is not None}
    return {"name": name, "description": description, "parameters": parameters}


GOOD, BAD = {"ticket_id": "T-1234"}, {"ticket_id": 1234}


def with_fields(**fields):
    return tool(properties=fields, required=list(fields))


nested = {
    "type": ["object", "null"],
    "description": "Where it is sent.",
    "properties": {"city": {"type": "string", "description": "The city."}},
    "required": ["city"],
}
untyped = {key: value for key, value in nested.items() if key != "type"}
untyped |= {"anyOf": [{}], "additionalProperties": False}


# 01.3


def readable(reply):
    return [call.id for call in reply.tool_calls if parse_arguments(call.arguments).values is not None]


def whatever_the_stop_reason(body, dialect):
    return readable(reply_from_wire(body, dialect))


def only_the_first(body, dialect):
    reply = reply_from_wire(body, dialect)
    return readable(reply)[:1] if reply.stop is StopReason.TOOL else []


def what_cannot_be_read_runs_too(body, dialect):
    reply = reply_from_wire(body, dialect)
    return [call.id for call in reply.tool_calls] if reply.stop is StopReason.TOOL else []


def one_bad_call_stops_all(body, dialect):
    reply = reply_from_wire(body, dialect)
    ids = [call.id for call in reply.tool_calls]
    return ids if reply.stop is StopReason.TOOL and readable(reply) == ids else []


def any_json_will_do(body, dialect):
    reply = reply_from_wire(body, dialect)
    if reply.stop is not StopReason.TOOL:
        return []
    ids = []
    for call in reply.tool_calls:
        try:
            json.loads(call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments))
        except ValueError:
            continue
        ids.append(call.id)
    return ids


def known_bad_ends_alone(body, dialect):
    reply = reply_from_wire(body, dialect)
    return [] if reply.stop in (StopReason.LENGTH, StopReason.REFUSAL) else readable(reply)


def only_cut_replies(body, dialect):
    reply = reply_from_wire(body, dialect)
    return [] if reply.stop is StopReason.LENGTH else readable(reply)


def the_name_of_one_provider(body, dialect):
    cut = body.get("stop_reason") == "max_tokens"
    return [] if cut else readable(reply_from_wire(body, dialect))


def the_names_of_two_providers(body, dialect):
    cut = body.get("stop_reason") == "max_tokens" or body.get("choices", [{}])[0].get("finish_reason") == "length"
    return [] if cut else readable(reply_from_wire(body, dialect))


def the_id_of_the_item(body, dialect):
    if dialect == "openai-responses":
        return [item["id"] for item in body["output"]]
    return readable(reply_from_wire(body, dialect))


def anthropic_alone(body, dialect):
    if body.get("stop_reason") != "tool_use":
        return []
    return [block["id"] for block in body["content"] if isinstance(block["input"], dict)]


def none_for_nothing(body, dialect):
    reply = reply_from_wire(body, dialect)
    if reply.stop is StopReason.END:
        return None
    return readable(reply) if reply.stop is StopReason.TOOL else []


def takes_the_calls_out(body, dialect):
    reply = reply_from_wire(body, dialect)
    body.clear()
    return readable(reply) if reply.stop is StopReason.TOOL else []


WRONG = {
    "01.1": {
        "nothing done": mishap(),
        "only the text moved": [*start, user(result_1, remark), *mishap()[3:]],
        "only the result moved": [*start, user(remark, result_1, result_2), *end],
        "the second result left": [
            *start,
            user(result_1, result_2, remark),
            assistant(call_3),
            user(result_3, result_3),
        ],
        "results in two messages": [*start, user(result_1), user(result_2, remark), *end],
        "the call dropped": [user(question), assistant(call_1), user(result_1, remark), *end],
        "the result made up": [*start, user(result_1, told, remark), *end],
        "the result left out": [*start, user(result_1, remark), *end],
        "the remark dropped": [*start, user(result_1, result_2), *end],
        "the remark moved to the end": [*start, user(result_1, result_2), assistant(call_3), user(result_3, remark)],
        "the results as the assistant's": [*start, assistant(result_1, result_2), user(remark), *end],
        "the blocks without messages": [question, call_1, call_2, result_1, result_2, remark, call_3, result_3],
    },
    "01.2": {
        "a dot in the name": (tool(name="ticket.close"), GOOD, BAD),
        "a name that is too long": (tool(name="ticket_close_" * 6), GOOD, BAD),
        "the tool of the lesson": (tool(name="invoice_get"), GOOD, BAD),
        "hardly a description": (tool(description="Closes."), GOOD, BAD),
        "a field too many": ({**tool(), "roles": ["agent"]}, GOOD, BAD),
        "a list at the top": (tool(type="array"), GOOD, BAD),
        "an open schema": (tool(additionalProperties=None), GOOD, BAD),
        "no fields": (tool(properties={}), {}, BAD),
        "nothing said of required": (tool(required=None), GOOD, BAD),
        "a required field that is not there": (tool(required=["ticket_id", "reason"]), GOOD, BAD),
        "a field without a description": (with_fields(ticket_id={"type": "string"}), GOOD, BAD),
        "a field without a type": (with_fields(ticket_id={"description": "As in T-1234."}), GOOD, BAD),
        "a type that does not exist": (
            with_fields(ticket_id={"type": "text", "description": "As in T-1234."}),
            GOOD,
            BAD,
        ),
        "a good call that is refused": (tool(), {"ticket": "T-1234"}, BAD),
        "a bad call that is good": (tool(), GOOD, {"ticket_id": "T-9999999"}),
        "a bad call that is empty": (tool(), GOOD, {}),
        "wrapped as OpenAI Chat wants it": ({"type": "function", "function": tool()}, GOOD, BAD),
        "fields that no object wraps": ({**tool(), "parameters": tool()["parameters"]["properties"]}, GOOD, BAD),
        "an open object in a field": (with_fields(address=nested), {"address": {"city": "Bonn"}}, {"address": 1}),
        "a nested object that has no type": (with_fields(address=untyped), {"address": {"city": "Bonn"}}, {"x": 1}),
        "parameters that are text": ({**tool(), "parameters": "ticket_id"}, GOOD, BAD),
    },
    "01.3": {
        "whatever the stop reason": the_name_of_one_provider,
        "all but cut replies": only_cut_replies,
        "the stop reason is not read": whatever_the_stop_reason,
        "two providers' words for cut": the_names_of_two_providers,
        "a list of bad ends": known_bad_ends_alone,
        "only the first call": only_the_first,
        "unreadable arguments run": what_cannot_be_read_runs_too,
        "any JSON will do": any_json_will_do,
        "the id of the item": the_id_of_the_item,
        "one provider alone": anthropic_alone,
        "None for no call": none_for_nothing,
        "the reply is changed": takes_the_calls_out,
    },
}
