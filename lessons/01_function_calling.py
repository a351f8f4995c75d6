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
# # 01 Function calling at the wire: what is really sent
#
# **The question.** Your agent calls a tool, today with one provider, tomorrow perhaps with another. What exactly goes
# over the wire, who runs what, what do you pay for, and what breaks when you change the provider?
#
# After this lesson you can
#
# - draw the four messages of one tool call, with the tokens of each part,
# - read the same call in three providers' JSON, and say what does not survive the way from one to another,
# - tell which histories a provider refuses, and which replies may have their calls run.
#
# **Time:** 30 minutes for the lesson, 30 for [its exercise](../exercises/01_function_calling.ipynb). No key and no
# network are needed.

# %% [markdown]
# ## Predict, then run
#
# A user has asked for the status of an invoice. The model replied with a call of `invoice_get`. Your code has run the
# tool and holds its result. Nothing is stored with the provider. **What do you send next?**
#
# - a: the result alone
# - b: the question and the result
# - c: the question, the model's call, and the result
# - d: as c, with a line of text before the result: "Here it is:"
#
# Here are the pieces, and what each option sends:

# %%
from agentlab.messages.conversation import AssistantMessage, ToolCall, ToolResult, UserMessage

question = UserMessage(content="What is the status of INV-1042?")
call = ToolCall(id="call_1", name="invoice_get", arguments={"invoice_id": "INV-1042"})
asks = AssistantMessage(tool_calls=(call,))
result = ToolResult(call_id="call_1", content="status=approved, amount=1200.00")
remark = UserMessage(content="Here it is:")

choices = {
    "a": (result,),
    "b": (question, result),
    "c": (question, asks, result),
    "d": (question, asks, remark, result),
}

# %% [markdown]
# Write your guess into the next cell before you run on. The output below it is folded until you open it.

# %%
my_guess = "a"

# %% [markdown]
# The package holds the providers' rules on the order of messages, and a checker for them. A rule has a letter for its
# dialect (A for Anthropic Messages, C for OpenAI Chat Completions, R for OpenAI Responses) and a number. In its source,
# *docs* is the provider's documentation, and `owner/name#number` a public report on GitHub.

# %% jupyter={"outputs_hidden": true}
from IPython.display import Markdown, display

from agentlab.messages.pairing import check
from agentlab.messages.wire import DIALECTS
from agentlab.views.broken import demands_table
from agentlab.views.tables import Table


def say(text):
    display(Markdown(text))


broken = {(key, d): [each.rule for each in check(sent, d)] for key, sent in choices.items() for d in DIALECTS}
rows = [
    (key, *(f"refused by {', '.join(broken[key, d])}" if broken[key, d] else "taken" for d in DIALECTS))
    for key in choices
]
display(Table("What is sent next, by the rules of each dialect", ("option", *DIALECTS), tuple(rows), words=DIALECTS))
everywhere = [row[0] for row in rows if set(row[1:]) == {"taken"}]
say(f"Taken by all three: **{', '.join(everywhere)}**. Your guess was {my_guess}.")
demands_table(sorted({rule for rules in broken.values() for rule in rules}))

# %% [markdown]
# A result must answer a call that stands right before it. So the model's own message goes back to it. Whatever else
# the model should still know goes back as well: nothing is remembered on the other side.
#
# There are forms in which the provider keeps the history: OpenAI's Responses can go on from a stored conversation, and
# Anthropic has threads in beta. You pay for reading it all the same. In this lesson every request carries it.

# %% [markdown]
# ## The four messages
#
# A model writes text. A *call* is text in a form that your code has agreed to recognise; nothing runs until your code
# runs it. One call takes four messages. Here they are in a form that belongs to no provider:

# %%
from agentlab.messages.conversation import Reply, Request, StopReason, ToolSchema

