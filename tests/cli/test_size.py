"""`agentlab size`: the course's figures, and one line for what makes no sense."""

import inspect
import json
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agentlab import cli
from agentlab.cli.size import size
from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll
from agentlab.context.cost import cost_of
from agentlab.context.presets import preset, presets
from agentlab.context.prices import price_of
from agentlab.context.results import draw_results, sizes_of
from agentlab.context.subagents import SubAgents
from agentlab.views.sheet import SHEET_BEGINS

KEYS = ["requests", "last", "largest", "total", "compactions", "summary_input", "summary_output", "first_over"]
"""Programs read these since the first release; newer keys come behind them."""


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
    assert list(result)[: len(KEYS)] == KEYS
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
    odd, even = as_json(capsys, "--window", "21"), as_json(capsys, "--window", "20")
    assert odd["requests"] == even["requests"]
    assert even["last"] == 3_500 + 10 * 1_350


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
        (["--clear-trigger", "9"], "--clear-trigger belongs to --clear-keep; give --clear-keep K too"),
        (["--clear-at-least", "9"], "--clear-keep"),
        (["--handle", "9"], "--handles"),
        (["--loads", "9"], "--handles"),
        (["--subagent-summary", "9"], "--subagents"),
        (["--cap", "0"], "cap is 0"),
        (["--handles", "50"], "a handle of 60 tokens is larger"),
        (["--cap", "10", "--clear-keep", "3"], "a placeholder of 20 tokens would itself be cut"),
        (["--subagents", "0"], "calls is 0"),
        (["--subagents", "5", "--window", "20"], "--subagents combines with no other control"),
        (["--notes", "10x80"], "'--notes': '10x80' is no whole number"),
        (["--notes", "-1"], "notes is -1"),
        (["--notes", "99999", "--note-tokens", "99999"], "notes x note tokens is 9999800001"),
        (["--notes", "10", "--note-tokens", "-1"], "note tokens is -1"),
        (["--note-tokens", "80"], "--note-tokens belongs to --notes; give --notes COUNT too"),
        (["--S", "-1", "--notes", "10"], "S is -1"),
        (["--subagent-prompt", "9"], "--subagent-prompt belongs to --subagents; give --subagents CALLS too"),
        (["--subagent-task", "9"], "--subagents"),
        (["--cache"], "--cache"),
        (["--cache", "2h"], "--cache is '2h'; choose one of none, 5m, 1h"),
        (["--cache", "1h", "--prices", "gpt-5.5"], "no price is known for keeping a prompt of gpt-5.5"),
        (["--preset", "nobody"], "there is no preset 'nobody'; choose one of"),
        (["--uneven", "1"], "give --r-median TOKENS too"),
        (["--uneven", "1", "--preset", "pi", "--r", "500"], "give --r-median TOKENS too"),
        (["--uneven", "1", "--r-median", "5000"], "the mean 1200 is below the median 5000"),
        (["--uneven", "-1", "--r-median", "50"], "seed is -1"),
        (["--uneven", "1", "--r-median", "50", "--N", "0"], "N is 0"),
        (["--r-median", "50"], "--r-median belongs to --uneven"),
        (["--prices", "claude-opus5"], "did you mean claude-opus-5"),
        (["--plot", "--json"], "give one of the two"),
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


# --- the run ------------------------------------------------------------------------------------

COURSE = (3_000, 500, 150, 1_200, 40)


