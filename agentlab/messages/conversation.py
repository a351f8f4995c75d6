"""The four messages of a tool call, in a form that belongs to no provider.

1. `Request`: tool schemas and the conversation so far.
2. `Reply`: the model asks for calls (it has run nothing), or answers.
3. `Request` again: everything of the first one, the assistant's message and the results.
4. `Reply`: the answer.

The models are frozen and strict. A message is one of `UserMessage`, `AssistantMessage` and
`ToolResult`; the field ``role`` tells them apart.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

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


class ToolSchema(Frozen):
    """What the model is told about a tool: its name, its purpose, the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


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


class AssistantMessage(Frozen):
    """What the model said: text, calls, or both."""

    role: Literal["assistant"] = "assistant"
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


class ToolResult(Frozen):
    """The answer to one call, paired by ``call_id``. An error is data here, so that the model can act on it."""

    role: Literal["tool"] = "tool"
    call_id: str
    content: str
    is_error: bool = False


Message = Annotated[UserMessage | AssistantMessage | ToolResult, Field(discriminator="role")]


class Usage(Frozen):
    """Tokens of one model call: ``input_tokens`` counts the whole request, cached parts included."""

    input_tokens: int
    output_tokens: int


class Request(Frozen):
    """One model call: the API keeps no state, so it carries the whole conversation every time."""

    system: str = ""
    tools: tuple[ToolSchema, ...] = ()
    messages: tuple[Message, ...]


class Reply(Frozen):
    """What came back from one model call. ``usage`` is None where the model reports none."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop: StopReason
    usage: Usage | None = None

    @property
    def message(self) -> AssistantMessage:
        """The reply as the message that goes into the next request."""
        return AssistantMessage(content=self.content, tool_calls=self.tool_calls)
