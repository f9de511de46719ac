"""A question over several versions: these take turns, each with the passage that is most like the best."""

import numpy as np

from core.documents import DocumentRef
from retrieval.bridged.versions import Versions, _Candidates, _take_turns
from tests.unit.retrieval.bridged.builders import Said, corpus

YEARS = ("2021", "2022", "2023")
TEXTS = ("the toll of the bridge is due", "the crew of the bridge has grown", "the toll of the bridge is free")
SCORES = {"2021": (1.0, 1.1, 0.2), "2022": (0.9, 0.1, 0.3), "2023": (5.0, 4.0, 3.0)}


def order(question: str) -> list[str]:
    """Returns the years of the passages in the order of their scores, each with its number in its document."""
    snapshot = corpus(*(Said(document=year, text=text) for year in YEARS for text in TEXTS))
    chunks = np.arange(len(YEARS) * len(TEXTS))
    ids = snapshot.document_ids(chunks.tolist())
    scores = np.array([score for year in YEARS for score in SCORES[year]])
    refs = {
        id: DocumentRef(id=id, key=f"Tolls {year}.pdf", title="", metadata={})
        for id, year in zip(ids, np.repeat(YEARS, len(TEXTS)).tolist(), strict=True)
    }
    candidates = _Candidates(chunks=chunks, ids=ids, scores=scores, exact=np.zeros(len(scores)), deviation=1.0)
    turns = _take_turns(Versions.find(refs), candidates, np.zeros(len(scores)), question, snapshot)
    np.testing.assert_allclose(np.sort(scores + turns), np.sort(scores))
    names = [f"{refs[id].key[6:10]} {place % len(TEXTS)}" for place, id in enumerate(ids)]
    return [names[at] for at in np.argsort(-(scores + turns))]


def test_behind_the_best_passage_comes_the_passage_of_each_version_that_is_most_like_it() -> None:
    best = order("How has the toll changed over time?")
    assert best[0] == "2023 0"
    assert set(best[1:3]) == {"2021 0", "2022 0"}, "not 2021 1, which has the greater score"
    assert [name[:4] for name in best[3:4]] == ["2023"]
    assert sorted(best) == sorted(f"{year} {number}" for year in YEARS for number in range(len(TEXTS)))


def test_versions_beyond_the_range_of_the_question_take_no_turn() -> None:
    best = order("How has the toll changed from 2022 to 2023?")
    assert best[:2] == ["2023 0", "2022 0"]
    assert best.index("2021 0") > best.index("2022 0")
