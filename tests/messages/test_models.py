"""The models that need no key: strict scripts and plain rules."""

import pytest

from agentlab.messages.conversation import Reply, Request, StopReason, UserMessage
from agentlab.messages.models import Rules, Scripted, ScriptError

ASK = Request(messages=(UserMessage(content="hello"),))
END = Reply(content="bye", stop=StopReason.END)


def test_a_script_plays_its_replies_in_order():
    with Scripted([END, lambda request: Reply(content=request.messages[0].content, stop=StopReason.END)]) as model:
        assert [model.complete(ASK).content, model.complete(ASK).content] == ["bye", "hello"]
    assert model.requests == [ASK, ASK]


def test_a_script_refuses_one_call_too_many():
    model = Scripted([END])
    model.complete(ASK)
    with pytest.raises(ScriptError, match="asked for one more"):
        model.complete(ASK)


def test_a_script_with_unused_steps_is_a_failure():
    with pytest.raises(ScriptError, match="1 of 1 replies were never asked for"), Scripted([END]):
        pass


def test_an_error_inside_the_block_is_not_hidden_by_unused_steps():
    with pytest.raises(ZeroDivisionError), Scripted([END]):
        _ = 1 / 0


def test_rules_answer_from_the_request_alone():
    model = Rules(lambda request: Reply(content=str(len(request.messages)), stop=StopReason.END))
    assert model.complete(ASK) == model.complete(ASK)
