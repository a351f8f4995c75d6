"""Plausible wrong answers to the exercises of lesson 02. Each must be called wrong, for a reason of its own."""

import hashlib
import json

FIELDS = {"invoice_id": str, "amount_cents": int, "idempotency_key": str}
LIMIT = 500_000
TOOL = "erp_post_invoice"


# The right parts, which every wrong dispatcher below spoils in one place.


def right_validate(arguments):
    if not isinstance(arguments, dict) or set(arguments) != set(FIELDS):
        return "send exactly these: invoice_id, amount_cents, idempotency_key"
    for field, kind in FIELDS.items():
        if type(arguments[field]) is not kind:
            return f"{field} has the wrong type"
    if "" in arguments.values():
        return "a text is empty"
    return None if arguments["amount_cents"] > 0 else "amount_cents must be greater than 0"


def right_id(name, arguments):
    return hashlib.sha256(json.dumps([name, arguments], sort_keys=True).encode()).hexdigest()


def refusal(guard, content, **more):
    return {"guard": guard, "content": content, **more}


def known_tool(name, arguments, roles, approved):
    return None if name == TOOL else refusal("known_tool", "unknown tool")


def valid(name, arguments, roles, approved, *, validate=right_validate):
    problem = validate(arguments)
    return refusal("arguments", problem) if problem else None


def role(name, arguments, roles, approved):
    return None if "ap_clerk" in roles else refusal("role", "denied")


def approval(name, arguments, roles, approved, *, identify=right_id):
    identity = identify(name, arguments)
    if arguments["amount_cents"] > LIMIT and identity not in approved:
        return refusal("approval", "approval required", approval_id=identity)
    return None


GUARDS = (known_tool, valid, role, approval)


def decider(*guards):
    def decide(name, arguments, roles, approved_ids):
        answers = (guard(name, arguments, roles, approved_ids) for guard in guards)
        return next((answer for answer in answers if answer is not None), None)

    return decide


right_decide = decider(*GUARDS)


def dispatcher(decide=right_decide, identify=right_id):
    def dispatch(name, arguments, roles, approved_ids, first, post):
        refused = decide(name, arguments, roles, approved_ids)
        if refused:
            return {"is_error": True, **refused}
        key, identity = arguments["idempotency_key"], identify(name, arguments)
        if key not in first:
            first[key] = identity, post(arguments["invoice_id"], arguments["amount_cents"])
        if first[key][0] != identity:
            return {"is_error": True, "content": "this key was used for another payload"}
        return {"is_error": False, "content": first[key][1]}

    return dispatch


# 02.1


def bool_is_an_int(arguments):
    if not isinstance(arguments, dict) or set(arguments) != set(FIELDS):
        return "wrong keys"
    if not all(isinstance(arguments[field], kind) for field, kind in FIELDS.items()):
        return "wrong type"
    return None if arguments["amount_cents"] > 0 else "not positive"


def extra_keys_are_ignored(arguments):
    if not isinstance(arguments, dict) or not set(FIELDS) <= set(arguments):
        return "a key is missing"
    return right_validate({field: arguments[field] for field in FIELDS})


def a_missing_key_raises(arguments):
    for field, kind in FIELDS.items():
        if type(arguments[field]) is not kind:
            return "wrong type"
    return right_validate(arguments)


def text_is_converted(arguments):
    if isinstance(arguments, dict) and isinstance(arguments.get("amount_cents"), str):
        arguments = {**arguments, "amount_cents": int(arguments["amount_cents"])}
    return right_validate(arguments)


def text_is_converted_in_place(arguments):
    if isinstance(arguments, dict) and isinstance(arguments.get("amount_cents"), str):
        arguments["amount_cents"] = int(arguments["amount_cents"])
        return "amount_cents was text"
    return right_validate(arguments)


def a_float_will_do(arguments):
    if isinstance(arguments, dict) and type(arguments.get("amount_cents")) is float:
        arguments = {**arguments, "amount_cents": int(arguments["amount_cents"])}
    return right_validate(arguments)