@pytest.mark.parametrize(
    ("options", "control"),
    [
        ("--cap 500", CapResults(500)),
        ("--handles 1000", Handles(1_000)),
        ("--handles 1000 --handle 90 --loads 4", Handles(1_000, 90, 4)),
        (
            "--clear-keep 2 --clear-trigger 9000 --clear-at-least 4000",
            ClearToolResults(2, trigger=9_000, at_least=4_000),
        ),
        ("--subagents 8", SubAgents(8, 1_500, 3_000, 500)),
        ("--subagents 8 --subagent-summary 300", SubAgents(8, 300, 3_000, 500)),
        ("--subagents 8 --subagent-prompt 900 --subagent-task 70", SubAgents(8, 1_500, 900, 70)),
        ("--compact-trigger 9000 --cap 500", Combined((CapResults(500), Compact(9_000)))),
    ],
)
def test_each_control_is_the_one_of_the_library(
    capsys: pytest.CaptureFixture[str], options: str, control: Control | SubAgents
) -> None:
    result, forecast = as_json(capsys, *options.split()), control.forecast(*COURSE)
    assert result["control"] == control.label
    assert result["requests"] == list(forecast.requests)
    assert (result["all_input"], result["output"]) == (forecast.all_input, forecast.output)
    assert (result["model_calls"], result["keep_all"]) == (forecast.model_calls, 1_193_000)


def test_ten_notes_of_80_tokens_add_16_000_tokens_to_a_run_of_20_requests(capsys: pytest.CaptureFixture[str]) -> None:
    with_notes, without = (as_json(capsys, "--N", "20", *more)["total"] for more in (["--notes", "10"], []))
    assert with_notes - without == 16_000
    assert as_json(capsys, "--notes", "10")["sizes"]["S"]["value"] == 3_000


@pytest.mark.parametrize("name", [each.name for each in presets()])
def test_a_preset_gives_measured_sizes_where_none_are_given(capsys: pytest.CaptureFixture[str], name: str) -> None:
    real = preset(name)
    result = as_json(capsys, "--preset", name, "--a", "77")
    assert result["requests"] == list(KeepAll().forecast(real.S, real.U, 77, real.r, real.N_median).requests)
    measured = {"value": real.S, "origin": "measured", "source": real.source, "runs": real.runs}
    assert result["sizes"]["S"] == {"name": "S", **measured}
    assert result["sizes"]["a"]["origin"] == "given"


def test_a_preset_is_named_with_its_source_and_how_fast_its_requests_really_grew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.call(["size", "--preset", "swe-agent"]) == 0
    said = capsys.readouterr().out
    assert "S = 1,200 (measured), U = 786 (measured)" in said
    assert preset("swe-agent").source in said
    assert "its requests grew by 285 to 755 tokens a step; a + r is 433." in said
    assert cli.call(["size", "--preset", "swe-agent", "--r", "5"]) == 0
    assert "grew" not in capsys.readouterr().out


def test_a_run_longer_than_those_of_the_preset_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    longest = preset("swe-agent").N_p95
    for N, rules in ((longest, []), (longest + 1, ["G07"])):
        result = as_json(capsys, "--preset", "swe-agent", "--N", str(N))
        assert [finding["rule"] for finding in result["findings"]] == rules


def test_a_seed_draws_the_results_of_a_preset_the_same_way_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    real = preset("pi")
    once, again, other = (as_json(capsys, "--preset", "pi", "--uneven", seed)["requests"] for seed in ("1", "1", "2"))
    drawn = draw_results(sizes_of(real), real.N_median - 1, 1)
    assert once == again == list(KeepAll().forecast(real.S, real.U, real.a, drawn, real.N_median).requests)
    assert other != once


