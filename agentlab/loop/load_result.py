"""The tool that loads what a handle stands for, out of the archive of the run, a page at a time."""

from pydantic import JsonValue

from agentlab.context.archive import Archive
from agentlab.context.arrivals import LOAD_RESULT
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.dispatcher import Tool, ToolError
from agentlab.dispatch.guards import Caller

PAGE = 8_000
"""Characters of a page where nothing else is said."""


def load_result_tool(archive: Archive, roles: tuple[str, ...], page: int = PAGE) -> Tool:
    """A read-only tool for callers with one of `roles`: the result of an earlier call of the same run, `page`
    characters at a time.

    A result that is longer than the page ends with a line that says where the next page begins.
    """

    def load(arguments: dict[str, JsonValue], caller: Caller) -> JsonValue:
        call_id, start = str(arguments["call_id"]), arguments.get("start", 0)
        # The run is the caller's, never an argument: a model cannot ask for the results of another run.
        result = archive.result(caller.run, call_id)
        if result is None:
            raise ToolError(f"no result of a call {call_id!r} is kept; use the call_id that the handle names")
        assert isinstance(start, int)  # noqa: S101 - the schema has let nothing else through
        if start and start >= len(result.content):
            raise ToolError(f"the result has {len(result.content):,} characters; start is beyond its end")
        end = start + page
        rest = f"\n[Next page: start {end}, of {len(result.content)} characters.]" if end < len(result.content) else ""
        return result.content[start:end] + rest

    contract = ToolContract(
        name=LOAD_RESULT,
        version="1",
        description="Load the whole text of an earlier result of this run that is kept outside.",
        input_schema={
            "type": "object",
            "properties": {
                "call_id": {"type": "string", "minLength": 1, "description": "As the handle names it."},
                "start": {"type": "integer", "minimum": 0, "description": "The first character; 0 if left out."},
            },
            "required": ["call_id"],
            "additionalProperties": False,
        },
        roles=roles,
        side_effect=SideEffect.READ_ONLY,
        # A page that was cleared from the context may be needed again.
        repeatable=True,
    )
    return Tool(contract, load)
