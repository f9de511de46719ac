"""Labels of rows, and stems of a question: what passages gain by them."""

import numpy as np

from core.text.terms import extract_terms, hash_label, hash_stem
from retrieval.bridged.evidence import QuestionTerms, _find_row_labels
from retrieval.bridged.versions import _covers

_NONE = np.zeros(0, np.uint32), np.zeros(0)


def test_a_passage_with_thousands_of_labels_gains_little_by_each() -> None:
    question = QuestionTerms(
        stems=_NONE[0],
        idf=_NONE[1],
        written=(),
        all_stems=_NONE[0],
        all_idf=_NONE[1],
        labels=np.array([hash_label(["rate"])], np.uint32),
        label_weights=np.array([1.0]),
    )
    honest = extract_terms([], "Rate | 5", [["rate"], ["other"]])
    hostile = extract_terms([], "Rate | 5", [["rate"], *([f"word{n}"] for n in range(639))])
    rows = np.concatenate([honest, hostile])
    owner = np.repeat([0, 1], [len(honest), len(hostile)])
    np.testing.assert_allclose(_find_row_labels(rows, owner, 2, question), [1.0, 0.1])


def test_a_passage_covers_another_by_the_stems_of_the_question() -> None:
    texts = ["valve pressure", "valve", "valve pressure seal", "other"]
    passages = [extract_terms([], text) for text in texts]
    owner = np.repeat(np.arange(4), list(map(len, passages)))
    stems = np.array(sorted(map(hash_stem, ["valv", "pressur", "unknown"])), np.uint32)
    covers = _covers(np.concatenate(passages), owner, 4, stems)
    assert covers.tolist() == [
        [True, True, True, False],
        [False, True, False, False],
        [True, True, True, False],
        [False, False, False, False],
    ]
    assert not _covers(np.concatenate(passages), owner, 4, stems[:0]).any()
