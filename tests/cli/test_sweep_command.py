"""`agentlab sweep`: what it prints, the file it leaves, and that it leaves nothing else."""

import csv
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentlab import cli
from agentlab.context.growth import total_trimming

GRID = ("--S", "1000:9000:3", "--r", "100,1200", "--N", "5,40")
# Without a closed form and with long runs: still at work when the test looks.
LONG = ("--S", "1:9000:2000", "--N", "300", "--control", "clear:trigger=9000+trim:window=20", "--workers", "2")


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def call(*arguments: str) -> int:
    return cli.call(["sweep", *arguments])


def test_a_person_sees_the_sizes_and_where_each_control_is_the_cheapest(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*GRID, "--control", "keep-all", "--control", "clear:keep=3") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.splitlines()[0] == "S = 1000:9000:3, U = 500 (assumed), a = 150 (assumed), r = 100,1200, N = 5,40"
    table = [line.split() for line in said.out.splitlines() if "%" in line]
    assert [name for name, *_ in table] == ["keep-all", "clear:keep=3"]
    assert sum(int(points) for _, points, _ in table) == 12
    assert "12 points; the cheapest control of a point is the one with the least input.\n" in said.out


def test_json_counts_points_and_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    assert call(*GRID, "--control", "keep-all", "--control", "clear", "--out", str(out), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["points"], found["rows"], found["out"]) == (12, 24, str(out))
    assert [each["control"] for each in found["cheapest"]] == ["keep-all", "clear"]
    assert sum(each["points"] for each in found["cheapest"]) == 12
    assert sum(each["share"] for each in found["cheapest"]) == pytest.approx(1)


def test_the_course_s_run_is_a_row(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    assert call("--out", str(out)) == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = {row["control"]: row for row in csv.DictReader(file)}
    assert {name: int(row["all_input"]) for name, row in rows.items()} == {
        "keep-all": 1_193_000,
        "clear:keep=3,placeholder=20": 407_120,
        "trim:window=20": total_trimming(S=3_000, U=500, a=150, r=1_200, N=40, window=20),
        "compact:trigger=20000,summary=1500": 468_050 + 63_450,
    }


def test_best_leaves_one_row_a_point(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    assert call(*GRID, "--best", "--out", str(out)) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 12
    assert call(*GRID, "--out", str(out)) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 12 * 4
    assert names_in(tmp_path) == ["rows.csv"]


def test_processes_write_the_file_that_one_process_writes(tmp_path: Path) -> None:
    written = []
    for workers in ("1", "2"):
        assert call(*GRID, "--workers", workers, "--out", str(tmp_path / workers)) == 0
        written.append((tmp_path / workers).read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--S", "9000:1000:3"), "S goes from 9,000 down to 1,000"),
        (("--S", "many"), "S is 'many'"),
        (("--N", "0"), "N is 0"),
        (("--control", "clera"), "there is no control 'clera'; did you mean clear?"),
        (("--control", "trim", "--control", "trim"), "'trim' is named twice"),
        (("--workers", "0"), "0 is too small"),
        (("--workers", "2", "--scheduler", "127.0.0.1:1"), "give one of the two"),
        (("--scheduler", "nowhere"), "no dask scheduler answers at nowhere"),
        (("--out", "."), ". is no file"),
        (("--out", "missing/rows.csv"), "missing/rows.csv cannot be written: No such file or directory"),
        (("--out", os.devnull), f"{os.devnull} is no file"),
    ],
)
def test_what_makes_no_sense_costs_one_line_and_leaves_no_file(
    options: tuple[str, ...],
    named: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--out" not in options:
        options = (*options, "--out", "rows.csv")
    assert call(*options) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("agentlab: ")
    assert said.err.count("\n") == 1
    assert named in said.err
    assert names_in(tmp_path) == []


def test_a_sweep_that_fails_leaves_the_file_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentlab.context import workers
    from agentlab.errors import AgentlabError

    def fail_late(sweep, workers):  # type: ignore[no-untyped-def]
        yield next(real(sweep, workers))
        raise AgentlabError("a worker process died")

    real = workers.in_processes
    monkeypatch.setattr(workers, "in_processes", fail_late)
    out = tmp_path / "rows.csv"
    out.write_text("of before", encoding="utf-8")
    assert call(*GRID, "--workers", "2", "--out", str(out)) == 2
    assert out.read_text(encoding="utf-8") == "of before"
    assert names_in(tmp_path) == ["rows.csv"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("of before", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    assert call("--out", str(tmp_path / "link.csv")) == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text(encoding="utf-8").startswith("S,U,a,r,N,control,")


@pytest.mark.skipif(sys.platform != "linux", reason="a process group is told")
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_sweep_that_is_stopped_leaves_no_process_and_no_file_that_looks_complete(
    kill: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "agentlab.cli", "sweep", *LONG, "--out", "rows.csv"]
    sweep = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert sweep.stderr is not None
    while not any(file.stat().st_size for file in tmp_path.glob("*.partial")):
        readable, _, _ = select.select([sweep.stderr], [], [], 0.05)
        assert not readable, sweep.stderr.read()
    if kill == signal.SIGINT:
        os.killpg(sweep.pid, kill)  # a terminal tells the whole group
    else:
        os.kill(sweep.pid, kill)
    # The workers have this stderr, too: it ends when the last process has.
    _, said = sweep.communicate(timeout=60)
    assert not (tmp_path / "rows.csv").exists()
    if kill == signal.SIGINT:
        assert (sweep.returncode, said) == (130, "agentlab: stopped\n")
        assert names_in(tmp_path) == []
