"""Token counts seen: the parts of one request, the messages of one tool call, and the share that schemas take."""

from collections.abc import Sequence
from typing import NamedTuple

from agentlab.errors import AgentlabError
from agentlab.facts import cited, read_facts
from agentlab.messages.conversation import Dialect, Reply, Request
from agentlab.messages.request_count import PARTS, PartName, RequestCount, count_parts
from agentlab.shapes import Quantity
from agentlab.views.tables import Table

LABELS: dict[PartName, str] = {
    "system": "system",
    "tools": "tools",
    "user": "user",
    "assistant": "assistant",
    "tool_results": "tool results",
    "provider_adds": "provider adds",
}

UNPUBLISHED = "not published"

TOTAL, AT_LEAST = "total", "at least"
"""What the sum of the parts is called: the total, or the least there is where something is not counted."""


def parts_table(count: RequestCount) -> Table:
    """One row a part: tokens, share of what is counted, where the true number probably lies, and the origin."""
    rows = [
        (
            LABELS[part.name],
            _whole(part.tokens.value),
            f"{count.share(part.name):.0%}",
            band(part.tokens),
            _origin(part.tokens),
        )
        for part in count.parts
    ]
    total = (
        AT_LEAST if count.at_least else TOTAL,
        _whole(count.total.value),
        "100%" if count.total.value else "",
        _band_of_total(count),
        count.total.origin,
    )
    columns = ("part", "tokens", "share", "probably", "origin")
    return Table(f"Tokens of one request, {count.tokenizer}", columns, (*rows, total), words=("origin",))


def notes(count: RequestCount) -> list[str]:
    """What a reader of the table must know: the counter, the parts not counted as plain text, what is missing."""
    said = [f"Counter: {count.tokenizer}; {count.tokenizer_source}."]
    for part in count.parts:
        how = part.tokens.source.removeprefix(count.tokenizer).removeprefix("; ")
        if how and part.tokens.value:
            said.append(f"{_sentence_case(LABELS[part.name])}: {how}.")
    if any(part.tokens.low is not None for part in count.parts):
        said.append("Probably: nine of ten texts lay in the band of their estimate; bands are added up for the sum.")
    bare = [part for part in count.parts if part.tokens.origin == "estimated" and part.tokens.low is None]
    if any(part.tokens.value for part in bare):
        said.append("How far an estimate without a band is off is not known here.")
    said += [f"Not counted: {what}." for what in count.not_counted]
    if count.at_least:
        said.append("So the request has more than the sum of its parts here, and each part a smaller share.")
    return said + [f"Counted as sent, but {what}." for what in count.may_shrink]


def parts_sentence(count: RequestCount) -> str:
    """The point of the table: how large the request is, how much of it is schema, and which part is the largest."""
    total = count.total
    if not total.value:
        return "Nothing of the request can be counted here." if count.at_least else "The request is empty."
    where = _band_of_total(count)
    size = _size(count) + (f" (probably {where})" if where and where != f"{_whole(total.value)} or more" else "")
    largest = max(count.parts, key=lambda part: part.tokens.value)
    whole = " of what is counted" if count.at_least else ""
    tools = count.tokens("tools")
    return (
        f"The request has {size}; {_whole(tools)} of them ({count.share('tools'):.0%}{whole}) "
        f"{'is' if tools == 1 else 'are'} tool schemas. "
        f"The largest part is {LABELS[largest.name]} with {count.share(largest.name):.0%}."
    )


def messages_table(
    exchange: Sequence[Request | Reply], model: str | None = None, dialect: Dialect | None = None
) -> Table:
    """One row for each request and reply of a tool call, a column for each part that any of them has."""
    counts = [_counted(message, model, dialect) for message in exchange]
    used = [name for name in PARTS if any(count.tokens(name) for count in counts)]
    rows = tuple(
        (
            f"{number}. {'request' if isinstance(message, Request) else 'reply'}",
            *(_whole(count.tokens(name)) for name in used),
            _whole(count.total.value),
        )
        for number, (message, count) in enumerate(zip(exchange, counts, strict=True), start=1)
    )
    counter = f", {counts[0].tokenizer} ({counts[0].total.origin})" if counts else ""
    last = AT_LEAST if any(count.at_least for count in counts) else TOTAL
    return Table(f"Tokens of each message{counter}", ("message", *(LABELS[name] for name in used), last), rows)


def messages_sentence(
    exchange: Sequence[Request | Reply], model: str | None = None, dialect: Dialect | None = None
) -> str:
    """What the last request costs beyond what is new in it: the API keeps no state, so all else is sent again."""
    requests = [message for message in exchange if isinstance(message, Request)]
    if len(requests) < 2:
        return "There is one request; nothing is sent twice."
    before, last = requests[-2:]
    same = last.messages[: len(before.messages)] == before.messages
    new = last.messages[len(before.messages) :] if same else last.messages
    whole = _counted(last, model, dialect)
    results = sum(count_parts(Request(messages=(each,)), model).total.value for each in new if each.role == "tool")
    counts = [_counted(request, model, dialect) for request in requests]
    sent = sum(count.total.value for count in counts)
    least = "at least " if any(count.at_least for count in counts) else ""
    return (
        f"Message {exchange.index(last) + 1} has {'at least ' if whole.at_least else ''}{_tokens(whole.total.value)}, "
        f"of which {_whole(results)} {'is' if results == 1 else 'are'} new to the model (the results); "
        f"{whole.share('tools'):.0%} {'of what is counted ' if whole.at_least else ''}are tool schemas. "
        f"The {len(requests)} requests together send {least}{_whole(sent)}."
    )


