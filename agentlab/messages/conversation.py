"""The four messages of a tool call, in a form that belongs to no provider.

1. `Request`: tool schemas and the conversation so far.
2. `Reply`: the model asks for calls (it has run nothing), or answers.
3. `Request` again: everything of the first one, the assistant's message and the results.
4. `Reply`: the answer.

The models are frozen and strict. The field ``role`` tells the kinds of message apart. What a provider sent and this
form has no place for travels along in ``raw``, so that it can be sent back to that provider to the letter
(`agentlab.messages.wire`); no mechanism looks at it.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from agentlab.shapes import Frozen


class StopReason(StrEnum):
    """Why a reply ended. Only a reply that ended with `TOOL` may have its calls run."""

    TOOL = "tool"
    END = "end"
    LENGTH = "length"
    CONTEXT_FULL = "context_full"
    REFUSAL = "refusal"
    PAUSE = "pause"
    COMPACTION = "compaction"
    UNKNOWN = "unknown"


Dialect = Literal["anthropic", "openai-chat", "openai-responses"]
"""The wire formats that are spoken here: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses."""


class Raw(Frozen):
    """A piece of a provider's JSON that says more than the fields beside it.

    ``value`` is that JSON; for a message, a list of wire messages (or items) with what is this message's alone. It is
    sent back only while it still says the same as the message. ``joined`` is True for a message that shares the wire
    message of the one before it: each of several results, and the text behind them, has blocks of its own there.
    """

    dialect: Dialect
    value: JsonValue
    joined: bool = False


class ToolSchema(Frozen):
    """What the model is told about a tool: its name, its purpose, the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, JsonValue]
    raw: Raw | None = None


class ForeignTool(Frozen):
    """A tool that only its own provider knows and runs (a web search by the server)."""

    raw: Raw


class ToolChoice(Frozen):
    """Whether the model may, must or must not call a tool; ``name`` goes with the mode ``tool`` alone."""

    mode: Literal["auto", "any", "none", "tool"]
    name: str | None = None


class ToolCall(Frozen):
    """A call that the model asks for. ``arguments`` is what the provider delivered, unread.

    Usually that is an object; it is text where the model wrote no valid JSON object. Nothing may
    use it before `agentlab.messages.arguments.parse_arguments` has.
    """

    id: str
    name: str
    arguments: JsonValue


class UserMessage(Frozen):
    """What the user, or the program on the user's behalf, says to the model."""

    role: Literal["user"] = "user"
    content: str
    raw: Raw | None = None


class AssistantMessage(Frozen):
    """What the model said: text, calls, or both."""

    role: Literal["assistant"] = "assistant"
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    raw: Raw | None = None


class ToolResult(Frozen):
    """The answer to one call, paired by ``call_id``. An error is data here, so that the model can act on it."""

    role: Literal["tool"] = "tool"
    call_id: str
    content: str
    is_error: bool = False
    raw: Raw | None = None


class SystemMessage(Frozen):
    """An instruction of the operator in the middle of the conversation. Never made from a tool's result."""

    role: Literal["system"] = "system"
    content: str
    raw: Raw | None = None


class ForeignMessage(Frozen):
    """A piece of a conversation that only its own provider understands (a reasoning item, a search by the server)."""

    role: Literal["foreign"] = "foreign"
    content: str = ""
    raw: Raw


Message = Annotated[
    UserMessage | AssistantMessage | ToolResult | SystemMessage | ForeignMessage, Field(discriminator="role")
]


class Usage(Frozen):
    """Tokens of one model call.

    ``input_tokens`` counts the whole request, the parts read from and written to a cache included, whatever the
    provider's own field counts. ``output_tokens`` includes ``reasoning_tokens``.
    """

    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _no_part_is_more_than_the_whole(self) -> Self:
        if self.cache_read_tokens + self.cache_write_tokens > self.input_tokens:
            raise ValueError("the tokens read from and written to a cache are part of the input, and cannot be more")
        if self.reasoning_tokens > self.output_tokens:
            raise ValueError("the tokens of reasoning are part of the output, and cannot be more")
        return self


class Request(Frozen):
    """One model call: the API keeps no state, so it carries the whole conversation every time."""

    system: str = ""
    tools: tuple[ToolSchema | ForeignTool, ...] = ()
    messages: tuple[Message, ...]
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_output_tokens: int | None = None
    raw: Raw | None = None


class Reply(Frozen):
    """What came back from one model call. ``usage`` is None where the model reports none that can be true."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop: StopReason
    usage: Usage | None = None
    raw: Raw | None = None

    @property
    def message(self) -> AssistantMessage:
        """The reply as the message that goes into the next request."""
        return AssistantMessage(content=self.content, tool_calls=self.tool_calls, raw=self.raw)
