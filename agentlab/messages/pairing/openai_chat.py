"""The order of calls and results in OpenAI Chat Completions: C1 to C3."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from agentlab.messages.pairing.history import History, malformed
from agentlab.messages.pairing.limits import call_findings, id_findings
from agentlab.messages.pairing.rules import finding, moving, shown
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Finding


class _Round(NamedTuple):
    """An assistant message with calls, and the tool messages right behind it: where each id was called, answered.

    ``by`` is the message that began the round: an assistant's, or one that stands between a call and a tool message.
    """

    calls: dict[str, str]
    answers: dict[str, str]
    by: str = ""


def order(history: History) -> Iterator[Finding]:
    """C1 to C3, N1 and N2, M3, and M1 for what is malformed."""
    yield from history.malformed
    results_at = _results(history)
    current, past = _Round({}, {}), _Round({}, {})
    for _, place, element, role in history.elements:
        yield from _content(element, place)
        if role == "tool":
            yield from _answer(element, place, current, past)
            continue
        yield from _unanswered(current, results_at)
        past.calls.update(current.calls)
        past.answers.update({call_id: at for call_id, at in current.answers.items() if call_id in current.calls})
        current = _Round({}, {}, f"{place} (role {role})")
        if role == "assistant":
            yield from _calls(element, place, current)
    yield from _unanswered(current, results_at)


def _results(history: History) -> dict[str, str]:
    """Where the result of a call is, right behind it or not; without the ids that more than one call has."""
    results, calls = {}, Counter[str]()
    for element in history.elements:
        listed, call_id = element.value.get("tool_calls"), element.value.get("tool_call_id")
        ids = [call.get("id") for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
        calls.update(each for each in ids if isinstance(each, str))
        if element.kind == "tool" and isinstance(call_id, str):
            results[call_id] = element.where
    return {call_id: place for call_id, place in results.items() if calls[call_id] == 1}


def _answer(element: Json, place: str, current: _Round, past: _Round) -> Iterator[Finding]:
    yield from malformed(element, place, {"tool_call_id": str})
    call_id = element.get("tool_call_id")
    yield from id_findings("openai-chat", f"{place}.tool_call_id", call_id)
    if not isinstance(call_id, str):
        return
    answers = current.answers if call_id in current.calls else past.answers
    if call_id in answers:
        message = f"the call {shown(call_id)} was answered before, in {answers[call_id]}"
        yield finding("C2", place, message, fix="keep one of the two tool messages")
    elif call_id in past.calls and call_id not in current.calls:
        message = f"its call {shown(call_id)} is in {past.calls[call_id]}, and {current.by} stands between"
        yield finding("C2", place, message)
    elif call_id not in current.calls:
        yield finding("C2", place, f"no message before it has a call {shown(call_id)}")
    current.answers.setdefault(call_id, place)


def _unanswered(current: _Round, results_at: dict[str, str]) -> Iterator[Finding]:
    for call_id, place in current.calls.items():
        if call_id not in current.answers:
            at = results_at.get(call_id)
            there, fix = (f"; one is in {at}", moving(at)) if at is not None else ("", None)
            yield finding("C1", place, f"no tool message right behind it answers {shown(call_id)}{there}", fix=fix)


def _calls(element: Json, place: str, current: _Round) -> Iterator[Finding]:
    calls = element.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list):
        yield finding("M1", f"{place}.tool_calls", f"this must be a list, not {shown(calls)}")
        return
    for number, call in enumerate(calls):
        where = f"{place}.tool_calls[{number}]"
        kind = call.get("type", "function") if isinstance(call, dict) else "function"
        inner = "function" if kind == "function" else str(kind)
        wrong = [*malformed(call, where, {"id": str, inner: dict} if kind in ("function", "custom") else {"id": str})]
        yield from wrong
        if not isinstance(call, dict):
            continue
        function = call.get(inner)
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(function, dict) and kind == "function":
            yield from malformed(function, f"{where}.function", {"name": str, "arguments": str})
        call_id = call.get("id")
        yield from call_findings("openai-chat", where, call_id, name)
        if isinstance(call_id, str):
            if call_id in current.calls:
                fix = "give the second call, and its tool message, an id of its own"
                yield finding("C1", where, f"{current.calls[call_id]} has the id {shown(call_id)} too", fix=fix)
            current.calls.setdefault(call_id, where)


def _content(element: Json, place: str) -> Iterator[Finding]:
    content, role = element.get("content"), element["role"]
    if role == "function":
        yield from malformed(element, place, {"name": str})
    if content is None:
        # An audio, a refusal or the older function_call stand for the content too, says the specification.
        instead = ("tool_calls", "function_call", "refusal", "audio")
        if role != "function" and (role != "assistant" or not any(element.get(field) for field in instead)):
            state = "null" if "content" in element else "missing"
            yield finding("C3", f"{place}.content", f"the content of this {role} message is {state}")
    elif not isinstance(content, str | list):
        yield finding("M1", f"{place}.content", f"this must be text or parts, not {shown(content)}")
    elif isinstance(content, list):
        for number, part in enumerate(content):
            where = f"{place}.content[{number}]"
            kind = part.get("type") if isinstance(part, dict) else None
            yield from malformed(part, where, {"type": str, **({"text": str} if kind == "text" else {})})
            if role == "tool" and isinstance(kind, str) and kind != "text":
                yield finding("M3", where, f"this part of a tool message is of type {shown(kind)}")
        if role == "tool" and not content:
            yield finding("M3", f"{place}.content", "the content of this tool message has no part")
