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
# # 04 Context growth: what a run costs before it runs
#
# **The question.** Your agent solves a case in 20 steps. The business wants harder cases, with 40 steps. What happens
# to the bill, and what can you do about it?
#
# After this lesson you can
#
# - compute the input tokens of a run from five numbers, and say how far such a number is off on real runs,
# - say at which step a request outgrows a limit,
# - choose between the controls of a history, and name what each one loses and what it does to a prompt cache.
#
# **Time:** 45 minutes for the lesson, 30 for [its exercise](../exercises/04_context_growth.ipynb). No key and no
# network are needed.

# %% [markdown]
# ## The five numbers and a limit
#
# All sizes are in tokens. They are **assumed**: round numbers that make an example, measured nowhere. Change them
# here and run all cells; everything below follows.

# %% tags=["parameters"]
S = 3_000  # system prompt and tool schemas
U = 500  # the user's task
a = 150  # what the model writes in one step
r = 1_200  # one tool result
N = 40  # requests in the run
trigger = 20_000  # a request should not be larger than this
keep = 3  # clearing: results that stay whole
summary = 1_500  # compaction: tokens of a summary
window = 20  # trimming: messages that stay after the task
cap = 500  # tokens of a result that is cut where it arises
agent = "claude-code"  # whose real sizes are looked at below
model = "claude-opus-5"  # whose prices are used

# %% [markdown]
# ## Predict, then run
#
# **Predict:** the run gets twice as many steps. By what factor does the total of its input tokens grow? Write your
# guess into the next cell and run it. The output of the cell after it is folded until you run that one too.

# %%
my_guess = 2.0

# %% jupyter={"outputs_hidden": true}
from IPython.display import Markdown, display

from agentlab.context.growth import total


def say(text):
    display(Markdown(text))


