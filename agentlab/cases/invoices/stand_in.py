"""The stand-in for the model: a function of the request alone, as a real model is, and as fallible.

It knows no policy. It proposes exactly what the document says: a credit note, another tenant's order, an amount as
text, even what an injected instruction demands. When a call comes back with an error, it mends what it can read from
the error or puts the document before a person. What may happen is decided by the guards and the ERP.

It reports no usage, because it has no tokenizer: the loop then counts with o200k and calls the number estimated.
"""

import json
import re
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.cases.invoices.reading import UNREADABLE, Fields, in_cents, read_fields, read_instructions
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import AssistantMessage, Reply, Request, StopReason, ToolCall, ToolResult
from agentlab.messages.counters import count_text
from agentlab.messages.models import ModelError, Rules

MAX_REPLY_TOKENS = 1024
"""The stand-in's longest reply; what it says beyond that is cut off, as with a provider's limit on output tokens."""

MAX_REASON = 500
"""Characters of a reason that it gives to a person."""


class _Past(NamedTuple):
    """One call of the conversation and what came back."""

    name: str
    arguments: dict[str, JsonValue]
    content: str
    is_error: bool


def stand_in() -> Rules:
    """The stand-in as a model: exchange it for a live one, and nothing else changes.

    A document that it stumbles over costs that run its reply (`ModelError`), as with a provider that answers 500.
    """
    return Rules(_reply_or_none)


def _reply_or_none(request: Request) -> Reply:
    try:
        return reply(request)
    except UNREADABLE as error:
        raise ModelError(f"the stand-in could not read the document ({type(error).__name__})") from error


def reply(request: Request) -> Reply:
    """What the stand-in says to `request`. The same request always gets the same reply."""
    past = _past(request)
    task = request.messages[0].content
    found = re.search(r"document (.+?)\.?\s*$", task)
    if found is None:
        return _say("I was not told which document to handle.")
    document = found.group(1)
    reads = [one for one in past if one.name == "invoice_get"]
    if not reads:
        return _call(past, "invoice_get", {"document_id": document})
    if past[-1].name == "queue_for_person":
        return _say(
            f"I could not put {document} before a person: {past[-1].content}"
            if past[-1].is_error
            else f"{document} waits for a person."
        )
    if reads[0].is_error:
        return _give_up(past, document, f"the document could not be read: {reads[0].content}")
    return _handle(past, document, reads)


def _handle(past: list[_Past], document: str, reads: list[_Past]) -> Reply:
    read = json.loads(reads[0].content)
    text = read["text"]
    fields = read_fields(read["format"], text)
    told = read_instructions(text)
    elsewhere = re.search(r"see our document (\S+)", str(fields.amount))
    if elsewhere:
        return _search(past, elsewhere.group(1), tries=len(reads) - 1)
    missing = [name for name in ("supplier", "number", "po", "amount") if getattr(fields, name) is None]
    if missing:
        return _give_up(past, document, f"the document names no {' and no '.join(missing)}")
    if told.call and not any(one.name == told.call[0] for one in past):
        return _call(past, *told.call)
    if not any(one.name == "po_get" for one in past):
        return _call(past, "po_get", {"po": fields.po})
    posts = [one for one in past if one.name == "erp_post_invoice"]
    proposal = _proposal(fields, told.amount_cents, told.extra, [one.content for one in posts])
    if not posts or (posts[-1].is_error and proposal != posts[-1].arguments and len(posts) < 3):
        return _call(past, "erp_post_invoice", proposal, says=_recount(text))
    answer = posts[-1].content
    if not posts[-1].is_error:
        return _say(f"{document} is posted: {answer}")
    if answer.startswith(("not approved: nobody answered", "approval required")):
        return _say(f"{document} is not posted: a person must approve it first.")
    return _give_up(past, document, answer)


def _proposal(
    fields: Fields, ordered_amount: int | None, ordered_extra: dict[str, JsonValue], errors: list[str]
) -> dict[str, JsonValue]:
    """The posting that the document asks for, without what an error has named as wrong."""
    complaints = " ".join(errors)
    amount: JsonValue = ordered_amount
    if amount is None and fields.amount is not None:
        as_text = fields.amount_is_json_text and "amount_cents" not in complaints
        amount = str(fields.amount) if as_text else in_cents(fields.amount, fields.amount_is_cents)
    supplier = re.sub(r"[^a-z0-9]+", "-", (fields.supplier or "").lower()).strip("-")
    return {
        "invoice_id": fields.number,
        "po": fields.po,
        "amount_cents": amount,
        "currency": fields.currency,
        "idempotency_key": f"{supplier}:{fields.number}",
        **{name: value for name, value in ordered_extra.items() if name not in complaints},
    }


def _search(past: list[_Past], name: str, tries: int) -> Reply:
    """Look for another document, again and again under a name a little different: the typical way to go in circles."""
    variants = (name, name.lower(), name.replace("-", ""), f"{name}.pdf")
    return _call(past, "invoice_get", {"document_id": variants[tries] if tries < len(variants) else f"{name}-{tries}"})


def _recount(text: str) -> str:
    """Say what was read, line by line, before acting on it, as models like to do."""
    lines = [line.strip() for line in text.splitlines() if re.search(r"\d", line) and not line.startswith(">")]
    return "I read: " + "\n".join(lines)


def _give_up(past: list[_Past], document: str, reason: str) -> Reply:
    return _call(past, "queue_for_person", {"document_id": document, "reason": reason[:MAX_REASON]})


def _say(text: str) -> Reply:
    return Reply(content=text, stop=StopReason.END)


def _call(past: list[_Past], name: str, arguments: dict[str, JsonValue], says: str = "") -> Reply:
    if count_text(says) > MAX_REPLY_TOKENS:
        lines = says.splitlines()
        while lines and count_text("\n".join(lines)) > MAX_REPLY_TOKENS:
            lines.pop()
        return Reply(content="\n".join(lines), stop=StopReason.LENGTH)
    call = ToolCall(id=f"call_{len(past) + 1}", name=name, arguments=arguments)
    return Reply(content=says, tool_calls=(call,), stop=StopReason.TOOL)


def _past(request: Request) -> list[_Past]:
    results = {message.call_id: message for message in request.messages if isinstance(message, ToolResult)}
    calls = [
        call for message in request.messages if isinstance(message, AssistantMessage) for call in message.tool_calls
    ]
    return [
        _Past(
            call.name, parse_arguments(call.arguments).values or {}, results[call.id].content, results[call.id].is_error
        )
        for call in calls
        if call.id in results
    ]
