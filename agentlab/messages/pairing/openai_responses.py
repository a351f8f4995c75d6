"""The order of calls and outputs in OpenAI Responses: R1 and R2. A pair may stand apart, but never turned round."""

from collections.abc import Iterator

from agentlab.messages.pairing.history import History, malformed
from agentlab.messages.pairing.limits import OUTPUT_CHARACTERS, call_findings, id_findings
from agentlab.messages.pairing.rules import finding, shown
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding

CALLS = frozenset({"function_call", "custom_tool_call", "computer_call", "shell_call", "apply_patch_call"})
"""The calls that a caller's program answers, by the type of their item; the output's type has _output behind it."""
OUTPUTS = frozenset(f"{kind}_output" for kind in CALLS)
_NEEDED: dict[str, dict[str, type]] = {
    "function_call": {"call_id": str, "name": str, "arguments": str},
    "custom_tool_call": {"call_id": str, "name": str, "input": str},
}


def order(history: History) -> Iterator[Finding]:
    """R1 and R2, N1, N2 and N5, and M1 for what is malformed."""
    yield from history.malformed
    answered_by = _last_outputs(history)
    referred = [element.number for element in history.elements if element.kind == "item_reference"]
    calls: dict[str, tuple[str, str]] = {}
    answers: dict[str, str] = {}
    by_item = _calls_by_item(history)
    elsewhere = history.elsewhere
    for number, place, item, kind in history.elements:
        call_id = item.get("call_id")
        if kind in CALLS:
            yield from malformed(item, place, _NEEDED.get(kind, {"call_id": str}))
            yield from call_findings("openai-responses", place, call_id, item.get("name"))
            if isinstance(call_id, str):
                if call_id in calls:
                    fix = "give the second call, and its output, a call_id of its own"
                    yield finding("R1", place, f"{calls[call_id][0]} has the call_id {shown(call_id)} too", fix=fix)
                elif call_id not in answered_by and (history.elsewhere or (referred and referred[-1] > number)):
                    yield finding("R1", place, _unseen(call_id, by_reference=not history.elsewhere), "should")
                elif answered_by.get(call_id, -1) < number:
                    yield _unanswered(place, item, answered_by, history.where)
                calls.setdefault(call_id, (place, kind))
        elif kind in OUTPUTS:
            yield from _output(item, place, kind)
            if isinstance(call_id, str):
                named = by_item.get(call_id) if call_id not in calls else None
                if named is not None and call_id not in answers:
                    what = f"{shown(call_id)} is the id of the item with its call, not its call_id"
                    yield finding("R2", place, what, fix=f"write the call_id of the call: {shown(named)}")
                else:
                    yield from _orphan(call_id, kind, place, calls, answers, elsewhere=elsewhere)
                answers.setdefault(call_id, place)
        elif kind == "item_reference":
            # What it refers to is with the provider, and may be the call of an output that follows.
            elsewhere = True
        elif kind == "message":
            yield from _message(item, place)


def _last_outputs(history: History) -> dict[str, int]:
    last: dict[str, int] = {}
    for number, _, item, kind in history.elements:
        call_id = item.get("call_id")
        if kind in OUTPUTS and isinstance(call_id, str):
            last[call_id] = number
    return last


def _unseen(call_id: str, *, by_reference: bool) -> str:
    there = "what an item_reference behind it refers to" if by_reference else "the conversation that the provider holds"
    return f"no output in here has the call_id {shown(call_id)}; {there} may be it, which cannot be seen from here"


def _calls_by_item(history: History) -> dict[str, str]:
    """The call_id of each call by the id of its item, which some take for the one that pairs."""
    named = {}
    for _, _, item, kind in history.elements:
        item_id, call_id = item.get("id"), item.get("call_id")
        if kind in CALLS and isinstance(item_id, str) and isinstance(call_id, str):
            named[item_id] = call_id
    return named


def _unanswered(place: str, item: Json, answered_by: dict[str, int], where: str) -> Finding:
    call_id, item_id = str(item["call_id"]), item.get("id")
    if call_id in answered_by:
        at = f"{where}[{answered_by[call_id]}]"
        fix = f"move {at} behind the call: that mends what is said of it, too"
        return finding("R1", place, f"the output of {shown(call_id)} stands before it, in {at}", fix=fix)
    if isinstance(item_id, str) and item_id in answered_by:
        at = f"{where}[{answered_by[item_id]}]"
        fix = f"write the call_id {shown(call_id)} in {at}: that mends what is said of it, too"
        what = f"no output has the call_id {shown(call_id)}; {at} has the id of this item, {shown(item_id)}, instead"
        return finding("R1", place, what, fix=fix)
    return finding("R1", place, f"no output has the call_id {shown(call_id)}")


def _orphan(
    call_id: str,
    kind: str,
    place: str,
    calls: dict[str, tuple[str, str]],
    answers: dict[str, str],
    *,
    elsewhere: bool,
) -> Iterator[Finding]:
    if call_id in answers:
        message = f"{shown(call_id)} was answered before, in {answers[call_id]}"
        yield finding("R2", place, message, fix="keep one of the two outputs, or give it the call_id of another call")
    elif call_id not in calls:
        if not elsewhere:
            yield finding("R2", place, f"no call before it has the call_id {shown(call_id)}")
    elif f"{calls[call_id][1]}_output" != kind:
        at, called = calls[call_id]
        yield finding("R2", place, f"this {kind} answers {at}, which is a {called}")


def _output(item: Json, place: str, kind: str) -> Iterator[Finding]:
    yield from malformed(item, place, {"call_id": str})
    yield from id_findings("openai-responses", f"{place}.call_id", item.get("call_id"))
    output = item.get("output")
    if kind in ("function_call_output", "custom_tool_call_output") and not isinstance(output, str | list):
        yield finding("M1", f"{place}.output", f"this must be text or parts, not {shown(output)}")
    if isinstance(output, str) and len(output) > OUTPUT_CHARACTERS:
        yield finding("N5", f"{place}.output", f"it has {len(output):,} characters")


def _message(item: Json, place: str) -> Iterator[Finding]:
    content = item.get("content")
    if not isinstance(content, str | list):
        yield finding("M1", f"{place}.content", f"this must be text or parts, not {shown(content)}")
    for number, part in enumerate(content if isinstance(content, list) else []):
        kind = part.get("type") if isinstance(part, dict) else None
        text = {"text": str} if kind in ("input_text", "output_text") else {}
        yield from malformed(part, f"{place}.content[{number}]", {"type": str, **text})
