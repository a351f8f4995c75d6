"""The order of calls and results in Anthropic Messages: A1 to A5 and A7, over turns.

The provider joins consecutive messages of one role to one turn (its docs say so, and the recorded error of A2 counts
that way). A result that is in the right turn but not in the very next message passes there, and fails at others that
speak this dialect: an error when strict, else a warning.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pydantic import JsonValue

from agentlab.messages.pairing.history import History, malformed
from agentlab.messages.pairing.limits import call_findings, id_findings
from agentlab.messages.pairing.rules import finding, moving, shown
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding

SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_NEEDED: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "server_tool_use": {"id": str, "name": str},
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
}


class Block(NamedTuple):
    """A content block and where it stands; a content that is text is one text block."""

    message: int
    where: str
    kind: str
    value: Json

    def id(self, field: str) -> str | None:
        """The id in `field`; None where it is missing or no text, which M1 has said."""
        value = self.value.get(field)
        return value if isinstance(value, str) else None


class Turn(NamedTuple):
    """Consecutive messages of one role."""

    role: str
    blocks: list[Block]


def read_turns(history: History) -> tuple[list[Turn], list[Finding]]:
    """The turns, and M1 for what in them is malformed."""
    turns: list[Turn] = []
    findings = [*history.malformed]
    for number, place, element, role in history.elements:
        if not turns or turns[-1].role != role:
            turns.append(Turn(role, []))
        content = element.get("content")
        if isinstance(content, str):
            turns[-1].blocks.append(Block(number, f"{place}.content", "text", {"type": "text", "text": content}))
        elif isinstance(content, list):
            for position, part in enumerate(content):
                where = f"{place}.content[{position}]"
                turns[-1].blocks.append(_block(number, where, part))
                findings += _shape(turns[-1].blocks[-1], role, part)
        else:
            findings.append(finding("M1", f"{place}.content", f"this must be text or blocks, not {shown(content)}"))
    return turns, findings


def _block(message: int, where: str, part: JsonValue) -> Block:
    value = part if isinstance(part, dict) else {}
    kind = value.get("type")
    return Block(message, where, kind if isinstance(kind, str) else "", value)


def _shape(block: Block, role: str, part: JsonValue) -> Iterator[Finding]:
    yield from malformed(part, block.where, {"type": str, **_NEEDED.get(block.kind, {})})
    flag = block.value.get("is_error")
    if block.kind == "tool_result" and flag is not None and not isinstance(flag, bool):
        yield finding("M1", f"{block.where}.is_error", f"this must be true or false, not {shown(flag)}")
    content = block.value.get("content")
    if block.kind == "tool_result" and content is not None and not isinstance(content, str | list):
        yield finding("M1", f"{block.where}.content", f"this must be text or blocks, not {shown(content)}")
    if block.kind == "tool_use" and role != "assistant":
        yield finding("M1", block.where, f"a tool_use stands in a message of role {role}; only the assistant calls")
    if block.kind == "text" and role == "user" and block.value.get("citations"):
        yield finding("B7", f"{block.where}.citations", "this text is a user's, and has citations")
    if block.kind == "document" and role == "assistant":
        yield finding("B7", block.where, "this document stands directly in an assistant message")
    if block.kind == "tool_use":
        yield from call_findings("anthropic", block.where, block.value.get("id"), block.value.get("name"))
    if block.kind == "tool_result":
        yield from id_findings("anthropic", f"{block.where}.tool_use_id", block.value.get("tool_use_id"))


def order(turns: list[Turn], *, strict: bool, elsewhere: bool) -> Iterator[Finding]:
    """A1 to A5, each read to the letter: a result in the wrong place breaks the rule of its call and its own."""
    split: Literal["must", "should"] = "must" if strict else "should"
    results_at = _first_places(turns, "tool_result", "tool_use_id")
    calls_at = _first_places(turns, "tool_use", "id")
    how_often = Counter(call_id for turn in turns for call_id, _ in _ids(turn, "tool_use", "id"))
    called: set[str] = set()
    answered: set[str] = set()
    previous: dict[str, Block] = {}
    for number, turn in enumerate(turns):
        following = turns[number + 1] if number + 1 < len(turns) else None
        results = _by_id(following, "user", "tool_result", "tool_use_id")
        for call_id, call in _ids(turn, "tool_use", "id") if turn.role == "assistant" else ():
            if call_id in called:
                yield finding("A4", call.where, f"the id {shown(call_id)} was used before, by {calls_at[call_id]}")
            called.add(call_id)
            answered.discard(call_id)
            result = results.get(call_id)
            if result is None:
                at = results_at.get(call_id)
                fix = None if at is None or how_often[call_id] > 1 else moving(at)
                yield finding("A1", call.where, _missing(call_id, following, at), fix=fix)
            elif result.message != call.message + 1:
                message = f"the result of {shown(call_id)} is in {result.where}, not in the very next message"
                yield finding("A1", call.where, message, split, moving(result.where))
        for call_id, result in _ids(turn, "tool_result", "tool_use_id"):
            if call_id in answered:
                message = f"{shown(call_id)} was answered before, in {results_at[call_id]}"
                yield finding("A5", result.where, message)
            asked = previous.get(call_id) if turn.role == "user" else None
            if asked is None and not (elsewhere and number == 0):
                yield finding("A2", result.where, _orphan(call_id, turn.role, calls_at.get(call_id)))
            elif asked is not None and call_id not in answered and result.message != asked.message + 1:
                message = f"the call of {shown(call_id)} is in {asked.where}, not in the message right before"
                yield finding("A2", result.where, message, split)
            answered.add(call_id)
        yield from _results_first(turn)
        previous = _by_id(turn, "assistant", "tool_use", "id", last=True)


def _results_first(turn: Turn) -> Iterator[Finding]:
    others: Block | None = None
    for block in turn.blocks if turn.role == "user" else ():
        if block.kind != "tool_result":
            others = others or block
        elif others is not None:
            name = others.kind or "malformed"
            yield finding("A3", others.where, f"this {name} block stands before the tool_result in {block.where}")
            return


def server_tools(turns: list[Turn], *, elsewhere: bool) -> Iterator[Finding]:
    """A7. A server's tool may stay pending over several rounds of results; it is told of once."""
    pending: dict[str, Block] = {}
    seen: set[str] = set()
    for turn in turns:
        for block in turn.blocks:
            if turn.role == "user" and pending and block.kind != "tool_result":
                waiting = ", ".join(f"{shown(call_id)} in {call.where}" for call_id, call in pending.items())
                what = f"this {block.kind or 'malformed'} block comes while the server's tool is pending: {waiting}"
                yield finding("A7", block.where, what)
                pending.clear()
            used, answered = block.id("id"), block.id("tool_use_id")
            if block.kind in SERVER_CALLS and used is not None:
                seen.add(used)
                pending[used] = block
            elif block.kind.endswith("_tool_result") and answered is not None:
                if answered not in seen and not elsewhere:
                    yield finding("A7", block.where, f"no server_tool_use before it has the id {shown(answered)}")
                pending.pop(answered, None)


