"""Results that were too long for one message: kept whole for their owner, and fetched page by page by a tool."""

from collections import OrderedDict
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.canonical import digest
from agentlab.dispatch.contract import ResultRule, SideEffect, ToolContract
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.tools import Tool, ToolError

PAGE = 10_000
"""Characters of one page, when nothing else is asked for."""


class _Owned(NamedTuple):
    tenant: str
    user: str
    handle: str


class KeptResults:
    """Whole results in memory, each for one user of one tenant. The oldest go when there is no more room."""

    def __init__(self, most_characters: int = 5_000_000) -> None:
        """`most_characters` is the room for all of them together; a single longer one is kept until the next."""
        self._most = most_characters
        self._texts: OrderedDict[_Owned, str] = OrderedDict()

    def keep(self, caller: Caller, whole: str) -> str:
        """Keep `whole` and return its handle, which is the same for the same text of the same owner."""
        handle = digest([caller.tenant, caller.user, whole])[:16]
        self._texts[_Owned(caller.tenant, caller.user, handle)] = whole
        self._texts.move_to_end(_Owned(caller.tenant, caller.user, handle))
        while len(self._texts) > 1 and sum(map(len, self._texts.values())) > self._most:
            self._texts.popitem(last=False)
        return handle

    def page(self, caller: Caller, handle: str, start: int, length: int) -> dict[str, JsonValue]:
        """The characters from `start` on, and where the next page begins; ``next`` is None on the last one.

        Raises ToolError where the caller has no such result, in the same words whether another has it or nobody.
        """
        whole = self._texts.get(_Owned(caller.tenant, caller.user, handle))
        if whole is None:
            raise ToolError(f"there is no kept result {handle!r} for this caller; ask for less, or call the tool again")
        end = min(start + length, len(whole))
        return {"text": whole[start:end], "of": len(whole), "next": end if end < len(whole) else None}


def page_tool(kept: KeptResults, roles: tuple[str, ...], page: int = PAGE) -> Tool:
    """The tool with which a model reads on in a result that was cut."""

    def result_page(arguments: dict[str, JsonValue], caller: Caller) -> JsonValue:
        start = arguments["start"]
        return kept.page(caller, str(arguments["handle"]), start if type(start) is int else 0, page)

    contract = ToolContract(
        name="result_page",
        version="1",
        description=f"Read on in a result that was cut: {page} characters from start. Read-only.",
        input_schema={
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "The handle, as the cut result gave it"},
                "start": {"type": "integer", "minimum": 0, "description": "The first character, counted from 0"},
            },
            "required": ["handle", "start"],
            "additionalProperties": False,
        },
        roles=roles,
        side_effect=SideEffect.READ_ONLY,
        # JSON writes a control character with six; a page must never be cut again.
        result=ResultRule(most_characters=6 * page + 500),
    )
    return Tool(contract, result_page)
