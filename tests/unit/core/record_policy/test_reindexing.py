"""When a shadow corpus is made, and when it is swapped in."""

from datetime import UTC, datetime

import pytest

from core.corpora import Corpus, CorpusSettings, Fine
from core.errors import NotFound
from core.ports.record import ReindexDifference
from core.record_policy.documents import NO_DIFFERENCE, is_complete, make_shadow

SETTINGS = CorpusSettings(chunker="sentences", extractor="pattern", fine=Fine.AUTO, embedding_model="m", dimension=8)
CREATED = datetime(2024, 1, 1, tzinfo=UTC)


def test_a_shadow_has_another_id_and_no_generation() -> None:
    corpus = Corpus(id="c", name="books", settings=SETTINGS, generation=7, created_at=CREATED)
    shadow = make_shadow(corpus, SETTINGS)
    assert shadow.id != "c"
    assert (shadow.name, shadow.generation) == ("books", 0)


def test_a_corpus_without_a_name_has_no_shadow() -> None:
    with pytest.raises(NotFound, match="'c' was deleted"):
        make_shadow(Corpus(id="c", name="", settings=SETTINGS, generation=0, created_at=CREATED), SETTINGS)


@pytest.mark.parametrize(
    ("difference", "has_unfinished", "expected"),
    [
        (NO_DIFFERENCE, False, True),
        (NO_DIFFERENCE, True, False),
        (ReindexDifference(revisions=(), document_ids=("d",)), False, False),
        (ReindexDifference(revisions=(), document_ids=("d",)), True, False),
    ],
)
def test_a_complete_shadow_has_no_difference_and_nothing_unfinished(
    difference: ReindexDifference, has_unfinished: bool, expected: bool
) -> None:
    assert is_complete(difference, has_unfinished=has_unfinished) is expected