def only_the_amount_has_a_type(arguments):
    if isinstance(arguments, dict) and "invoice_id" in arguments:
        arguments = {**arguments, "invoice_id": str(arguments["invoice_id"])}
    return right_validate(arguments)


def an_empty_id_will_do(arguments):
    problem = right_validate(arguments)
    return None if problem == "a text is empty" and arguments["idempotency_key"] else problem


def an_empty_key_will_do(arguments):
    problem = right_validate(arguments)
    return None if problem == "a text is empty" and arguments["invoice_id"] else problem


def the_sign_is_forgotten(arguments):
    problem = right_validate(arguments)
    return None if problem == "amount_cents must be greater than 0" else problem


def zero_passes(arguments):
    problem = right_validate(arguments)
    return None if isinstance(arguments, dict) and arguments.get("amount_cents") == 0 else problem


def a_list_raises(arguments):
    if arguments is not None and sorted(arguments.keys()) != sorted(FIELDS):
        return "wrong keys"
    return right_validate(arguments)


def nothing_raises(arguments):
    return "wrong keys" if set(arguments) != set(FIELDS) else right_validate(arguments)


def true_means_valid(arguments):
    return right_validate(arguments) is None


def false_means_invalid(arguments):
    return None if right_validate(arguments) is None else False


# 02.2


def name_only(name, arguments):
    return hashlib.sha256(name.encode()).hexdigest()


def amount_only(name, arguments):
    return hashlib.sha256(str(arguments["amount_cents"]).encode()).hexdigest()


def arguments_only(name, arguments):
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()


def without_the_key(name, arguments):
    return right_id(name, {field: value for field, value in arguments.items() if field != "idempotency_key"})


def the_key_is_popped(name, arguments):
    arguments.pop("idempotency_key")
    return right_id(name, arguments)


def in_the_order_of_the_keys(name, arguments):
    return hashlib.sha256(json.dumps([name, arguments]).encode()).hexdigest()


def side_by_side(name, arguments):
    return hashlib.sha256("".join([name, *(str(arguments[field]) for field in FIELDS)]).encode()).hexdigest()


def printed_values(name, arguments):
    return hashlib.sha256(" ".join([name, *(str(arguments[field]) for field in FIELDS)]).encode()).hexdigest()


def too_short(name, arguments):
    return right_id(name, arguments)[:4]


# 02.3 and 02.4


def at_the_limit_too(name, arguments, roles, approved):
    if arguments["amount_cents"] >= LIMIT:
        return approval(name, {**arguments, "amount_cents": LIMIT + 1}, roles, approved)
    return None


def at_twice_the_limit(name, arguments, roles, approved):
    return approval(name, arguments, roles, approved) if arguments["amount_cents"] > 600_000 else None


def any_approval(name, arguments, roles, approved):
    return None if approved else approval(name, arguments, roles, approved)


def approval_for_the_tool(name, arguments, roles, approved):
    return approval(name, arguments, roles, approved, identify=name_only)


def approval_for_the_amount(name, arguments, roles, approved):
    return approval(name, arguments, roles, approved, identify=amount_only)


def approval_without_an_id(name, arguments, roles, approved):
    asked = approval(name, arguments, roles, approved)
    return refusal("approval", asked["content"]) if asked else None


def approval_that_never_comes(name, arguments, roles, approved):
    return approval(name, arguments, roles, frozenset())


def arguments_of_strangers(name, arguments, roles, approved):
    return None if "ap_clerk" in roles else valid(name, arguments, roles, approved)


def any_role(name, arguments, roles, approved):
    return None if roles else refusal("role", "denied")


def no_guard(name, arguments, roles, approved):
    return None


def a_closed_door(name, arguments, roles, approved):
    return refusal("role", "denied")


def unknown_raises(name, arguments, roles, approved):
    return {TOOL: None}[name]


