"""Processes that die and processes that race, on SQLite and on PostgreSQL: each key is posted once, or marked unknown.

The processes are those of crash_site.py. Every claim holds whatever order the machine runs them in.
"""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from crash_site import POINTS, RACERS

KILLED = -signal.SIGKILL
SITE = Path(__file__).with_name("crash_site.py")


def play(url: str, plan: str) -> Any:
    done = subprocess.run([sys.executable, str(SITE), url, plan], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


# What the second life finds and does, for a target that does not honour the key and for one that does.
REPEATED = ["executed", "replayed"]
AFTER = {
    # Nothing was committed, so the key is free.
    "key written, not committed": ((0, REPEATED, 1), (0, REPEATED, 1)),
    "before the effect": ((0, ["unknown", "unknown"], 0), (0, REPEATED, 1)),
    "effect written, not committed": ((0, ["unknown", "unknown"], 0), (0, REPEATED, 1)),
    # The ERP holds the posting and nobody else knows. Only a target that honours the key can be asked.
    "after the effect": ((1, ["unknown", "unknown"], 1), (1, REPEATED, 1)),
    "receipt written, not committed": ((1, ["unknown", "unknown"], 1), (1, REPEATED, 1)),
    "after the receipt": ((1, ["replayed", "replayed"], 1), (1, ["replayed", "replayed"], 1)),
}


def test_a_call_whose_process_is_killed_at_any_point_is_posted_once_or_marked_unknown(url: str) -> None:
    lives = play(url, "kills")
    assert len(lives) == len(POINTS) * 4
    for life in lives:
        expected = AFTER[life["point"]][life["honours key"]]
        assert life["ended"] == KILLED, life
        assert (life["posted by the first"], life["outcomes"], life["postings"]) == expected, life
        assert life["left open"] is (life["outcomes"][0] == "unknown"), life
        # An approval is used up with the key, and a crash does not make it good for another call.
        assert life["approvals"] == (["used"] if life["cents"] > 500_000 else []), life


def test_eight_processes_may_create_the_tables_at_the_same_moment(url: str) -> None:
    outcomes = Counter(play(url, "no table"))
    assert outcomes["executed"] == 1
    assert set(outcomes) <= {"executed", "replayed", "unknown"}


def test_of_eight_processes_with_one_key_exactly_one_posts(url: str) -> None:
    seen = play(url, "one key")
    races = list(zip(*seen["outcomes"], strict=True))
    assert len(seen["posted"]) == len(set(seen["posted"])) == len(races) == 40
    for race in races:
        # Whoever comes while the first call still runs cannot know its outcome; whoever comes later gets its result.
        assert race.count("executed") == 1
        assert set(race) <= {"executed", "replayed", "unknown"}


def test_of_eight_processes_with_one_key_that_the_target_honours_each_gets_the_one_result(url: str) -> None:
    seen = play(url, "one key, honoured")
    assert len(seen["posted"]) == len(set(seen["posted"])) == 40
    for race in zip(*seen["outcomes"], strict=True):
        assert sorted(race) == ["executed"] + ["replayed"] * (RACERS - 1)


def test_of_two_payloads_with_one_key_one_is_posted_and_the_other_refused(url: str) -> None:
    seen = play(url, "two payloads")
    assert seen["posted"] == ["k"]
    halves = [seen["outcomes"][0::2], seen["outcomes"][1::2]]
    (lost,) = [half for half in halves if "executed" not in half]
    assert lost == ["conflict"] * (RACERS // 2)


def test_eight_processes_open_one_request_one_person_answers_it_and_the_answer_is_used_once(url: str) -> None:
    seen = play(url, "one approval")
    assert seen["asked"] == ["pending"] * RACERS
    assert seen["pending"] == [["pending", None]]
    (approver,) = [answer for answer in seen["answered"] if answer != "too late"]
    assert seen["decided"] == [["approved", approver]]
    assert seen["ran"].count("executed") == 1
    assert set(seen["ran"]) <= {"executed", "replayed", "unknown"}
    assert seen["used"] == [["used", approver]]
    assert seen["posted"] == ["k"]


def test_eight_processes_park_one_document_with_one_reason(url: str) -> None:
    assert len(set(play(url, "one document"))) == 1


def test_eight_processes_with_500_keys_post_each_exactly_once(url: str) -> None:
    seen = play(url, "many keys")
    executed = [key for racer in seen["racers"] for key, outcome in racer.items() if outcome == "executed"]
    assert seen["left open"] == []
    assert len(set(executed)) == 500
    assert sorted(seen["posted"]) == sorted(seen["before"]) == sorted(executed)
    assert set(seen["again"].values()) == {"replayed"}


def test_eight_processes_of_which_five_die_post_each_key_once_or_leave_it_marked_unknown(url: str) -> None:
    seen = play(url, "many keys and deaths")
    victims = len(POINTS) - 1
    assert seen["racers"][:victims] == [KILLED] * victims
    assert KILLED not in seen["racers"][victims:]
    # The first victim dies before its key is committed, so that it is free; each of the others leaves one key open.
    assert len(seen["left open"]) == victims - 1
    assert len(seen["posted"]) == len(set(seen["posted"]))
    for key, outcome in seen["again"].items():
        if key in seen["left open"]:
            assert outcome == "unknown", key
        else:
            assert outcome == ("replayed" if key in seen["before"] else "executed"), key
            assert key in seen["posted"], key
    # Looking at an open key again has posted nothing.
    assert set(seen["posted"]) - set(seen["before"]) <= set(seen["again"]) - set(seen["left open"])
