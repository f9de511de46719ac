"""Counts and lists all documents that say what the question asks, each with its passage.

`reasoner` has the course of a question. `plan` reads the question, with `totals` and `grouping`; `units` looks up
what it counts; `judging` decides on passages by their words, `undecided` has a language model read what words leave
undecided, `rows` counts copies and versions once, and `report` writes the answer.
"""

from core.errors import InvalidStrategy
from core.ports.reasoning import Reasoner
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.survey.kinds import asks_for_all
from reasoning.strategies.survey.reasoner import Config, Survey

__all__ = ["Config", "asks_for_all", "build"]


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    if backends.finder is None:
        raise InvalidStrategy("the reasoner 'survey' reads all documents of a corpus, which are not available here")
    return Survey(config, backends.finder, backends)