def yes_or_no(name, arguments, roles, approved_ids):
    return None if right_decide(name, arguments, roles, approved_ids) is None else False


def spoiled(validate):
    return lambda *call: valid(*call, validate=validate)


def role_after_the_effect(name, arguments, roles, approved_ids, first, post):
    answer = dispatcher(decider(known_tool, valid, approval))(name, arguments, roles, approved_ids, first, post)
    return answer if "ap_clerk" in roles else {"is_error": True, "content": "denied"}


def key_taken_before_the_approval(name, arguments, roles, approved_ids, first, post):
    refused = decider(known_tool, valid, role)(name, arguments, roles, approved_ids)
    if refused:
        return {"is_error": True, **refused}
    key, identity = arguments["idempotency_key"], right_id(name, arguments)
    if key not in first:
        asked = approval(name, arguments, roles, approved_ids)
        first[key] = identity, asked or post(arguments["invoice_id"], arguments["amount_cents"])
    if first[key][0] != identity:
        return {"is_error": True, "content": "this key was used for another payload"}
    content = first[key][1]
    return {"is_error": True, **content} if "guard" in content else {"is_error": False, "content": content}


def no_keys(name, arguments, roles, approved_ids, first, post):
    return dispatcher()(name, arguments, roles, approved_ids, {}, post)


EVERYBODYS = {}


def one_store_for_all(name, arguments, roles, approved_ids, first, post):
    return dispatcher()(name, arguments, roles, approved_ids, EVERYBODYS, post)


def other_payload_gets_the_first_result(name, arguments, roles, approved_ids, first, post):
    return dispatcher(identify=lambda name, arguments: "")(name, arguments, roles, approved_ids, first, post)


def other_payload_posts(name, arguments, roles, approved_ids, first, post):
    refused = right_decide(name, arguments, roles, approved_ids)
    if refused:
        return {"is_error": True, **refused}
    identity = right_id(name, arguments)
    if identity not in first:
        first[identity] = post(arguments["invoice_id"], arguments["amount_cents"])
    return {"is_error": False, "content": first[identity]}


def own_words(name, arguments, roles, approved_ids, first, post):
    answer = dispatcher()(name, arguments, roles, approved_ids, first, post)
    return answer if answer["is_error"] else {"is_error": False, "content": "done"}


def bare_result(name, arguments, roles, approved_ids, first, post):
    answer = dispatcher()(name, arguments, roles, approved_ids, first, post)
    return answer if answer["is_error"] else answer["content"]


def repeated_call_is_an_error(name, arguments, roles, approved_ids, first, post):
    if isinstance(arguments, dict) and arguments.get("idempotency_key") in first:
        return {"is_error": True, "content": "this key was used"}
    return dispatcher()(name, arguments, roles, approved_ids, first, post)


def the_key_is_taken_out(name, arguments, roles, approved_ids, first, post):
    answer = dispatcher()(name, dict(arguments), roles, approved_ids, first, post)
    arguments.pop("idempotency_key", None)
    return answer


right_dispatch = dispatcher()

GOOD = {"invoice_id": "INV-7", "amount_cents": 700, "idempotency_key": "mine"}


def case(name=TOOL, roles=("ap_clerk",), **changed):
    return {"name": name, "arguments": {**GOOD, **changed}, "roles": set(roles)}


