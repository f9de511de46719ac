"""Which documents the lead-in of a question names, and which passages are of others."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.documents import DocumentRef
from retrieval.bridged.named_documents import find_named, find_unnamed_passages, keep_asked_versions
from retrieval.bridged.versions import Versions
from retrieval.graph.snapshot import GraphSnapshot
from tests.unit.retrieval.bridged.builders import Said, corpus, document

KEYS = ("halden-lease.txt", "Keep.txt", "notes.txt")
TEXTS = {
    "halden-lease.txt": ["Lease of Halden Mills.", "The tenant may sublet the premises.", "Rent is due each month."],
    "Keep.txt": ["Privacy policy.", "We keep your data safe.", "The app stores your workouts."],
    "notes.txt": ["The privacy policy of others.", "They keep minutes.", "A letter about the Halden lease."],
}


@pytest.fixture(scope="module")
def snapshot() -> GraphSnapshot:
    return corpus(*(Said(document=key, text=text) for key in KEYS for text in TEXTS[key]))


def find(question: str, snapshot: GraphSnapshot, chunks: Sequence[int] = range(9), **names: Sequence[str]) -> set[str]:
    """Returns the keys of `KEYS` that are named; `names` has other keys or titles for these documents."""
    titles = names.get("titles", [key.partition(".")[0] for key in KEYS])
    refs = {
        document(own): DocumentRef(id=document(own), key=key, title=title, metadata={})
        for own, key, title in zip(KEYS, names.get("keys", KEYS), titles, strict=True)
    }
    found = find_named(question, refs, np.array(chunks, np.int64), snapshot)
    return {key for key in KEYS if document(key) in found}


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
    assert find(question, snapshot) == keys


def test_the_name_of_a_file_is_a_title(snapshot: GraphSnapshot) -> None:
    keys, titles = ("legal/EPL-1.0.txt", "legal/mpl.txt", "notes.txt"), ["Terms of the trading house of Corvo"] * 3
    question = "What does EPL 1.0 say about the premises?"
    assert find(question, snapshot, keys=keys, titles=titles) == {"halden-lease.txt"}


def test_a_contract_with_somebody_is_none_with_others(snapshot: GraphSnapshot) -> None:
    """The title of the lease is most of the lead-in; the name stands in another document."""
    titles = ("Contract of tenancy", "Terms", "Notes")
    assert find("Is my data safe under the contract with Keep?", snapshot, titles=titles) == {"Keep.txt"}


def test_a_document_with_few_candidates_is_not_named(snapshot: GraphSnapshot) -> None:
    for chunks in ([0, 1, 3, 4, 5, 6, 7, 8], [0, 1, 2]):
        assert find("Consider the lease of Halden Mills; may the tenant sublet?", snapshot, chunks) == set()


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