def test_drawn_results_are_told_to_people_with_their_mean_and_median(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["size", "--uneven", "4", "--r-median", "300"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"39 results drawn with seed 4: mean [\d,]+, median [\d,]+, largest [\d,]+ tokens\.", said)
    assert "r(1) + ... + r(k - 1)" in said


def test_notes_are_in_every_request_of_the_lead_and_in_none_of_its_sub_agents(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.call(["size", "--notes", "10", "--note-tokens", "50", "--subagents", "13"]) == 0
    said = capsys.readouterr().out
    assert "10 notes of 50 tokens stand in every request, added to S: 2,000 tokens in 4 requests." in said
    both = [as_json(capsys, "--subagents", "13", *more)["all_input"] for more in ([], ["--notes", "10"])]
    assert both[1] - both[0] == 4 * 10 * 80


def test_what_belongs_to_a_control_and_was_not_given_is_said_to_be_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["size", "--clear-keep", "3", "--compact-trigger", "20000", "--summary", "900"]) == 0
    assert "\nAssumed beside the sizes: placeholder = 20.\n" in capsys.readouterr().out
    assert cli.call(["size", "--window", "20"]) == 0
    assert "beside the sizes" not in capsys.readouterr().out


# --- the money ----------------------------------------------------------------------------------

PARTS = ("read", "written", "uncached", "output")


def test_money_in_json_is_text_with_the_exact_decimal_and_no_exponent(capsys: pytest.CaptureFixture[str]) -> None:
    cost = as_json(capsys, "--prices", "gpt-6-luna", "--S", "3", "--U", "0", "--a", "1", "--N", "1")["cost"]
    price = price_of("gpt-6-luna")
    assert Decimal(cost["usd"]) == (3 * price.input + price.output) / 1_000_000
    assert all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) for name, value in cost.items() if name.endswith("usd"))


def test_what_a_cache_can_serve_is_what_it_reads_above_the_minimum(capsys: pytest.CaptureFixture[str]) -> None:
    result = as_json(capsys, "--compact-trigger", "20000", "--prices", "claude-opus-5", "--cache", "5m")
    assert result["cacheable"] == result["cost"]["read"] > 0


@pytest.mark.parametrize(
    ("cache", "kind"),
    [([], "none"), (["--cache", "none"], "none"), (["--cache", "5m"], "5m"), (["--cache", "1h"], "1h")],
)
def test_the_bill_is_the_one_of_the_library(capsys: pytest.CaptureFixture[str], cache: list[str], kind: Any) -> None:
    result = as_json(capsys, "--prices", "claude-opus-5", "--clear-keep", "3", *cache)["cost"]
    cost = cost_of(ClearToolResults().forecast(*COURSE), "claude-opus-5", kind)
    assert (result["read"], result["written"]) == (cost.read, cost.written)
    assert Decimal(result["usd"]) == cost.usd == sum(Decimal(result[f"{part}_usd"]) for part in PARTS)
    assert Decimal(result["keep_all_usd"]) == cost_of(KeepAll().forecast(*COURSE), "claude-opus-5", kind).usd
    assert (result["cache"], result["price_source"]) == (kind, price_of("claude-opus-5").source)


def test_without_prices_there_is_no_bill(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys)["cost"] is None


def test_clearing_on_every_step_beside_a_cache_is_told_as_dearer(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["size", "--clear-keep", "3", "--cache", "5m", "--prices", "claude-opus-5"]) == 0
    said = capsys.readouterr().out
    assert "Cheapest with the cache: 'keep all'" in said
    assert "Dearer than keeping all and letting the cache work" in said
    assert "The bill with a cache is an estimate" in said
    assert "\nG05, at_least = 0:" in said


def test_a_cache_without_a_price_tells_what_it_could_serve(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["size", "--cache", "5m"]) == 0
    said = capsys.readouterr().out
    served = 1_193_000 - 56_150
    assert f"Of 1,193,000 input tokens {served:,} ({served / 1_193_000:.0%}) stand at the beginning" in said
    assert cli.call(["size", "--cache", "5m", "--S", "0", "--U", "0", "--a", "0", "--r", "0"]) == 0
    assert "Of 0 input tokens 0 (none) stand" in capsys.readouterr().out


def test_the_window_of_the_model_is_held_against_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    limit = price_of("claude-haiku-4-5").max_input
    for S, rules in ((limit - 20_000, ["G09"]), (limit - 60_000, [])):
        result = as_json(capsys, "--prices", "claude-haiku-4-5", "--S", str(S))
        assert [finding["rule"] for finding in result["findings"]] == rules


