"""The course around the mechanisms: checks, hints, quizzes, and the builder of the lessons."""

from agentlab.course.checks import check
from agentlab.course.exercise import Exercise
from agentlab.course.hints import hint
from agentlab.course.quiz import quiz
from agentlab.course.results import CheckResult
from agentlab.course.todo import TODO

__all__ = ["TODO", "CheckResult", "Exercise", "check", "hint", "quiz"]