invoice_get = ToolSchema(
    name="invoice_get",
    description="Fetch one invoice by id. Read-only.",
    parameters={
        "type": "object",
        "properties": {"invoice_id": {"type": "string"}},
        "required": ["invoice_id"],
        "additionalProperties": False,
    },
)
message_1 = Request(system="You answer questions on invoices.", tools=(invoice_get,), messages=(question,))
message_2 = Reply(tool_calls=(call,), stop=StopReason.TOOL)
message_3 = message_1.model_copy(update={"messages": (*message_1.messages, message_2.message, result)})
message_4 = Reply(content="INV-1042 is approved for 1,200.00.", stop=StopReason.END)
four = [message_1, message_2, message_3, message_4]

# %% [markdown]
# Between 2 and 3 your code decides, runs the tool, or does not. The diagram and the table are computed from these four
# objects, with the tokenizer that OpenAI publishes for `gpt-4o`. How a provider writes schemas and calls for its model
# is not published, so the counts that hold them are estimates. What it adds around each message is not known either,
# and not counted: hence *at least*.

# %%
from agentlab.views.sequence import sequence
from agentlab.views.tokens import messages_sentence

diagram, counts = sequence(four, model="gpt-4o")
display(Markdown(f"```mermaid\n{diagram}```"))
display(counts)
say(messages_sentence(four, model="gpt-4o"))

# %% [markdown]
# **Message 3 repeats everything.** It is message 1, plus message 2, plus the result:

# %%
from agentlab.messages.counters import count_message, count_request

one, three = count_request(message_1), count_request(message_3)
two, new = count_message(message_2.message), count_message(result)
assert three == one + two + new
print(f"message 3 = message 1 + message 2 + result = {one} + {two} + {new} = {three} tokens")
print(f"{(one + two) / three:.0%} of it has been over the wire before")

# %% [markdown]
# ## The same call in three dialects
#
# Now message 3 as each provider takes it. The words differ, and so does the shape. **Predict:** in which of them
# are the arguments an object, and in which are they text?

# %% jupyter={"outputs_hidden": true}
from agentlab.views.wire import side_by_side

side_by_side(message_3)

# %% [markdown]
# What the marks tell you:
#
# - **Arguments** are a JSON object for Anthropic and a *text* of JSON for OpenAI. Text can be cut, or be no JSON.
# - **Pairing.** `tool_use.id` goes with `tool_use_id`, `tool_calls[].id` with `tool_call_id`. In Responses it is
#   `call_id`; the item's own `id` pairs nothing.
# - **Results.** Anthropic takes all results of a turn in *one* message of the user, Chat one message for each result,
#   Responses one item for each.
# - **The end** of a reply has another name in each; there is a table further down.
#
# Two calls at once, one of which failed, show two more differences. Only Anthropic has a flag for an error; elsewhere
# the text must say it. The form `{"error": ...}` is this package's own, chosen so that it can be read back.

# %%
failed = ToolResult(call_id="call_2", content="no invoice INV-1043", is_error=True)
side_by_side(Request(messages=(result, failed)), "Two results, one of them an error")

# %% [markdown]
# ## What cannot be carried over
#
# A gateway translates. This Anthropic request holds things that OpenAI Chat has no place for, or takes only in another
# form. A converter that drops them silently changes what your agent knows. This one says so:

# %%
from agentlab.messages.wire import convert
from agentlab.views.findings import findings_table

long_name = "supplier_master_data_central_europe_lookup_by_tax_registration_number"
long_id = "toolu_" + "0123456789abcdef" * 3
thinks = {"type": "thinking", "thinking": "The tax number is on the invoice.", "signature": "sig"}
uses = {"type": "tool_use", "id": long_id, "name": long_name, "input": {}}
fails = {"type": "tool_result", "tool_use_id": long_id, "content": "no such supplier", "is_error": True}
tool = {"name": long_name, "description": "Find a supplier.", "input_schema": {"type": "object"}}
body = {
    "system": "You answer questions on invoices.",
    "thinking": {"type": "adaptive"},
    "tools": [{**tool, "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Who supplied INV-1042?"},
        {"role": "assistant", "content": [thinks, uses]},
        {"role": "user", "content": [fails]},
    ],
}
converted = convert(body, "anthropic", "openai-chat")
print(f"valid before: {check(body, 'anthropic') == []}, valid after: {check(converted.body, 'openai-chat') == []}")
findings_table(converted.findings, "From Anthropic Messages to OpenAI Chat Completions")

