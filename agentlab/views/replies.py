"""What a reply may be trusted with: how each provider says that it ended, and what text becomes as arguments."""

import json
from collections.abc import Iterable

from pydantic import JsonValue
from pydantic_core import from_json

from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import Dialect, StopReason
from agentlab.messages.wire import DIALECTS, reply_from_wire
from agentlab.views.tables import Table
from agentlab.views.wire import TITLES

NEXT: dict[StopReason, str] = {
    StopReason.TOOL: "run the calls, send the results",
    StopReason.END: "done",
    StopReason.PAUSE: "send it back as it is",
    StopReason.COMPACTION: "send it back as it is",
}
"""What the loop does next; for all others it ends and runs nothing. The loop of Anthropic's SDK decides alike."""

Json = dict[str, JsonValue]

_ANTHROPIC_STOPS = (
    "tool_use",
    "end_turn",
    "stop_sequence",
    "max_tokens",
    "model_context_window_exceeded",
    "refusal",
    "pause_turn",
    "compaction",
    "anything else",
)
# What the reply says of its end, its finish_reason, and what the message holds beside its role.
_CHAT_ENDS: tuple[tuple[str, str, Json], ...] = (
    ("tool_calls", "tool_calls", {}),
    ("stop", "stop", {}),
    ("length", "length", {}),
    ("content_filter", "content_filter", {}),
    ("stop with a refusal", "stop", {"refusal": "No."}),
    ("anything else", "anything else", {}),
)
_CALL: Json = {"type": "function_call", "call_id": "call_1", "name": "invoice_get", "arguments": "{}"}
_REFUSAL: Json = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
# What the reply says of its end, its status, the reason of an incomplete one, and its items.
_RESPONSES_ENDS: tuple[tuple[str, str, str | None, list[JsonValue]], ...] = (
    ("completed with a function_call", "completed", None, [_CALL]),
    ("completed", "completed", None, []),
    ("incomplete: max_output_tokens", "incomplete", "max_output_tokens", [_CALL]),
    ("incomplete: content_filter", "incomplete", "content_filter", [_CALL]),
    ("completed with a refusal", "completed", None, [_REFUSAL]),
    ("anything else", "failed", None, []),
)


def stops() -> dict[Dialect, dict[str, StopReason]]:
    """For each dialect, what a reply can say of its end, as the wire format's own reader reads it."""
    return {
        "anthropic": {
            stop: reply_from_wire({"content": [], "stop_reason": stop}, "anthropic").stop for stop in _ANTHROPIC_STOPS
        },
        "openai-chat": {
            said: reply_from_wire(
                {"choices": [{"message": {"role": "assistant", "content": None, **more}, "finish_reason": reason}]},
                "openai-chat",
            ).stop
            for said, reason, more in _CHAT_ENDS
        },
        "openai-responses": {
            said: reply_from_wire(
                {
                    "status": status,
                    "incomplete_details": None if reason is None else {"reason": reason},
                    "output": items,
                },
                "openai-responses",
            ).stop
            for said, status, reason, items in _RESPONSES_ENDS
        },
    }


def stop_table() -> Table:
    """One row for each stop reason: what each provider says for it, and what the loop does next."""
    found: dict[StopReason, dict[Dialect, list[str]]] = {reason: {} for reason in StopReason}
    for dialect, read in stops().items():
        for said, reason in read.items():
            found[reason].setdefault(dialect, []).append(said)
    rows = tuple(
        (
            reason.value,
            *(", ".join(by_dialect.get(dialect, ["-"])) for dialect in DIALECTS),
            NEXT.get(reason, "end; run nothing"),
        )
        for reason, by_dialect in found.items()
    )
    columns = ("read as", *(TITLES[dialect] for dialect in DIALECTS), "the loop")
    return Table("How a reply says that it ended", columns, rows, words=columns[1:])


def arguments_table(texts: Iterable[str]) -> Table:
    """What Python's own JSON reader makes of each text, and what the argument parser does."""
    rows = tuple((_shown(text), _loads(text), _parsed(text)) for text in texts)
    columns = ("what the model wrote", "json.loads", "the argument parser")
    return Table("Arguments: text from a model", columns, rows, words=columns[1:])


def cut_table(texts: Iterable[str]) -> Table:
    """What a reader in partial mode makes of each text that arrived, and what the argument parser does.

    The reader is jiter, which pydantic carries. Anthropic's SDK runs it over the arguments of a streamed call.
    """
    rows = tuple((_end_of(text), _partially(text), _parsed(text)) for text in texts)
    columns = ("what arrived", "read in partial mode", "the argument parser")
    return Table("A call that was cut", columns, rows, words=columns[1:])


def _partially(text: str) -> str:
    return str(from_json(text, allow_partial=True))


def _end_of(text: str) -> str:
    return text if len(text) <= 46 else f"... {text[-42:]}"


def _loads(text: str) -> str:
    try:
        return _shown(repr(json.loads(text)))
    except json.JSONDecodeError as error:
        return f"error: {error.msg}"
    except RecursionError:
        return "error: too deep"


def _parsed(text: str) -> str:
    parsed = parse_arguments(text)
    return f"refused: {parsed.problem}" if parsed.values is None else _shown(repr(parsed.values))


def _shown(text: str) -> str:
    """A text short enough for a table; (empty) where nothing could be seen."""
    if not text.strip():
        return "(empty)" if not text else "(blank)"
    return text if len(text) <= 46 else f"{text[:30]} ... {text[-10:]}"
