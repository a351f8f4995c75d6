"""Fields that OpenAI's two dialects spell alike, but for a name or two: the tool choice and the usage."""

from pydantic import JsonValue

from agentlab.messages.conversation import ToolChoice, Usage
from agentlab.messages.wire.reading import Json, Notes, a_switch, a_text, believable

MODES = {"auto": "auto", "none": "none", "required": "any"}


def read_choice(body: Json, notes: Notes, inside: str | None) -> tuple[ToolChoice | None, bool | None]:
    """The tool choice, and whether parallel calls are allowed.

    The name of a chosen function stands in the object `inside` of the choice; None: beside its type.
    """
    allowed = a_switch(body.get("parallel_tool_calls"), "parallel_tool_calls")
    choice = body.get("tool_choice")
    if choice is None:
        return None, allowed
    if isinstance(choice, str) and choice in MODES:
        return ToolChoice.model_validate({"mode": MODES[choice]}), allowed
    given = choice if isinstance(choice, dict) else {}
    place, named = (f"tool_choice.{inside}", given.get(inside)) if inside else ("tool_choice", given)
    if given.get("type") == "function" and isinstance(named, dict):
        return ToolChoice(mode="tool", name=a_text(named.get("name"), f"{place}.name")), allowed
    notes.lose("tool_choice", f"the tool choice {given.get('type', choice)!r}", content=True)
    return None, allowed


def write_choice(choice: ToolChoice | None, parallel: bool | None, inside: str | None) -> Json:
    """The tool choice, and the switch for parallel calls beside it."""
    fields: Json = {} if parallel is None else {"parallel_tool_calls": parallel}
    if choice is not None and choice.mode == "tool":
        named: Json = {"name": choice.name}
        fields["tool_choice"] = {"type": "function", **({inside: named} if inside else named)}
    elif choice is not None:
        fields["tool_choice"] = {mode: name for name, mode in MODES.items()}[choice.mode]
    return fields


def read_usage(body: Json, given: str, made: str) -> Usage | None:
    """The usage of a reply, whose fields begin with `given` for the input and `made` for the output."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    parts, own = _details(usage, given), _details(usage, made)
    return believable(
        input_tokens=usage.get(f"{given}_tokens"),
        output_tokens=usage.get(f"{made}_tokens"),
        cache_read_tokens=parts.get("cached_tokens"),
        cache_write_tokens=parts.get("cache_write_tokens"),
        reasoning_tokens=own.get("reasoning_tokens"),
    )


def write_usage(usage: Usage | None, given: str, made: str) -> Json:
    """The field of the usage, if there is one."""
    if usage is None:
        return {}
    parts: JsonValue = {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens}
    fields: Json = {
        f"{given}_tokens": usage.input_tokens,
        f"{made}_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        f"{given}_tokens_details": parts,
        f"{made}_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
    return {"usage": fields}


def _details(usage: Json, name: str) -> Json:
    details = usage.get(f"{name}_tokens_details")
    return details if isinstance(details, dict) else {}
