"""No model: quotes and cites the best sentences and rows of the best passages; declines if none is likely to answer.

`reasoner` has the course of a question. `looking` searches and reads, once or for each of the `sides` of a question,
where a passage refers to another place (`following`), and in the words of an agreement. `quoting` chooses what is
quoted; `over_periods` and `over_rows` compute from the cells of tables.
"""

from core.ports.reasoning import Reasoner
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.extractive.quoting.reading import OTHER_NUMBER, PASSAGES, read_hits
from reasoning.strategies.extractive.reasoner import Config, Extractive

__all__ = ["OTHER_NUMBER", "PASSAGES", "Config", "build", "read_hits"]


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return Extractive(config, backends)
