"""Self-consistency: the largest group of equal answers, else the medoid."""

import pytest

from core.ports.reasoning import Support
from reasoning.engine.answers import Conclusion
from reasoning.shared.fusion import vote
from tests.twins.embedder import TwinEmbedder


@pytest.mark.parametrize(
    ("texts", "elected"),
    [
        (["Paris [1]", "Lyon [1]", "the paris!"], 0),
        (["Lyon", "Paris", "Paris [2]"], 1),
        (["", "", "Paris"], 0),  # most found nothing
        (["", "", "Paris", "the Paris"], 2),  # no more than half found nothing: those that found something decide
        (["", "Paris"], 1),  # a tie with an abstention goes to who has an answer
        (["in Lyon", "the port of Marseille", "Marseille"], 1),  # all differ: nearest to the others
        (["Lyon", "in Marseille", "lyon", "in Marseille", "the city of Marseille"], 1),  # of those that tie only
        (["北京", "上海", "北京 [1]"], 0),
        (["...", "!", "..."], 0),  # nothing is left of them when normalised
        ([""], 0),
    ],
)
async def test_vote(texts: list[str], elected: int) -> None:
    drafts = [Conclusion(text=text, citations=(), shown=(str(n),)) for n, text in enumerate(texts)]
    assert await vote(drafts, TwinEmbedder()) is drafts[elected]


@pytest.mark.parametrize(
    ("supports", "elected"),
    [
        ([Support.INFERRED, Support.STATED, Support.STATED], 1),
        ([Support.STATED, Support.INFERRED], 1),  # a tie: the more careful one
        ([Support.MEMORY, Support.STATED, Support.STATED], 1),
        ([Support.STATED, Support.STATED], 0),
    ],
)
async def test_the_support_is_that_of_most_drafts_with_this_answer(supports: list[Support], elected: int) -> None:
    drafts = [Conclusion(text="Paris", support=support) for support in supports]
    assert await vote([*drafts, Conclusion(text="Lyon", support=Support.NONE)], TwinEmbedder()) is drafts[elected]
