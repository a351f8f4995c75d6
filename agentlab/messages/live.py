"""Live models through the providers' own SDKs (the extra ``providers``): with a key, or at a server on this machine.

    model = model_from("anthropic:claude-sonnet-5")     # or "openai:gpt-6-sol", or "openai-chat:gpt-4o"
    reply = model.complete(request)
    model.last_exchange                                  # what was sent and what came back, without the key

Nothing is held by the server: every request carries its whole history, which is what this course is about.
"""

import json
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Literal, TypedDict, Unpack

from pydantic import JsonValue

from agentlab.errors import AgentlabError
from agentlab.messages.attempt import Call, Exchange, Service, attempt
from agentlab.messages.connection import LIMITS, Limits
from agentlab.messages.conversation import Reply, Request
from agentlab.messages.keys import key_from_environment
from agentlab.messages.models import ModelError
from agentlab.messages.retries import Retries, tried
from agentlab.messages.wire import Wire, WireError, reply_from_wire, to_wire
from agentlab.messages.wire.reading import Json

MAX_OUTPUT_TOKENS = 8_192
"""For Anthropic, which demands a limit, where the request names none. Ours; room for one reply with its calls."""

TIMEOUT = 120.0
"""Seconds for which a connection may stay silent. A reply in one piece is silent until it is written.

What a whole reply may take, in seconds and in bytes, is in `agentlab.messages.connection.Limits`.
"""

ANTHROPIC = Service(
    name="anthropic",
    dialect="anthropic",
    sdk="anthropic",
    client="Anthropic",
    error="AnthropicError",
    key="ANTHROPIC_API_KEY",
    path="/v1/messages",
    always={},
    streaming={"stream": True},
)
OPENAI_CHAT = Service(
    name="openai-chat",
    dialect="openai-chat",
    sdk="openai",
    client="OpenAI",
    error="OpenAIError",
    key="OPENAI_API_KEY",
    path="/chat/completions",
    always={},
    streaming={"stream": True, "stream_options": {"include_usage": True}},
)
OPENAI_RESPONSES = OPENAI_CHAT._replace(
    name="openai",
    dialect="openai-responses",
    path="/responses",
    # A stored response is a state that the server holds. What is not stored must be sent back, and reasoning can be
    # only in encrypted form. Old models that do not reason refuse to include it; extra={"include": []} leaves it out.
    always={"store": False, "include": ["reasoning.encrypted_content"]},
    streaming={"stream": True},
)


class Options(TypedDict, total=False):
    """What can be set on a live model, besides its name.

    ``base_url`` replaces the provider's address; ``stream`` asks for events (the reply is the same one);
    ``max_output_tokens`` goes into requests that name no limit; ``timeout`` is in seconds, of one silence, and
    ``limits`` what a whole reply may take; ``extra`` are fields of a provider's own, added to every body;
    ``on_exchange`` is shown every attempt.
    """

    base_url: str | None
    stream: bool
    max_output_tokens: int | None
    timeout: float
    limits: Limits
    retries: Retries
    extra: Mapping[str, JsonValue]
    on_exchange: Callable[[Exchange], None]


class _Live:
    """What the two classes below share: from the request to the reply."""

    def __init__(self, name: str, service: Service, options: Options) -> None:
        if not name.strip():
            raise AgentlabError(f"{service.name} needs the name of a model; write {service.name}:NAME")
        if find_spec(service.sdk) is None:
            raise AgentlabError(
                f"the package {service.sdk} is not installed; run: pip install 'agentlab-toolkit[providers]'"
            )
        key_from_environment(service.key)  # to say at once that there is none; it is read again for each attempt
        base_url = options.get("base_url")
        if base_url is not None and not base_url.startswith(("http://", "https://")):
            raise AgentlabError(f"the base_url {base_url!r} is no address; it begins with http:// or https://")
        self.name = name.strip()
        self.service = service
        self.last_exchange: Exchange | None = None
        self._options = options
        self._retries = options.get("retries", Retries())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._who!r})"

    def body(self, request: Request) -> Json:
        """The JSON that `complete` sends for `request`."""
        return self._body(self._wire(request))

    def complete(self, request: Request) -> Reply:
        """Send `request` and read the reply. Raises `ModelError`, in one line, where none came that can be read."""
        wire = self._wire(request)
        body = self._body(wire)
        try:
            json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{self._who}: the request is no JSON that can be sent ({error})") from None
        options = self._options
        call = Call(
            service=self.service,
            who=self._who,
            body=body,
            stream=options.get("stream", False),
            base_url=options.get("base_url"),
            timeout=options.get("timeout", TIMEOUT),
            limits=options.get("limits", LIMITS),
            show=self._show,
        )
        received = tried(lambda: attempt(call), self._retries)
        try:
            return reply_from_wire(received, self.service.dialect, wire.aliases)
        except WireError as error:
            raise ModelError(f"{self._who} sent what is no reply: {error}") from None

    @property
    def _who(self) -> str:
        return f"{self.service.name}:{self.name}"

    def _wire(self, request: Request) -> Wire:
        limit = self._options.get("max_output_tokens")
        if request.max_output_tokens is None and limit is not None:
            request = request.model_copy(update={"max_output_tokens": limit})
        return to_wire(request, self.service.dialect)

    def _body(self, wire: Wire) -> Json:
        # A request that was read from a file may name its own model and ask for a stream; this object decides both.
        rest = {key: value for key, value in wire.body.items() if key not in ("model", "stream", "stream_options")}
        streaming = self.service.streaming if self._options.get("stream", False) else {}
        return {"model": self.name, **rest, **self.service.always, **streaming, **self._options.get("extra", {})}

    def _show(self, exchange: Exchange) -> None:
        self.last_exchange = exchange
        if "on_exchange" in self._options:
            self._options["on_exchange"](exchange)


class Anthropic(_Live):
    """A model behind Anthropic's Messages API; the key is in ANTHROPIC_API_KEY.

    Raises AgentlabError where the SDK, the key or the name is missing.
    """

    def __init__(self, name: str, **options: Unpack[Options]) -> None:
        if options.get("max_output_tokens") is None:
            options["max_output_tokens"] = MAX_OUTPUT_TOKENS
        super().__init__(name, ANTHROPIC, options)


class OpenAI(_Live):
    """A model behind OpenAI's Responses or Chat Completions API, or a server that resembles it; OPENAI_API_KEY.

    Raises AgentlabError where the SDK, the key or the name is missing.
    """

    def __init__(
        self, name: str, *, api: Literal["responses", "chat"] = "responses", **options: Unpack[Options]
    ) -> None:
        super().__init__(name, OPENAI_RESPONSES if api == "responses" else OPENAI_CHAT, options)


def model_from(text: str, **options: Unpack[Options]) -> Anthropic | OpenAI:
    """The live model that `text` names: "anthropic:NAME", "openai:NAME" (Responses) or "openai-chat:NAME".

    Raises AgentlabError for another text, and where the SDK or the key is missing.
    """
    provider, colon, name = text.partition(":")
    match provider.strip() if colon else "":
        case "anthropic":
            return Anthropic(name, **options)
        case "openai":
            return OpenAI(name, **options)
        case "openai-chat":
            return OpenAI(name, api="chat", **options)
    raise AgentlabError(f"{text!r} names no model; write anthropic:NAME, openai:NAME or openai-chat:NAME")
