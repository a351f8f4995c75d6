"""What lesson 01 says of Anthropic's SDK is what the SDK does: a call that was cut is delivered as if it were whole."""

import pytest
from loopback import KEY, Events, Loopback
from pydantic_core import from_json

from agentlab.messages.arguments import parse_arguments

WHOLE = '{"invoice_id": "INV-1042", "amount_cents": 120000, "hold": true}'
INPUTS = {
    '{"invoice_id": "INV-10': {},
    '{"invoice_id": "INV-1042", "amount_cents": 12': {"invoice_id": "INV-1042", "amount_cents": 12},
    '{"invoice_id": "INV-1042", "amount_cents": 120000, "ho': {"invoice_id": "INV-1042", "amount_cents": 120000},
}


def stream_of(text):
    """A stream with one call whose arguments end with `text`, where the limit of output tokens was reached."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    call = {"type": "tool_use", "id": "toolu_1", "name": "invoice_hold", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": text}
    end = {"stop_reason": "max_tokens", "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize("text", INPUTS)
def test_the_sdk_delivers_a_cut_call_as_pydantics_partial_reader_reads_it(text):
    import anthropic

    assert WHOLE.startswith(text)
    with (
        Loopback([Events(stream_of(text))]) as server,
        anthropic.Anthropic(auth_token=KEY, api_key=None, base_url=server.url, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=5, messages=[{"role": "user", "content": "?"}]) as stream,
    ):
        message = stream.get_final_message()
    assert message.stop_reason == "max_tokens"
    assert message.content[0].input == from_json(text, allow_partial=True) == INPUTS[text]
    assert parse_arguments(text).values is None
