"""The command: what it prints, what it refuses, and what survives Ctrl-C, kill -9 and a second process."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from postgres import new_database
from sqlalchemy.exc import OperationalError

from agentlab import cli
from agentlab.cases.invoices import stand_in as stand_in_module
from agentlab.cases.invoices.documents import default_folder
from agentlab.cases.invoices.erp import Erp, Posting
from agentlab.cases.invoices.outcomes import DocumentOutcome, Handled
from agentlab.cli.run_report import Report, print_report
from agentlab.dispatch.ledger import Ledger, Receipt
from agentlab.loop.budgets import Totals
from agentlab.loop.effects import AuditEvent
from agentlab.loop.machine import State
from agentlab.messages.conversation import Reply, Request
from agentlab.messages.models import Rules
from agentlab.store import open_store

Run = Callable[..., tuple[int, str, str]]
INVOICES = ("run", "invoices")


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database: a SQLite file, or PostgreSQL for the tests that ask for both."""
    if getattr(request, "param", "sqlite") == "postgresql":
        return new_database(request.getfixturevalue("postgres"))
    return f"sqlite:///{tmp_path / 'agentlab.db'}"


on_both = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def run(url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*options: str) -> tuple[int, str, str]:
        status = cli.call([*INVOICES, "--database", url, *options])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


def postings(url: str) -> list[Posting]:
    engine = open_store(url)
    found = Erp(engine).postings()
    engine.dispose()
    return found


def test_the_table_the_totals_and_the_command_that_approves_are_printed(run: Run, url: str) -> None:
    status, out, err = run()
    assert (status, err) == (0, "")
    assert "0302-brandt-kessel" in out
    assert "40 documents: 24 posted, 1 already posted, 2 waiting for approval, 11 to a person" in out
    assert "40 runs ended: 38 answered, 1 budget stop, 1 failed; one audit event each" in out
    assert "asks to run erp_post_invoice for EUR 7,250.00, with exactly" in out
    assert not re.search(r"\d cents", out)
    approve = next(line for line in out.splitlines() if "to approve: " in line).split("to approve: ")[1]
    words = approve.replace("YOUR_NAME", "controller").split()
    assert words[:3] == ["agentlab", *INVOICES]
    # The printed command, as it stands, posts the call.
    assert cli.call(words[1:]) == 0
    assert len(postings(url)) == 25


def test_one_of_a_kind_is_told_in_the_singular(run: Run) -> None:
    _, out, _ = run("--only", "0302-brandt-kessel")
    assert "1 document: 1 posted\n1 run ended: 1 answered; " in out
    assert "The ERP holds 1 posting.\n" in out


def test_json_is_one_document_with_one_audit_event_for_each_run(run: Run) -> None:
    status, out, err = run("--json")
    report = json.loads(out)
    assert (status, err) == (0, "")
    assert set(report) == {"documents", "totals", "pending", "erp_postings", "not_started", "interrupted"}
    assert len({one["audit"]["run_id"] for one in report["documents"]}) == len(report["documents"]) == 40
    assert report["totals"]["input_tokens"]["origin"] == "estimated"
    assert [one["arguments"]["amount_cents"] for one in report["pending"]] == [725_000, 984_000]
    assert report["erp_postings"] == 24


def test_a_second_run_posts_nothing_twice_and_says_so(run: Run, url: str) -> None:
    some = ("--only", "0302-brandt-kessel", "--only", "0305-portal-3", "--only", "0305-halden-steel")
    assert "2 posted, 1 to a person" in run(*some)[1]
    first = postings(url)
    _, out, _ = run(*some)
    assert postings(url) == first
    assert "2 already posted, 1 to a person" in out


LARGE = ("--only", "0306-vesper-energy", "--only", "0313-meridian-cranes")


def test_approving_and_refusing_in_one_command(run: Run, url: str) -> None:
    first, second = (one["call_id"] for one in json.loads(run(*LARGE, "--json")[1])["pending"])
    status, out, _ = run(*LARGE, "--approve", first[:12], "--deny", second[:12], "--as", "controller", "--json")
    outcomes = {one["document"]: one["outcome"] for one in json.loads(out)["documents"]}
    assert status == 0
    assert outcomes["0306-vesper-energy"] == "posted"
    assert outcomes["0313-meridian-cranes"] == "to a person"
    assert json.loads(run(*LARGE, "--json")[1])["pending"] == []
    assert [posting.amount_cents for posting in postings(url)] == [725_000]


