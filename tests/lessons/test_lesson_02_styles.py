"""Lesson 02: answers that are right are called right, however they are written."""

import copy
import hashlib
import json
import uuid
from dataclasses import dataclass, field

import pytest

from agentlab.course.checks import judge
from agentlab.views.proposals import CASES, post_invoice

FIELDS = {"invoice_id": str, "amount_cents": int, "idempotency_key": str}
LIMIT = 500_000


# 02.1


def by_json_schema(arguments):
    return "; ".join(post_invoice().problems(arguments)) or None


def by_matching(arguments):
    match arguments:
        case {"invoice_id": str(invoice), "amount_cents": int(cents), "idempotency_key": str(key), **rest}:
            fits = invoice and key and not rest and cents is not True and cents is not False and cents > 0
            return None if fits else "three fields, filled, and a whole amount above zero"
        case _:
            return "three fields of the right types"


class AllAtOnce:
    """An object that is called; it collects every problem."""

    def __call__(self, arguments):
        if not isinstance(arguments, dict):
            return "send an object"
        problems = [f"{name} is unknown" for name in arguments if name not in FIELDS]
        for name, kind in FIELDS.items():
            value = arguments.get(name)
            if type(value) is not kind or value == "" or (kind is int and value <= 0):
                problems.append(f"{name} is missing or wrong")
        return ", ".join(problems) or None


# 02.2


def sorted_text(name, arguments):
    return json.dumps({"tool": name, **{f"argument {key}": value for key, value in arguments.items()}}, sort_keys=True)


def by_uuid(name, arguments):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, repr((name, sorted(arguments.items())))))


def pairs_by_sha1(name, arguments):
    text = json.dumps([name, *sorted(arguments.items())])
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


# 02.3


def by_a_table(name, arguments, roles, approved_ids):
    identity = sorted_text(name, arguments) if isinstance(arguments, dict) else ""
    table = (
        ("known_tool", lambda: name != "erp_post_invoice"),
        ("arguments", lambda: by_json_schema(arguments) is not None),
        ("role", lambda: not {"ap_clerk"} & set(roles)),
        ("approval", lambda: arguments["amount_cents"] > LIMIT and identity not in approved_ids),
    )
    for guard, objects in table:
        if objects():
            return {"guard": guard, "content": f"{guard} objects", "approval_id": identity, "retry": False}
    return None


# 02.4


def key_before_approval(name, arguments, roles, approved_ids, first, post):
    """As the package does it: nobody is asked about a key that has been used. An approval is used once."""
    refusal = by_a_table(name, arguments, roles, approved_ids)
    if refusal and refusal["guard"] != "approval":
        return {"is_error": True, **refusal}
    key, payload = arguments["idempotency_key"], copy.deepcopy(arguments)
    if key in first:
        same = first[key]["payload"] == payload
        content = first[key]["result"] if same else "this key stands for another payload"
        return {"is_error": not same, "content": content, "replayed": same}
    if refusal:
        return {"is_error": True, **refusal}
    approved_ids.discard(sorted_text(name, arguments))
    first[key] = {
        "payload": payload,
        "result": post(invoice_id=payload["invoice_id"], amount_cents=payload["amount_cents"]),
    }
    return {"is_error": False, "content": first[key]["result"], "replayed": False}


@dataclass
class Kept:
    payload: dict
    results: list = field(default_factory=list)


class Gate:
    """A callable object, whose store is keyed by tool and key and holds objects."""

    def __call__(self, tool, arguments, roles, approved, store, post):
        refusal = by_a_table(tool, arguments, roles, approved)
        if refusal is not None:
            return dict(refusal, is_error=True)
        kept = store.setdefault((tool, arguments["idempotency_key"]), Kept(dict(arguments)))
        if kept.payload != arguments:
            return {"content": "conflict", "is_error": True}
        if not kept.results:
            kept.results.append(post(arguments["invoice_id"], arguments["amount_cents"]))
        return {"content": kept.results[0], "is_error": False}


STYLES = {
    "02.1": [by_json_schema, by_matching, AllAtOnce()],
    "02.2": [sorted_text, by_uuid, pairs_by_sha1],
    "02.3": [by_a_table],
    "02.4": [key_before_approval, Gate()],
}


@pytest.mark.parametrize(
    ("exercise", "answer"), [(exercise, answer) for exercise, answers in STYLES.items() for answer in answers]
)
def test_a_right_answer_in_another_style_is_right(exercise, answer):
    result = judge(exercise, answer)
    assert result.state == "right", result


@pytest.mark.parametrize("dispatch", STYLES["02.4"])
def test_a_right_dispatcher_refuses_a_case_of_ones_own(dispatch):
    case = {
        "name": CASES[0].tool,
        "arguments": {**CASES[0].arguments, "amount_cents": LIMIT + 1},
        "roles": ["ap_clerk"],
    }
    assert judge("02.5", case, dispatch).state == "right"
