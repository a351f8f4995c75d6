"""The archive of a run: its whole transcript, stored before anything is removed from what the model sees.

Chat memory is what is put into the next prompt; chat history is the record, kept whole. This is the second one.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from agentlab.errors import AgentlabError
from agentlab.messages.conversation import Message, ToolResult
from agentlab.store import create_tables, reason_of

if TYPE_CHECKING:
    from sqlalchemy import Engine, Table

_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)


class Archive:
    """Transcripts by run, append-only, in the database of `engine`. Raises AgentlabError where it cannot be written."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        create_tables(engine, _transcripts().metadata)

    def save(self, run_id: str, messages: Sequence[Message]) -> None:
        """Store the messages of the run that are not stored yet; `messages` is the whole transcript so far.

        All or nothing: either every message is in the archive afterwards, or AgentlabError says why not.
        """
        import sqlalchemy
        from sqlalchemy.exc import SQLAlchemyError

        table = _transcripts()
        try:
            with self._engine.begin() as connection:
                count = sqlalchemy.select(sqlalchemy.func.count()).where(table.c.run == run_id)
                stored = connection.execute(count).scalar_one()
                rows = [
                    {"run": run_id, "position": i, "call_id": getattr(messages[i], "call_id", None), "message": text}
                    for i, text in enumerate(map(_written, messages[stored:]), start=stored)
                ]
                if rows:
                    connection.execute(table.insert(), rows)
        except SQLAlchemyError as error:
            raise AgentlabError(f"the transcript of run {run_id} cannot be archived: {reason_of(error)}") from None

    def transcript(self, run_id: str) -> tuple[Message, ...]:
        """All messages of the run that were stored, in order; empty for a run that is not known."""
        table = _transcripts()
        query = table.select().where(table.c.run == run_id).order_by(table.c.position)
        with self._engine.connect() as connection:
            return tuple(_read(row) for row in connection.execute(query))

    def result(self, run_id: str, call_id: str) -> ToolResult | None:
        """The whole result of one call of the run, or None: what a handle stands for."""
        table = _transcripts()
        query = table.select().where(table.c.run == run_id, table.c.call_id == call_id)
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        found = None if row is None else _read(row)
        return found if isinstance(found, ToolResult) else None


def _written(message: Message) -> str:
    return message.model_dump_json()


def _read(row: Any) -> Message:
    return _MESSAGE.validate_json(row.message)


@cache
def _transcripts() -> "Table":
    from sqlalchemy import Column, Integer, MetaData, String, Table, Text

    return Table(
        "transcripts",
        MetaData(),
        Column("run", String, primary_key=True),
        Column("position", Integer, primary_key=True),
        Column("call_id", String, nullable=True, index=True),
        Column("message", Text, nullable=False),
    )
