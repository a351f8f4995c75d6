"""ANTHROPIC_CUSTOM_HEADERS: Anthropic's SDK sends them, and nothing that we show may hold them."""

import logging
import traceback

import pytest
from loopback import KEY, Body, Loopback, Status
from test_live import ASK, END

from agentlab.messages.models import ModelError
from agentlab.messages.retries import Retries

VALUE = "gateway-secret-0123456789"


def run(monkeypatch, headers, answer=END, **options):
    """What can be seen of one call with these custom headers: the exchange and the error as texts."""
    seen = []
    with Loopback([]) as server:
        server._answers = [answer]
        model = server.model("anthropic:test", monkeypatch, retries=Retries(1), on_exchange=seen.append, **options)
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)
        try:
            seen.append(model.complete(ASK))
        except ModelError as error:
            seen += [str(error), repr(error), *traceback.format_exception(error), error.__cause__, error.__context__]
        sent = server.seen[0].headers if server.seen else {}
        server._answers, server.problems = [], []
    return model, sent, [repr(each) for each in seen]


@pytest.mark.parametrize(
    "answer",
    [END, Status(401, f"no: {VALUE}", VALUE), Body(VALUE, "text/plain"), Body({"error": VALUE})],
    ids=["reply", "status", "text", "body"],
)
@pytest.mark.parametrize("headers", [f"X-Gateway: {VALUE}", f"X-A: b\nX-Gateway: Token {VALUE}", f"x-api-key:{VALUE}"])
def test_a_header_of_a_gateway_is_sent_and_not_shown(headers, answer, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    _, sent, seen = run(monkeypatch, headers, answer)
    assert any(VALUE in value for value in sent.values())
    assert not [text for text in [*seen, caplog.text] if VALUE in text]


def test_an_authorization_of_more_words_than_two_is_hidden_whole(monkeypatch):
    model, sent, seen = run(monkeypatch, "Authorization: Digest short secrets")
    assert sent["authorization"] == "Digest short secrets"
    assert model.last_exchange.headers["authorization"] == "[key]"
    assert not [text for text in seen if "short" in text]


def test_headers_that_say_the_form_are_shown_wherever_they_come_from(monkeypatch):
    model, _, _ = run(monkeypatch, "anthropic-beta: context-management-2025-06-27\nX-Tenant: nine")
    assert model.last_exchange.headers["anthropic-beta"] == "context-management-2025-06-27"
    assert model.last_exchange.headers["authorization"] == "Bearer [key]"
    assert KEY not in str(model.last_exchange)


@pytest.mark.parametrize("headers", [f"X Gateway: {VALUE}", f"X-Gateway: {VALUE}\rshort"])
def test_a_header_that_cannot_be_sent_is_told_without_its_value(headers, monkeypatch):
    _, sent, seen = run(monkeypatch, headers)
    assert sent == {}
    assert any("a header cannot be sent; look at ANTHROPIC_CUSTOM_HEADERS" in text for text in seen)
    assert not [text for text in seen if VALUE in text or "short" in text]