WRONG = {
    "02.1": {
        "True is taken for an int": bool_is_an_int,
        "extra keys are ignored": extra_keys_are_ignored,
        "a missing key raises": a_missing_key_raises,
        "text is converted": text_is_converted,
        "text is converted in place": text_is_converted_in_place,
        "a float will do": a_float_will_do,
        "an empty id will do": an_empty_id_will_do,
        "an empty key will do": an_empty_key_will_do,
        "only the amount has a type": only_the_amount_has_a_type,
        "the sign is forgotten": the_sign_is_forgotten,
        "zero passes": zero_passes,
        "a list raises": a_list_raises,
        "no arguments raise": nothing_raises,
        "True means valid": true_means_valid,
        "False means invalid": false_means_invalid,
    },
    "02.2": {
        "the name only": name_only,
        "the amount only": amount_only,
        "the arguments only": arguments_only,
        "everything but the key": without_the_key,
        "the key is popped": the_key_is_popped,
        "the order of the keys counts": in_the_order_of_the_keys,
        "values side by side": side_by_side,
        "values as they are printed": printed_values,
        "four characters": too_short,
    },
    "02.3": {
        ">= instead of >": decider(known_tool, valid, role, at_the_limit_too),
        "a limit that is too high": decider(known_tool, valid, role, at_twice_the_limit),
        "any approval will do": decider(known_tool, valid, role, any_approval),
        "an approval bound to the amount": decider(known_tool, valid, role, approval_for_the_amount),
        "an approval without an id": decider(known_tool, valid, role, approval_without_an_id),
        "an approval that never counts": decider(known_tool, valid, role, approval_that_never_comes),
        "any role will do": decider(known_tool, valid, any_role, approval),
        "no role will do": decider(known_tool, valid, a_closed_door, approval),
        "a person is asked before the role": decider(known_tool, valid, approval, role),
        "the role before the arguments": decider(known_tool, role, valid, approval),
        "the approval before the arguments": decider(known_tool, arguments_of_strangers, approval, valid, role),
        "an unknown tool raises": decider(unknown_raises, valid, role, approval),
        "False for every refusal": yes_or_no,
    },
    "02.4": {
        "True posts one cent": dispatcher(decider(known_tool, spoiled(bool_is_an_int), role, approval)),
        "extra keys are ignored": dispatcher(decider(known_tool, spoiled(extra_keys_are_ignored), role, approval)),
        "text is converted": dispatcher(decider(known_tool, spoiled(text_is_converted), role, approval)),
        "the sign is forgotten": dispatcher(decider(known_tool, spoiled(the_sign_is_forgotten), role, approval)),
        "no role is asked for": dispatcher(decider(known_tool, valid, approval)),
        "the role is asked for after the effect": role_after_the_effect,
        ">= instead of >": dispatcher(decider(known_tool, valid, role, at_the_limit_too)),
        "no approval is asked for": dispatcher(decider(known_tool, valid, role)),
        "an approval without an id": dispatcher(decider(known_tool, valid, role, approval_without_an_id)),
        "an approval for the tool": dispatcher(decider(known_tool, valid, role, approval_for_the_tool)),
        "an approval for the amount": dispatcher(decider(known_tool, valid, role, approval_for_the_amount)),
        "the key is taken before the approval": key_taken_before_the_approval,
        "a repeated key posts again": no_keys,
        "a repeated key is an error": repeated_call_is_an_error,
        "another payload gets the first result": other_payload_gets_the_first_result,
        "another payload posts under the same key": other_payload_posts,
        "the payload is compared in its order": dispatcher(identify=in_the_order_of_the_keys),
        "one store for all": one_store_for_all,
        "an unknown tool raises": dispatcher(decider(unknown_raises, valid, role, approval)),
        "the answer in own words": own_words,
        "the bare result": bare_result,
        "the arguments are changed": the_key_is_taken_out,
    },
    "02.5": {
        "a good call": (case(), right_dispatch),
        "a listed case under a new key": (
            case(invoice_id="INV-1042", amount_cents=-120_000),
            right_dispatch,
        ),
        "no roles given": ({"name": TOOL, "arguments": GOOD}, right_dispatch),
        "roles as one text": ({"name": TOOL, "arguments": GOOD, "roles": "ap_clerk"}, right_dispatch),
        "an empty key that the own dispatch lets through": (
            case(idempotency_key=""),
            dispatcher(decider(known_tool, spoiled(an_empty_key_will_do), role, approval)),
        ),
        "a case that the own dispatch lets through": (
            case(amount_cents=LIMIT + 5),
            dispatcher(decider(known_tool, valid, role)),
        ),
    },
}
