"""The fields of a request beside conversation and tools: B1 to B6. B7 is told with the blocks, B8 with tool_choice."""

from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from agentlab.messages.claude import Version, read_name
from agentlab.messages.pairing.anthropic import SERVER_CALLS, Block, Turn
from agentlab.messages.pairing.history import History
from agentlab.messages.pairing.rules import finding, shown
from agentlab.shapes import Finding

SAMPLING = ("temperature", "top_p", "top_k")
PARALLEL = ("disable_parallel_tool_use", "parallel_tool_calls")
NO_PREFILL: Version = (4, 6)
NO_ENABLED_THINKING: Version = (4, 7)

Level = Literal["must", "should"]


def empty_findings(history: History) -> Iterator[Finding]:
    """B6: a request without messages, unless the provider holds some or a stored prompt has them."""
    if history.body[history.where] == [] and not history.elsewhere and not history.body.get("prompt"):
        is_known = history.dialect != "openai-responses"
        doubt = "" if is_known else " (what the provider does then is not verified)"
        yield finding("B6", history.where, f"the list is empty{doubt}", "must" if is_known else "should")


def anthropic_findings(history: History, turns: list[Turn]) -> Iterator[Finding]:
    """B1 to B5."""
    body = history.body
    if "max_tokens" in body:
        limit = body["max_tokens"]
        if type(limit) is not int or limit < 0:
            fix = "write a whole number, without quotes and not below 0, as 1024"
            yield finding("B1", "max_tokens", f"it must be a whole number, not {shown(limit)}", fix=fix)
    elif history.whole:
        yield finding("B1", "max_tokens", "the request has no max_tokens")
    for field in SAMPLING:
        if body.get(field) is not None:
            yield finding("B2", field, f"the request has {field}: {shown(body[field])}")
    for field in PARALLEL:
        if field in body:
            yield finding("B4", field, f"the request has {field} at the top")
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled":
        level = _level(body.get("model"), NO_ENABLED_THINKING)
        if level is not None:
            yield finding("B5", "thinking.type", f"it is enabled, {_for(body.get('model'), level)}", level)
    yield from _prefill(history, turns)


def _prefill(history: History, turns: list[Turn]) -> Iterator[Finding]:
    """B3. An open call at the end is A1's. A turn that the server paused, or compacted, goes back as it is."""
    model = history.body.get("model")
    level = _level(model, NO_PREFILL)
    if level is None or not turns or not _ends_with_assistant(history) or history.body.get("compaction") is not None:
        return
    blocks = turns[-1].blocks
    if any(block.kind == "tool_use" for block in blocks):
        return
    if blocks and (_of_the_server(blocks[-1]) or blocks[-1].kind == "compaction"):
        return
    paused = any(_of_the_server(block) for block in blocks)
    doubt = "; if the server paused this turn, it may go back as it is" if paused else ""
    message = f"the conversation ends with an assistant message, {_for(model, level)}{doubt}"
    yield finding("B3", history.elements[-1].where, message, "should" if paused else level)


def _ends_with_assistant(history: History) -> bool:
    listed, last = history.body[history.where], history.elements[-1]
    # A malformed message is not among the elements, and may be the last of the list.
    return last.kind == "assistant" and isinstance(listed, list) and last.value is listed[-1]


def _of_the_server(block: Block) -> bool:
    return block.kind in SERVER_CALLS or block.kind.endswith("_tool_result")


def _level(model: JsonValue, since: Version) -> Level | None:
    """How sure it is that `model` refuses what Claude refuses `since` a version; None for an older one."""
    named = read_name(model) if isinstance(model, str) else None
    if named is None or named.version is None:
        return "should"
    return "must" if named.version >= since else None


def _for(model: JsonValue, level: Level) -> str:
    if level == "must":
        return f"which {shown(model)} refuses"
    return "which newer models refuse; the request does not say clearly which model it is for"