def _missing(call_id: str, following: Turn | None, at: str | None) -> str:
    if at is not None:
        return f"the next message has no result of {shown(call_id)}; one is in {at}"
    if following is None:
        return f"the history ends without a result of {shown(call_id)}, so it cannot be sent as it is"
    return f"the next message has no result of {shown(call_id)}, and neither has any other"


def _orphan(call_id: str, role: str, at: str | None) -> str:
    if role != "user":
        return f"the result of {shown(call_id)} is in a message of role {role}; results are a user's"
    there = f"its call is in {at}" if at is not None else "no message has one"
    return f"the message right before has no call {shown(call_id)}; {there}"


def _ids(turn: Turn, kind: str, field: str) -> Iterator[tuple[str, Block]]:
    for block in turn.blocks:
        found = block.id(field)
        if block.kind == kind and found is not None:
            yield found, block


def _by_id(turn: Turn | None, role: str, kind: str, field: str, *, last: bool = False) -> dict[str, Block]:
    """The blocks of `kind` in the turn, if it is of `role`: the first of each id, or the last."""
    found: dict[str, Block] = {}
    for block_id, block in _ids(turn, kind, field) if turn is not None and turn.role == role else ():
        if last or block_id not in found:
            found[block_id] = block
    return found


def _first_places(turns: list[Turn], kind: str, field: str) -> dict[str, str]:
    places: dict[str, str] = {}
    for turn in turns:
        for block_id, block in _ids(turn, kind, field):
            places.setdefault(block_id, block.where)
    return places
