"""An early detail that is needed late: the case on which a control shows what it forgets.

The agent reads a supplier's contract first, then its invoices one by one, and is asked at the end for the form that the
last invoice needs. The form stands in the contract. The model is a stand-in: a plain function that knows nothing but
the request in front of it, so what a control has removed it cannot know.
"""

import re
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.context.archive import Archive
from agentlab.context.arrivals import LOAD_RESULT
from agentlab.context.controls import Control
from agentlab.context.summary import summarise_with
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.dispatcher import Dispatcher, Tool, four_guards
from agentlab.dispatch.guards import Caller
from agentlab.dispatch.ledger import Ledger
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task
from agentlab.loop.load_result import load_result_tool
from agentlab.messages.conversation import Reply, Request, StopReason, ToolCall, ToolResult
from agentlab.messages.counters import count_request
from agentlab.messages.models import Model, Rules
from agentlab.store import open_store

INVOICES = 8
FORM = "F-88"
NOT_FOUND = "I cannot tell which form is needed: the contract is no longer in front of me."

CALLER = Caller(user="agent", roles=("ap_clerk",), tenant="north", run="early-detail")
TASK = f"Read the contract and the {INVOICES} invoices of Nordlicht. Which form does the last invoice need?"
SYSTEM = "You check a supplier's invoices against its contract."

_NOTED = re.compile(r"read ([a-z]+(?:-\d+)?)\.")
_RULE = re.compile(r"above 2,000 EUR need form (F-\d+)")


class Run(NamedTuple):
    """What came of the case: the answer, the input tokens of all requests, and how many requests there were."""

    answer: str
    tokens: int
    requests: int

    @property
    def is_right(self) -> bool:
        """Whether the answer names the form."""
        return FORM in self.answer


def run_case(control: Control, model: Model | None = None, summariser: Model | None = None) -> Run:
    """Run the case under `control`. The tokens are o200k's, and the stand-in answers unless `model` does.

    `summariser` writes the summaries of a control that compacts; without one it is a stand-in that forgets the rule.
    """
    engine = open_store("sqlite://")
    archive, approvals = Archive(engine), Approvals(engine, _now)
    tools = [_read_tool(), load_result_tool(archive, CALLER.roles)]
    sizes: list[int] = []
    chosen = model or Rules(stand_in)

    def watched(request: Request) -> Reply:
        sizes.append(count_request(request))
        reply = chosen.complete(request)
        # The stand-in knows only its request, so it cannot number its calls; an id may not come twice in a run.
        calls = tuple(call.model_copy(update={"id": f"call-{len(sizes)}"}) for call in reply.tool_calls)
        return reply.model_copy(update={"tool_calls": calls})

    result = run_task(
        TASK,
        system=SYSTEM,
        run_id=CALLER.run,
        budgets=Budgets(model_calls=30, tokens=10_000_000, seconds=600.0),
        model=Rules(watched),
        dispatcher=Dispatcher(tools, four_guards(approvals), Ledger(engine, _now), approvals),
        caller=CALLER,
        clock=_now,
        control=control,
        summarise=summarise_with(summariser or Rules(forgetful)),
        archive=archive,
    )
    return Run(result.answer, sum(sizes), len(sizes))


def stand_in(request: Request) -> Reply:
    """The next document, until all are read; then the form, if the request says which, or else where to look it up."""
    read = _read(request)
    unread = [name for name in DOCUMENTS if name not in read]
    if unread:
        return _calls("read_document", {"document": unread[0]})
    rule = next((found for message in request.messages if (found := _RULE.search(message.content))), None)
    if rule:
        return Reply(content=f"It needs form {rule[1]}.", stop=StopReason.END)
    handle = next((m for m in request.messages if isinstance(m, ToolResult) and LOAD_RESULT in m.content), None)
    if handle:
        return _calls(LOAD_RESULT, {"call_id": handle.call_id})
    return Reply(content=NOT_FOUND, stop=StopReason.END)


def forgetful(request: Request) -> Reply:
    """A summariser that writes what was done, as asked, and does not know which detail will matter."""
    done = " ".join(f"read {name}." for name in _read(request))
    return Reply(content=f"Done: {done}\nOpen questions: the form of the last invoice.", stop=StopReason.END)


def _read(request: Request) -> list[str]:
    """The documents that were read, in order: those that notes name, which stand in place of calls, then the calls."""
    noted = [name for message in request.messages if message.role == "user" for name in _NOTED.findall(message.content)]
    called = [
        str(call.arguments["document"])
        for message in request.messages
        if message.role == "assistant"
        for call in message.tool_calls
        if isinstance(call.arguments, dict) and "document" in call.arguments
    ]
    return list(dict.fromkeys([*noted, *called]))


def _calls(name: str, arguments: dict[str, JsonValue]) -> Reply:
    return Reply(tool_calls=(ToolCall(id="next", name=name, arguments=arguments),), stop=StopReason.TOOL)


def _document(name: str) -> str:
    if name == "contract":
        clauses = [f"Clause {n}. Goods of class {n} are accepted at ramp {n} and counted there." for n in range(1, 30)]
        clauses[11] = f"Clause 12. Invoices above 2,000 EUR need form {FORM}."
        return "Contract with Nordlicht\n" + "\n".join(clauses)
    lines = [f"Position {n}: {n} lamps of type L{n}, {n * 20} EUR" for n in range(1, 25)]
    return f"Invoice {name} of Nordlicht, total 2,400 EUR\n" + "\n".join(lines)


DOCUMENTS = {name: _document(name) for name in ("contract", *(f"invoice-{n}" for n in range(1, INVOICES + 1)))}


def _read_tool() -> Tool:
    contract = ToolContract(
        name="read_document",
        version="1",
        description="Read one document of the supplier.",
        input_schema={
            "type": "object",
            "properties": {"document": {"type": "string", "enum": list(DOCUMENTS)}},
            "required": ["document"],
            "additionalProperties": False,
        },
        roles=CALLER.roles,
        side_effect=SideEffect.READ_ONLY,
    )
    return Tool(contract, lambda arguments, caller: DOCUMENTS[str(arguments["document"])])


def _now() -> float:
    return 0.0
