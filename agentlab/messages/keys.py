"""Keys of providers: read from the environment when they are used, kept nowhere, and kept out of all that is shown."""

import os
from collections.abc import Sequence

from pydantic import JsonValue

from agentlab.errors import AgentlabError

VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""The environment variables that hold a key. The last one is never sent from here, and not shown either."""

CUSTOM_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""Lines of "name: value" that Anthropic's SDK adds to each request: often the key of a gateway."""

SHOWN_HEADERS = ("accept", "anthropic-beta", "anthropic-version", "content-type")
"""The headers that say which form a request has. What stands there is no secret."""

HIDDEN = "[key]"
"""What is shown in place of a key."""

LEAST_SECRET = 16
"""Shorter than any real key: what people type for a local server that asks for none ("none", "x") hides nothing."""


def key_from_environment(variable: str) -> str:
    """The key in `variable`. Raises AgentlabError when there is none, or when it cannot be one."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise AgentlabError(f"there is no key: set {variable} in the environment, or use a model that needs none")
    # The HTTP client's own complaint about such a header would quote the key.
    if not all("!" <= character <= "~" for character in key):
        raise AgentlabError(f"{variable} holds a space, a line break or another character no key has; copy it again")
    return key


def without_keys(value: JsonValue) -> JsonValue:
    """`value` with every key of the environment replaced wherever it stands in a text, as a provider may echo it."""
    secrets = [os.environ.get(variable, "").strip() for variable in VARIABLES]
    for line in os.environ.get(CUSTOM_HEADERS, "").split("\n"):
        name, _, content = line.partition(":")
        if name.strip().lower() not in SHOWN_HEADERS:
            secrets += [content.strip(), *content.split()]
    # The longest first: a part of one may be a secret of its own.
    keys = sorted({secret for secret in secrets if len(secret) >= LEAST_SECRET}, key=len, reverse=True)
    return _without(value, keys) if keys else value


def text_without_keys(text: str) -> str:
    """As `without_keys`, for a line of text."""
    return str(without_keys(text))


def _without(value: JsonValue, keys: Sequence[str]) -> JsonValue:
    if isinstance(value, str):
        for key in keys:
            value = value.replace(key, HIDDEN)
        return value
    if isinstance(value, dict):
        return {str(_without(name, keys)): _without(inner, keys) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, keys) for inner in value]
    return value