def test_only_and_the_budgets_reach_the_runs(run: Run) -> None:
    _, out, _ = run("--only", "0302-brandt-kessel", "--only", "0305-portal-3", "--model-calls", "2", "--json")
    report = json.loads(out)
    assert [(one["document"], one["outcome"]) for one in report["documents"]] == [
        ("0302-brandt-kessel", "budget stop"),
        ("0305-portal-3", "budget stop"),
    ]
    assert report["erp_postings"] == 0
    assert "tokens" in json.loads(run("--only", "0305-portal-3", "--tokens", "10", "--json")[1])["documents"][0]["why"]
    assert "time" in json.loads(run("--only", "0305-portal-3", "--seconds", "1e-9", "--json")[1])["documents"][0]["why"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--only", "0302-brand-kessel"], "0302-brandt-kessel"),
        (["--approve", "00000000"], "--as NAME"),
        (["--approve", "00000000", "--as", "controller"], "no call with the id '00000000'"),
        (["--approve", "0", "--as", "controller"], "too short"),
        (["--as", "controller"], "--approve ID"),
        (["--seconds", "nan"], "--seconds is nan"),
        (["--seconds", "soon"], "'--seconds': 'soon' is no number"),
        (["--model-calls", "0"], "'--model-calls': 0 is too small; the least is 1"),
        (["--tokens", "many"], "'--tokens': 'many' is no whole number"),
        (["--data", "/nowhere"], "there is no folder"),
        (["--database", "nonsense"], "cannot be read"),
        (["--database", "sqlite:////nowhere/agentlab.db"], "does not exist"),
    ],
)
def test_bad_input_costs_one_line_and_status_2(run: Run, url: str, options: list[str], says: str) -> None:
    status, out, err = run(*options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert says in err


def test_an_unknown_id_leaves_the_known_ones_unanswered(run: Run) -> None:
    known = json.loads(run(*LARGE, "--json")[1])["pending"][0]["call_id"]
    assert run("--approve", known, "--approve", "00000000", "--as", "controller")[0] == 2
    assert run("--approve", known, "--deny", known, "--as", "controller")[0] == 2
    assert run("--approve", known, "--as", "invoice-agent")[0] == 2
    assert known in {one["call_id"] for one in json.loads(run(*LARGE, "--json")[1])["pending"]}


def test_a_database_that_cannot_be_written_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("--only", "0302-brandt-kessel")
    status, out, err = run("--database", "sqlite:///file:agentlab.db?mode=ro&uri=true")
    assert (status, out) == (2, "")
    assert "readonly" in err
    (tmp_path / "junk.db").write_bytes(b"no database" * 1000)
    assert run("--database", "sqlite:///junk.db")[0] == 2


def test_a_database_that_fails_in_mid_batch_is_one_line_and_what_was_done_is_kept(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, count = Ledger.record, 0

    def full(self: Ledger, *args: object, **kwargs: object) -> Receipt:
        nonlocal count
        count += 1
        if count == 9:
            raise OperationalError("INSERT", {}, Exception("database or disk is full"))
        return record(self, *args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "record", full)
        status, out, err = run()
    assert (status, out) == (2, "")
    assert "database or disk is full" in err
    assert err.count("\n") == 1
    assert 0 < len(postings(url)) < 24
    run()
    assert len(postings(url)) == 24


def test_a_corrupt_file_in_the_inbox_is_one_line_before_anything_is_posted(run: Run, url: str, tmp_path: Path) -> None:
    shutil.copytree(default_folder(), tmp_path / "mine")
    (tmp_path / "mine" / "inbox" / "0317-bad.json").write_text('{"total":')
    status, out, err = run("--data", str(tmp_path / "mine"))
    assert (status, out) == (2, "")
    assert "0317-bad.json" in err
    assert postings(url) == []


def test_text_from_a_document_cannot_drive_the_terminal(run: Run, tmp_path: Path) -> None:
    shutil.copytree(default_folder(), tmp_path / "mine")
    evil = {"invoice_number": "X\u202e1\x1b[2J", "supplier": "Vesper Energy", "po": "PO-4107", "total": 7250.00}
    (tmp_path / "mine" / "inbox" / "9999-evil.json").write_text(json.dumps(evil))
    _, out, _ = run("--data", str(tmp_path / "mine"), "--only", "9999-evil")
    assert "\\u202e" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize("outcome", [DocumentOutcome.POSTED, DocumentOutcome.FAILED])
def test_the_name_of_a_document_cannot_drive_the_terminal_or_forge_a_row(
    outcome: DocumentOutcome, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = AuditEvent(run_id="invoices/x", state=State.FAILED, reason="r", totals=Totals())
    one = Handled(document="a\x1b[31m\n0302-forged  posted", outcome=outcome, why="w", audit=audit)
    print_report(Report([one], [], 0, 0, interrupted=False), None)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert not any(line.startswith("0302-forged") for line in out.splitlines())


def test_the_printed_command_shows_no_password(run: Run, tmp_path: Path) -> None:
    _, out, _ = run(*LARGE, "--database", f"sqlite:///{tmp_path}/a.db?timeout=4321")
    assert f"--database sqlite:///{tmp_path}/a.db\n" in out
    assert "4321" not in out


def signalling(at: int) -> Rules:
    """The stand-in, during whose reply number `at` somebody presses Ctrl-C."""
    count = 0

    def reply(request: Request) -> Reply:
        nonlocal count
        count += 1
        if count == at:
            signal.raise_signal(signal.SIGINT)
        return stand_in_module.reply(request)

    return Rules(reply)


def test_ctrl_c_ends_the_current_run_as_cancelled_and_keeps_what_was_done(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patched:
        patched.setattr(stand_in_module, "stand_in", lambda: signalling(at=11))
        status, out, err = run("--json")
    report = json.loads(out)
    assert status == 130
    assert err == "agentlab: stopped\n"
    assert [one["outcome"] for one in report["documents"]] == ["posted", "posted", "cancelled"]
    assert report["documents"][-1]["audit"]["state"] == "cancelled"
    assert (report["interrupted"], report["not_started"]) == (True, 37)
    assert signal.getsignal(signal.SIGINT) is before
    assert run()[0] == 0
    assert len(postings(url)) == 24


def test_ctrl_c_during_a_posting_waits_until_its_receipt_is_written(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = Erp.post

    def interrupted_post(self: Erp, **values: object) -> Posting:
        signal.raise_signal(signal.SIGINT)
        return post(self, **values)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Erp, "post", interrupted_post)
        status, out, _ = run("--json")
    (only,) = json.loads(out)["documents"]
    assert status == 130
    assert (only["outcome"], only["audit"]["state"]) == ("posted", "cancelled")
    assert len(postings(url)) == 1


KILLED = """
import os, signal, sys
from agentlab import cli
from agentlab.cases.invoices.erp import Erp
post, count = Erp.post, 0
def killed(self, **values):
    global count
    count += 1
    if count == int(sys.argv[2]) and sys.argv[3] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = post(self, **values)
    if count == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return result
Erp.post = killed
cli.main(["run", "invoices", "--database", sys.argv[1]])
"""


@on_both
@pytest.mark.parametrize("moment", ["before", "after"])
def test_kill_9_between_reservation_effect_and_receipt_then_again_leaves_each_payable_once(
    run: Run, url: str, moment: str
) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, url, "7", moment], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert 0 < len(postings(url)) < 24
    outcomes = {one["document"]: one["outcome"] for one in json.loads(run("--json")[1])["documents"]}
    assert len(postings(url)) == 24
    assert set(outcomes.values()) >= {"posted", "already posted", "waiting for approval", "to a person"}
    assert list(outcomes.values()).count("to a person") == 11


@on_both
def test_two_processes_at_once_post_each_payable_exactly_once(url: str, expected: dict[str, dict[str, str]]) -> None:
    command = [sys.executable, "-m", "agentlab.cli", *INVOICES, "--database", url, "--json"]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ), text=True)
        for _ in range(2)
    ]
    for process in started:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        for one in json.loads(out)["documents"]:
            wanted = expected[one["document"]]["outcome"]
            assert one["outcome"] in ({"posted", "already posted"} if wanted == "posted" else {wanted})
    payable = sum(row["outcome"] == "posted" for row in expected.values())
    assert len({posting.invoice for posting in postings(url)}) == len(postings(url)) == payable
