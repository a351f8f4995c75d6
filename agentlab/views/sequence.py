"""The messages of one tool call as a sequence diagram, each with the tokens of its parts."""

from collections.abc import Sequence

from agentlab.messages.conversation import Dialect, Reply, Request, ToolResult
from agentlab.views.tables import Table
from agentlab.views.tokens import AT_LEAST, messages_table


def sequence(
    messages: Sequence[Request | Reply], model: str | None = None, dialect: Dialect | None = None
) -> tuple[str, Table]:
    """A Mermaid sequence diagram of requests and replies, and the table of tokens that its numbers are from.

    Between a reply with calls and the next request stands what your code does: each call, and its result.
    """
    table = messages_table(messages, model, dialect)
    least = "at least " if table.columns[-1] == AT_LEAST else ""
    lines = [
        "sequenceDiagram",
        "    accTitle: The messages of a tool call",
        f"    accDescr: {len(messages)} messages between your code and the model. Your code runs the tool. "
        "Every request repeats all that came before.",
        "    participant T as the tool",
        "    participant C as your code",
        "    participant M as the model",
    ]
    for number, (message, row) in enumerate(zip(messages, table.rows, strict=True), start=1):
        parts = [f"{name} {n}" for name, n in zip(table.columns[1:-1], row[1:-1], strict=True) if n != "0"]
        arrow, what = ("C->>M", "request") if isinstance(message, Request) else ("M-->>C", "reply")
        lines.append(f"    {arrow}: {number} {what}: {least}{row[-1]} tokens<br/>({', '.join(parts)})")
        following = messages[number] if number < len(messages) else None
        if isinstance(message, Reply) and message.tool_calls:
            lines.append("    Note over C: the model has run nothing<br/>your code decides")
            lines += _calls(message, following)
    return "\n".join(lines) + "\n", table


def _calls(reply: Reply, following: Request | Reply | None) -> list[str]:
    """The arrows of the calls that have a result in the next request."""
    messages = following.messages if isinstance(following, Request) else ()
    answered = {message.call_id for message in messages if isinstance(message, ToolResult)}
    names = [call.name for call in reply.tool_calls if call.id in answered]
    return [line for name in names for line in (f"    C->>T: {name}", f"    T-->>C: result of {name}")]
