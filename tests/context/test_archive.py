"""The archive keeps a transcript whole, in order, each message once."""

import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.archive import Archive
from agentlab.errors import AgentlabError
from agentlab.messages.conversation import AssistantMessage, Message, Raw, ToolCall, ToolResult, UserMessage
from agentlab.store import open_store

MESSAGES: tuple[Message, ...] = (
    UserMessage(content="Pay \u20ac 5."),
    AssistantMessage(content="", tool_calls=(ToolCall(id="c1", name="look", arguments={"n": 10**18}),)),
    ToolResult(call_id="c1", content="found", is_error=False),
    AssistantMessage(content="done", raw=Raw(dialect="anthropic", value=[{"role": "assistant", "content": []}])),
)


def test_a_transcript_comes_back_as_it_was() -> None:
    archive = Archive(open_store("sqlite://"))
    archive.save("r1", MESSAGES)
    assert archive.transcript("r1") == MESSAGES
    assert archive.transcript("r2") == ()


@given(st.lists(st.integers(0, len(MESSAGES)), max_size=6))
def test_saving_again_adds_what_is_new_and_nothing_else(cuts: list[int]) -> None:
    archive = Archive(open_store("sqlite://"))
    for cut in sorted(cuts):
        archive.save("r1", MESSAGES[:cut])
    assert archive.transcript("r1") == MESSAGES[: max(cuts, default=0)]


def test_a_result_is_found_by_its_call_in_its_own_run() -> None:
    archive = Archive(open_store("sqlite://"))
    archive.save("r1", MESSAGES)
    assert archive.result("r1", "c1") == MESSAGES[2]
    assert archive.result("r1", "c2") is None
    assert archive.result("r2", "c1") is None


def test_a_transcript_outlives_the_process(tmp_path: pytest.TempPathFactory) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    Archive(open_store(url)).save("r1", MESSAGES)
    assert Archive(open_store(url)).transcript("r1") == MESSAGES


def test_a_database_that_cannot_be_written_is_told_in_one_line(tmp_path: pytest.TempPathFactory) -> None:
    engine = open_store(f"sqlite:///{tmp_path}/runs.db")
    archive = Archive(engine)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("DROP TABLE transcripts"))
    with pytest.raises(AgentlabError) as caught:
        archive.save("r1", MESSAGES)
    assert str(caught.value) == "the transcript of run r1 cannot be archived: no such table: transcripts"
