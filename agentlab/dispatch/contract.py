"""The tool contract: what a tool promises and demands, beyond the shape of its arguments."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from agentlab.canonical import digest
from agentlab.dispatch.schemas import CompiledSchema
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import ToolSchema
from agentlab.shapes import Frozen


class SideEffect(StrEnum):
    """The risk class of a tool: what a call can change. A prohibited tool is known, and no call of it ever runs."""

    READ_ONLY = "read_only"
    REVERSIBLE = "reversible"
    CONSEQUENTIAL = "consequential"
    PROHIBITED = "prohibited"


class ApprovalRule(Frozen):
    """A person must approve a call in which the whole number ``argument`` is greater than ``above``."""

    argument: str
    above: int


class Timeout(Frozen):
    """How long a call may take. ``cancellable``: the tool is handed its deadline and promises to stop at it.

    A tool that is not cancellable may go on after the dispatcher has stopped waiting, so its outcome is unknown then.
    """

    seconds: float = Field(gt=0, le=86_400)
    cancellable: bool = False


class Retry(Frozen):
    """Which one layer tries a call again that broke off, and how many attempts it makes in all.

    ``nobody``; the ``dispatcher``; or the ``tool`` itself, on its own way to the target: then the dispatcher does not.
    """

    layer: Literal["nobody", "dispatcher", "tool"] = "nobody"
    attempts: int = Field(default=1, ge=1, le=10)

    @model_validator(mode="after")
    def _attempts_fit_the_layer(self) -> Self:
        if (self.layer == "nobody") != (self.attempts == 1):
            raise ValueError("retry: nobody makes 1 attempt; any other layer makes 2 or more")
        return self


class RateLimit(Frozen):
    """At most ``calls`` proposals of one user, in any ``seconds`` in a row."""

    calls: int = Field(ge=1)
    seconds: float = Field(gt=0)


class EvidenceRule(Frozen):
    """Arguments whose values a receipt keeps as digests only. A person who approves still sees them as they are.

    A digest proves what a value was; it hides it only from those who cannot guess it.
    """

    hidden_arguments: tuple[str, ...] = ()


class ResultRule(Frozen):
    """The most that a model is sent of one result, in characters (Unicode code points)."""

    most_characters: int = Field(default=20_000, ge=500)


FIELDS: Mapping[str, tuple[str, ...]] = {
    "input and output schema": ("input_schema", "output_schema"),
    "acting identity": ("acting_identity",),
    "scope": ("roles", "resource"),
    "side-effect class": ("side_effect",),
    "idempotency": ("idempotency_key", "target_honours_key", "repeatable"),
    "timeout and cancellation": ("timeout",),
    "retry policy": ("retry",),
    "rate limits": ("rate_limit",),
    "approval behaviour": ("approval", "denial_ends_run"),
    "result envelope": ("result",),
    "evidence receipt": ("evidence",),
    "version and schema hash": ("name", "version", "description"),
}
"""The twelve fields of a contract, and what holds each; the hashes of the last one are `ToolContract.digest` and
`ToolContract.schema_hash`, computed from all others."""


class ToolContract(Frozen):
    """What the dispatcher knows of one tool. Its digest changes with every field, and an approval is bound to it.

    ``input_schema``: a key that it does not name is refused, unless it sets ``additionalProperties`` itself.
    ``output_schema``: a result that does not fit it is an error; None leaves results unchecked.
    ``acting_identity``: as whom the tool acts on its target, as the caller or as a service of its own.
    ``roles``: a caller needs one of them. ``resource``: the argument that names a record which must belong to the
    caller's tenant. ``idempotency_key``: the argument that carries the key; every consequential tool has one.
    ``target_honours_key``: the tool itself returns its first result for a repeated key, so a call with an unknown
    outcome may be sent again. ``repeatable``: an identical call may be made again in one run (polling).
    ``approval``: when a person must say yes; None is never. ``denial_ends_run``: a denied call looks like abuse, so
    the run ends as Failed. ``result``: how much of a result the model is sent. ``evidence``: what a receipt does not
    keep in full.
    """

    name: str
    version: str
    description: str
    input_schema: dict[str, JsonValue]
    output_schema: dict[str, JsonValue] | None = None
    acting_identity: Literal["caller", "service"] = "caller"
    roles: tuple[str, ...]
    resource: str | None = None
    side_effect: SideEffect
    idempotency_key: str | None = None
    target_honours_key: bool = False
    repeatable: bool = False
    timeout: Timeout | None = None
    retry: Retry = Retry()
    rate_limit: RateLimit | None = None
    approval: ApprovalRule | Literal["always"] | None = None
    denial_ends_run: bool = False
    result: ResultRule = ResultRule()
    evidence: EvidenceRule = EvidenceRule()

    @model_validator(mode="after")
    def _can_keep_its_word(self) -> Self:
        problem = _problem(self)
        if problem:
            raise ValueError(f"{self.name}: {problem}")
        # Compiled now, so that a bad schema is refused at start and not at the first call.
        self._compiled_input  # noqa: B018
        self._compiled_output  # noqa: B018
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A contract with some fields changed, made and checked anew: a copy would keep the old digest and schema."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(fields | dict(update or {})))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all fields as canonical JSON."""
        return digest(self.model_dump(mode="json"))

    @cached_property
    def schema_hash(self) -> str:
        """SHA-256 over both schemas alone: what a caller and a tool must agree on."""
        return digest([self.input_schema, self.output_schema])

    @cached_property
    def _compiled_input(self) -> CompiledSchema:
        return CompiledSchema(self.input_schema, closed=True)

    @cached_property
    def _compiled_output(self) -> CompiledSchema | None:
        return None if self.output_schema is None else CompiledSchema(self.output_schema)

    def problems(self, arguments: JsonValue) -> list[str]:
        """What is wrong with `arguments`, all at once; empty when they fit the input schema."""
        return self._compiled_input.problems(arguments)

    def broken_rules(self, result: JsonValue) -> list[str]:
        """Which places of the output schema a result breaks; empty when it fits, or nothing is promised."""
        return [] if self._compiled_output is None else self._compiled_output.broken_rules(result)

    @property
    def schema_for_model(self) -> ToolSchema:
        """What the model is told: name, purpose and arguments. Roles, limits and approvals are none of its business."""
        return ToolSchema(name=self.name, description=self.description, parameters=self.input_schema)