# %% [markdown]
# Codes with a W are the converter's own. *must* is content that is lost. *should* is a setting that is lost, or a thing
# that has another form now. Name and id were exchanged in the call and in the result alike, so they still belong
# together.

# %% [markdown]
# ## The order rules, each broken once
#
# Each line is a short history, what the checker says of it, and how the rule is known. A rule that is *recorded* was
# seen in a reply of the real API; *documented*, *specified* and *sdk* stand in the provider's own texts; *reported* is
# quoted in public reports; *unverified* means what it says.

# %%
from agentlab.views.broken import broken_histories, rules_table

rules_table(broken_histories())

# %% [markdown]
# Nobody breaks these on purpose. They break when history is trimmed between a call and its result, when a run was
# stopped half-way, when two results come from two threads, and when a person types while a tool runs. The command
# `agentlab messages check` reads a stored request and tells before a provider does.
#
# One of them depends on who listens. Two calls were made at once, and their results are sent in two messages:

# %%
ask = {"role": "user", "content": "Compare INV-1042 and INV-1043."}
two_calls = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": i, "name": "invoice_get", "input": {}} for i in ("a", "b")],
}
answers = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": i}]} for i in ("a", "b")]
split = [ask, two_calls, *answers]
for strict in (True, False):
    findings = check(split, "anthropic", strict=strict)
    said = ", ".join(f"{finding.rule} {finding.level}" for finding in findings)
    print(f"{'strict' if strict else 'lenient'}: {said}")

# %% [markdown]
# Anthropic joins the two messages, and its documentation says that the form teaches the model to make fewer calls at
# once. Other servers of the same dialect are reported to answer with an error. So the checker is strict unless you say
# otherwise.

# %% [markdown]
# ## How a reply ends, and what may run
#
# **Predict:** a reply was cut by the limit of output tokens. A call is in it, and its arguments look complete. May it
# run?

# %% jupyter={"outputs_hidden": true}
from agentlab.views.replies import stop_table

stop_table()

# %% [markdown]
# The rows were read by the package's own readers. A full context window has no stop reason at OpenAI: such a request is
# answered with an error; for Chat its code is said to be `context_length_exceeded`, which is **not verified**.
#
# **Only the first row runs anything.** Here is why a cut reply must not, however good it looks.
#
# Arguments that are streamed arrive in pieces. Anthropic's Python SDK reads them in *partial mode* as they come: a JSON
# reader that takes what is whole so far and drops the rest. When the limit ends the stream, that is what the call is
# left with. The cell runs the same reader. **Predict:** the model asks to pay 120,000 cents and to hold the payment.
# What is left of that, cut in three places?

# %% jupyter={"outputs_hidden": true}
from agentlab.views.replies import cut_table

meant = '{"invoice_id": "INV-1042", "amount_cents": 120000, "hold": true}'
arrived = [meant[: meant.index(word) + length] for word, length in (("INV-1042", 6), ("120000", 2), ("hold", 2))]
print("the model meant:", meant)
cut_table(arrived)

# %% [markdown]
# No arguments, another amount, a payment without its hold: each is a good JSON object, and none is what was meant. What
# such a reader returns does not show that it was cut. The stop reason does. And where the arguments are whole, a second
# call may have been meant that never came.

# %% [markdown]
# ## What text becomes
#
# Arguments are text that a model wrote. Python's JSON reader takes more than JSON, and keeps the last of two twins.
# The parser in front of every call here bends nothing and repairs nothing; no text at all means no arguments:

# %%
from agentlab.views.replies import arguments_table

texts = [
    '{"invoice_id": "INV-1042"}',
    "",
    "null",
    '{"invoice_id": "INV-10',
    '["INV-1042"]',
    '"INV-1042"',
    '"{\\"invoice_id\\": \\"INV-1042\\"}"',
    '{"amount": NaN}',
    '{"amount": 1e999}',
    '{"amount": 1234567890123456789}',
    '{"amount": 1, "amount": 900}',
    '{"invoice_id": "\\ud83d"}',
    '{"a":' * 65 + "1" + "}" * 65,
]
arguments_table(texts)

