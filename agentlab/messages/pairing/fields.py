"""Fields that any dialect has, each its own: the model (B9), those of another dialect (B10), the limit of the output
(B11), and the system prompt."""

from collections.abc import Iterator, Mapping

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.history import History, malformed
from agentlab.messages.pairing.parts import empty_texts
from agentlab.messages.pairing.rules import finding, shown
from agentlab.shapes import Finding

LEAST_OUTPUT = 16
"""Of OpenAI Responses: the fewest tokens that max_output_tokens may be (OpenAI's specification)."""

_FIRST_MESSAGE = "write the text as the first of the messages, with the role system"
_NO_STOPS = "leave it out: OpenAI Responses has no stop sequences"

OF_ANOTHER: dict[Dialect, Mapping[str, str]] = {
    "anthropic": {
        "max_completion_tokens": "write max_tokens",
        "max_output_tokens": "write max_tokens",
        "instructions": "write system",
        "input": "write messages",
        "stop": "write stop_sequences, a list",
        "user": "write metadata: {user_id: ...}",
        "safety_identifier": "write metadata: {user_id: ...}",
        "reasoning_effort": "write output_config: {effort: ...}",
        "reasoning": "write output_config: {effort: ...}",
        "response_format": "write output_config: {format: ...}",
        "functions": "write tools",
        "function_call": "write tool_choice",
        "previous_response_id": "leave it out, and send the whole history",
    },
    "openai-chat": {
        "system": _FIRST_MESSAGE,
        "instructions": _FIRST_MESSAGE,
        "max_output_tokens": "write max_completion_tokens",
        "input": "write messages",
        "stop_sequences": "write stop",
        "reasoning": "write reasoning_effort",
        "thinking": "write reasoning_effort",
        "output_config": "write reasoning_effort, response_format",
        "previous_response_id": "leave it out, and send the whole history",
    },
    "openai-responses": {
        "messages": "write input",
        "system": "write instructions",
        "max_tokens": "write max_output_tokens",
        "max_completion_tokens": "write max_output_tokens",
        "reasoning_effort": "write reasoning: {effort: ...}",
        "thinking": "write reasoning: {effort: ...}",
        "output_config": "write reasoning: {effort: ...}, text: {format: ...}",
        "response_format": "write text: {format: ...}",
        "functions": "write tools",
        "function_call": "write tool_choice",
        "stop": _NO_STOPS,
        "stop_sequences": _NO_STOPS,
    },
}
"""Fields of the other dialects that a dialect does not have, with the way out. B2 and B4 have rules of their own."""


def field_findings(history: History) -> Iterator[Finding]:
    """B9 to B11, and M1 and M6 for the system prompt where it is a field."""
    yield from _model(history)
    for field, fix in OF_ANOTHER[history.dialect].items():
        # Anthropic's specification refuses the field itself, whatever it holds; to the others null is as good as none.
        if history.body.get(field) is not None or (history.dialect == "anthropic" and field in history.body):
            yield finding("B10", field, f"{history.dialect} has no field {field}", fix=fix)
    yield from _limit(history)
    yield from _system(history)


def _model(history: History) -> Iterator[Finding]:
    body = history.body
    if "model" in body:
        if not isinstance(body["model"], str):
            yield finding("B9", "model", f"it must be the name of a model, not {shown(body['model'])}")
    elif history.whole and not (history.dialect == "openai-responses" and body.get("prompt")):
        is_demanded = history.dialect != "openai-responses"
        yield finding("B9", "model", "the request names no model", "must" if is_demanded else "should")


def _limit(history: History) -> Iterator[Finding]:
    fields = {
        "anthropic": (),  # B1
        "openai-chat": ("max_completion_tokens", "max_tokens"),
        "openai-responses": ("max_output_tokens",),
    }[history.dialect]
    for field in fields:
        limit = history.body.get(field)
        if limit is None:
            continue
        if type(limit) is not int:
            yield finding("B11", field, f"it must be a whole number, not {shown(limit)}")
        elif history.dialect == "openai-responses" and limit < LEAST_OUTPUT:
            fix = f"write {LEAST_OUTPUT} or more, or leave the field out"
            yield finding("B11", field, f"it must be {LEAST_OUTPUT} at least, not {shown(limit)}", fix=fix)


def _system(history: History) -> Iterator[Finding]:
    body = history.body
    if history.dialect == "openai-responses":
        if not isinstance(body.get("instructions"), str | None):
            yield finding("M1", "instructions", f"this must be text, not {shown(body['instructions'])}")
    elif history.dialect == "anthropic" and "system" in body:
        system = body["system"]
        if not isinstance(system, str | list):
            yield finding("M1", "system", f"this must be text or text blocks, not {shown(system)}")
        for number, block in enumerate(system if isinstance(system, list) else []):
            yield from malformed(block, f"system[{number}]", {"type": str, "text": str})
        yield from empty_texts(system, "system")