class SchemaShare(NamedTuple):
    """A request with `tools` schemas of `schema_tokens` each beside `history_tokens` of everything else."""

    tools: int
    schema_tokens: int
    history_tokens: int

    @property
    def schemas(self) -> int:
        """Tokens of all schemas together."""
        return self.tools * self.schema_tokens

    @property
    def request(self) -> int:
        """Tokens of the request."""
        return self.schemas + self.history_tokens

    @property
    def share(self) -> float:
        """The share of the request that is schema, from 0 to 1."""
        return self.schemas / self.request if self.request else 0.0


def schema_share(tools: int, schema_tokens: int, history_tokens: int) -> SchemaShare:
    """The calculator of the slider. Raises AgentlabError for sizes that are none (each a whole number from 0)."""
    sizes = SchemaShare(tools, schema_tokens, history_tokens)
    for name, size in sizes._asdict().items():
        if type(size) is not int or size < 0:
            raise AgentlabError(f"{name} is {size!r}; give a whole number from 0")
    return sizes


def share_sentence(sizes: SchemaShare) -> str:
    """The point of the slider, with the number of tools at which schemas are half of the request."""
    tools = f"{sizes.tools:,} tool{'' if sizes.tools == 1 else 's'}"
    said = (
        f"{tools} of {_tokens(sizes.schema_tokens)} are {_tokens(sizes.schemas)} of schema: {sizes.share:.0%} of a "
        f"request of {sizes.request:,}, and they are sent with every request."
    )
    if not sizes.schema_tokens or not sizes.history_tokens:
        return said
    half = -(-sizes.history_tokens // sizes.schema_tokens)
    return f"{said} From {half:,} tools on, at least half of this request is schema."


def share_table(schema_tokens: int, history_tokens: int, tools: Sequence[int] = (1, 5, 10, 30, 50, 100)) -> Table:
    """The share for several numbers of tools: what the slider shows, where there is no slider."""
    found = [schema_share(number, schema_tokens, history_tokens) for number in tools]
    rows = tuple((f"{each.tools:,}", f"{each.schemas:,}", f"{each.request:,}", f"{each.share:.0%}") for each in found)
    caption = f"Share of schemas: {schema_tokens:,} tokens each, beside {history_tokens:,} of everything else"
    return Table(caption, ("tools", "schema tokens", "request", "share"), rows)


def published_table() -> Table:
    """What others measured in their own set-ups (data/facts/schema_bloat.csv), and what one tool has where known."""
    rows = []
    for row in read_facts("schema_bloat"):
        low, high = (int(row[name]) if row[name] else None for name in ("tokens_low", "tokens_high"))
        # "100+" is no number to divide by.
        tools = int(row["tools"]) if row["tools"].isdigit() else None
        rows.append((row["what"], row["tools"] or UNPUBLISHED, _range(low, high), _each(low, high, tools), cited(row)))
    columns = ("set-up", "tools", "schema tokens", "tokens a tool", "source")
    return Table("Published sizes of tool schemas", columns, tuple(rows), words=("source",))


def band(tokens: Quantity) -> str:
    """The band of an estimate as text; empty where there is none."""
    return "" if tokens.low is None or tokens.high is None else f"{tokens.low:,} to {tokens.high:,}"


def _size(count: RequestCount) -> str:
    """How large the request is, and how surely: exactly as many, about, or at least."""
    sure = all(part.tokens.origin == "exact" or not part.tokens.value for part in count.parts)
    least = "at least " if count.at_least else ""
    return f"{least}{'' if least and sure else 'about '}{_tokens(count.total.value)}"


def _band_of_total(count: RequestCount) -> str:
    if not count.at_least:
        return band(count.total)
    return f"{_whole(count.lowest)} or more" if count.lowest else ""


def _counted(message: Request | Reply, model: str | None, dialect: Dialect | None) -> RequestCount:
    if isinstance(message, Request):
        return count_parts(message, model, dialect)
    return count_parts(Request(messages=(message.message,)), model)


def _origin(tokens: Quantity) -> str:
    return tokens.origin if tokens.value else ""


def _tokens(value: int | float) -> str:
    return f"{_whole(value)} token{'' if value == 1 else 's'}"


def _whole(value: int | float) -> str:
    return f"{value:,}"


def _range(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return UNPUBLISHED
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _each(low: int | None, high: int | None, tools: int | None) -> str:
    if low is None or high is None or not tools:
        return ""
    return _range(round(low / tools), round(high / tools))


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