# %% [markdown]
# A refusal is no crash. Its text goes back to the model as the result of the call, marked as an error. It says what is
# wrong, so the model can mend the call instead of guessing. How often yours does, only your own runs can tell.

# %% [markdown]
# ## What schemas cost
#
# The schema of a tool travels with every request, used or not. The numbers below are **assumed**; change them here and
# run the cells again.

# %% tags=["parameters"]
tools = 30  # tools in the request
schema_tokens = 200  # one schema: name, description, parameters
history_tokens = 4_000  # everything else in the request

# %%
from agentlab.views.tokens import schema_share, share_sentence, share_table

share = schema_share(tools, schema_tokens, history_tokens)
say(share_sentence(share))
share_table(schema_tokens, history_tokens)

# %% [markdown]
# What others have published, with the date, and a warning where nobody verified it:

# %%
from agentlab.views.tokens import published_table

published_table()

# %% [markdown]
# Anthropic adds a text of its own as soon as a request has tools. Its size depends on the model and on `tool_choice`:
# `auto` leaves it to the model whether it calls, `none` forbids it, `any` demands a call, and `tool` demands a call of
# one tool by name. For the newest models the sizes were not found:

# %%
from agentlab.views.schemas import tool_prompt_table

tool_prompt_table()

# %% [markdown]
# ## What caching makes of it
#
# Anthropic reads tools first, then the system prompt, then the messages, wherever they stand in your JSON. So schemas
# are the beginning of every request of a run, the same each time if you leave them alone: what a cache makes cheap.
# **Predict:** what do they cost in a run of ten requests, next to the price without a cache?

# %% jupyter={"outputs_hidden": true}
from agentlab.views.schemas_cached import cached_sentence, cached_table

say(cached_sentence(share, requests=10))
cached_table(share)

# %% [markdown]
# These are documented multiples; the price list of your model may have others. Cheaper is not smaller: cached or not,
# schemas fill the same part of the context window. If you change one definition, the whole prefix is written anew: for
# tools that differ from request to request you pay the price of writing each time.

# %% [markdown]
# ## Move it yourself
#
# Run all cells first: sliders need a running kernel. Click a slider, or reach it with Tab, and press the arrow keys; or
# type into the number above it. Try this:
#
# 1. From how many tools on is half of the request schema? Does that number depend on the tokens of one schema?
# 2. Set *tools* to what your own agent has. What would half as many save, in every single request?
# 3. Let *everything else* grow to 50,000, as in a long run. Do schemas still matter?

# %%
from agentlab.views.schemas import schema_sliders

say(share_sentence(share))
schema_sliders(tools, schema_tokens, history_tokens)

# %% jupyter={"source_hidden": true}
from html import escape

from IPython.display import HTML

answers = [
    f"{share_sentence(share)} With schemas twice as large: "
    f"{share_sentence(schema_share(tools, 2 * schema_tokens, history_tokens))} "
    "The larger one schema is, the fewer tools it takes.",
    f"Half as many: {share_sentence(schema_share(tools // 2, schema_tokens, history_tokens))}",
    f"{share_sentence(schema_share(tools, schema_tokens, 50_000))} The share is another, the number of schema tokens "
    "is the same.",
]
HTML(
    "".join(
        f"<details><summary>Answer {number}</summary><p>{escape(answer)}</p></details>"
        for number, answer in enumerate(answers, start=1)
    )
)

# %% [markdown]
# ## One after the other, or at once
#
# Three invoices must be read. The model can ask for one in each reply, or for all three in one. **Predict** the number
# of requests, and by what factor the tokens sent differ.

# %% jupyter={"outputs_hidden": true}
ids = [f"INV-104{n}" for n in (2, 3, 4)]
calls = [ToolCall(id=f"call_{n}", name="invoice_get", arguments={"invoice_id": i}) for n, i in enumerate(ids)]


def requests_for(turns):
    """The requests of a run in which the model makes these calls, turn by turn."""
    messages = message_1.messages
    requests = [message_1]
    for turn in turns:
        results = (ToolResult(call_id=c.id, content=result.content) for c in turn)
        messages = (*messages, AssistantMessage(tool_calls=tuple(turn)), *results)
        requests.append(message_1.model_copy(update={"messages": messages}))
    return requests


