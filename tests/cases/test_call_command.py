"""``agentlab call`` and ``agentlab approvals``: what they show, what they answer, and what they refuse."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy

from agentlab import cli
from agentlab.cases.invoices.erp import Erp
from agentlab.dispatch.approvals import Approvals

Run = Callable[..., tuple[int, str, str]]
ORDERED = {"PO-4101": 128_450, "PO-4107": 725_000, "PO-4111": 984_000}
GATEWAY = [
    "identity",
    "authorization",
    "valid_arguments",
    "resource_scope",
    "rate_limit",
    "timeout",
    "approval",
]


def invoice(po: str = "PO-4101", **changes: object) -> str:
    arguments = {
        "invoice_id": f"I-{po}",
        "po": po,
        "amount_cents": ORDERED.get(po, 1),
        "currency": "EUR",
        "idempotency_key": f"supplier:{po}",
    }
    return json.dumps(arguments | changes)


@pytest.fixture
def run(url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: str) -> tuple[int, str, str]:
        status = cli.call([*words, "--database", url])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


@pytest.fixture
def call(run: Run) -> Run:
    def command(arguments: str, *options: str, user: str = "clerk") -> tuple[int, str, str]:
        return run("call", "erp_post_invoice", "--args", arguments, "--as", user, *options)

    return command


def test_a_call_shows_the_guards_it_passed_the_decision_and_the_receipt(call: Run) -> None:
    status, out, err = call(invoice())
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert [line.split() for line in lines[: len(GATEWAY)]] == [[name, "passed"] for name in GATEWAY]
    assert "decision: allowed" in lines
    assert 'receipt 1: executed; {"amount_cents":128450,"po":"PO-4101","posted_as":1}' in lines
    assert "receipt 2: replayed;" in call(invoice())[1]


@pytest.mark.parametrize(
    ("arguments", "user", "status", "guard", "outcome"),
    [
        (invoice(), "visitor", 1, "identity", "denied"),
        (invoice(), "south-clerk", 1, "resource_scope", "denied"),
        (invoice(amount_cents="128450"), "clerk", 1, "valid_arguments", "invalid"),
        (invoice(approved=True), "clerk", 1, "valid_arguments", "invalid"),
        ("{", "clerk", 1, "valid_arguments", "invalid"),
        (invoice("PO-4107"), "clerk", 3, "approval", "pending"),
        (invoice(amount_cents=1), "clerk", 1, None, "failed"),
        (invoice(), "clerk", 0, None, "executed"),
    ],
)
def test_the_exit_status_follows_from_what_became_of_the_call(
    call: Run, arguments: str, user: str, status: int, guard: str | None, outcome: str
) -> None:
    ended, out, _ = call(arguments, "--json", user=user)
    seen = json.loads(out)
    assert (ended, seen["receipt"]["guard"], seen["receipt"]["outcome"]) == (status, guard, outcome)
    said = [each["said"] for each in seen["guards"]]
    if guard is None:
        assert set(said) == {"passed"}
    else:
        place = [each["name"] for each in seen["guards"]].index(guard)
        assert said[:place] == ["passed"] * place
        assert said[place] == ("asks a person" if status == 3 else "refused")
        assert set(said[place + 1 :]) == {"not asked"}


def test_another_payload_under_the_same_key_is_refused_by_the_ledger(call: Run) -> None:
    call(invoice())
    status, out, _ = call(invoice(invoice_id="I-2"))
    assert status == 1
    assert "decision: refused by the ledger" in out
    assert "was used for another payload" in out


def test_an_unknown_outcome_has_a_status_of_its_own(
    call: Run, run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks_off(self: Erp, **values: object) -> None:
        raise ConnectionError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(Erp, "post", breaks_off)
        assert call(invoice())[0] == 4
    # The ERP honours the key, so that the call can be made again.
    assert call(invoice())[0] == 0


def test_a_waiting_call_is_listed_approved_by_its_short_id_and_runs_once(call: Run, run: Run) -> None:
    assert run("approvals", "list")[1] == "Nothing waits for a person.\n"
    assert run("approvals", "list", "--all")[1] == "Nobody has asked for approval.\n"
    assert call(invoice("PO-4107"))[0] == 3
    status, out, _ = run("approvals", "list")
    short = out.split()[0]
    assert status == 0
    assert f"  {invoice('PO-4107')}\n" == sorted_keys(out.splitlines(keepends=True)[2])
    assert run("approvals", "approve", short, "--as", "lead")[0] == 0
    assert run("approvals", "list")[1] == "Nothing waits for a person.\n"
    assert [call(invoice("PO-4107"))[0] for _ in range(2)] == [0, 0]
    used = json.loads(run("approvals", "list", "--all", "--json")[1])
    assert [(one["state"], one["approver"], one["requester"]) for one in used] == [("used", "lead", "clerk")]


def sorted_keys(line: str) -> str:
    """The arguments as `invoice` orders them; on record they are sorted."""
    given = json.loads(line)
    return f"  {json.dumps({name: given[name] for name in json.loads(invoice())})}\n"


def test_what_was_denied_stays_refused(call: Run, run: Run) -> None:
    pending = json.loads(call(invoice("PO-4107"), "--json")[1])["approval"]
    denied = json.loads(run("approvals", "deny", pending["call_id"], "--as", "lead", "--json")[1])
    assert (denied["state"], denied["arguments"]) == ("denied", pending["arguments"])
    assert call(invoice("PO-4107"))[0] == 1
    assert call(invoice("PO-4107"), "--approve", "another lead")[0] == 1
    status, out, err = run("approvals", "approve", pending["call_id"], "--as", "head")
    assert (status, out) == (2, "")
    assert "is denied, not pending" in err


def test_approving_in_the_same_command_covers_exactly_this_call(call: Run) -> None:
    status, out, _ = call(invoice("PO-4107"), "--approve", "lead")
    assert status == 0
    assert "used, by lead" in out
    assert call(invoice("PO-4111"))[0] == 3
    assert call(invoice("PO-4111"), "--run", "another")[0] == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["call", "po_get", "--args", "{}"], "--as"),
        (["call", "po_get", "--args", "{}", "--as", "\x1b[2J"], "give a name of plain text"),
        (["call", "po_get", "--args", "{}", "--as", "clerk", "--run", " "], "give a name of plain text"),
        (["call", "po_get\x07", "--args", "{}", "--as", "clerk"], "give a name of plain text"),
        (["call", "po_get", "--args", "{}", "--as", "clerk", "--approve", "\x1b"], "cannot be shown on record"),
        (["approvals", "approve", "12345678"], "--as"),
        (["approvals", "approve", "12345678", "--as", " "], "add --as NAME"),
        (["approvals", "approve", "12345678", "--as", "lead"], "no call with the id"),
        (["approvals", "deny", "1", "--as", "lead"], "too short"),
        (["approvals", "answer"], "answer"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run: Run, words: list[str], says: str) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_nobody_approves_their_own_call(call: Run) -> None:
    status, _, err = call(invoice("PO-4107"), "--approve", "Clerk")
    assert status == 2
    assert "cannot approve it" in err


def test_nothing_in_an_argument_acts_on_the_terminal_or_looks_like_another_one(call: Run, run: Run) -> None:
    evil = "\x1b[2J\u202eI-1\x7f\x9b  \u0430"
    assert call(invoice("PO-4107", invoice_id=evil))[0] == 3
    for out in (call(invoice("PO-4107", invoice_id=evil))[1], run("approvals", "list")[1]):
        assert out.isascii()
        assert not {"\x1b", "\x7f"} & set(out)
        assert "I-1" in out


def test_an_id_that_two_calls_share_is_no_id(call: Run, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    call(invoice("PO-4107"))
    twin = Approvals.all

    def both(self: Approvals) -> list[object]:
        (one,) = twin(self)
        return [one, one.model_copy(update={"call_id": one.call_id[:20] + "0" * 44})]

    identity = json.loads(run("approvals", "list", "--json")[1])[0]["call_id"]
    monkeypatch.setattr(Approvals, "all", both)
    status, _, err = run("approvals", "approve", identity[:12], "--as", "lead")
    assert status == 2
    assert "2 calls with the id" in err


def test_a_failing_database_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE approvals (call_id TEXT PRIMARY KEY)"))
    engine.dispose()
    assert cli.call(["approvals", "list", "--database", url]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "made by another version of agentlab" in captured.err
