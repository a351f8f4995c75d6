"""The rules, one row each: what it demands, what the provider says when it is broken, and how well that is known.

The rows here are those of the conversation: order, ids, names, sizes. `message_rules` has those of a message's fields
and parts, `request_rules` those of the rest of a request: its tools, their schemas, its fields. `RULES` holds them all.
"""

import reprlib
from typing import Literal

from agentlab.messages.conversation import Dialect
from agentlab.messages.pairing.message_rules import MESSAGE_RULES
from agentlab.messages.pairing.request_rules import REQUEST_RULES
from agentlab.messages.pairing.rule import Rule
from agentlab.shapes import Finding

_A: Dialect = "anthropic"
_C: Dialect = "openai-chat"
_R: Dialect = "openai-responses"

_ROWS = (
    Rule(
        "A1",
        _A,
        "every tool_use has its tool_result in the very next message",
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_x.",
        "docs, Handle tool calls; anthropics/claude-code#1686",
        "documented",
        "answer every call of an assistant message in the one user message after it, or take the call out",
    ),
    Rule(
        "A2",
        _A,
        "a tool_result answers a tool_use of the previous message",
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_x.",
        "a 400 of the real API, recorded in the tests of anthropic-sdk-python 0.121",
        "recorded",
        "move the result right behind its call, or take it out together with the call",
    ),
    Rule(
        "A3",
        _A,
        "tool_result blocks come first in a user's content, text after them",
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_x.",
        "docs, Handle tool calls",
        "documented",
        "put the text behind the results",
    ),
    Rule(
        "A4",
        _A,
        "the ids of tool_use blocks are unique over the request",
        "`tool_use` ids must be unique",
        "trycua/cua#524, BerriAI/litellm#23510",
        "reported",
        "give the second call, and its result, an id of its own",
    ),
    Rule(
        "A5",
        _A,
        "a call has one result",
        "",
        "Kilo-Org/kilocode#3772 removes duplicates; the provider's text is unknown",
        "unverified",
        "keep one of the results",
    ),
    Rule(
        "A6",
        _A,
        "the names of the tools are unique",
        "tools: Tool names must be unique.",
        "anthropics/claude-code#10687",
        "reported",
        "rename or remove the second tool",
    ),
    Rule(
        "A7",
        _A,
        "while a tool of the server is pending, user messages hold tool_results and nothing else; "
        "a server's result has its server_tool_use before it",
        "... was found without a corresponding `web_search_tool_result` block",
        "docs, Stop reasons; the second half: anthropics/claude-code#84783",
        "documented",
        "send the results alone (or the assistant's message as it is), and the text when the server's result is there",
    ),
    Rule(
        "A8",
        _A,
        "the thinking blocks of the latest assistant message go back as they came",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        "docs, Errors",
        "documented",
        "send these blocks back to the letter: all of them, in their order, signatures included",
    ),
    Rule(
        "A9",
        _A,
        "no text holds half a surrogate pair",
        "The request body is not valid JSON: no low surrogate in string",
        "anomalyco/opencode#13988; from Python the SDK raises UnicodeEncodeError before it sends",
        "reported",
        "replace the half pair by U+FFFD; cut text between characters, not between UTF-16 units",
    ),
    Rule(
        "A10",
        _A,
        "at least one tool is not deferred",
        "At least one tool must have defer_loading=false. All tools cannot be deferred.",
        "docs, Tool search",
        "documented",
        "let the search tool, or the tools used most, load at once",
    ),
    Rule(
        "A11",
        _A,
        "one compaction block with content, as the first block of the conversation and not in a system message; "
        "no compaction is asked for in the middle of a turn",
        "compaction_block_ambiguous, compaction_block_misplaced, compaction_incomplete_turn (field error_code)",
        "anthropic SDK 2.14, types/compaction_*_error.py",
        "sdk",
        "send the block that came last, first and to the letter, in place of what it summarises; compact between turns",
    ),
    Rule(
        "C1",
        _C,
        "an assistant message with tool_calls is followed by a tool message for each of their ids",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "agno-agi/agno#3105",
        "reported",
        "put a tool message for each call right behind the assistant message, before anything else",
    ),
    Rule(
        "C2",
        _C,
        "a tool message responds to a call of the assistant message before it, and it is the only one that does",
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'; "
        "Duplicate value for 'tool_call_id'",
        "langchain-ai/langchain#35313; duplicates: agno-agi/agno#5116, anomalyco/opencode#1211",
        "reported",
        "move the tool message behind its call, or take it out",
    ),
    Rule(
        "C3",
        _C,
        "content may be null only on an assistant message with tool_calls",
        "",
        "OpenAI's specification (Required unless tool_calls or function_call is specified)",
        "specified",
        'send a text, "" at least',
    ),
    Rule(
        "R1",
        _R,
        "every call has an output after it, and a call_id of its own",
        "No tool output found for function call call_x.",
        "openai/openai-agents-python#2317; unique ids: the SDK's history checker",
        "reported",
        "add an output item with the call's call_id behind the call, or take the call out",
    ),
    Rule(
        "R2",
        _R,
        "an output has its call before it, and it is the only one that answers it",
        "No tool call found for function call output with call_id call_x.",
        "OpenMinis/OpenMinis#222; order and duplicates: the SDK's history checker",
        "reported",
        "move the output behind its call, or take it out",
    ),
    Rule(
        "N1",
        None,
        "the name of a tool is of a-z A-Z 0-9 _ - and no longer than the provider takes (Anthropic and OpenAI "
        "Responses 128, OpenAI Chat 64; in an Anthropic history 200 of any characters)",
        "string does not match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        "both specifications; pingdotgg/t3code#12084 quotes the limit of 64 from an older Anthropic API",
        "specified",
        "exchange the name in the tool, the calls and tool_choice alike; in Python, to_wire(from_wire(body, dialect), "
        "dialect) of agentlab.messages.wire does so, reversibly",
    ),
    Rule(
        "N2",
        None,
        "the id of a call is one that the provider takes (Anthropic: of a-z A-Z 0-9 _ -; OpenAI Chat up to 40 "
        "characters, OpenAI Responses up to 64)",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
        "both specifications; microsoft/autogen#6377",
        "specified",
        "exchange the id in the call and in its result alike; in Python, to_wire(from_wire(body, dialect), dialect) of "
        "agentlab.messages.wire does so, reversibly",
    ),
    Rule(
        "N3",
        _C,
        "a request has at most 128 tools",
        "Invalid 'tools': array too long. Expected an array with maximum length 128",
        "zed-industries/zed#32946",
        "reported",
        "offer fewer tools, or a tool that searches for tools",
    ),
    Rule(
        "N4",
        _A,
        "a request has at most 100,000 messages and 32 MB",
        "",
        "Anthropic's specification and docs",
        "documented",
        "compact the history",
    ),
    Rule(
        "N5",
        _R,
        "the output of a call has at most 10,485,760 characters",
        "",
        "OpenAI's specification",
        "specified",
        "return a part, and a way to ask for more",
    ),
)

