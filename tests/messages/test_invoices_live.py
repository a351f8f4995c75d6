"""``agentlab run invoices --model``: another model is one parameter, and the guards decide the same."""

import json

import pytest
from loopback import KEY, NAMES, PREFIX, Loopback, Status, set_keys

from agentlab import cli
from agentlab.cases.invoices.documents import default_folder, read_documents
from agentlab.cases.invoices.stand_in import stand_in
from agentlab.messages.wire import DIALECTS

EVERY_FIFTH = [document.id for document in read_documents(default_folder())][::5]
ONLY = [option for name in EVERY_FIFTH for option in ("--only", name)]


@pytest.fixture
def run(tmp_path, capsys):
    def command(database, *options):
        url = f"sqlite:///{tmp_path / database}.db"
        status = cli.call(["run", "invoices", "--database", url, *options])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


def at(server, dialect, monkeypatch):
    set_keys(monkeypatch)
    variable = "ANTHROPIC_BASE_URL" if dialect == "anthropic" else "OPENAI_BASE_URL"
    monkeypatch.setenv(variable, server.url + PREFIX[dialect])
    return "--model", NAMES[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_stand_in_behind_a_providers_api_has_the_outcomes_that_it_has_in_process(dialect, run, monkeypatch):
    _, out, _ = run("in-process", *ONLY, "--json")
    here = json.loads(out)
    with Loopback(stand_in()) as server:
        status, out, err = run("live", *ONLY, "--json", *at(server, dialect, monkeypatch))
    live = json.loads(out)
    assert (status, err) == (0, "")
    assert len(here["documents"]) == len(EVERY_FIFTH) > 5
    for one, other in zip(here["documents"], live["documents"], strict=True):
        assert (one["document"], one["outcome"], one["why"]) == (other["document"], other["outcome"], other["why"])
        assert (one["audit"]["state"], one["audit"]["reason"]) == (other["audit"]["state"], other["audit"]["reason"])
    assert here["erp_postings"] == live["erp_postings"]
    assert len(here["pending"]) == len(live["pending"])
    assert len(server.seen) == live["totals"]["model_calls"] == here["totals"]["model_calls"]


def test_a_refused_key_ends_the_run_as_failed_and_posts_nothing(run, monkeypatch):
    with Loopback([Status(401, f"invalid key {KEY}", "authentication_error")]) as server:
        status, out, err = run("live", "--only", EVERY_FIFTH[0], "--json", *at(server, "anthropic", monkeypatch))
    report = json.loads(out)
    assert status == 0
    assert report["documents"][0]["audit"]["state"] == "failed"
    assert "answered 401 authentication_error: invalid key [key]" in report["documents"][0]["audit"]["reason"]
    assert report["erp_postings"] == 0
    assert KEY not in out + err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-5", "agentlab: 'gpt-5' names no model; write anthropic:NAME, openai:NAME or openai-chat:NAME\n"),
        (
            "anthropic:m",
            "agentlab: there is no key: set ANTHROPIC_API_KEY in the environment, or use a model that needs none\n",
        ),
    ],
)
def test_a_bad_model_and_a_missing_key_cost_one_line_and_status_2(name, said, run, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert run("live", "--model", name) == (2, "", said)
