"""Keys of providers: read from the environment when they are used, kept nowhere, and kept out of all that is shown."""

import os

from pydantic import JsonValue

from agentlab.errors import AgentlabError

VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
"""The environment variables that hold a key."""

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
    keys = {key for variable in VARIABLES if len(key := os.environ.get(variable, "").strip()) >= LEAST_SECRET}
    return _without(value, keys) if keys else value


def text_without_keys(text: str) -> str:
    """As `without_keys`, for a line of text."""
    return str(without_keys(text))


def _without(value: JsonValue, keys: set[str]) -> JsonValue:
    if isinstance(value, str):
        for key in keys:
            value = value.replace(key, HIDDEN)
        return value
    if isinstance(value, dict):
        return {str(_without(name, keys)): _without(inner, keys) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, keys) for inner in value]
    return value
