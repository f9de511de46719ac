"""The set of questions on long documents: what its files promise, how its documents are fetched, and its scores."""

import hashlib
from collections import Counter
from pathlib import Path

from tests.benchmarks.long_documents.documents import LongDocument, is_held, read_documents, read_questions
from tests.benchmarks.long_documents.fetching import fetch
from tests.benchmarks.long_documents.measuring import checks, shares, table

DOCUMENT = LongDocument(
    id="a",
    file="a.txt",
    client="apt",
    package="no-such-package-of-hopweave",
    version="1",
    path="a.txt",
    sha256=hashlib.sha256(b"text").hexdigest(),
)


def test_there_are_sixty_questions_in_three_languages_a_third_of_two_documents() -> None:
    questions = read_questions()
    assert Counter(one.language for one in questions) == {"en": 20, "de": 20, "fr": 20}
    assert sum(len(one.needs) == 2 for one in questions) >= 20
    assert len({one.id for one in questions}) == 60


def test_the_questions_held_out_are_those_with_the_least_hashes() -> None:
    ids = sorted((one.id for one in read_questions()), key=lambda one: hashlib.sha256(one.encode()).hexdigest())
    assert {one.id for one in read_questions() if one.held_out} == set(ids[:20])


def test_every_need_is_of_a_document_of_the_set() -> None:
    known = {one.id for one in read_documents()}
    assert all(need.document in known and need.quotes for one in read_questions() for need in one.needs)
    assert all(len({need.document for need in one.needs}) == len(one.needs) for one in read_questions())


def test_a_quote_is_found_across_line_ends() -> None:
    assert is_held(("the sea is wide",), "and the sea\n   is wide.")
    assert not is_held(("the sea is wide",), "the sea is not wide")


def test_documents_that_are_there_are_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"text")
    fetch([DOCUMENT], tmp_path)


def test_shares_are_by_language_and_number_of_documents_and_apart_for_those_held_out() -> None:
    rows = [
        {
            "searcher": name,
            "question": str(number),
            "language": "de",
            "documents": number,
            "held_out": held_out,
            "all@5": int(name == "bridged" or number == 1),
            "all@10": 1,
        }
        for name in ("dense", "sparse", "fused", "bridged")
        for number in (1, 2)
        for held_out in (False, True)
    ]
    report = {"shares": shares(rows)}
    assert report["shares"]["dev"]["German"]["dense"] == {"all@5": 0.5, "all@10": 1.0}
    assert report["shares"]["held out"]["two documents"]["bridged"]["all@5"] == 1.0
    assert "French" not in report["shares"]["dev"]
    assert all(check.reached for check in checks(report))
    assert "| dev, two documents | 0 | 100 | 0 | 100 | 0 | 100 | 100 | 100 |" in table(report)
