"""The provider's own count of a request, over its SDK: needs a key in the environment and sends the whole request."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

from agentlab.canonical import digest
from agentlab.errors import AgentlabError
from agentlab.messages.connection import AnswerError, Deadline, Limits, http_client
from agentlab.messages.conversation import Dialect, Request
from agentlab.messages.keys import key_from_environment, text_without_keys
from agentlab.messages.received import read_json
from agentlab.messages.tokenizers import Maker, bare_name, maker_of
from agentlab.messages.uncounted import AT_THE_TOP, SHRINKING
from agentlab.messages.wire import WireError, to_wire
from agentlab.messages.wire.reading import Json
from agentlab.shapes import Quantity


class Endpoint(NamedTuple):
    """How a provider counts: its wire format, the variable with the key, the fields that the endpoint takes."""

    dialect: Dialect
    key: str
    path: str
    fields: frozenset[str]


ENDPOINTS: dict[Maker, Endpoint] = {
    "anthropic": Endpoint(
        "anthropic",
        "ANTHROPIC_API_KEY",
        "/v1/messages/count_tokens",
        frozenset({"messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"}),
    ),
    # Chat Completions has no count of its own; what it would send is counted as Responses would send it.
    "openai": Endpoint(
        "openai-responses",
        "OPENAI_API_KEY",
        "/v1/responses/input_tokens",
        frozenset(
            {"input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation"}
            | {"previous_response_id", "conversation"}
        ),
    ),
}

TIMEOUT = 30.0
"""Seconds that a provider has for one answer. A count is not tried again: it costs nothing to ask once more."""

MOST_TOKENS = 10**9
"""More than any model takes; an answer that says as much is no count."""

LONGEST_MESSAGE = 400
"""Characters of a provider's own words in an error."""

_counted: dict[str, int] = {}


def provider_count(request: Request, model: str) -> Quantity:
    """The input tokens of `request` as the provider of `model` counts them; the same request is asked for once.

    `model` is a name such as claude-opus-4-7 or openai:gpt-6-sol. Raises AgentlabError without a key, without the SDK,
    for a model whose provider the name does not tell, and where the provider gives no count.
    """
    provider, name = provider_of(model), bare_name(model)
    endpoint = ENDPOINTS[provider]
    key = key_from_environment(endpoint.key)
    body = to_wire(request, endpoint.dialect).body
    fields = {"model": name, **{field: value for field, value in body.items() if field in endpoint.fields}}
    question = digest({"provider": provider, **fields})
    if question not in _counted:
        _counted[question] = _ask(provider, fields, key)
    source = f"{name} asked at {endpoint.path}"
    if provider == "anthropic":
        source += ", which its documentation calls an estimate"
    if any(dialect != endpoint.dialect for dialect in _dialects(request)):
        source += f"; sent as {endpoint.dialect}, without what only the original format can say"
    told = {*AT_THE_TOP, *SHRINKING} - endpoint.fields
    unasked = sorted(field for field in told if body.get(field) not in (None, [], {}))
    if unasked:
        source += f"; asked without {', '.join(unasked)}"
    return Quantity(value=_counted[question], unit="tokens", origin="measured", source=source)


def provider_of(model: str) -> Maker:
    """Whose model that is. Raises AgentlabError where its name does not tell."""
    maker = maker_of(model)
    if maker is None:
        raise AgentlabError(f"{model} does not say whose model it is; write anthropic:{model} or openai:{model}")
    return maker


def _ask(provider: Maker, fields: Json, key: str) -> int:
    # Any, because the SDKs type each block of a request, and this one was read from JSON.
    sent: dict[str, Any] = dict(fields)
    try:
        sdk: Any = import_module(provider)  # the two SDKs are twins, but share no type
    except ImportError:
        message = f"the package {provider} is not installed; pip install 'agentlab-toolkit[providers]'"
        raise AgentlabError(message) from None
    import httpx2

    client_of, errors = (
        (sdk.Anthropic, sdk.AnthropicError) if provider == "anthropic" else (sdk.OpenAI, sdk.OpenAIError)
    )
    # The SDKs' own methods count too, but read their answer without a check; the paths are those of `ENDPOINTS`.
    path = ENDPOINTS[provider].path.removeprefix("" if provider == "anthropic" else "/v1")
    deadline = Deadline(Limits(seconds=TIMEOUT))
    try:
        with (
            deadline,
            http_client(sdk, TIMEOUT, deadline=deadline) as http,
            client_of(api_key=key, timeout=TIMEOUT, max_retries=0, http_client=http) as client,
        ):
            answer = client.post(path, cast_to=httpx2.Response, body=sent)
    except (errors, httpx2.RequestError, AnswerError) as error:
        if deadline.passed:
            raise AgentlabError(f"{provider} gave no count within {TIMEOUT:g} s; count offline, or try again") from None
        raise _no_count(provider, error) from None
    try:
        counted = read_json(answer.content.decode()).get("input_tokens")
    except (WireError, ValueError):
        counted = None
    if type(counted) is not int or not 0 <= counted < MOST_TOKENS:
        raise AgentlabError(f"{provider} answered without a count (input_tokens); count offline, or try again")
    return counted


def _no_count(provider: Maker, error: Exception) -> AgentlabError:
    response = getattr(error, "response", None)
    if response is not None and response.is_redirect:
        where = text_without_keys(str(response.headers.get("location")))[:LONGEST_MESSAGE]
        return AgentlabError(f"{provider} gave no count: it sends the request on to {where}, which is not followed")
    said = " ".join(text_without_keys(str(error)).split())[:LONGEST_MESSAGE]
    return AgentlabError(f"{provider} gave no count: {said}")


def _dialects(request: Request) -> Iterable[Dialect]:
    for piece in (request, *request.tools, *request.messages):
        if piece.raw is not None:
            yield piece.raw.dialect
