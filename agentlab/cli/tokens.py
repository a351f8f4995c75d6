"""``agentlab tokens``: what each part of a request costs, in tokens.

``--json`` prints one object with these keys:

- ``file``; ``dialect`` and ``dialect_detected`` (true where it was not named); ``model`` (or null)
- ``tokenizer`` and ``tokenizer_source``: the counter, and what it rests on
- ``parts``: ``system``, ``tools``, ``user``, ``assistant``, ``tool_results`` and ``provider_adds`` (null where nothing
  about it is published); each with ``tokens``, ``share`` (0 to 1), ``unit``, ``origin``, ``source``, ``low``, ``high``
- ``total``: the same keys for the sum of the parts, and ``at_least``: true where something is not counted, so that the
  request has more; then ``high`` is null, and ``low`` the low end of the sum (null where no error is known)
- ``not_counted``: a list of what nobody could count
- ``may_shrink``: a list of settings by which the provider may take away some of what was sent
- ``warnings``: a list of what is doubtful about the question, such as a model of another provider; also on stderr
- ``provider``: the provider's own count, the keys of a part without ``share``; null if it was not asked
"""

from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue

from agentlab.cli.files import read_json, shown
from agentlab.cli.output import print_json, print_line, print_paragraph, print_table, printable
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.messages.conversation import Dialect
    from agentlab.messages.request_count import RequestCount
    from agentlab.shapes import Quantity


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("tokens")(tokens)


def tokens(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A request body, or a list of messages. - is stdin.")],
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", help="Count as this model does; else the one in FILE.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", metavar="D", help="anthropic, openai-chat or openai-responses.")
    ] = None,
    ask_provider: Annotated[
        bool,
        typer.Option("--ask-provider", help="Also send the request to the provider and show its count; needs a key."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Split a request into its parts and count each.

    Needs no key and no network. A count is exact or an estimate, and says which.
    """
    from agentlab.messages.detect import body_of, disagreement
    from agentlab.messages.provider_count import provider_count
    from agentlab.messages.request_count import count_body, model_in
    from agentlab.messages.wire import from_wire

    value = read_json(file)
    chosen = _dialect_of(value, dialect, file, model or model_in(value))
    body = body_of(value, chosen)
    count = count_body(body, chosen, model)
    asked = None
    if ask_provider:
        if count.model is None:
            raise AgentlabError(f"{shown(file)} names no model to ask about; give --model")
        asked = provider_count(from_wire(body, chosen), count.model)
    doubt = disagreement(chosen, count.model)
    if doubt is not None:
        print_line(f"warning: {printable(doubt)}", err=True)
    if as_json:
        print_json(_as_json(file, chosen, dialect is None, count, asked) | {"warnings": [doubt] if doubt else []})
    else:
        _print(chosen, dialect is None, count, asked)


def _dialect_of(value: JsonValue, named: str | None, file: str, model: str | None) -> "Dialect":
    from agentlab.messages.detect import detect
    from agentlab.messages.wire import DIALECTS

    if named is not None:
        for dialect in DIALECTS:
            if dialect == named:
                return dialect
        raise AgentlabError(f"--dialect is {named}; it is one of {', '.join(DIALECTS)}")
    found = detect(value, model)
    if not found.best:
        raise AgentlabError(f"{shown(file)} is no request in a dialect that is known here: {'; '.join(found.refused)}")
    if len(found.best) > 1:
        raise AgentlabError(f"{shown(file)} can be read as {' or '.join(found.best)}; say which with --dialect")
    return found.best[0]


def _print(dialect: str, detected: bool, count: "RequestCount", asked: "Quantity | None") -> None:
    from agentlab.views import tokens as view

    model = printable(count.model or "not named")
    print_line(f"Dialect: {dialect}{' (detected)' if detected else ''}. Model: {model}.")
    print_line("")
    table = view.parts_table(count)
    print_table(table.columns, table.rows, right=[name for name in table.columns[1:] if name not in table.words])
    print_line("")
    print_paragraph(view.parts_sentence(count))
    if asked is not None:
        print_paragraph(printable(f"The provider counts {asked.value:,} ({asked.origin}: {asked.source})."))
    for note in view.notes(count):
        print_paragraph(printable(note))


def _as_json(
    file: str, dialect: str, detected: bool, count: "RequestCount", asked: "Quantity | None"
) -> dict[str, JsonValue]:
    from agentlab.messages.request_count import PARTS

    found = {part.name: _quantity(part.tokens) | {"share": count.share(part.name)} for part in count.parts}
    total: dict[str, JsonValue] = _quantity(count.total) | {"share": 1.0 if count.total.value else 0.0}
    if count.at_least:
        total["low"] = count.lowest
    total["at_least"] = count.at_least
    parts: dict[str, JsonValue] = {name: found.get(name) for name in PARTS}
    return {
        "file": file,
        "dialect": dialect,
        "dialect_detected": detected,
        "model": count.model,
        "tokenizer": count.tokenizer,
        "tokenizer_source": count.tokenizer_source,
        "parts": parts,
        "total": total,
        "not_counted": list(count.not_counted),
        "may_shrink": list(count.may_shrink),
        "provider": None if asked is None else _quantity(asked),
    }


def _quantity(quantity: "Quantity") -> dict[str, JsonValue]:
    fields = quantity.model_dump()
    return {"tokens": fields.pop("value"), **fields}
