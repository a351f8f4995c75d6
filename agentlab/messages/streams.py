"""From the events of a stream to the body that the same reply would have had in one piece.

The rules are ours, because the SDKs' own assembly hides what an architect must see: cut JSON becomes a partial object
there. Here the arguments of a call are the text that arrived, whole or not, and one parser reads it later. A stream
that ends before it says so is no reply.
"""

import json
from collections.abc import Iterable

from pydantic import JsonValue

from agentlab.messages.conversation import Dialect
from agentlab.messages.wire.reading import Json, WireError, a_list, an_object

Events = Iterable[JsonValue]


class StreamError(WireError):
    """The provider reported an error in the middle of its stream; ``kind`` is its name for it."""

    def __init__(self, message: str, kind: JsonValue) -> None:
        super().__init__(message)
        self.kind = kind


def assembled(events: Events, dialect: Dialect) -> Json:
    """The body that these events of `dialect` add up to. Raises `WireError` when they do not add up to one."""
    match dialect:
        case "anthropic":
            return _anthropic(events)
        case "openai-chat":
            return _chat(events)
        case "openai-responses":
            return _responses(events)


def _anthropic(events: Events) -> Json:
    message: Json | None = None
    blocks: dict[int, Json] = {}
    inputs: dict[int, str] = {}
    for given in events:
        event = an_object(given, "an event")
        kind = event.get("type")
        if kind == "message_start":
            message = dict(an_object(event.get("message"), "message"))
        elif kind == "error":
            raise _reported(event.get("error"))
        elif message is None:
            continue  # unknown events may come at any place, and are to be ignored
        elif kind == "content_block_start":
            if (index := _index(event)) in blocks:
                raise WireError(f"the stream begins block {index} twice")
            blocks[index] = dict(an_object(event.get("content_block"), "content_block"))
        elif kind == "content_block_delta":
            index = _index(event)
            if index not in blocks:
                raise WireError(f"the stream adds to block {index}, which it never began")
            delta = an_object(event.get("delta"), "delta")
            if delta.get("type") == "input_json_delta":
                inputs[index] = inputs.get(index, "") + str(delta.get("partial_json") or "")
            else:
                _add(blocks[index], delta)
        elif kind == "message_delta":
            message |= an_object(event.get("delta"), "delta")
            message |= {k: v for k, v in event.items() if k not in ("type", "delta", "usage") and v is not None}
            message["usage"] = {**_maybe(message.get("usage")), **_said(_maybe(event.get("usage")))}
        elif kind == "message_stop":
            for index, text in inputs.items():
                # Without a delta that says anything the input stays as the block began: {}.
                if text:
                    blocks[index]["input"] = text
            return {**message, "content": [blocks[index] for index in sorted(blocks)]}
    raise WireError("the stream ended before its reply did")


def _add(block: Json, delta: Json) -> None:
    """Add a delta to its block. A delta is named after its field; what it adds to text is more text."""
    match delta.get("type"):
        case "text_delta" | "thinking_delta" as kind:
            field = kind.removesuffix("_delta")
            block[field] = str(block.get(field) or "") + str(delta.get(field) or "")
        case "citations_delta":
            block["citations"] = [*a_list(block.get("citations") or [], "citations"), delta.get("citation")]
        case "signature_delta" | "compaction_delta":
            block |= {key: value for key, value in delta.items() if key != "type"}
        case other:
            # A block that lacks a piece cannot be sent back, and what it says may be cut.
            raise WireError(f"the stream has a delta of the unknown type {other!r}; the reply would lack a piece")


def _chat(events: Events) -> Json:
    body: Json = {}
    message: Json = {"role": "assistant", "content": None}
    calls: dict[int, Json] = {}
    finish: JsonValue = None
    for given in events:
        chunk = an_object(given, "an event")
        if chunk.get("error"):
            raise _reported(chunk["error"])
        body |= {k: v for k, v in chunk.items() if k != "choices" and v is not None}
        for choice in a_list(chunk.get("choices") or [], "choices"):
            part = an_object(choice, "choices[0]")
            if part.get("index", 0) != 0:
                continue
            finish = part.get("finish_reason") or finish
            delta = _maybe(part.get("delta"))
            given_calls = a_list(delta.get("tool_calls") or [], "tool_calls")
            for position, call in enumerate(given_calls):
                piece = an_object(call, "tool_calls")
                _add_call(calls, piece, _place(calls, piece, position if len(given_calls) > 1 else None))
            for key, value in delta.items():
                if key in ("role", "tool_calls") or value is None:
                    continue
                before = message.get(key)
                message[key] = before + value if isinstance(before, str) and isinstance(value, str) else value
    if finish is None:
        raise WireError("the stream ended before its reply did")
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    body |= {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    return body


def _place(calls: dict[int, Json], delta: Json, position: int | None) -> int:
    """The index of the call that `delta` belongs to. Where it names none, a new id is a new call."""
    index = delta.get("index")
    if type(index) is int:
        return index
    if index is not None:
        raise WireError(f"a call in the stream has the index {index!r}, which is no number")
    if not delta.get("id"):
        # A piece that names nothing goes on with the last call, or with the one at its place among several.
        return max(calls, default=0) if position is None else position
    known = [number for number, call in calls.items() if call["id"] == delta["id"]]
    return known[0] if known else max(calls, default=-1) + 1


def _add_call(calls: dict[int, Json], delta: Json, index: int) -> None:
    call = calls.setdefault(index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    function, more = an_object(call["function"], "function"), _maybe(delta.get("function"))
    # Id and name come once; some servers repeat them in every chunk, so the first one counts.
    call["id"] = call["id"] or delta.get("id") or ""
    function["name"] = function["name"] or more.get("name") or ""
    arguments = more.get("arguments")
    # Some servers send the arguments as the object that they are.
    written = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    function["arguments"] = f"{function['arguments']}{written}"


def _responses(events: Events) -> Json:
    for given in events:
        event = an_object(given, "an event")
        kind = event.get("type")
        if kind == "error":
            raise _reported(event)
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            # The last event holds the whole response; the pieces before it are for people who watch.
            return an_object(event.get("response"), "response")
    raise WireError("the stream ended before its reply did")


def _reported(error: JsonValue) -> StreamError:
    given = _maybe(error)
    kind = given.get("code") or given.get("type")
    return StreamError(f"its stream reports an error ({kind}): {given.get('message')}", kind)


def _index(event: Json) -> int:
    index = event.get("index")
    if type(index) is not int:
        raise WireError(f"an event has the index {index!r}, which is no number")
    return index


def _maybe(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {}


def _said(usage: Json) -> Json:
    return {key: value for key, value in usage.items() if value is not None}