# --- the chart and the sheet --------------------------------------------------------------------


def test_a_chart_is_drawn_where_asked_and_none_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call(["size", "--trigger", "20000"]) == 0
    assert "+ trigger" not in capsys.readouterr().out
    assert cli.call(["size", "--trigger", "20000", "--plot"]) == 0
    said = capsys.readouterr().out
    assert "\n56,150 |" in said
    assert ". keep all   # trigger\n" in said


def test_a_sheet_is_written_and_a_sheet_is_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.md"
    file.touch()
    assert cli.call(["size", "--clear-keep", "3", "--sheet", str(file)]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"{file} has the sizing sheet.\n"
    assert "407,120" in captured.out
    first = file.read_text(encoding="utf-8")
    assert first.startswith(SHEET_BEGINS)
    assert "| S: system prompt and tool schemas | 3,000 | assumed |" in first
    assert cli.call(["size", "--json", "--sheet", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["control"] == "keep all"
    assert file.read_text(encoding="utf-8").splitlines()[1] == "# Sizing sheet: keep all"


def test_a_file_is_a_sheet_by_its_whole_first_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.md"
    for first, status in ((SHEET_BEGINS + "\r\n", 0), (SHEET_BEGINS, 0), (SHEET_BEGINS + " or so\n", 2), ("\n", 2)):
        file.write_bytes(first.encode())
        assert cli.call(["size", "--sheet", str(file)]) == status
    assert file.read_bytes() == b"\n"
    assert [each.name for each in tmp_path.iterdir()] == ["run.md"]


def test_a_sheet_that_cannot_be_moved_into_place_leaves_the_old_one_and_nothing_beside_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "run.md"
    file.write_text(SHEET_BEGINS + "\nold\n", encoding="utf-8")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert cli.call(["size", "--sheet", str(file)]) == 2
    assert capsys.readouterr().err == (
        f"agentlab: {file} cannot be written: No space left on device; name another file\n"
    )
    assert file.read_text(encoding="utf-8") == SHEET_BEGINS + "\nold\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_to_a_sheet_stays_a_link(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "real.md").touch()
    link = tmp_path / "link.md"
    link.symlink_to("real.md")
    assert cli.call(["size", "--sheet", str(link)]) == 0
    assert link.is_symlink()
    assert (tmp_path / "real.md").read_text(encoding="utf-8").startswith(SHEET_BEGINS)
    endless = tmp_path / "endless.md"
    endless.symlink_to("endless.md")
    assert cli.call(["size", "--sheet", str(endless)]) == 2


def test_a_file_that_is_no_sheet_is_left_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("# mine\n", encoding="utf-8")
    for target, said in (
        (file, "stands there already and is no sizing sheet"),
        (tmp_path, "is no file"),
        (tmp_path / "none" / "run.md", "cannot be written: No such file"),
    ):
        assert cli.call(["size", "--sheet", str(target)]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
        assert str(target) in captured.err
        assert said in captured.err
    assert file.read_text(encoding="utf-8") == "# mine\n"


# --- the help page ------------------------------------------------------------------------------


def test_the_help_page_has_every_option_once_under_a_heading_that_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.call(["size", "--help"]) == 0
    page = capsys.readouterr().out
    assert max(len(line) for line in page.splitlines()) <= 80
    headings = [line for line in page.splitlines() if re.fullmatch(r"\S.*:", line)]
    assert headings == [
        "Sizes of the run:",
        "Controls that act on a result as it arrives:",
        "Controls that remove history:",
        "Sub-agents:",
        "Prices:",
        "Output:",
    ]
    options = re.findall(r"^  (--[\w-]+)", page, re.MULTILINE)
    assert len(options) == len(set(options)) == len(inspect.signature(size).parameters)
    money = page[page.index("Prices:") : page.index("Output:")]
    assert re.findall(r"^  (--[\w-]+)", money, re.MULTILINE) == ["--prices", "--cache"]
