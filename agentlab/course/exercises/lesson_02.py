"""Lesson 02, the guarded dispatcher: the exercises and their hints."""

from agentlab.course.exercise import Exercise
from agentlab.course.exercises.lesson_02_guards import check_call_id, check_decide, check_validate
from agentlab.course.exercises.lesson_02_runs import check_dispatch, check_own_case

EXERCISES = (
    Exercise(
        id="02.1",
        lesson="02",
        title="Validate the arguments",
        minutes=7,
        check=check_validate,
        hints=(
            "Four questions: a dict with exactly the three keys? each value of its type? no text empty? the amount "
            "above 0?",
            "`set(arguments) != set(FIELDS)` finds a missing and an extra key at once. For the types ask "
            "`type(value) is kind`, because `isinstance(True, int)` is true.",
            "First `if not isinstance(arguments, dict) or set(arguments) != set(FIELDS): return ...`, then a loop over "
            "`FIELDS.items()` that returns a text for the first wrong type, then `if '' in arguments.values()`, then "
            "the amount, then `return None`.",
        ),
    ),
    Exercise(
        id="02.2",
        lesson="02",
        title="Name one exact call",
        minutes=5,
        check=check_call_id,
        hints=(
            "You need one text for name and arguments together that does not depend on the order of the keys.",
            "`json.dumps(..., sort_keys=True)` gives such a text, and `hashlib.sha256` makes a short id of it.",
            "`text = json.dumps([name, arguments], sort_keys=True)`, then `hashlib.sha256(text.encode()).hexdigest()`.",
        ),
    ),
    Exercise(
        id="02.3",
        lesson="02",
        title="Ask the guards in order",
        minutes=8,
        check=check_decide,
        hints=(
            "Four questions in the order known tool, arguments, role, approval; the first objection is returned.",
            "Each refusal is `{'guard': ..., 'content': ...}`. Use `validate` for the second question. The fourth asks "
            "only above the limit, and only if `call_id(name, arguments)` is not in `approved_ids`.",
            "The last one: `identity = call_id(name, arguments)`, then `if arguments['amount_cents'] > LIMIT and "
            "identity not in approved_ids: return {'guard': 'approval', 'content': 'approval required', "
            "'approval_id': identity}`, then `return None`.",
        ),
    ),
    Exercise(
        id="02.4",
        lesson="02",
        title="Run once for each key",
        minutes=10,
        check=check_dispatch,
        hints=(
            "Decide first. Only a call that may run looks at its key. Beside the first result, store what it was for.",
            "A refusal is the dict of `decide` with `is_error` True. For a key that is in `first`, compare the stored "
            "identity with `call_id(name, arguments)`: equal gives the stored result, other gives an error.",
            "For a new key: `first[key] = (call_id(name, arguments), post(arguments['invoice_id'], "
            "arguments['amount_cents']))`. The answer is `{'is_error': False, 'content': first[key][1]}`.",
        ),
    ),
    Exercise(
        id="02.5",
        lesson="02",
        title="A case of your own",
        minutes=5,
        check=check_own_case,
        hints=(
            "What else could a model, a careless colleague or a clever e-mail put into such a call?",
            "Change one thing about a good call: another type, a missing key, one cent above the limit, no role.",
            "For example an amount of 500,001 by a clerk whom nobody has given an approval, or an amount of 1.5.",
        ),
    ),
)
