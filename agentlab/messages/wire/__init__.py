"""The wire formats, both ways: what each provider sends and takes, and the one form of it that the rest works with.

    wire = to_wire(request, "anthropic")          # wire.body is the JSON, wire.aliases what had to be renamed
    same = from_wire(wire.body, "anthropic", wire.aliases)
    reply = reply_from_wire(body, "openai-chat")

What the generic form has no place for is kept (`Raw`) and sent back to the same provider to the letter. On the way to
another provider it cannot travel; `convert` then says so, finding by finding.
"""

from typing import get_args

from agentlab.messages.conversation import Dialect
from agentlab.messages.wire.aliases import Aliases
from agentlab.messages.wire.body import Wire, from_wire, reply_from_wire, reply_to_wire, to_wire
from agentlab.messages.wire.convert import Converted, convert
from agentlab.messages.wire.reading import WireError

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

__all__ = [
    "DIALECTS",
    "Aliases",
    "Converted",
    "Wire",
    "WireError",
    "convert",
    "from_wire",
    "reply_from_wire",
    "reply_to_wire",
    "to_wire",
]
