"""The rules on a request: what a provider refuses about it, found before it is asked.

    check(body, "anthropic")                    # a list of findings, empty where nothing is wrong
    check(messages, "openai-chat", tools=...)   # a bare list of wire messages, or generic messages
    check(body, "anthropic", strict=False)      # where the provider joins messages, so does the check

A1 to A11, C1 to C3, R1 and R2 are rules of order and pairing, one letter a dialect. N1 to N5 are limits of names, ids
and sizes; M1 to M6 are on the fields and parts of a message. T1 to T6 are on tools and tool_choice, S1 to S3 on strict
schemas, B1 to B11 on the other fields of a body. `RULES` has a row for each, with what the provider says and how well
that is known.
A rule that cannot be seen from the request alone is silent: a thinking block's or a summary's signature, the provider's
own copy of a conversation, and A8 without the history as it was received. A field without a rule is not looked at.
"""

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing import anthropic, kept, openai_chat, openai_responses
from agentlab.messages.pairing.choices import choice_findings
from agentlab.messages.pairing.fields import field_findings
from agentlab.messages.pairing.history import Checkable, History, Tools, read_history
from agentlab.messages.pairing.limits import size_findings, tool_findings
from agentlab.messages.pairing.parts import part_findings
from agentlab.messages.pairing.requests import anthropic_findings, empty_findings
from agentlab.messages.pairing.rule import Rule
from agentlab.messages.pairing.rules import RULES
from agentlab.messages.pairing.tools import definition_findings
from agentlab.shapes import Finding

__all__ = ["RULES", "Rule", "check"]


def check(
    messages: Checkable,
    dialect: Dialect,
    strict: bool = True,
    tools: Tools | None = None,
    before: Checkable | None = None,
    whole: bool = False,
) -> list[Finding]:
    """What `dialect` would refuse about a request, in the order of its places in the rules' own reading.

    `messages` is a request body, a bare list of its messages or items, or a `Request` or list of generic messages,
    which is written to the dialect first. `tools` go with a bare list. `strict` False accepts as a warning what
    Anthropic joins and other servers of its dialect refuse: results of one turn in several user messages. `before` is
    the history as it was received; only with it can A8 be checked. `whole` says that nothing will be added to the body
    before it is sent, so that what it lacks is missing (B1, B9); a body that names its model is taken for whole in any
    case, a bare list never. Time grows with the size of the request alone.
    Raises WireError for what cannot be read as that dialect at all.
    """
    history = read_history(messages, dialect, tools, whole)
    if dialect == "anthropic":
        found = _check_anthropic(history, strict, before)
    elif dialect == "openai-chat":
        found = list(openai_chat.order(history))
    else:
        found = list(openai_responses.order(history))
    return [
        *found,
        *part_findings(history),
        *empty_findings(history),
        *field_findings(history),
        *tool_findings(history),
        *definition_findings(history),
        *choice_findings(history),
        *size_findings(history),
    ]


def _check_anthropic(history: History, strict: bool, before: Checkable | None) -> list[Finding]:
    turns, malformed = anthropic.read_turns(history)
    found = [
        *malformed,
        *anthropic.order(turns, strict=strict, elsewhere=history.elsewhere),
        *anthropic.server_tools(turns, elsewhere=history.elsewhere),
        *kept.compaction(history, turns),
        *anthropic_findings(history, turns),
    ]
    if before is not None:
        received, _ = anthropic.read_turns(read_history(before, "anthropic"))
        found += kept.thinking(turns, received)
    return found
