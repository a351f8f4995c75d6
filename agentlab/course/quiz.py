"""A quiz that needs no kernel: every option opens to its own reason, right or wrong."""

from collections.abc import Mapping

from agentlab.course.inline import inline_html
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen


class Option(Frozen):
    """One answer to a quiz question: its letter, its text, whether it is right, and the reason."""

    key: str
    text: str
    is_right: bool
    reason: str

    @property
    def verdict(self) -> str:
        """ "Right" or "Not this one", to stand before the reason."""
        return "Right" if self.is_right else "Not this one"


class Quiz(Frozen):
    """A question with its options, shown as text or as HTML with one <details> an option."""

    question: str
    options: tuple[Option, ...]

    def __repr__(self) -> str:
        asked = [self.question, *(f"  {option.key}) {option.text}" for option in self.options)]
        answered = [f"  {option.key}) {option.verdict}: {option.reason}" for option in self.options]
        return "\n".join([*asked, "Answers:", *answered])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        options = "".join(
            f"<details><summary>{inline_html(option.key)}) {inline_html(option.text)}</summary>"
            f"<p><b>{option.verdict}.</b> {inline_html(option.reason)}</p></details>"
            for option in self.options
        )
        return f"<div><p><b>{inline_html(self.question)}</b></p>{options}</div>"


def quiz(question: str, options: Mapping[str, tuple[str, bool, str]]) -> Quiz:
    """A quiz from ``{"a": (text, is_right, reason), ...}``.

    Raises AgentlabError unless there are two options or more, at least one right and one not, and
    a reason for each.
    """
    made = tuple(Option(key=key, text=text, is_right=right, reason=why) for key, (text, right, why) in options.items())
    if {option.is_right for option in made} != {True, False}:
        raise AgentlabError(f"quiz {question!r}: it needs a right option and one that is not; add the missing one")
    silent = [option.key for option in made if not option.reason.strip()]
    if silent:
        raise AgentlabError(f"quiz {question!r}: option {silent[0]} has no reason; say why it is right or not")
    return Quiz(question=question, options=made)