in_turn, at_once = requests_for([[c] for c in calls]), requests_for([calls])
for name, requests in (("one after the other", in_turn), ("at once", at_once)):
    sent = sum(count_request(request) for request in requests)
    print(f"{name:20} {len(requests)} requests, {sent} tokens sent")
factor = sum(map(count_request, in_turn)) / sum(map(count_request, at_once))
say(
    f"One after the other sends **{factor:.1f} times** the tokens, and the user waits for {len(in_turn)} replies of "
    f"the model instead of {len(at_once)}."
)

# %% [markdown]
# ## What this means for your architecture
#
# - **Latency.** Each round of calls is one more request, and the user waits for it. Let independent calls come at once,
#   and give the model tools that do a whole job.
# - **Cost.** Schemas and history are sent with every request. Offer the tools that a task needs, not all that you have,
#   and keep their list the same over a run, so that it can be cached.
# - **Accuracy.** Names, descriptions and schemas are all that the model chooses by: measure on your own cases what one
#   more tool does to the choice. And a call can fit its schema and still be wrong, as with another tenant's invoice.
# - **Failure.** A broken order is an error for the whole request, not for one call. Check a history before it is sent,
#   and above all after it was trimmed, resumed or translated.
# - **Security.** A call is text from a model that has read what strangers wrote. Whoever can write into its context can
#   make it ask for anything. What may run is decided in your code: the next lesson.

# %% [markdown]
# ## Quiz
#
# Open an option to see why it is right or not.

# %% jupyter={"source_hidden": true}
from agentlab.course import quiz

quiz(
    "Who runs `invoice_get`?",
    {
        "a": ("The model", False, "A model writes text. It has no connection to your ERP, and never learns one."),
        "b": (
            "The provider, when the reply says tool_use",
            False,
            "Some tools do run at the provider (a web search). Those that you define are yours to run.",
        ),
        "c": ("Your code, if it decides to", True, "And between the text and the effect is the place for every guard."),
    },
)

# %% jupyter={"source_hidden": true}
quiz(
    "A reply ended with `max_tokens`. It holds a complete call of `erp_post_invoice`. What does your loop do?",
    {
        "a": (
            "Run it: the arguments are valid",
            False,
            "Valid is not whole: 12 is a valid amount, and was the beginning of 120000.",
        ),
        "b": (
            "Run nothing, and end or ask again with more room",
            True,
            "The stop reason is the only witness that something is missing.",
        ),
        "c": (
            "Run it, but only if it reads",
            False,
            "Then the rule depends on what a tool does. A call that was cut may name the wrong thing to read as well.",
        ),
    },
)

# %% jupyter={"source_hidden": true}
quiz(
    "Your history is too long. You drop the oldest messages until it fits, and the provider answers with 400. Why?",
    {
        "a": (
            "The cut went between a call and its result",
            True,
            "A result without its call is refused (A2, C2, R2), and so is a call without its result (A1, C1, R1).",
        ),
        "b": (
            "The provider noticed that messages are missing",
            False,
            "With a history that you send it remembers nothing; it sees only what you send now.",
        ),
        "c": (
            "The ids must be counted without gaps",
            False,
            "Ids must be unique and must pair up. They need not follow each other.",
        ),
    },
)

# %% [markdown]
# ## Take home
#
# - A call is a request in text. Four messages, and the third repeats the first two.
# - Results follow their calls, all of them, at once, with nothing before them. Then every provider takes it.
# - Run calls for one stop reason alone. Parse arguments strictly, and answer a bad call instead of crashing.
# - Count your tools: *tools times tokens of one schema* is in every request.
#
# The same in a terminal, for a request of your own (`request.json` is the body that you send):

# %%
print("agentlab messages check request.json --dialect anthropic")
print("agentlab messages convert request.json --from anthropic --to openai-chat")
print("agentlab tokens request.json")

# %% [markdown]
# Now do it yourself: [Try it 01](../exercises/01_function_calling.ipynb). Then go on with
# [02 The guarded dispatcher](02_guarded_dispatcher.ipynb): what stands between such a text and your ERP.

