"""The gateway's guards from data: a dict, a TOML or a JSON file. What is misspelt is refused, never passed over.

Each of the seven guards stands either in ``guards``, in the gateway's order, or in ``left_out``: a guard that is merely
missing is a mistake, and one that is left out is a decision that a reviewer can see. Every tool, role, rule and tenant
that is named must be known on the other side as well.
"""

import difflib
import tomllib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from agentlab.canonical import canonical_json
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.cedar import cedar, to_cedar
from agentlab.dispatch.contract import ToolContract
from agentlab.dispatch.deadlines import Clock
from agentlab.dispatch.gateway import ORDER, Identity, authorization, identity, rate_limit, timeout
from agentlab.dispatch.guards import Caller, Guard, approval, resource_scope, valid_arguments
from agentlab.dispatch.policy import ANY, PolicyRule, rules_of, table
from agentlab.errors import AgentlabError
from agentlab.messages.arguments import parse_arguments
from agentlab.shapes import Frozen


class GatewayConfig(Frozen):
    """What was loaded. ``policy`` None: the rules that the contracts' own roles make."""

    guards: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    identities: dict[str, Identity] = Field(min_length=1)
    policy: tuple[PolicyRule, ...] | None = Field(default=None, min_length=1)
    engine: Literal["table", "cedar"] = "table"
    most_seconds: float = Field(gt=0)


def read_config(path: Path) -> dict[str, Any]:
    """The data in a .toml or .json file. Raises AgentlabError where there is none, or a key is written twice."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AgentlabError(f"the gateway's configuration {path} cannot be read ({type(error).__name__})") from None
    if path.suffix == ".json":
        read = parse_arguments(text)
        if not text.strip() or read.values is None:
            raise AgentlabError(f"{path} is no JSON object: {read.problem or 'it is empty'}")
        return read.values
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise AgentlabError(f"{path} is no TOML: {error}") from None
    raise AgentlabError(f"{path}: the gateway's configuration is a .toml or a .json file")


def load_config(data: dict[str, Any], contracts: Sequence[ToolContract]) -> GatewayConfig:
    """Check `data` against its form and against the tools that it is for; everything that is named must exist.

    Raises AgentlabError, in one line with the place, for the first thing that is wrong.
    """
    try:
        config = GatewayConfig.model_validate_json(canonical_json(data))
    except ValidationError as error:
        raise AgentlabError(f"the gateway's configuration: {_first_problem(error)}") from None
    _check_guards(config)
    _check_names(config, contracts)
    if "timeout" in config.guards:
        for contract in contracts:
            if contract.timeout is None or contract.timeout.seconds > config.most_seconds:
                _refuse(f"the tool {contract.name} has no timeout of at most {config.most_seconds:g} seconds")
    return config


def build_guards(
    config: GatewayConfig,
    contracts: Sequence[ToolContract],
    *,
    tenant_of: Callable[[str], str | None],
    approvals: Approvals,
    clock: Clock,
    seconds_left: Callable[[Caller], float] = lambda caller: float("inf"),
) -> tuple[Guard, ...]:
    """The guards that `config` lists, in its order, over what they need to know."""
    rules = config.policy or rules_of(contracts)
    made: dict[str, Callable[[], Guard]] = {
        "identity": lambda: identity(config.identities),
        "authorization": lambda: authorization(cedar(to_cedar(rules)) if config.engine == "cedar" else table(rules)),
        "valid_arguments": lambda: valid_arguments,
        "resource_scope": lambda: resource_scope(tenant_of),
        "rate_limit": lambda: rate_limit(clock),
        "timeout": lambda: timeout(config.most_seconds, seconds_left),
        "approval": lambda: approval(approvals.state),
    }
    return tuple(made[name]() for name in config.guards)


def _check_guards(config: GatewayConfig) -> None:
    for place, names in (("guards", config.guards), ("left_out", config.left_out)):
        _all_known(f"{place} names", names, ORDER, "which is no guard")
    for name in ORDER:
        times = (*config.guards, *config.left_out).count(name)
        if times == 0:
            _refuse(f"the guard {name!r} is missing; put it into guards, or into left_out if that is meant")
        if times > 1:
            _refuse(f"the guard {name!r} is named {times} times; name it once")
    if list(config.guards) != [name for name in ORDER if name in config.guards]:
        _refuse(f"the guards stand in another order than the gateway's: {', '.join(ORDER)}")


def _check_names(config: GatewayConfig, contracts: Sequence[ToolContract]) -> None:
    tools = {contract.name for contract in contracts}
    held = {role for who in config.identities.values() for role in who.roles}
    tenants = {tenant for who in config.identities.values() for tenant in who.tenants}
    asked_for = {role for contract in contracts for role in contract.roles}
    for user, who in config.identities.items():
        if not who.tenants or not who.roles:
            _refuse(f"identities.{user} needs at least one tenant and one role")
        _all_known(f"identities.{user} names the role", who.roles, asked_for, "which no tool asks for")
    rules = config.policy or ()
    table(rules)  # refuses an id that is used twice
    for rule in rules:
        place = f"the policy {rule.id!r} names the"
        _all_known(f"{place} tool", rule.tools, {*tools, ANY}, "which does not exist")
        _all_known(f"{place} role", rule.roles, {*held, ANY}, "which nobody holds")
        _all_known(f"{place} tenant", rule.tenants, {*tenants, ANY}, "which nobody works for")
    for contract in contracts:
        if not held.intersection(contract.roles):
            _refuse(f"the tool {contract.name} asks for a role that nobody holds: {', '.join(contract.roles)}")


def _all_known(place: str, names: Collection[str], known: Collection[str], otherwise: str) -> None:
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            _refuse(f"{place} {name!r}, {otherwise}; {hint}")


def _first_problem(error: ValidationError) -> str:
    # A misspelt key also leaves the right one missing; the slip says more than the gap.
    first = min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = GatewayConfig.model_fields if len(first["loc"]) == 1 else ()
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        return f"the key {place} is not known" + (f"; did you mean {near[0]!r}?" if near else "; leave it out")
    return f"{place or 'all of it'}: {' '.join(first['msg'].split())}"


def _refuse(what: str) -> None:
    raise AgentlabError(f"the gateway's configuration: {what}")
