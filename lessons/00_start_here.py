# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 00 Start here: look under the hood of an agent
#
# **The question.** Somebody wants to put an AI agent into your system. It will read mail, call tools and change
# records. What is it made of, where are its limits, and how do you know that they hold?
#
# These lessons are for software architects who want to see that for themselves: run an agent, break it, measure it,
# govern it, and then do the same to the agent at work. You should be able to read Python. You need no experience with
# models.
#
# **Time:** 10 minutes. No account, no key, and no network are needed, here or in any other lesson.

# %% [markdown]
# ## Does it run here?
#
# Click into the next cell and press Shift+Enter. It runs the checks of `agentlab doctor`.

# %%
import os

from agentlab.cli.doctor import examine

for found in examine(os.environ):
    print(f"{found.state:4}  {found.name}" + (f": {found.found}. Fix: {found.fix}" if found.fix else ""))

# %% [markdown]
# A line that does not say `ok` names its fix. The same command in a terminal, `agentlab doctor`, also says what was
# found.

# %% [markdown]
# ## A first taste: one whole run
#
# An agent is a loop around a model. The model says what it wants; your code decides, acts, and hands back the result.
# Below is a complete run. The model is **scripted**: it plays two replies that we wrote. So you see exactly what the
# loop does, and it costs nothing.
#
# First a tool, with its contract: what it is for, what its arguments are, who may call it.

# %%
from agentlab.dispatch.contract import SideEffect, ToolContract
from agentlab.dispatch.dispatcher import Tool

read_invoice = ToolContract(
    name="invoice_get",
    version="1",
    description="Fetch one invoice by id. Read-only.",
    input_schema={
        "type": "object",
        "properties": {"invoice_id": {"type": "string"}},
        "required": ["invoice_id"],
        "additionalProperties": False,
    },
    roles=("ap_clerk",),
    side_effect=SideEffect.READ_ONLY,
)
tool = Tool(read_invoice, lambda arguments, caller: f"{arguments['invoice_id']}: approved, 1,200.00 EUR")

# %% [markdown]
# Then the dispatcher that every call passes, and the script of the model:

# %%
from agentlab.dispatch.approvals import Approvals
from agentlab.dispatch.dispatcher import Dispatcher, four_guards
from agentlab.dispatch.ledger import Ledger
from agentlab.messages.conversation import Reply, StopReason, ToolCall
from agentlab.messages.models import Scripted
from agentlab.store import open_store


def clock():
    return 0.0  # a stopped clock: this page comes out the same on every machine


database = open_store("sqlite://")  # in memory; a file or PostgreSQL is another URL
approvals = Approvals(database, clock)
dispatcher = Dispatcher([tool], four_guards(approvals), Ledger(database, clock), approvals)

asks = ToolCall(id="call_1", name="invoice_get", arguments={"invoice_id": "INV-1042"})
model = Scripted(
    [
        Reply(tool_calls=(asks,), stop=StopReason.TOOL),
        Reply(content="INV-1042 is approved for 1,200.00 EUR.", stop=StopReason.END),
    ]
)

# %% [markdown]
# **Predict:** how many messages will the conversation have at its end, and how often was the model called? Then run.
# The output is folded; it opens when you run the cell.

# %% jupyter={"outputs_hidden": true}
from agentlab.dispatch.guards import Caller
from agentlab.loop.budgets import Budgets
from agentlab.loop.drivers import run_task

result = run_task(
    "What is the status of invoice INV-1042?",
    run_id="run-1",
    budgets=Budgets(model_calls=5, tokens=10_000, seconds=60),
    model=model,
    dispatcher=dispatcher,
    caller=Caller(user="clerk", roles=("ap_clerk",), tenant="acme", run="run-1"),
    clock=clock,
)
for message in result.messages:
    calls = "".join(f"calls {call.name} {call.arguments}" for call in getattr(message, "tool_calls", ()))
    print(f"{message.role:9}  {message.content}{calls}")
print(f"\n{result.state.value} after {result.totals.model_calls} model calls and {result.totals.tool_calls} tool call")

# %% [markdown]
# The run was not one step but a walk through named states:

# %% jupyter={"outputs_hidden": true}
from agentlab.views.runs import transitions_table

transitions_table(result)

