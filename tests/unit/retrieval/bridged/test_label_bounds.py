"""Labels of rows, and stems of a question: what passages gain by them, and which passages they find."""

import numpy as np
import pytest

from core.text.terms import extract_terms, hash_label, hash_stem
from retrieval.bridged.versions import _covers
from retrieval.candidates import row_labels
from retrieval.candidates.row_labels import RowLabels, Weighted, find_labelled, read_labels, weigh_labels
from tests.unit.retrieval.bridged.builders import Said, corpus


def test_a_passage_with_thousands_of_labels_gains_little_by_each() -> None:
    whole = Weighted(hashes=np.array([hash_label(["rate"])], np.uint32), weights=np.array([1.0]))
    labels = RowLabels(whole=whole, words=Weighted(hashes=np.zeros(0, np.uint32), weights=np.zeros(0)))
    honest = extract_terms([], "Rate | 5", [["rate"], ["other"]])
    hostile = extract_terms([], "Rate | 5", [["rate"], *([f"word{n}"] for n in range(638))])
    rows = np.concatenate([honest, hostile])
    owner = np.repeat([0, 1], [len(honest), len(hostile)])
    np.testing.assert_allclose(weigh_labels(labels, rows, owner, 2), [1.0, 0.1])


def test_a_passage_covers_another_by_the_stems_of_the_question() -> None:
    texts = ["valve pressure", "valve", "valve pressure seal", "other"]
    passages = [extract_terms([], text) for text in texts]
    owner = np.repeat(np.arange(4), list(map(len, passages)))
    stems = np.array(sorted(map(hash_stem, ["valv", "pressur", "unknown"])), np.uint32)
    covers = _covers(np.concatenate(passages), owner, 4, stems)
    assert [row.nonzero()[0].tolist() for row in covers] == [[0, 1, 2], [1], [0, 1, 2], []]
    assert not _covers(np.concatenate(passages), owner, 4, stems[:0]).any()


def test_passages_are_found_by_labels_in_the_documents_of_the_candidates() -> None:
    prose = [Said(document="report", text=f"page {n} is about a ferry, and its trends over time") for n in range(20)]
    snapshot = corpus(
        *prose,
        Said(document="report", text="Revenues | 18,120 | 5,931\nDebt | 9 | 8"),
        Said(document="report", text="Fuel expenses | 3,160 | 3,965\nRent | 4 | 3"),
        Said(document="other", text="Revenues | 7 | 5\nFuel expenses | 8 | 9"),
    )

    def find(question: str, *candidates: int) -> list[int]:
        return find_labelled(question, np.array(candidates, np.int64), snapshot)[1].tolist()

    assert find("How have net sales trended?", 3) == [20]
    assert find("What were the fuel costs?", 3, 5) == [21]
    assert find("What were the fuel costs?", 3, 22) == [21], "the candidate itself is not found again"
    assert find("How long is the ferry?", 3) == []
    assert find("What were the fuel costs?") == []


def test_a_label_whole_weighs_more_than_a_word_of_it() -> None:
    texts = ["Fuel expenses | 3 | 4", "Fuel | 3 | 4", "Fuel expenses and taxes paid | 3 | 4", "fuel expenses are 3"]
    snapshot = corpus(*(Said(text=text) for text in [*texts, *["nothing"] * 90]))
    rows, owner = snapshot.terms_of(np.arange(4))
    weights = weigh_labels(read_labels("the fuel costs", snapshot.statistics), rows, owner, 4)
    assert weights[1] > weights[0] > weights[2] > weights[3] == 0


def test_documents_with_the_most_candidates_are_looked_into_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_labels, "_MOST_READ", 3)
    monkeypatch.setattr(row_labels, "_MOST_FOUND", 2)
    row = "Fuel expenses | 3,160 | 3,965"
    large = [Said(document="large", text=row) for _ in range(6)]
    small = [Said(document="small", text=text) for text in ("a ferry", "a boat", row, row, row, row)]
    snapshot = corpus(*large, *small)
    _, found = find_labelled("What were the fuel costs?", np.array([0, 6, 7]), snapshot)
    assert found.tolist() == [8, 9]