RULES: dict[str, Rule] = {row.id: row for row in (*_ROWS, *MESSAGE_RULES, *REQUEST_RULES)}
"""All rules by id, in the order in which they are told."""


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = 8
_SHORT.maxstring = _SHORT.maxother = 70


def finding(
    rule: str, where: str, message: str, level: Literal["must", "should"] = "must", fix: str | None = None
) -> Finding:
    """What `rule` says about the place `where`; a rule that nobody verified says so.

    The way out is the rule's own, or `fix` where the place allows a closer one.
    """
    row = RULES[rule]
    doubt = " (what the provider does then is not verified)" if row.evidence == "unverified" else ""
    return Finding(
        rule=rule, level=level, where=_text(where), message=_text(message + doubt), fix=_text(fix or row.fix)
    )


def moving(place: str) -> str:
    """The way out where the result of a call is there, but in the wrong place."""
    return f"move {place} right behind the call: that one move mends what is said of it and of what stands between, too"


def shown(value: object) -> str:
    """A value from the wire, short and on one line, for a message; of what is nested deeply, the outer levels."""
    try:
        text = _SHORT.repr(value[:60] if isinstance(value, str) else value)
    except ValueError:  # Python writes no whole number of more than some thousand digits
        return "a number with very many digits"
    return text if len(text) <= 70 else text[:66] + " ..."


def _text(text: str) -> str:
    # A finding is printed and sent as JSON, which half a surrogate pair in the checked body must not prevent.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
