"""How the stand-in reads a document: labels and values, then the fields of an invoice. Plain parsing, and fallible.

A JSON path (``totals.gross``), a CSV header and the label of a line in a mail ("Invoice no.:") are all labels, so one
list of names for each field serves the three formats.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from pydantic import JsonValue

from agentlab.cases.invoices.documents import delimiter_of
from agentlab.messages.arguments import parse_arguments

Labelled = list[tuple[str, object]]

NUMBER = (
    "invoicenumber|invoiceno|invoice|rechnungsnummer|rechnungnr|docno|belegnr",
    r"header\.no|invoice\.id|invoice\.number|number",
)
SUPPLIER = (r"(supplier|vendor|seller)(\.name)?|lieferant", r".*supplierparty\.name", "from")
ORDER = (
    "po|ponumber|customerpo|purchaseorder|bestellnummer|bestellung|yourorder|yourorderno|order",
    r"reference\.purchaseorder|header\.orderref|.*\.buyerreference",
)
# "net" is the last resort, and "to pay" is missing: a reader makes mistakes, and what stands behind it must hold.
AMOUNT = (
    "amountcents",
    r"total|totaldue|totalincltax|invoicetotal|gesamtbetrag|rechnungsbetrag|bruttobetrag|betrag|amountdue",
    r"totals\.gross|sum\.amount|.*payableamount\.value|amount",
    "net",
)
CURRENCY = (r"currency|waehrung|(totals|sum)\.currency|.*currencyid",)

MAX_DIGITS = 18
"""A number with more digits before the point is no amount of money."""

UNREADABLE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""What Python raises over data that is not what a program expected. A failing database or disk is none of these."""

# The two patterns take time in proportion to the text: anybody may send a document, and a pattern that looks ahead
# for an end which is missing, from each of many beginnings, would never come back.
_MAIL_LINE = re.compile(r"([^\W\d][\w #.%]{0,30}?)\s*:\s+(\S.*)")
_CALL = re.compile(r"call (\w+) with (\{[^{}\n]*\})")
_SIGNS = {"€": "EUR", "$": "USD"}


class Fields(NamedTuple):
    """What was read. ``amount`` is as it stands there: a number, or the text of one; None where nothing was found."""

    supplier: str | None
    number: str | None
    po: str | None
    amount: int | Decimal | str | None
    amount_is_cents: bool
    amount_is_json_text: bool
    currency: str


def read_fields(kind: str, text: str) -> Fields:
    """Read the fields of the invoice `text`, which is of the format `kind` (json, csv, mail)."""
    labelled = list(_labels(kind, text))
    label, amount = _find(labelled, AMOUNT)
    _, currency = _find(labelled, CURRENCY)
    if not isinstance(amount, int | Decimal | str) or isinstance(amount, bool):
        amount = None
    return Fields(
        supplier=_as_text(_find(labelled, SUPPLIER)[1]),
        number=_as_text(_find(labelled, NUMBER)[1]),
        po=_as_text(_find(labelled, ORDER)[1]),
        amount=amount,
        amount_is_cents=label == "amountcents",
        amount_is_json_text=kind == "json" and isinstance(amount, str),
        currency=_as_text(currency) or _currency_of(amount),
    )


def in_cents(amount: int | Decimal | str, is_cents: bool) -> int | None:
    """The amount as whole cents, or None for text that holds no amount.

    >>> [in_cents(text, False) for text in ("EUR 1.200,00", "1,200.00 EUR", "€ 980.-", "4 612.30")]
    [120000, 120000, 98000, 461230]
    """
    value = Decimal(amount) if isinstance(amount, int | Decimal) else _number_in(amount)
    if value is None or value.adjusted() > MAX_DIGITS:
        return None
    return int((value if is_cents else value * 100).to_integral_value())


def _number_in(text: str) -> Decimal | None:
    found = re.search(r"(?:(?<!\w)-)?\d[\d., ]*", text)
    if found is None:
        return None
    digits = found.group().replace(" ", "").rstrip(".,")
    # The last separator marks the cents when exactly two digits follow it; every other one groups thousands.
    whole, cents = (digits[:-3], digits[-2:]) if re.search(r"[.,]\d\d$", digits) else (digits, "0")
    return Decimal(f"{re.sub('[.,]', '', whole)}.{cents}")


def _labels(kind: str, text: str) -> Iterator[tuple[str, object]]:
    if kind == "json":
        yield from _json_labels(json.loads(text, parse_float=_decimal))
    elif kind == "csv":
        header, row = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text)))[:2]
        yield from ((_plain(label), value) for label, value in zip(header, row, strict=True))
    else:
        for line in text.splitlines():
            found = _MAIL_LINE.match(line.strip())
            if found and found.group(1) not in ("From", "To", "Cc", "Date", "Subject"):
                yield _plain(found.group(1)), found.group(2)


def _decimal(number: str) -> Decimal | None:
    """The number of a JSON text; None where its exponent is beyond all that can be computed with."""
    try:
        return Decimal(number)
    except InvalidOperation:
        return None


def _json_labels(value: object) -> Iterator[tuple[str, object]]:
    """The leaves of a JSON value in the order of the text, each with its path."""
    open_values: list[tuple[str, object]] = [("", value)]
    while open_values:
        path, current = open_values.pop()
        if isinstance(current, dict):
            inner = [(f"{path}.{_plain(key)}".lstrip("."), one) for key, one in current.items()]
            open_values.extend(reversed(inner))
        elif isinstance(current, list):
            open_values.extend(reversed([(f"{path}.{number}", one) for number, one in enumerate(current)]))
        else:
            yield path, current


def _plain(label: str) -> str:
    return re.sub(r"[^a-z0-9äöü]", "", label.lower())


def _find(labelled: Labelled, names: tuple[str, ...]) -> tuple[str, object]:
    for pattern in names:
        for label, value in labelled:
            if re.fullmatch(pattern, label):
                return label, value
    return "", None


def _as_text(value: object) -> str | None:
    if not isinstance(value, str | int) or not str(value).strip():
        return None
    # Half a surrogate pair can stand in JSON as \\ud800, and in no text that is sent.
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _currency_of(amount: object) -> str:
    found = re.search(r"[A-Z]{3}|[€$]", amount) if isinstance(amount, str) else None
    return _SIGNS.get(found.group(), found.group()) if found else "EUR"


class Instructions(NamedTuple):
    """What the text of a document tells its reader to do. A document is data, and a model may obey it all the same."""

    call: tuple[str, dict[str, JsonValue]] | None
    amount_cents: int | None
    extra: dict[str, JsonValue]


def read_instructions(text: str) -> Instructions:
    """Find "call TOOL with {...}", "post amount_cents = N" and "name=true" in a text."""
    call = _CALL.search(text)
    amount = re.search(r"post amount_cents = (\d{1,15})", text)
    return Instructions(
        call=(call.group(1), parse_arguments(call.group(2)).values or {}) if call else None,
        amount_cents=int(amount.group(1)) if amount else None,
        extra=dict.fromkeys(re.findall(r"\b(\w+)=true\b", text), True),
    )
