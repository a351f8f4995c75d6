"""The HTTP client under the providers' SDKs: what one answer may take, in seconds and in bytes.

The SDKs have a timeout, but it is for one silence. A server that sends a byte now and then, or never ends its headers,
holds a run for ever; one that sends without end fills the memory. `Limits` ends both.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    import httpx2


class Timer(Protocol):
    """What is used of `threading.Timer`."""

    daemon: bool

    def start(self) -> None:
        """Begin to wait."""

    def cancel(self) -> None:
        """Wait no longer."""


class Limits(NamedTuple):
    """What one attempt may take: ``seconds`` from its beginning to the last byte, ``largest`` bytes of answer.

    Ours: longer than a long reply takes, and larger than the events of one are. ``timer`` is for tests, which do not
    wait.
    """

    seconds: float = 900.0
    largest: int = 32 * 2**20
    timer: Callable[[float, Callable[[], None]], Timer] = threading.Timer


LIMITS = Limits()
"""What an attempt may take where nothing else is said."""


class AnswerError(AgentlabError):
    """We stopped reading the answer to `request`; the message says why, and continues a sentence about the server."""

    def __init__(self, message: str, request: "httpx2.Request") -> None:
        super().__init__(message)
        self.request = request


class Deadline:
    """While its block runs: after that many seconds every connection made in it is cut, whatever it waits for."""

    def __init__(self, limits: Limits) -> None:
        self.passed = False
        self._sockets: list[socket.socket] = []
        self._timer = limits.timer(limits.seconds, self._pass)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by the HTTP client of each of its steps (its extension "trace"), and so of each new connection."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.passed:
                self._pass()

    def _pass(self) -> None:
        self.passed = True
        for connected in self._sockets:
            try:
                # Not close, which would leave the thread that reads waiting; and of TLS the connection below it.
                socket.socket.shutdown(connected, socket.SHUT_RDWR)
            except OSError:
                continue  # it is closed already


def http_client(sdk: Any, timeout: float, limits: Limits = LIMITS, deadline: Deadline | None = None) -> Any:
    """An HTTP client for one of the two SDKs, with its own settings except for these.

    It follows no redirect, which would take the whole history to another host; reads every answer as UTF-8, because the
    charset that an answer names may be any codec of Python's, such as one that unpacks; and takes no packed answer,
    which may be small on the wire and fill the memory. `timeout` is in seconds, of one silence.
    """

    def sending(request: "httpx2.Request") -> None:
        if deadline is not None:
            request.extensions["trace"] = deadline.watch

    def answered(response: "httpx2.Response") -> None:
        packing = response.headers.get("content-encoding", "identity")
        if packing != "identity":
            raise AnswerError(f"packed its answer ({packing[:40]}), though asked not to", response.request)
        response.encoding = "utf-8"
        response.stream = _bounded(response, limits.largest)

    return sdk.DefaultHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        event_hooks={"request": [sending], "response": [answered]},
    )


def _bounded(response: "httpx2.Response", largest: int) -> "httpx2.SyncByteStream":
    import httpx2

    stream: Any = response.stream  # typed as one that may be asynchronous too

    class Bounded(httpx2.SyncByteStream):
        """The bytes of the response, up to the largest answer that is read."""

        def __iter__(self) -> Iterator[bytes]:
            length = 0
            for chunk in stream:
                length += len(chunk)
                if length > largest:
                    raise AnswerError(f"answered with more than {largest:,} bytes, and was cut off", response.request)
                yield chunk

        def close(self) -> None:
            stream.close()

    return Bounded()
