"""Token counts of texts, messages, tool schemas and requests, by any counter of texts; o200k_base if none is given.

What a count stands for (exact, or an estimate of which error) is `agentlab.messages.tokenizers`; a request divided
into its parts is `agentlab.messages.request_count`.
"""

from collections.abc import Callable, Sequence

from pydantic import JsonValue

from agentlab.canonical import canonical_json
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import AssistantMessage, ForeignTool, Message, Request, ToolSchema
from agentlab.messages.vocabulary import EncodingName, encode

TextCounter = Callable[[str], int]
"""Anything that tells how many tokens a text has."""


def count_text(text: str, encoding: EncodingName = "o200k_base") -> int:
    """Tokens of `text` in one of OpenAI's encodings. Markers such as <|endoftext|> count as plain text."""
    return len(encode(text, encoding))


def count_message(message: Message, count: TextCounter = count_text) -> int:
    """Tokens of one message's content: its text, and each call's name and arguments as JSON.

    What a provider adds around a message (roles, separators) is not published and not counted.
    """
    if isinstance(message, AssistantMessage):
        calls = sum(count(call.name) + count(_as_text(call.arguments)) for call in message.tool_calls)
        return count(message.content) + calls
    return count(message.content)


def count_tools(tools: Sequence[ToolSchema | ForeignTool], count: TextCounter = count_text) -> int:
    """Tokens of the tool schemas, written as JSON. How a provider writes them for its model is not published."""
    return sum(count(canonical_json(_definition(tool))) for tool in tools)


def count_request(request: Request, count: TextCounter = count_text) -> int:
    """Tokens of a whole request: system prompt, tool schemas, every message."""
    history = sum(count_message(message, count) for message in request.messages)
    return count(request.system) + count_tools(request.tools, count) + history


def _definition(tool: ToolSchema | ForeignTool) -> JsonValue:
    return tool.raw.value if isinstance(tool, ForeignTool) else tool.model_dump(exclude={"raw"})


def _as_text(arguments: JsonValue) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return canonical_json(arguments)
    except AgentlabError:
        # A model may send what JSON cannot hold. The call will be refused, but its tokens were used all the same.
        return repr(arguments)