half = max(1, N // 2)
factor = total(S, U, a, r, N) / total(S, U, a, r, half)
say(
    f"From {half:,} to {N:,} requests the total goes from {total(S, U, a, r, half):,} to {total(S, U, a, r, N):,} "
    f"input tokens: **{factor:.2f} times as many**. Your guess was {my_guess:.2f}."
)

# %% [markdown]
# ## Why: every request repeats the whole conversation
#
# The model's API remembers nothing. So each request carries the prompt, the task, and every call and result of all
# steps before it. Here is the whole mechanism:


# %%
def request_sizes(S, U, a, r, N):
    sizes, history = [], 0
    for _ in range(N):
        sizes.append(S + U + history)
        history += a + r  # the call and its result ride along from now on
    return sizes


request_sizes(S, U, a, r, 5)

# %% [markdown]
# The package computes the same thing. It is also what `agentlab size` prints and what the agent's loop is held to.

# %%
from agentlab.context.controls import KeepAll

forecast = KeepAll().forecast(S, U, a, r, N)
assert list(forecast.requests) == request_sizes(S, U, a, r, N)
print(f"last request {forecast.last:,}   largest {forecast.largest:,}   all {N:,} requests {forecast.total:,}")

# %% [markdown]
# ## The formula, with your numbers in it
#
# Each request is one step larger than the one before. Adding them up gives a square:

# %%
from agentlab.views.growth import figure, formula, grow, sentence, table

run = grow(S, U, a, r, N, trigger)
print("\n".join(formula(run)))

# %%
table(run)

# %% [markdown]
# ## See it

# %%
say(sentence(run))
figure(run)

# %% [markdown]
# ## From which step on is history the bill?
#
# The total has two parts. The fixed part *N(S + U)* grows in a line. The resent history *(a + r) N(N - 1)/2* grows
# with the square. They are equal near *N = 2(S + U)/(a + r)*.

# %%
from agentlab.context.growth import crossover

history = total(0, 0, a, r, N)
balance = crossover(S, U, a, r) or float("inf")
say(
    f"From about **{balance:.1f} requests** on, resent history costs more than prompt and task. "
    f"At N = {N:,} it is {history / run.forecast.total:.0%} of all input. What the model itself writes is "
    f"{N * a:,} tokens: {N * a / run.forecast.total:.1%} of what it reads."
)

# %% [markdown]
# ## Do real agents look like this?
#
# The sizes above are assumed. These are **measured**, in public logs of the number of runs that the table names: few
# runs, of models of 2024 and 2025. Take them as a check of the order of magnitude, not as your agent.

# %%
from agentlab.views.agents import agents_table, errors_table, uneven, uneven_sentence

agents_table()

# %% [markdown]
# Two things to see. A coding agent starts large, so that its history needs many requests to outweigh its prompt. And
# the mean result is several times the median one: most results are small, and a few are huge.
#
# **Predict:** a forecast uses the mean *r* for every step. The real results are that uneven. How far off is the total?

# %% jupyter={"outputs_hidden": true}
from agentlab.context.presets import preset

uneven_run = uneven(preset(agent), preset(agent).N_p95, seed=1)
say(uneven_sentence(uneven_run) + " The sizes are **drawn** from a distribution with the measured mean and median.")

# %% [markdown]
# So it is not the spread that misleads, it is *when* the large results come: one at the start rides along in every
# later request. This is how far predictions were from what real runs sent:

# %%
errors_table()

# %% [markdown]
# **Consequence.** Take *a + r* from traces of whole runs, not from the first steps, and not from counting text alone.
# Budget with the p95 of *N* and of *r*, not with the mean. And cap *r* at its source: a few results hold most of the
# bill.

# %% [markdown]
# ## The first lever
#
# So the first lever is *r*. What would a tool that returns half as much save?

# %%
halved = grow(S, U, a, r // 2, N)
saved = 1 - halved.forecast.total / run.forecast.total
say(
    f"With r = {r // 2:,} instead of {r:,} the run sends {halved.forecast.total:,} input tokens. "
    f"That is **{saved:.0%} less**, and nothing has been forgotten."
)

# %% [markdown]
# ## The controls
#
# Three **remove history**:
#
# - **Clearing** replaces old tool results by a short placeholder. The calls stay.
# - **Trimming** keeps the last messages and drops whole steps before them.
# - **Compaction** asks the model for a summary when a request would be over the trigger, and goes on from it.
#
# Two act **as a result arrives**, so that nothing sent is ever edited:
#
# - A **cap** cuts a result that is too large.
# - A **handle** keeps the content outside. What stands in the context is an id, the first lines, and how to load it.
#
# And **sub-agents** do the work in clean contexts of their own. Only their summaries come back.
#
# **Predict:** which one sends the fewest tokens over the whole run? Then run the next cells; what they show is folded
# until you do.

# %% jupyter={"outputs_hidden": true}
from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Compact, TrimTurns
from agentlab.context.subagents import SubAgents
from agentlab.views.growth import comparison

clear = ClearToolResults(keep=keep, placeholder=20)
trim = TrimTurns(window=window)
compact = Compact(trigger=trigger, summary=summary)
capped = CapResults(cap)
handles = Handles(over=cap, handle=60, loads=max(1, N // 10))  # every tenth result is needed after all
workers = SubAgents(calls=5, summary=300, S=S, U=U)
controls = (KeepAll(), clear, trim, compact, capped, handles, workers)
runs = [grow(S, U, a, r, N, trigger, control) for control in controls]
comparison(runs)

# %% jupyter={"outputs_hidden": true}
fewest = min(runs, key=lambda one: one.forecast.all_input)
smallest = min(runs, key=lambda one: one.forecast.largest)
say(
    f"Fewest tokens over the run: **{fewest.control.label}**, {fewest.share:.0%} of keeping all. "
    f"Smallest largest request: **{smallest.control.label}**, {smallest.forecast.largest:,} tokens. "
    "Both count tokens, not money."
)
figure(runs[1:5], title="What each request sends, by control")

# %% [markdown]
# Compaction has a bill of its own: each summary is a model call that reads the whole pending request. That call is over
# the trigger, since this is why it is made: it must fit into the model's window too.

# %%
compacted = runs[3]
print("\n".join(formula(compacted)[2:]))
say(sentence(compacted))

# %% [markdown]
# ## Tokens are not money
#
# A provider with **prompt caching** charges less for the beginning of a request that it has read before, and more for
# what it writes into its cache. These are the prices of one model, with their source:

# %%
from agentlab.views.costs import cheapest_sentence, costs_table, priced, prices_sentence

say(prices_sentence(model))

# %% [markdown]
# Clearing changes the history, and what stands behind the change must be written into the cache again. **Predict:** is
# clearing at every step still cheaper than keeping all, once there is a cache?

# %% jupyter={"outputs_hidden": true}
bills = priced(runs, model)
costs_table(bills)

# %% jupyter={"outputs_hidden": true}
say(cheapest_sentence(bills))

# %% [markdown]
# An **edit** is a request that does not begin as the one before it. The fewer edits, the more the cache serves. So
# clear in batches: nothing before a trigger, and then so much that it pays.

# %%
in_batches = ClearToolResults(keep=keep, placeholder=20, trigger=trigger, at_least=10 * r)
batched = priced([runs[0], runs[1], grow(S, U, a, r, N, trigger, in_batches)], model)
costs_table(batched)

# %% [markdown]
# The bill above takes the cache at its best: no entry expires, and every equal beginning is found. Real caches fall
# short of that. But the direction is what real runs showed, when they were replayed with these rules:

# %%
from agentlab.views.agents import savings_table

savings_table()

# %%
from agentlab.views.agents import savings_sentence

say(savings_sentence())

# %% [markdown]
# ## What a control does to real messages
#
# The object that predicts is the object that acts. Here is a run of three steps:

# %%
from agentlab.messages.conversation import AssistantMessage, ToolCall, ToolResult, UserMessage


def show(messages):
    for message in messages:
        calls = ", ".join(f"calls {call.name} ({call.id})" for call in getattr(message, "tool_calls", ()))
        answers = f"answers {message.call_id}: " if isinstance(message, ToolResult) else ""
        content = message.content.replace("\n\n", " ")
        print(f"{message.role:9}  {answers}{content}{calls}")


def step(number, name, result):
    call = ToolCall(id=f"call_{number}", name=name, arguments={})
    return AssistantMessage(tool_calls=(call,)), ToolResult(call_id=call.id, content=result)


conversation = (
    UserMessage(content="Pay the invoice of Nordlicht GmbH if it matches the order."),
    *step(1, "find_invoice", "INV-1042, 1,200.00 EUR, order PO-77"),
    *step(2, "get_order", "PO-77: 3 lamps, 1,200.00 EUR"),
    *step(3, "check_supplier", "Nordlicht GmbH: active, bank account verified"),
)
show(conversation)

# %% [markdown]
# Clearing all but the last result:

# %%
show(ClearToolResults(keep=1).apply(conversation))

# %% [markdown]
# Each call still has its result behind it, because a provider refuses a call without one. But the invoice number is
# gone: a model that must now pay has to look it up again, or it invents one.
#
# Trimming to the last two messages drops whole steps, never half of one, and never the task:

# %%
show(TrimTurns(window=2).apply(conversation))

# %% [markdown]
# Compaction puts a summary in place of the steps. What the summary leaves out is gone; what a tool's result smuggled
# in may stay. So it is marked as notes, not as a wish of the user.

# %%
show(compact.apply(conversation, summary="INV-1042 matches PO-77 (1,200.00 EUR). Open: pay it."))

# %% [markdown]
# A handle stands for a large result. The control is given a counter, because it decides by size; here a character
# counts as a token.


# %%
def characters(messages):
    return sum(len(message.content) for message in messages)


pages = "\n".join(f"Line {n}: {n} lamps, {n * 20} EUR" for n in range(1, 201))
with_large = (*conversation[:2], ToolResult(call_id="call_1", content=pages))
with_handle = Handles(over=200).apply(with_large, characters)
show(with_handle)
print(f"\n{characters(with_large):,} characters before, {characters(with_handle):,} after")

# %% [markdown]
# ## The forecast and the loop agree
#
# This loop sends messages of exactly the sizes above (one character stands for one token), and applies the control
# before each request.


# %%
def loop_sizes(control, N):
    messages, sizes = (UserMessage(content="u" * U),), []
    for k in range(1, N + 1):
        messages = control.apply(messages)
        sizes.append(S + sum(len(message.content) for message in messages))
        call = ToolCall(id=f"call_{k}", name="look_up", arguments={})
        messages += (
            AssistantMessage(content="a" * a, tool_calls=(call,)),
            ToolResult(call_id=call.id, content="r" * r),
        )
    return sizes


for control in (KeepAll(), ClearToolResults(keep=keep, placeholder=20, text="p" * 20), trim):
    sent = loop_sizes(control, N)
    assert sent == list(control.forecast(S, U, a, r, N).requests)
    print(f"{control.label}: {sum(sent):,} tokens sent, as predicted")

# %% [markdown]
# ## A trigger that is too low
#
# After a summary a request already holds *S + U + s*. With a trigger near that number, compaction fires again and
# again. **Predict:** does the run read more tokens then, or fewer?

# %% jupyter={"outputs_hidden": true}
from agentlab.context.lint import advise

low = Compact(trigger=S + U + summary + a + r, summary=summary)
too_low = grow(S, U, a, r, N, trigger, low)
comparison([compacted, too_low])

# %% jupyter={"outputs_hidden": true}
say(
    f"The low trigger makes {too_low.forecast.compactions:,} summaries in {N:,} steps, instead of "
    f"{compacted.forecast.compactions:,}. Each is one more call that the user waits for; together they write "
    f"{too_low.forecast.summary_output:,} tokens, where the steps themselves write {N * a:,}."
)
for finding in advise(low, S, U, a, r):
    print(f"{finding.rule}  {finding.where}: {finding.message}\n     {finding.fix}")

# %% [markdown]
# So the input alone does not tell you where to put the trigger. Short histories are cheap to read. But the model then
# works from notes on notes, and every detail that a summary left out is gone.
#
# ## An early detail that matters late
#
# An agent reads a contract, then eight invoices, and is asked at the end which form the last one needs. The rule stands
# in clause 12 of the contract: the first result, and the oldest. The model here is a stand-in, a function that knows
# nothing but the request it is sent. So it cannot know what a control has removed.
#
# **Predict:** under which controls does it still know the rule?

# %% jupyter={"outputs_hidden": true}
from agentlab.cases.early_detail import run_case
from agentlab.views.tables import Table

tried = (KeepAll(), ClearToolResults(), TrimTurns(window=8), Compact(trigger=2_500), CapResults(200), Handles(over=300))
outcomes = [(control, run_case(control)) for control in tried]
Table(
    "The same task under six controls (tokens by o200k_base)",
    ("control", "answer", "requests", "input tokens"),
    tuple((c.label, run.answer, f"{run.requests}", f"{run.tokens:,}") for c, run in outcomes),
    words=("answer",),
)

# %% jupyter={"outputs_hidden": true}
right = [control.label for control, run in outcomes if run.is_right]
least = min((run for _, run in outcomes if run.is_right), key=lambda run: run.tokens)
say(
    f"Right: {' and '.join(f'**{label}**' for label in right)}; the cheaper of them sends {least.tokens:,} tokens in "
    f"{least.requests} requests, {least.tokens / outcomes[0][1].tokens:.0%} of keeping all. It took one request more, "
    "to load what the handle stood for."
)

# %% [markdown]
# Look at the window that was too small: the agent forgot that it had read the contract, read it again, and so on until
# its budget ended. A control does not only lose facts. It can lose the record of what was done.
#
# **Consequence.** Choose a control by a test like this one, with your own task, and not by tokens alone. Keep every
# transcript in an archive before anything is removed; in this package the loop does so, and refuses to go on where it
# cannot.

# %% [markdown]
# ## Move it yourself
#
# Run all cells first: sliders need a running kernel. Click a slider, or reach it with Tab, and press the arrow keys;
# or type into the number above it. Try this:
#
# 1. Double *N*. By what factor does the total of keeping all grow, and by what factor that of compaction?
# 2. Halve *r*. How far does the first request over the trigger move?
# 3. Lower the trigger step by step. Watch how many summaries are made. Where would you stop?
# 4. Switch the cache off and on. Which control is the cheapest now? Then set *N* to 200 and do it again.

# %%
from agentlab.views.sliders import sliders

say(sentence(runs[0]))
sliders(model, S=S, U=U, a=a, r=r, N=N, keep=keep, window=window, trigger=trigger, summary=summary, cap=cap)

# %% [markdown]
# ## What this means for your architecture
#
# - **Latency.** A longer request takes longer to read. A summary is one more model call that the user waits for, and so
#   is each load of a handle.
# - **Cost.** Budget tokens for a run, not only calls. Shrink *r* at its source first: pages, filters, a cap, or a
#   handle in place of the payload. They edit nothing, so a cache keeps working. Where you must remove, remove rarely
#   and much at a time.
# - **Accuracy.** A model finds less in a full context. But every control forgets: test your agent on cases where an
#   early detail matters late.
# - **Failure.** A cut between a call and its result ends in an error of the provider. A request over the window ends
#   the run. A summary can fail: this package clears results then, and where that is not enough it stops at a checkpoint
#   that says why.
# - **Security.** A summary can carry an instruction from a tool's result into the rest of the run. Set the tools' own
#   words apart and mark them as data, and let policy decide on every call all the same.

# %% [markdown]
# ## Quiz
#
# Open an option to see why it is right or not.

# %% jupyter={"source_hidden": true}
from agentlab.course import quiz

quiz(
    "A run gets three times as many steps, and history is already most of its bill. The total grows about ...",
    {
        "a": (
            "three times",
            False,
            "That would be so if each request had the same size. Each one carries all before it.",
        ),
        "b": ("six times", False, "Growth is by the square of the steps, not by their double."),
        "c": ("nine times", True, "The history part grows with the square of N: three times three."),
    },
)

# %% jupyter={"source_hidden": true}
quiz(
    "Each of these changes is possible. Which one lowers the tokens of a long run most, and forgets nothing?",
    {
        "a": (
            "A tool that returns an id and three lines",
            True,
            "It lowers `r`, mostly the larger part of a step, and the full record can be fetched again.",
        ),
        "b": (
            "Clearing old results",
            False,
            "It saves a lot, but what stood in the results is no longer in front of the model.",
        ),
        "c": ("Compaction", False, "It keeps what the summary says and loses the rest; and each summary costs a call."),
        "d": (
            "Shorter answers from the model",
            False,
            "They forget nothing and lower `a`, but that is mostly the smaller part of a step.",
        ),
    },
)

# %% jupyter={"source_hidden": true}
quiz(
    "A colleague sets the trigger of compaction just above S + U + s. What happens?",
    {
        "a": (
            "Fewer input tokens, and nothing else changes",
            False,
            "Input may even fall. But each summary is a call that the user waits for, and it forgets.",
        ),
        "b": ("A summary is made every step or two", True, "One or two steps fill the room above S + U + s again."),
        "c": (
            "The provider refuses the request",
            False,
            "Nothing is wrong with the request. The provider does not know your trigger.",
        ),
    },
)

# %% jupyter={"source_hidden": true}
quiz(
    "An agent uses a prompt cache and clears old results at every step. Its runs take 40 requests. What is cheaper?",
    {
        "a": (
            "Clearing, because it sends a third of the tokens",
            False,
            "It sends fewer. But each clearing is an edit, and what stands behind it is written into the cache again.",
        ),
        "b": (
            "To keep all, or to clear in large batches",
            True,
            "Few edits: nearly all of the input is then read from the cache, at a fraction of the price.",
        ),
        "c": (
            "Both cost the same, the cache evens it out",
            False,
            "The cache serves what has not changed. How much that is depends on the control.",
        ),
    },
)

# %% [markdown]
# ## Take home
#
# - *I(k) = S + U + (k - 1)(a + r)*, and the total grows with the square of the steps.
# - Shrink *r* first. Then clear, trim or compact, and know what each one forgets.
# - Under a cache count edits, not only tokens.
# - Count *S*, *U*, *a* and *r* of your own agent, and state its total before you build it.
#
# Now compute it yourself, for an agent of your own: [Try it 04](../exercises/04_context_growth.ipynb). The same
# calculator works in a terminal:

# %%
print(
    f"agentlab size --S {S} --U {U} --a {a} --r {r} --N {N} --compact-trigger {trigger} --trigger {trigger} "
    f"--prices {model} --cache 5m"
)

# %% [markdown] tags=["try-it"]
# # Try it 04: the size of your own agent
#
# Write the formula, find the step at which a request outgrows a limit, and do both for your own agent. Then choose a
# control. The lesson is [04 Context growth](../notebooks/04_context_growth.ipynb).
#
# **Time:** 30 minutes. Replace each `TODO` and run the cell below it.

# %%
from agentlab.course import TODO, check, hint

# %% [markdown]
# ## 04.1 The total of a run (7 minutes)
#
# Request *k* has *S + U + (k - 1)(a + r)* input tokens. Return the sum over all *N* requests as a whole number. Use
# the closed form or a loop, but check a small case by hand.


# %%
def total(S, U, a, r, N):
    """Input tokens of all N requests of a run, as an int."""
    ### BEGIN SOLUTION
    return N * (S + U) + (a + r) * N * (N - 1) // 2
    ### END SOLUTION


# %%
check("04.1", total)

# %%
hint("04.1")

# %% [markdown]
# ## 04.2 The first request over a limit (7 minutes)
#
# Return the number *k* of the first request with **more** than `trigger` tokens. Return `None` if no request ever has
# more.


# %%
def first_over(S, U, a, r, trigger):
    """The first k with I(k) > trigger, as an int counted from 1, or None."""
    ### BEGIN SOLUTION
    if trigger < S + U:
        return 1
    if a + r == 0:
        return None
    return (trigger - S - U) // (a + r) + 2
    ### END SOLUTION


# %%
check("04.2", first_over)

# %%
hint("04.2")

# %% [markdown]
# ## 04.3 Your own agent (8 minutes)
#
# Paste your system prompt with its tool schemas, a typical task, a typical call and a typical tool result in place of
# these texts. The counter works offline. It counts as OpenAI's `o200k_base` does; another provider's count differs,
# so take the number as an estimate.

# %%
from agentlab.messages.counters import count_text

prompt_and_schemas = """You settle invoices. Read the invoice and its order, compare them, and post it if they match.
Never post twice. Ask for approval above 10,000 EUR.
Tools: find_invoice(number), get_order(number), post_invoice(number)."""
task = "Settle invoice INV-1042 of Nordlicht GmbH."
one_call = 'I compare it with its order. get_order({"number": "PO-77"})'
one_result = """{"number": "PO-77", "supplier": "Nordlicht GmbH", "currency": "EUR", "total": "1200.00",
 "lines": [{"item": "lamp", "quantity": 3, "price": "400.00"}], "status": "delivered"}"""

# %% [markdown]
# Fill in the sizes, the totals for 5, 10 and 20 requests, a trigger of your choice, and the first request over it. If
# you know the sizes from your own traces, type them in.

# %%
### BEGIN SOLUTION
my_sizes = {
    "S": count_text(prompt_and_schemas),
    "U": count_text(task),
    "a": count_text(one_call),
    "r": count_text(one_result),
}
my_totals = {n: total(**my_sizes, N=n) for n in (5, 10, 20)}
my_trigger = 1_000
my_first_over = first_over(**my_sizes, trigger=my_trigger)
### END SOLUTION

# %%
check("04.3", my_sizes, my_totals, my_trigger, my_first_over)

# %%
hint("04.3")

# %% [markdown]
# ## 04.4 Choose a control (8 minutes)
#
# An agent has S = 3,000, U = 500, a = 150, r = 1,200 and runs for N = 40 requests. Its architect asks for three
# things:
#
# - no request over 20,000 tokens,
# - the last five tool results in full,
# - every call of the run visible to the model, so that it does not repeat one.
#
# Return a control that does all three: `ClearToolResults(keep=...)`, `TrimTurns(window=...)` or `Compact(trigger=...,
# summary=...)`.

# %%
from agentlab.context.controls import ClearToolResults, Compact, KeepAll, TrimTurns


def choose_control():
    """The control for this agent."""
    ### BEGIN SOLUTION
    return ClearToolResults(keep=5)
    ### END SOLUTION


# %%
check("04.4", choose_control)

# %%
hint("04.4")

# %% [markdown]
# ## Done when
#
# - The four checks say *right*.
# - You can state the total of your own agent for 20 requests, and the formula behind it.
