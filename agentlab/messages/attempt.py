"""One attempt at a model call through a provider's SDK: what was sent, what came back, and what a failure means.

The SDK brings authentication, headers, sockets and the decoding of event streams. The body is ours, and so is the
reading of the answer, from its JSON and not from the SDK's classes: an unknown block becomes a text block there.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import JsonValue

from agentlab.messages.connection import AnswerError, Deadline, Limits, http_client
from agentlab.messages.conversation import Dialect
from agentlab.messages.keys import HIDDEN, SHOWN_HEADERS, key_from_environment, text_without_keys, without_keys
from agentlab.messages.received import is_text, read_json, with_sendable_arguments
from agentlab.messages.retries import Failure, may_pass, seconds_asked
from agentlab.messages.streams import StreamError, assembled
from agentlab.messages.wire import WireError
from agentlab.messages.wire.reading import Json, an_object, not_too_deep
from agentlab.shapes import Frozen

if TYPE_CHECKING:
    import httpx2

SECRET_HEADERS = ("authorization", "x-api-key")

LONGEST_MESSAGE = 400
"""Characters of a provider's own words in an error: it may be a whole web page."""


class Exchange(Frozen):
    """One attempt as it went over the wire; ``sent`` and ``received`` are JSON (or text, where it was none).

    ``headers`` are those of the request that a format depends on, a secret shown as [key]. ``status`` and
    ``received`` are None where no answer came. Of a stream, ``received`` is the list of its events.
    """

    method: str
    path: str
    headers: dict[str, str]
    sent: JsonValue
    status: int | None
    received: JsonValue


class Service(NamedTuple):
    """Where a dialect is spoken, and the names that its SDK has for its parts.

    ``key`` is the environment variable of the key. ``always`` are fields of every body, ``streaming`` those that ask
    for a stream.
    """

    name: str
    dialect: Dialect
    sdk: str
    client: str
    error: str
    key: str
    path: str
    always: Json
    streaming: Json


class Call(NamedTuple):
    """What one attempt needs. ``who`` names the model in errors; ``timeout`` is in seconds, of one silence."""

    service: Service
    who: str
    body: Json
    stream: bool
    base_url: str | None
    timeout: float
    limits: Limits
    show: Callable[[Exchange], None]


def attempt(call: Call) -> Json | Failure:
    """The body of the reply, with every key of the environment taken out of it; or why there is none."""
    seen: list[Exchange] = []
    result = _attempt(call._replace(show=seen.append))
    for exchange in seen[:1]:  # a stream that breaks is noted twice: with the events that came, and as unanswered
        call.show(exchange)
    return result


def _attempt(call: Call) -> Json | Failure:
    import httpx2

    sdk: Any = import_module(call.service.sdk)  # the two SDKs are twins, but share no type
    deadline = Deadline(call.limits)
    try:
        # A client holds the key, so it lives for one attempt, though that costs a new connection each time.
        with (
            deadline,
            http_client(sdk, call.timeout, call.limits, deadline) as http,
            getattr(sdk, call.service.client)(
                api_key=key_from_environment(call.service.key),
                base_url=call.base_url,
                timeout=call.timeout,
                max_retries=0,
                http_client=http,
            ) as client,
        ):
            return _reply(call, client, sdk)
    except sdk.APIStatusError as error:
        failed = _answered(call, error.response, error.body)
    except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
        failed = _unanswered(call, error.request, f"no answer within {call.timeout:g} s")
    except (sdk.APIConnectionError, httpx2.RequestError) as error:
        cause = error.__cause__ or error
        if isinstance(cause, AnswerError):
            failed = _refused(call, cause)
        elif isinstance(cause, httpx2.LocalProtocolError):
            # Its text would quote the header, which may be one that the SDK took from the environment.
            failed = _failure(call, "was not asked: a header cannot be sent; look at ANTHROPIC_CUSTOM_HEADERS", None)
        else:
            failed = _unanswered(call, error.request, f"no connection ({cause})")
    except getattr(sdk, call.service.error) as error:  # an error in a stream, or a setting that the SDK refuses
        failed = _failure(call, str(error), getattr(error, "code", None) or getattr(error, "type", None))
    except AnswerError as error:  # one of the two SDKs wraps it, as above, and one does not
        failed = _refused(call, error)
    except StreamError as error:
        failed = _failure(call, str(error), error.kind)
    except (WireError, ValueError) as error:
        failed = _failure(call, f"sent what is no reply: {error}", None)
    except RecursionError:
        failed = _failure(call, "sent what is no reply: it is nested too deeply", None)
    if deadline.passed:
        failed = _failure(call, f"gave no whole answer within {call.limits.seconds:g} s, and was cut off", None)
    # Returned out here: an exception of the SDK holds the request with its key, and must not hang on one of ours.
    return failed


