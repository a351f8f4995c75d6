"""`agentlab size`: the course's figures, and one line for what makes no sense."""

import json
import subprocess
import sys

import pytest

from agentlab import cli

KEYS = ["requests", "last", "largest", "total", "compactions", "summary_input", "summary_output", "first_over"]


def as_json(capsys: pytest.CaptureFixture[str], *options: str) -> dict:  # type: ignore[type-arg]
    assert cli.call(["size", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("N", "last", "total"), [(5, 8_900, 31_000), (10, 15_650, 95_750), (20, 29_150, 326_500), (40, 56_150, 1_193_000)]
)
def test_the_figures_of_the_course_come_out_with_sizes_given(
    capsys: pytest.CaptureFixture[str], N: int, last: int, total: int
) -> None:
    result = as_json(capsys, "--S", "2500", "--U", "1000", "--a", "150", "--r", "1200", "--N", str(N))
    assert list(result) == KEYS
    assert (result["last"], result["largest"], result["total"]) == (last, last, total)
    assert (len(result["requests"]), result["requests"][0], result["requests"][-1]) == (N, 3_500, last)
    assert (result["compactions"], result["summary_input"], result["summary_output"]) == (0, 0, 0)
    assert result["first_over"] is None


def test_what_is_not_given_is_the_assumption_of_the_course(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys)["total"] == 1_193_000


def test_clearing_gives_the_figures_of_the_course(capsys: pytest.CaptureFixture[str]) -> None:
    result = as_json(capsys, "--N", "40", "--clear-keep", "3", "--placeholder", "20")
    assert (result["last"], result["total"]) == (13_670, 407_120)


def test_compaction_gives_the_figures_of_the_course(capsys: pytest.CaptureFixture[str]) -> None:
    result = as_json(capsys, "--N", "40", "--compact-trigger", "20000", "--summary", "1500")
    assert (result["compactions"], result["largest"], result["total"]) == (3, 19_850, 468_050)
    assert (result["summary_input"], result["summary_output"]) == (63_450, 4_500)


def test_a_placeholder_has_20_tokens_and_a_summary_1500_if_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "--clear-keep", "3") == as_json(capsys, "--clear-keep", "3", "--placeholder", "20")
    assert as_json(capsys, "--compact-trigger", "20000")["summary_output"] == 4_500


def test_a_window_holds_whole_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "--window", "21") == as_json(capsys, "--window", "20")
    assert as_json(capsys, "--window", "20")["last"] == 3_500 + 10 * 1_350


def test_controls_combine(capsys: pytest.CaptureFixture[str]) -> None:
    both = as_json(capsys, "--clear-keep", "3", "--compact-trigger", "12000")
    assert both["largest"] <= 12_000
    assert both["compactions"] < as_json(capsys, "--compact-trigger", "12000")["compactions"]


def test_first_over_is_the_first_request_above_and_null_where_none_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "--trigger", "29150", "--N", "40")["first_over"] == 21
    assert as_json(capsys, "--trigger", "29150", "--N", "20")["first_over"] is None


def test_a_run_of_a_hundred_thousand_requests_is_computed(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(as_json(capsys, "--N", "100000", "--compact-trigger", "20000")["requests"]) == 100_000


def test_a_person_sees_formula_table_ratio_and_what_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["size", "--N", "40", "--r", "1200", "--compact-trigger", "20000", "--trigger", "15000"]) == 0
    said = capsys.readouterr().out
    assert "S = 3,000 (assumed), U = 500 (assumed), a = 150 (assumed), r = 1,200, N = 40\n" in said
    assert "40 x 3,500 + 1,350 x 780 = 1,193,000" in said
    assert "63,450" in said
    assert "the run reads 45% of what keeping all would read" in said
    assert (
        "Request 10 is the first over the trigger of 15,000; the summarising calls are too, with up to 21,200." in said
    )


@pytest.mark.parametrize(("trigger", "rule"), [("4000", "G01"), ("8000", "G02")])
def test_a_trigger_that_is_too_low_is_said_with_its_fix(
    capsys: pytest.CaptureFixture[str], trigger: str, rule: str
) -> None:
    assert cli.call(["size", "--compact-trigger", trigger]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith(f"{rule}, trigger = {int(trigger):,}:")
    assert "Fix: raise the trigger to 9,050" in line


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--N", "0"], "N is 0"),
        (["--N", "1000000000000"], "N is 1000000000000"),
        (["--N", "ten"], "'--N': 'ten' is no whole number; write it in digits alone, like 3000"),
        (["--N", "nan"], "--N"),
        (["--r", "1.5"], "'--r': '1.5' is no whole number"),
        (["--S", "3,000"], "'--S': '3,000' is no whole number"),
        (["--S", "-1"], "S is -1"),
        (["--trigger", "-5"], "trigger is -5"),
        (["--window", "0"], "window is 0"),
        (["--clear-keep", "-1"], "keep is -1"),
        (["--placeholder", "20"], "--clear-keep"),
        (["--summary", "1500"], "--compact-trigger"),
        (["--unknown"], "--unknown"),
        (["extra"], "extra"),
    ],
)
def test_bad_input_costs_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], options: list[str], named: str
) -> None:
    assert cli.call(["size", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert named in captured.err


def test_the_piped_command_prints_no_colour_and_only_ascii_where_asked() -> None:
    environment = {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1", "COLUMNS": "40", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "agentlab.cli", "size", "--clear-keep", "3"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"\x1b" not in done.stdout
    assert "407,120" in done.stdout.decode("ascii")
    assert max(len(line) for line in done.stdout.decode("ascii").splitlines() if line.startswith("all ")) <= 40
