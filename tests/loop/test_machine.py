"""The table of transitions: complete, terminal states absorbing, and drawn as it stands."""

import pytest

from agentlab.errors import AgentlabError
from agentlab.loop.machine import TERMINALS, TRANSITIONS, Event, State, follow, mermaid


def test_nothing_leads_out_of_a_terminal():
    assert not [state for state, _ in TRANSITIONS if state in TERMINALS]


def test_every_state_is_reached_from_the_start_and_every_event_is_used():
    reached = {State.REASONING}
    while more := {target for (state, _), target in TRANSITIONS.items() if state in reached} - reached:
        reached |= more
    assert reached == set(State)
    assert {event for _, event in TRANSITIONS} == set(Event)


def test_every_state_but_the_instant_of_choosing_can_be_cancelled():
    cancellable = {state for state, event in TRANSITIONS if event is Event.CANCEL}
    assert cancellable == set(State) - TERMINALS - {State.CHOOSING}


def test_a_transition_that_is_not_in_the_table_is_refused():
    with pytest.raises(AgentlabError, match="no transition from answered on REPLY"):
        follow(State.ANSWERED, Event.REPLY)


def test_the_diagram_shows_every_transition_of_the_table():
    drawn = mermaid()
    for (state, event), target in TRANSITIONS.items():
        if event is not Event.CANCEL:
            assert f"{state.value} --> {target.value}: {event.value}\n" in drawn
    assert drawn.count("-->") == len([each for each in TRANSITIONS if each[1] is not Event.CANCEL]) + 1 + len(TERMINALS)
