"""Which documents the lead-in of a question names, and which passages are of others."""

import numpy as np
import pytest

from core.documents import DocumentRef
from retrieval.bridged.named_documents import find_named, find_unnamed_passages, keep_asked_versions
from retrieval.bridged.versions import Versions
from retrieval.graph.snapshot import GraphSnapshot
from tests.unit.retrieval.bridged.builders import Said, corpus, document

KEYS = ("halden-lease.txt", "Keep.txt", "notes.txt")
TEXTS = {
    "halden-lease.txt": [
        "The lease of Halden Mills.",
        "The tenant may sublet the premises.",
        "Rent is due each month.",
    ],
    "Keep.txt": ["Privacy policy.", "We keep your data safe.", "The app stores your workouts."],
    "notes.txt": ["The privacy policy of others.", "They keep minutes.", "A letter about the Halden lease."],
}


@pytest.fixture(scope="module")
def snapshot() -> GraphSnapshot:
    return corpus(*(Said(document=key, text=text) for key in KEYS for text in TEXTS[key]))


def refs() -> dict[str, DocumentRef]:
    return {
        document(key): DocumentRef(id=document(key), key=key, title=key.partition(".")[0], metadata={}) for key in KEYS
    }


def named(question: str, snapshot: GraphSnapshot, chunks: list[int] | None = None) -> set[str]:
    places = np.array(range(9) if chunks is None else chunks, np.int64)
    found = find_named(question, refs(), places, snapshot)
    return {ref.key for ref in refs().values() if ref.id in found}


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("Consider the lease of Halden Mills; may the tenant sublet?", {"halden-lease.txt"}),
        ("Consider Keep's privacy policy; is my data safe?", {"Keep.txt"}),
        ("consider keep's privacy policy; is my data safe?", {"Keep.txt"}),
        ("May the tenant sublet under the Halden lease?", {"halden-lease.txt"}),
        ("Is my data safe according to the Keep EULA?", {"Keep.txt"}),
        ("Consider the tax law; is my data safe?", set()),
        ("May the tenant of Halden Mills sublet?", set()),
        ("", set()),
    ],
)
def test_the_lead_in_names_documents(question: str, keys: set[str], snapshot: GraphSnapshot) -> None:
    assert named(question, snapshot) == keys


def test_the_name_of_a_file_is_a_title(snapshot: GraphSnapshot) -> None:
    long = {
        document(key): DocumentRef(id=document(key), key=file, title="Terms of the trading house of Corvo", metadata={})
        for key, file in zip(KEYS, ("legal/EPL-1.0.txt", "legal/mpl.txt", "notes.txt"), strict=True)
    }
    found = find_named("What does EPL 1.0 say about the premises?", long, np.arange(9), snapshot)
    assert set(found) == {document("halden-lease.txt")}


def test_a_contract_with_somebody_is_none_with_others(snapshot: GraphSnapshot) -> None:
    """The title of the lease is most of the lead-in; the name stands in another document."""
    titles = {
        document(key): DocumentRef(id=document(key), key=key, title=title, metadata={})
        for key, title in zip(KEYS, ("Contract of tenancy", "Terms", "Notes"), strict=True)
    }
    found = find_named("Is my data safe under the contract with Keep?", titles, np.arange(9), snapshot)
    assert set(found) == {document("Keep.txt")}


def test_a_document_with_few_candidates_is_not_named(snapshot: GraphSnapshot) -> None:
    assert (
        named("Consider the lease of Halden Mills; may the tenant sublet?", snapshot, [0, 1, 3, 4, 5, 6, 7, 8]) == set()
    )
    assert named("Consider the lease of Halden Mills; may the tenant sublet?", snapshot, [0, 1, 2]) == set()


def test_passages_of_other_documents_lose_unless_they_have_the_name(snapshot: GraphSnapshot) -> None:
    places = np.arange(9)
    by_name = {document("halden-lease.txt"): frozenset({"halden"})}
    assert find_unnamed_passages(by_name, places, snapshot).tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 0]
    by_verb = {document("Keep.txt"): frozenset({"keep"})}
    assert find_unnamed_passages(by_verb, places, snapshot).tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 1], "`keep` is no name"
    assert not find_unnamed_passages({}, places, snapshot).any()


def test_words_of_the_lead_in_do_not_name_another_version() -> None:
    texts = {"report-2023-q1.pdf": "Human resources: {}.", "report-2023-q2.pdf": "The pay of crew {} rose."}
    snapshot = corpus(*(Said(document=key, text=text.format(n)) for key, text in texts.items() for n in range(4)))
    refs = {document(key): DocumentRef(id=document(key), key=key, title="Report", metadata={}) for key in texts}
    question = "What does the human resources section of the {} report say on pay?"
    named = {
        quarter: keep_asked_versions(
            find_named(question.format(quarter), refs, np.arange(8), snapshot),
            question.format(quarter),
            Versions.find(refs),
        )
        for quarter in ("Q1 2023", "Q2 2023")
    }
    assert [refs[id].key for id in named["Q1 2023"]] == ["report-2023-q1.pdf"]
    assert not named["Q2 2023"]
