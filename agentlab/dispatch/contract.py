"""The tool contract: what a tool promises and demands, beyond the shape of its arguments."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from pydantic import JsonValue, model_validator

from agentlab.canonical import digest
from agentlab.dispatch.schemas import CompiledSchema
from agentlab.messages.conversation import ToolSchema
from agentlab.shapes import Frozen


class SideEffect(StrEnum):
    """The risk class of a tool: what a call can change."""

    READ_ONLY = "read_only"
    REVERSIBLE = "reversible"
    CONSEQUENTIAL = "consequential"


class ApprovalRule(Frozen):
    """A person must approve a call in which the whole number ``argument`` is greater than ``above``."""

    argument: str
    above: int


class ToolContract(Frozen):
    """What the dispatcher knows of one tool. Its digest changes with every field, and an approval is bound to it.

    ``roles``: a caller needs one of them. ``resource``: the argument that names a record which must belong to the
    caller's tenant. ``idempotency_key``: the argument that carries the key; every consequential tool has one.
    ``target_honours_key``: the tool itself returns its first result for a repeated key, so a call with an unknown
    outcome may be sent again. ``repeatable``: an identical call may be made again in one run (polling).
    ``denial_ends_run``: a denied call looks like abuse, so the run ends as Failed.
    """

    name: str
    version: str
    description: str
    input_schema: dict[str, JsonValue]
    roles: tuple[str, ...]
    side_effect: SideEffect
    resource: str | None = None
    idempotency_key: str | None = None
    target_honours_key: bool = False
    approval: ApprovalRule | None = None
    repeatable: bool = False
    denial_ends_run: bool = False

    @model_validator(mode="after")
    def _names_only_its_own_arguments(self) -> Self:
        properties = self.input_schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        required = self.input_schema.get("required")
        always_there = set(required) if isinstance(required, list) else set()
        named = {
            "resource": self.resource,
            "idempotency_key": self.idempotency_key,
            "approval": self.approval.argument if self.approval else None,
        }
        for field, argument in named.items():
            # A control on an argument that may be absent would be no control.
            if argument is not None and (argument not in known or argument not in always_there):
                raise ValueError(
                    f"{self.name}: {field} names {argument!r}, which is no required argument of its schema"
                )
        if self.approval:
            amount = known[self.approval.argument]
            if not isinstance(amount, dict) or amount.get("type") != "integer":
                raise ValueError(
                    f"{self.name}: approval compares whole numbers; make {self.approval.argument!r} an integer"
                )
            if self.idempotency_key is None:
                raise ValueError(f"{self.name}: approval needs an idempotency_key; it is used up together with the key")
        if self.side_effect is SideEffect.CONSEQUENTIAL and self.idempotency_key is None:
            raise ValueError(f"{self.name}: a consequential tool needs an idempotency_key; a retry would act twice")
        self._compiled  # noqa: B018  compiles now, so that a bad schema is refused at start and not at the first call
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
    def _compiled(self) -> CompiledSchema:
        return CompiledSchema(self.input_schema)

    def problems(self, arguments: JsonValue) -> list[str]:
        """What is wrong with `arguments`, all at once; empty when they fit the input schema."""
        return self._compiled.problems(arguments)

    @property
    def schema_for_model(self) -> ToolSchema:
        """What the model is told: name, purpose and arguments. Roles, limits and approvals are none of its business."""
        return ToolSchema(name=self.name, description=self.description, parameters=self.input_schema)
