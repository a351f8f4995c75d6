"""Each rule of order broken once: the history breaks that rule and no other, and its line says so."""

import re

import pytest

from agentlab.messages.pairing import RULES, check
from agentlab.views.broken import broken_histories, demands_table, mishap, rules_table, shape
from agentlab.views.findings import findings_table

ORDER = [rule for rule in RULES if rule[0] in "ACR"]


def test_there_is_one_history_for_each_rule_of_order():
    assert [case.rule for case in broken_histories()] == ORDER == sorted(ORDER, key=lambda r: (r[0], int(r[1:])))


@pytest.mark.parametrize("case", broken_histories(), ids=lambda case: case.rule)
def test_a_history_breaks_its_own_rule_and_no_other(case):
    assert {finding.rule for finding in case.findings} == {case.rule}
    assert case.dialect == RULES[case.rule].dialect


def test_the_table_says_of_each_what_the_check_says_and_how_the_rule_is_known():
    cases = broken_histories()
    for case, row in zip(cases, rules_table(cases).rows, strict=True):
        assert row[0] == case.rule
        assert row[2].endswith(case.finding.message)
        assert row[3] == RULES[case.rule].evidence
    assert {row[3] for row in rules_table(cases).rows} >= {"recorded", "documented", "reported", "unverified"}


def test_what_a_rule_demands_is_told_with_its_source():
    rows = demands_table(["A1", "R2"]).rows
    assert rows == tuple((rule, RULES[rule].demands, RULES[rule].source) for rule in ("A1", "R2"))


def test_the_shape_of_a_history_names_who_says_what():
    shapes = {case.rule: shape(case.history) for case in broken_histories()}
    assert shapes["A1"] == "user: text > assistant: call a, call b > user: result a"
    assert shapes["A6"].startswith("tools: look, look > user: text")
    assert shapes["A9"] == "user: text with half a surrogate pair"
    assert shapes["C3"].endswith("tool: result a (null)")
    assert shapes["R1"] == "user: text > call a > call b > result a"
    assert all(text.isprintable() for text in shapes.values())


def test_the_history_of_the_exercise_has_its_three_mistakes_and_is_made_anew():
    first = mishap()
    assert [finding.rule for finding in check(first, "anthropic")] == ["A1", "A3", "A2", "A5"]
    first.clear()
    assert len(mishap()) == 5


def test_findings_are_shown_with_place_and_way_out_and_their_absence_is_said():
    found = check(mishap(), "anthropic")
    table = findings_table(found)
    assert [row[0] for row in table.rows] == [finding.rule for finding in found]
    assert re.match(r"messages\[1\]\.content\[1\]: ", table.rows[0][2])
    assert table.rows[0][3] == found[0].fix
    assert "nothing was found" in findings_table([]).text
