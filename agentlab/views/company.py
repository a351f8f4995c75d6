"""A small company for lesson 02, made up to explain: who is on record, its tools, and its gateway as data."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from agentlab.dispatch.contract import SideEffect, Timeout, ToolContract
from agentlab.dispatch.gateway import ORDER
from agentlab.dispatch.guards import Caller
from agentlab.views.proposals import post_invoice

Who = Literal["clerk", "viewer", "viewer who says ap_clerk", "stranger"]

CALLERS: Mapping[Who, Caller] = {
    "clerk": Caller(user="clerk", roles=("ap_clerk",), tenant="acme", run="run-1"),
    "viewer": Caller(user="viewer", roles=("viewer",), tenant="acme", run="run-1"),
    "viewer who says ap_clerk": Caller(user="viewer", roles=("ap_clerk",), tenant="acme", run="run-1"),
    "stranger": Caller(user="stranger", roles=("ap_clerk",), tenant="acme", run="run-1"),
}

TENANT_OF = {"INV-1042": "acme", "INV-2001": "globex"}
"""Whose each invoice is."""

CONFIG: dict[str, Any] = {
    "guards": list(ORDER),
    "identities": {
        "clerk": {"tenants": ["acme"], "roles": ["ap_clerk"]},
        "viewer": {"tenants": ["acme"], "roles": ["viewer"]},
    },
    "policy": [
        {
            "id": "clerks post",
            "effect": "permit",
            "roles": ["ap_clerk"],
            "tools": ["erp_post_invoice"],
            "tenants": ["acme"],
        },
        {"id": "all read", "effect": "permit", "roles": ["*"], "tools": ["invoice_get"], "tenants": ["acme"]},
    ],
    "most_seconds": 30,
}
"""The gateway's guards, users and policy, in the form that a file would hold."""


@cache
def read_invoice() -> ToolContract:
    """The contract of the tool that fetches one invoice."""
    return ToolContract(
        name="invoice_get",
        version="1",
        description="Fetch one invoice by id. Read-only.",
        input_schema={
            "type": "object",
            "properties": {"invoice_id": {"type": "string"}},
            "required": ["invoice_id"],
            "additionalProperties": False,
        },
        roles=("ap_clerk", "viewer"),
        resource="invoice_id",
        side_effect=SideEffect.READ_ONLY,
        timeout=Timeout(seconds=5),
    )


@cache
def close_year() -> ToolContract:
    """The contract of a tool that exists and is prohibited: no call of it ever runs."""
    return ToolContract(
        name="erp_close_year",
        version="1",
        description="Close the books of a year. Cannot be undone.",
        input_schema={
            "type": "object",
            "properties": {"year": {"type": "integer"}},
            "required": ["year"],
            "additionalProperties": False,
        },
        roles=("ap_clerk",),
        side_effect=SideEffect.PROHIBITED,
        timeout=Timeout(seconds=5),
    )


def contracts() -> tuple[ToolContract, ToolContract, ToolContract]:
    """The company's tools: one that posts, one that reads, and one that nobody may run."""
    return post_invoice(), read_invoice(), close_year()