def _reply(call: Call, client: Any, sdk: Any) -> Json:
    import httpx2

    path, body, dialect = call.service.path, call.body, call.service.dialect
    if call.stream:
        with client.post(path, cast_to=object, body=body, stream=True, stream_cls=sdk.Stream[object]) as stream:
            events: list[JsonValue] = []
            try:
                whole = assembled(_noted(stream, events), dialect)
            finally:
                _show(call, stream.response.request, stream.response.status_code, events)
    else:
        response = client.post(path, cast_to=httpx2.Response, body=body)
        _show(call, response.request, response.status_code, _json_or_text(response.text))
        whole = read_json(response.content.decode())
    whole = an_object(without_keys(whole), "it")
    if whole.get("status") == "failed":  # Responses: the status is 200 and the failure inside
        error = _object(whole.get("error"))
        raise StreamError(f"the response failed: {error.get('message')}", error.get("code"))
    whole = with_sendable_arguments(whole, dialect)
    if not is_text(whole):
        raise WireError("it holds half a surrogate pair, which is no text")
    return whole


def _noted(stream: Iterable[JsonValue], events: list[JsonValue]) -> Iterator[JsonValue]:
    for event in stream:
        not_too_deep(event, "an event")
        events.append(event)
        yield event


def _answered(call: Call, response: "httpx2.Response", body: object) -> Failure:
    """What an answer with an error status means. Both providers say {"error": {"type", "message"}}."""
    if not response.is_success:
        _show(call, response.request, response.status_code, _json_or_text(response.text))
    # Of the two SDKs, one hands over the whole body and one the error in it.
    error = _object(_object(body).get("error", body))
    kind = error.get("code") or error.get("type")
    said = error.get("message") or (body if isinstance(body, str) else None) or "it gives no reason"
    if response.is_redirect:
        said = f"it sends the request on to {response.headers.get('location')}, and a redirect is not followed"
    request_id = response.headers.get("request-id") or response.headers.get("x-request-id")
    # One of the SDKs makes the same exception of an error in a stream, whose status is 200.
    message = (
        (f"answered {response.status_code}" if not response.is_success else "reports in its stream")
        + (f" {kind}" if kind else "")
        + f": {_shortened(str(said))}"
        + (f" (request {request_id})" if request_id else "")
    )
    return Failure(
        _line(call, message),
        may_pass(response.status_code, kind, response.headers.get("x-should-retry")),
        seconds_asked(response.headers),
    )


def _unanswered(call: Call, request: "httpx2.Request", why: str) -> Failure:
    _show(call, request, None, None)
    return Failure(_line(call, f"{why} at {request.url.host}"), may_pass=True)


def _refused(call: Call, error: AnswerError) -> Failure:
    _show(call, error.request, None, None)
    return _failure(call, str(error), None)


def _failure(call: Call, message: str, kind: object) -> Failure:
    return Failure(_line(call, _shortened(message)), may_pass(None, kind, None))


def _show(call: Call, request: "httpx2.Request", status: int | None, received: JsonValue) -> None:
    headers = {name: value for name, value in request.headers.items() if name in SHOWN_HEADERS}
    for name in SECRET_HEADERS:
        if name in request.headers:
            # Of anything but the usual two words, which one is the secret cannot be told.
            bearer = request.headers[name].startswith("Bearer ")
            headers[name] = f"Bearer {HIDDEN}" if bearer else HIDDEN
    call.show(
        Exchange(
            method=request.method,
            path=request.url.path,
            headers={name: text_without_keys(value) for name, value in headers.items()},
            sent=without_keys(_json_or_text(request.content.decode())),
            status=status,
            received=without_keys(received if is_text(received) else json.dumps(received)),
        )
    )


def _json_or_text(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
        not_too_deep(value, "it")
    except (WireError, ValueError, RecursionError):
        return text
    return value


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + " ..."


def _line(call: Call, message: str) -> str:
    return " ".join(text_without_keys(f"{call.who} {message}").split())
