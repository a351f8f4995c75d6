"""A tool from a plain Python function: its type hints become the schemas, its docstring the description.

    def post_invoice(invoice_id: str, amount_cents: int, idempotency_key: str) -> dict[str, str]:
        \"\"\"Post one checked invoice to the ERP.\"\"\"

Hints say what JSON may stand there: str, int, float, bool, None, list, dict, Literal, dates, enums, dataclasses, typed
dicts and pydantic models. ``Annotated[int, Field(gt=0, description="in cents")]`` adds bounds and a text for the model.
"""

import inspect
import typing
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PydanticUserError, TypeAdapter, create_model

from agentlab.canonical import canonical_json
from agentlab.dispatch.contract import ToolContract
from agentlab.dispatch.deadlines import Deadline
from agentlab.dispatch.envelope import Explained
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.schemas import VALUES_NOT_SCHEMAS, Schema
from agentlab.dispatch.tools import Answer, Tool
from agentlab.errors import AgentlabError

_GIVEN_BY_THE_DISPATCHER = {"caller": Caller, "deadline": Deadline}
_NO_HINT: Any = inspect.Parameter.empty


def contract_from_function(function: Callable[..., Any], **fields: Any) -> ToolContract:
    """The contract of `function`; `fields` says what no signature can: version, roles, side effect and the rest.

    A parameter ``caller: Caller`` or ``deadline: Deadline`` is filled in by the dispatcher, and the model never sees
    it. Raises AgentlabError for a function without a docstring, without a hint on each parameter and on its result, or
    with a parameter that has no name to send it under.
    """
    return tool_from_function(function, **fields).contract


def tool_from_function(function: Callable[..., Any], **fields: Any) -> Tool:
    """`function` as a tool: it is called with values of the types that its hints name. See `contract_from_function`."""
    name = getattr(function, "__name__", type(function).__name__)
    description = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    if not description:
        raise AgentlabError(f"{name}: a tool needs a docstring; its first paragraph is what the model is told")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise AgentlabError(f"{name}: its type hints cannot be read ({error})") from None
    if "return" not in hints:
        raise AgentlabError(f"{name}: it does not say what it returns; add a type hint, -> None for nothing")
    try:
        given, arguments = _parameters(name, function, hints)
        input_schema = _closed(arguments.model_json_schema())
        promised: Any = Any if hints["return"] is Explained else hints["return"]
        result: TypeAdapter[Any] = TypeAdapter(promised)
        output_schema = None if promised is Any else _closed(result.json_schema(mode="serialization"))
    except PydanticUserError as error:
        why = next(iter(str(error).splitlines()))
        raise AgentlabError(f"{name}: no JSON Schema can be made of its type hints: {why}") from None
    told: dict[str, Any] = {
        "name": name,
        "description": description,
        "input_schema": input_schema,
        "output_schema": output_schema,
    }
    contract = ToolContract(**(told | fields))
    if "deadline" in given and not (contract.timeout and contract.timeout.cancellable):
        raise AgentlabError(f"{name}: it takes a deadline, so its contract needs a timeout that is cancellable")

    def call(values: dict[str, JsonValue], caller: Caller, deadline: Deadline | None = None) -> Answer:
        read = arguments.model_validate_json(canonical_json(values))
        from_dispatcher = {"caller": caller, "deadline": deadline}
        answer = function(
            **{str(field.alias): getattr(read, name) for name, field in arguments.model_fields.items()},
            **{each: from_dispatcher[each] for each in given},
        )
        if isinstance(answer, Explained):
            return answer
        plain: JsonValue = result.dump_python(answer, mode="json", warnings=False)
        return plain

    return Tool(contract, call)


def _parameters(name: str, function: Callable[..., Any], hints: dict[str, Any]) -> tuple[list[str], type[BaseModel]]:
    """Which parameters the dispatcher fills in, and a model of the others."""
    given: list[str] = []
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise AgentlabError(f"{name}: its parameter {parameter.name} has no name of its own; a model sends names")
        hint = hints.get(parameter.name, _NO_HINT)
        if hint is _NO_HINT:
            raise AgentlabError(f"{name}: its parameter {parameter.name} has no type hint")
        if parameter.name in _GIVEN_BY_THE_DISPATCHER:
            if hint is not _GIVEN_BY_THE_DISPATCHER[parameter.name]:
                raise AgentlabError(f"{name}: {parameter.name} is filled in by the dispatcher; give it its own type")
            given.append(parameter.name)
        else:
            default = ... if parameter.default is _NO_HINT else parameter.default
            # Under another name in the model, since an argument may have any name, also one that pydantic uses.
            fields[_field(parameter.name)] = (hint, Field(default, alias=parameter.name))
    return given, create_model(name, __config__=ConfigDict(strict=True, extra="forbid"), **fields)


def _closed(schema: Schema) -> Schema:
    """`schema` with every object in it closed that names its keys, and without the titles that repeat the names."""
    closed: Schema = {
        key: value if key in VALUES_NOT_SCHEMAS else _closed_inside(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


def _closed_inside(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_closed_inside(each) for each in value]
    return _closed(value) if isinstance(value, dict) else value


def _field(argument: str) -> str:
    return f"argument_{argument}"