def contract_from_schema(schema: Mapping[str, Any], **fields: Any) -> ToolContract:
    """A contract from a tool as others describe one, with what only the platform can say of it in `fields`.

    `schema` has ``name``, ``description`` and the arguments' JSON Schema as ``input_schema``, ``inputSchema`` or
    ``parameters``; ``output_schema`` or ``outputSchema`` if it promises one. Nothing else in it is believed: what a
    server says of its own risk is no contract. Raises AgentlabError where a part is missing.
    """
    inputs = [name for name in ("input_schema", "inputSchema", "parameters") if name in schema]
    if len(inputs) != 1 or not isinstance(schema.get("name"), str) or not isinstance(schema.get("description"), str):
        raise AgentlabError(
            "a tool's schema needs name, description and one of input_schema, inputSchema and parameters"
        )
    output = schema.get("output_schema", schema.get("outputSchema"))
    told = {"name": schema["name"], "description": schema["description"], "input_schema": schema[inputs[0]]}
    return ToolContract(**{**told, "output_schema": output, **fields})


def _problem(contract: ToolContract) -> str | None:
    """Why a control of this contract could not work, or None."""
    properties = contract.input_schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = contract.input_schema.get("required")
    always_there = set(required) if isinstance(required, list) else set()
    rule = contract.approval if isinstance(contract.approval, ApprovalRule) else None
    named = {
        "resource": contract.resource,
        "idempotency_key": contract.idempotency_key,
        "approval": rule.argument if rule else None,
    }
    for field, argument in named.items():
        # A control on an argument that may be absent would be no control.
        if argument is not None and (argument not in known or argument not in always_there):
            return f"{field} names {argument!r}, which is no required argument of its schema"
    for argument in contract.evidence.hidden_arguments:
        if argument not in known:
            return f"evidence names {argument!r}, which is no argument of its schema"
    if rule:
        amount = known[rule.argument]
        if not isinstance(amount, dict) or amount.get("type") != "integer":
            return f"approval compares whole numbers; make {rule.argument!r} an integer"
    if contract.approval and contract.idempotency_key is None:
        return "approval needs an idempotency_key; it is used up together with the key"
    if contract.side_effect is SideEffect.CONSEQUENTIAL and contract.idempotency_key is None:
        return "a consequential tool needs an idempotency_key; a retry would act twice"
    acts = contract.side_effect is not SideEffect.READ_ONLY
    if contract.retry.layer == "dispatcher" and acts and not contract.target_honours_key:
        return "the dispatcher may retry only what reads, or whose target honours the key; it would act twice"
    return None
