"""Passages shortened to the sentences that matter."""

from core.passage_context.windows import shorten_hits
from testing.word_search import hit

MILL = hit(
    "mill",
    "Ravelin Mills",
    "Ravelin Mills is a mill. It had three looms. Its roof was red. It was sold to Ines Corvo in 1901. It is quiet.",
)
CORVO = hit("corvo", "Ines Corvo", "Ines Corvo was an engineer.")


def test_the_first_sentence_words_of_the_question_and_bridges_are_kept() -> None:
    short = shorten_hits("How many looms had Ravelin Mills?", [MILL, CORVO], 2)
    assert [one.chunk.text for one in short] == ["Ravelin Mills is a mill. It had three looms.", CORVO.chunk.text]
    bridged = shorten_hits("Who?", [MILL, CORVO], 2)
    assert bridged[0].chunk.text == "Ravelin Mills is a mill. It was sold to Ines Corvo in 1901."
    assert [one.chunk.id for one in short] == [MILL.chunk.id, CORVO.chunk.id]
