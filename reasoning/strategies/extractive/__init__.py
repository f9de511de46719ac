"""No model: quotes and cites the best sentences and rows of the best passages; declines if none is likely to answer.

`reasoner` has the course of a question, and `sides` divides a question about several things. `reading` reads the hits:
`asked` reads the question, `units` lists what may be quoted, and `evidence` compares both, ranks the units, and says
how probably one of them answers. `entries` finds the units of options and dated headings. `quoting` writes units,
`continuing` finds the sentence beside a unit that belongs to it, and `answering` chooses units and says what they are
worth. `rewording` asks again in the words of an agreement.
"""

from core.ports.reasoning import Reasoner
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.extractive.reading import OTHER_NUMBER, PASSAGES, read_hits
from reasoning.strategies.extractive.reasoner import Config, Extractive

__all__ = ["OTHER_NUMBER", "PASSAGES", "Config", "build", "read_hits"]


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return Extractive(config, backends)