# %% [markdown]
# ## All states of a run
#
# The run took the short path. Here is every path but the one to *cancelled*, drawn from the table that the loop itself
# obeys; the numbers are the steps above. A run ends in one of four states, and each end leaves one audit event. The
# fourth end, *cancelled*, can be reached from every state that waits for something.

# %%
from IPython.display import Markdown, display

from agentlab.loop.machine import TERMINALS, TRANSITIONS, State
from agentlab.views.runs import map_of_states

display(Markdown(f"```mermaid\n{map_of_states(result)}```"))
print(f"{len(State)} states, {len(TRANSITIONS)} transitions; the ends: {', '.join(sorted(TERMINALS))}")

# %% [markdown]
# The audit event of this run. Nothing reported how many tokens the scripted model used, so they were counted here,
# and the event says that they are an estimate:

# %%
print(result.audit.model_dump_json(indent=1))

# %% [markdown]
# Now take a right away. The same model, the same task, another caller. **Predict** what changes, then run.

# %% jupyter={"outputs_hidden": true}
again = run_task(
    "What is the status of invoice INV-1042?",
    run_id="run-2",
    budgets=Budgets(model_calls=5, tokens=10_000, seconds=60),
    model=Scripted(
        [
            Reply(tool_calls=(asks,), stop=StopReason.TOOL),
            Reply(content="I may not read that invoice.", stop=StopReason.END),
        ]
    ),
    dispatcher=dispatcher,
    caller=Caller(user="visitor", roles=("viewer",), tenant="acme", run="run-2"),
    clock=clock,
)
transitions_table(again)

# %% [markdown]
# No prompt was involved. The refusal is code, and the model got it as an error that it can act on. Lesson 02 is about
# that code.

# %% [markdown]
# ## How a lesson works
#
# 1. **Predict.** A text asks for your guess. Make it before you run the next cell; being wrong is how it sticks. The
#    notebooks keep their outputs, so that they can be read where no kernel runs, and so that a test can compare them.
#    Below a question the output is folded until you run the cell. To see none at all: *Edit > Clear Outputs of All
#    Cells*, before you begin.
# 2. **Run.** Shift+Enter, cell by cell. Change a number and run again: nothing here can break anything.
# 3. **Move.** Where there are sliders and controls, they compute with the same code as the text above them.
# 4. **Take home.** Each lesson ends with what it means for latency, cost, accuracy, failure and security, and with a
#    formula, a command or a question for your own system.
#
# A lesson links to its exercise at its end; the table below links to all of them. Replace each `TODO`, run the check
# below it, and open a hint when you are stuck. A check says *right*, *not attempted*, or *wrong* with what was called,
# what came back and why it matters. The folder `solutions/` has them filled in.

# %% [markdown]
# ## The lessons so far
#
# The list is read from the lessons themselves.

# %%
from agentlab.course.contents import contents, contents_markdown
from agentlab.paths import clone_folder

display(Markdown(contents_markdown(contents(clone_folder()))))

# %% [markdown]
# ## What the package does
#
# Each mechanism is one small piece of code. The lessons show it, the exercises rebuild it, the loop runs it, and the
# commands apply it to an agent of yours.
#
# | part | what it does | in a terminal |
# |---|---|---|
# | `agentlab.messages` | the four messages of a tool call, arguments read strictly, stand-ins for a model | |
# | `agentlab.dispatch` | contracts, guards, approvals, keys and receipts: the one path of every call | |
# | `agentlab.loop` | states and transitions of a run, three budgets, drivers | |
# | `agentlab.context` | what a run sends, and the controls that remove history | `agentlab size` |
# | `agentlab.cases` | whole jobs on realistic input: forty invoices, an ERP, approvals | `agentlab run invoices` |
# | `agentlab.views` | results as text, tables and figures; controls on top | |
# | `agentlab.course` | checks, hints, quizzes | `agentlab check`, `agentlab hint`, `agentlab lessons` |
#
# `docs/ARCHITECTURE.md` says in which file each mechanism is, and `docs/GLOSSARY.md` what each word means.

# %% [markdown]
# ## Take home
#
# - A model proposes; the code around it decides and acts. That code is what you design.
# - A run is a walk through few named states, with limits, and it ends in one of four ways.
# - Whatever you see here was computed here. No key, no account, no network.
#
# Next: open [02 The guarded dispatcher](02_guarded_dispatcher.ipynb), or, if your question is the bill,
# [04 Context growth](04_context_growth.ipynb).
