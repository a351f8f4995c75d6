"""Blocks of Anthropic Messages that go back as they came: thinking (A8) and compaction (A11)."""

from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from agentlab.messages.pairing.anthropic import SERVER_CALLS, Block, Turn
from agentlab.messages.pairing.history import History
from agentlab.messages.pairing.rules import finding
from agentlab.messages.wire import WireError
from agentlab.shapes import Finding

THINKING = frozenset({"thinking", "redacted_thinking"})
_Key = tuple[str, ...]


def thinking(turns: list[Turn], received: list[Turn]) -> Iterator[Finding]:
    """A8: the latest assistant turn of `turns` against the same turn of the history as it was `received`.

    The same turn is the one with the same calls, or, without calls, with the same text. Where there is none (a
    control has removed it since), nothing can be said. Raises WireError for thinking nested too deeply to be compared.
    """
    latest = _latest(turns)
    if latest is None:
        return
    before = next((turn for turn in reversed(received) if _is_same(turn, latest)), None)
    if before is None:
        return
    sent, came = _thoughts(latest), _thoughts(before)
    try:
        changed = sent != came
    except RecursionError:
        raise WireError(
            "the thinking of the latest turn is nested too deeply to be compared; no provider's is"
        ) from None
    if changed:
        what = f"{len(came)} thinking blocks came with this turn, {len(sent)} are sent back"
        message = what if len(sent) != len(came) else "the thinking of this turn is not what came, or in another order"
        yield finding("A8", latest.blocks[0].where if latest.blocks else "messages", message)


def _latest(turns: list[Turn]) -> Turn | None:
    return next((turn for turn in reversed(turns) if turn.role == "assistant"), None)


def _is_same(turn: Turn, other: Turn) -> bool:
    return turn.role == "assistant" and _key(turn) == _key(other)


def _key(turn: Turn) -> _Key:
    calls = tuple(call for block in turn.blocks if block.kind == "tool_use" and (call := block.id("id")) is not None)
    return calls or ("", "".join(block.id("text") or "" for block in turn.blocks if block.kind == "text"))


def _thoughts(turn: Turn) -> list[JsonValue]:
    return [block.value for block in turn.blocks if block.kind in THINKING]


def compaction(history: History, turns: list[Turn]) -> Iterator[Finding]:
    """A11, as far as it can be seen without the provider: ambiguous, misplaced, incomplete turn.

    The rules are those of a signed block, which a request with the field compaction returned. A block of the older
    threshold edit may stand at the start of any assistant content and more than once; it is told by encrypted_content
    or by that edit in the request. Where neither is there, the finding is a warning.
    """
    blocks = [block for turn in turns for block in turn.blocks if block.kind == "compaction"]
    full = [block for block in blocks if block.value.get("content") is not None]
    for block in blocks:
        if block.value.get("content") == "":
            yield finding("M1", f"{block.where}.content", "the summary may be null (a failed one), but not empty")
    ruled = [] if _threshold_edit(history) else [block for block in full if not block.value.get("encrypted_content")]
    for block in ruled[:-1]:
        yield finding("A11", block.where, f"ambiguous: {ruled[-1].where} is a later one with content", _level(block))
    first = next((block for turn in turns for block in turn.blocks), None)
    for block in ruled:
        if block is not first or turns[0].role == "system":
            message = "misplaced: it is not the first block of the conversation, or it is in a system message"
            yield finding("A11", block.where, message, _level(block))
    if history.body.get("compaction") is not None and turns and turns[-1].role == "assistant":
        open_calls = _open_calls(turns[-1])
        if open_calls:
            message = "incomplete turn: a compaction is asked for while this call is open"
            yield finding("A11", open_calls[0].where, message)


def _level(block: Block) -> Literal["must", "should"]:
    return "must" if block.value.get("signature") else "should"


def _threshold_edit(history: History) -> bool:
    management = history.body.get("context_management")
    edits = management.get("edits") if isinstance(management, dict) else None
    kinds = [edit.get("type") for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    return any(isinstance(kind, str) and kind.startswith("compact_") for kind in kinds)


def _open_calls(turn: Turn) -> list[Block]:
    answered = {block.id("tool_use_id") for block in turn.blocks if block.kind.endswith("_tool_result")}
    calls = [block for block in turn.blocks if block.kind == "tool_use" or block.kind in SERVER_CALLS]
    return [call for call in calls if call.id("id") not in answered]
