"""The set of questions on long documents: what its files promise, how its documents are fetched, and its scores."""

import hashlib
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

from tests.benchmarks.long_documents.documents import LongDocument, is_held, read_documents, read_questions
from tests.benchmarks.long_documents.fetching import fetch
from tests.benchmarks.long_documents.measuring import checks, shares, table

DOCUMENT = LongDocument(
    id="a", file="a.txt", client="apt", package="no-such-package-of-hopweave", version="1", path="a.txt",
    sha256=hashlib.sha256(b"text").hexdigest(),
)  # fmt: skip


def test_there_are_sixty_questions_in_three_languages_a_third_of_two_documents_and_twenty_held_out() -> None:
    questions = read_questions()
    assert Counter(one.language for one in questions) == {"en": 20, "de": 20, "fr": 20}
    assert sum(len(one.needs) == 2 for one in questions) >= 20
    ids = sorted({one.id for one in questions}, key=lambda one: hashlib.sha256(one.encode()).hexdigest())
    assert len(ids) == 60
    assert {one.id for one in questions if one.held_out} == set(ids[:20]), "those with the least hashes"
    known = {one.id for one in read_documents()}
    assert all(need.document in known and need.quotes for one in questions for need in one.needs)
    assert all(len({need.document for need in one.needs}) == len(one.needs) for one in questions)


def test_a_quote_is_found_across_line_ends() -> None:
    assert is_held(("the sea is wide",), "and the sea\n   is wide.")
    assert not is_held(("the sea is wide",), "the sea is not wide")


def test_documents_that_are_there_are_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"text")
    fetch([DOCUMENT], tmp_path)


def test_shares_are_by_language_and_number_of_documents_and_apart_for_those_held_out() -> None:
    def row_of(name: str, number: int, *, held_out: bool) -> dict[str, Any]:
        found = {"all@5": int(name == "bridged" or number == 1), "all@10": 1}
        about = {"question": str(number), "language": "de", "documents": number, "held_out": held_out}
        return {"searcher": name, **about, **found}

    rows = [
        row_of(name, number, held_out=held_out)
        for name, number, held_out in product(("dense", "sparse", "fused", "bridged"), (1, 2), (False, True))
    ]
    report = {"shares": shares(rows)}
    assert report["shares"]["dev"]["German"]["dense"] == {"all@5": 0.5, "all@10": 1.0}
    assert report["shares"]["held out"]["two documents"]["bridged"]["all@5"] == 1.0
    assert "French" not in report["shares"]["dev"]
    assert all(check.reached for check in checks(report))
    assert "| dev, two documents | 0 | 100 | 0 | 100 | 0 | 100 | 100 | 100 |" in table(report)
