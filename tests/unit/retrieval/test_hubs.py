"""Names that most passages have: they lead to none, and searches say so."""

import numpy as np

from core.trace import Trace
from retrieval.pagerank.personalized import PageRankConfig, note_limits, rank_from_question
from tests.unit.retrieval.bridged.builders import Said, corpus

CONFIG = PageRankConfig(hubs=10)


def test_a_name_of_too_many_passages_leads_to_none_and_a_note_tells() -> None:
    snapshot = corpus(*(Said(names=("Ada", f"Guest{n}")) for n in range(12)))
    trace = Trace()
    ranking = rank_from_question(snapshot, "Does Ada know Guest3?", CONFIG)
    note_limits(ranking, snapshot, trace)
    assert ranking.chunks.tolist() == [3]
    assert trace.notes == ['graph: "ada": in so many passages that the name leads to none (`hubs`)']
    alone = rank_from_question(snapshot, "Who is Ada?", CONFIG)
    assert (alone.chunks.tolist(), alone.reached.tolist()) == ([], alone.entities.tolist())


def test_names_of_fewer_passages_lead_to_all_of_them() -> None:
    snapshot = corpus(*(Said(names=("Ada", f"Guest{n}")) for n in range(10)))
    trace = Trace()
    ranking = rank_from_question(snapshot, "Who is Ada?", CONFIG)
    note_limits(ranking, snapshot, trace)
    assert np.array_equal(ranking.chunks, np.arange(10))
    assert not trace.notes