# %% [markdown] tags=["try-it"]
# # Try it 01: repair a history, write a schema, decide what runs
#
# Mend a history that a provider refuses. Write the schema of a tool of your own. Then say which calls of a reply may
# run, whoever sent it.
#
# **Time:** 30 minutes. Replace each `TODO` and run the cell below it. Stuck? Open the hints, one after the other.

# %%
from agentlab.course import TODO, check, hint
from agentlab.messages.pairing import check as check_order
from agentlab.views.broken import mishap, shape
from agentlab.views.findings import findings_table

# %% [markdown]
# ## 01.1 Repair a broken history (10 minutes)
#
# This history in Anthropic's form was put together by a gateway with three mistakes. Here is its shape, and what the
# checker says:

# %%
broken = mishap()
for message in broken:
    print(shape([message]))
findings_table(check_order(broken, "anthropic"))

# %% [markdown]
# These are its pieces. Put every one of them back, once, where it belongs. Change none, lose none, invent none.


# %%
def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


contents = [message["content"] for message in broken]
(question,), (call_1, call_2), (remark, result_1), (call_3,), (result_2, result_3, _) = contents
for piece in (question, remark, result_1, result_2, result_3):
    print(piece.get("text") or f"result of {piece['tool_use_id']}: {piece['content']}")

# %%
### BEGIN SOLUTION
repaired = [
    user(question),
    assistant(call_1, call_2),
    user(result_1, result_2, remark),
    assistant(call_3),
    user(result_3),
]
### END SOLUTION

# %%
check("01.1", repaired)

# %%
hint("01.1")

# %% [markdown]
# ## 01.2 The schema of a tool of your own (12 minutes)
#
# Take one action of your own system and describe it for a model: `name`, `description`, `parameters`. The schema is
# closed (`additionalProperties` False in every object), lists what is `required`, and describes every field. The name
# must be one that all three providers take.
#
# Then give two calls' arguments: a good one that the schema takes, and a bad one that a model might well write, and
# that the schema refuses. The check also tells what the *strict* modes of OpenAI and Anthropic would say, as far as
# their documentation goes.

# %%
### BEGIN SOLUTION
my_tool = {
    "name": "ticket_close",
    "description": "Close one support ticket with a reason. Changes the ticket; cannot be undone.",
    "parameters": {
        "type": "object",
        "properties": {
            "ticket_id": {"type": "string", "description": "Id of the ticket, as in T-1234."},
            "reason": {"type": "string", "enum": ["solved", "duplicate"], "description": "Why it is closed."},
        },
        "required": ["ticket_id", "reason"],
        "additionalProperties": False,
    },
}
my_good_call = {"ticket_id": "T-1234", "reason": "solved"}
my_bad_call = {"ticket_id": "T-1234", "reason": "the customer sounds happy"}
### END SOLUTION

# %%
check("01.2", my_tool, my_good_call, my_bad_call)

# %%
hint("01.2")

# %% [markdown]
# ## 01.3 Which calls may run (8 minutes)
#
# `body` is a reply as the provider sent it; `dialect` is `"anthropic"`, `"openai-chat"` or `"openai-responses"`. Return
# the ids of the calls that may run, in order, as a list: none if the reply did not end in order for calls, and none
# whose arguments cannot be read. The ids are those that the results will be paired by.

# %%
from agentlab.messages.arguments import parse_arguments
from agentlab.messages.conversation import StopReason
from agentlab.messages.wire import reply_from_wire


def ids_to_run(body, dialect):
    """The ids of the calls in this reply that may run."""
    ### BEGIN SOLUTION
    reply = reply_from_wire(body, dialect)
    if reply.stop is not StopReason.TOOL:
        return []
    return [call.id for call in reply.tool_calls if parse_arguments(call.arguments).values is not None]
    ### END SOLUTION


# %%
check("01.3", ids_to_run)

# %%
hint("01.3")

# %% [markdown]
# ## Done?
#
# When all three are right, take a request that your own agent has sent, and run `agentlab messages check` and
# `agentlab tokens` on it. How much of it is schema, and would every provider take it?
