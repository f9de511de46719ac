"""The words of a question that are in no name, and what they weigh."""

from math import log

import numpy as np
import pytest

from core.text.lead_in import find_rest
from core.text.terms import hash_stem
from retrieval.bridged.question_words import QuestionTerms, extract_question_terms
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.graph.terms import bm25_idf
from retrieval.pagerank.personalized import PageRankConfig, rank_from_question
from tests.unit.retrieval.bridged.builders import Said, corpus, evidence


@pytest.fixture
def snapshot() -> GraphSnapshot:
    return corpus(
        Said(title="Hello Love", text="a song"),
        Said(title="Hank Snow", text="he died, he sang songs"),
        Said(title="Zebra", text="it eats grass"),
        Said(title="北京大学", text="大学在中国"),
    )


def asked(question: str, snapshot: GraphSnapshot) -> QuestionTerms:
    return extract_question_terms(
        question, rank_from_question(snapshot, question, PageRankConfig()).links, snapshot.statistics
    )


def test_words_of_linked_names_and_stop_words_are_left_out(snapshot: GraphSnapshot) -> None:
    terms = asked("When did the singer of the songs of Hank Snow die?", snapshot)
    assert set(terms.written) == {"singer", "songs", "die"}
    named = {hash_stem("hank"), hash_stem("snow")}
    assert set(terms.all_stems.tolist()) == named | set(terms.stems.tolist())
    assert sorted(terms.stems.tolist()) == terms.stems.tolist()
    assert [hash_stem({"songs": "song"}.get(word, word)) for word in terms.written] == terms.stems.tolist()


def test_a_word_weighs_the_more_the_fewer_chunks_have_it(snapshot: GraphSnapshot) -> None:
    terms = asked("Which songs, grass and xylophones?", snapshot)
    weighs = dict(zip(terms.written, terms.idf.tolist(), strict=True))
    two_of_four, one_of_four, none = log(1 + (4 - 2 + 0.5) / 2.5), log(1 + (4 - 1 + 0.5) / 1.5), 0
    assert weighs == pytest.approx({"songs": two_of_four, "grass": one_of_four, "xylophones": none})
    assert terms.total == pytest.approx(sum(weighs.values()))


def test_a_stem_of_a_name_is_part_of_the_name_and_a_word_that_occurs_twice_counts_once(snapshot: GraphSnapshot) -> None:
    assert asked("Who fell in love with Hello Love?", snapshot).written == ("fell",)
    assert asked("songs, a song, SONGS", snapshot).written == ("songs",)


def test_without_a_link_all_words_count(snapshot: GraphSnapshot) -> None:
    question = "When did Hank Snow die?"
    terms = extract_question_terms(question, [], snapshot.statistics)
    assert set(terms.written) == {"Hank", "Snow", "die"}
    assert terms.all_stems.tolist() == terms.stems.tolist()


def test_a_script_without_spaces_gives_pairs_of_characters(snapshot: GraphSnapshot) -> None:
    terms = asked("中国的大学", snapshot)
    assert set(terms.written) == {"中国", "国的", "的大", "大学"}
    weighs = dict(zip(terms.written, terms.idf.tolist(), strict=True))
    assert weighs["中国"] == weighs["大学"] == pytest.approx(log(1 + 3.5 / 1.5))
    assert weighs["国的"] == 0


def test_the_pairs_within_a_linked_name_are_no_words(snapshot: GraphSnapshot) -> None:
    assert set(asked("北京大学在中国哪里", snapshot).written).isdisjoint({"北京", "京大", "大学"})


@pytest.mark.parametrize("question", ["", "  ", "???", "Who was it?", "\U0001f600"])
def test_a_question_without_words_has_no_stem(question: str, snapshot: GraphSnapshot) -> None:
    terms = asked(question, snapshot)
    assert (len(terms.stems), len(terms.idf), terms.written, terms.total) == (0, 0, (), 0.0)


def test_in_an_empty_corpus_every_word_weighs_nothing() -> None:
    terms = asked("What is made of flour?", corpus())
    assert set(terms.written) == {"made", "flour"}
    assert terms.total == 0.0


def test_idf_is_told_in_the_order_asked_for(snapshot: GraphSnapshot) -> None:
    stems = np.array([hash_stem("grass"), hash_stem("nowher"), hash_stem("song")], np.uint32)
    assert bm25_idf(snapshot.statistics, stems).tolist() == pytest.approx([log(1 + 3.5 / 1.5), 0, log(1 + 2.5 / 2.5)])


def test_of_a_text_that_is_pasted_in_the_rarest_words_are_compared(snapshot: GraphSnapshot) -> None:
    terms = asked("songs grass " + " ".join(f"word{n}" for n in range(1000)), snapshot)
    assert len(terms.stems) == len(terms.idf) == len(terms.written) == 200
    assert {"songs", "grass"} <= set(terms.written)
    assert sorted(terms.stems.tolist()) == terms.stems.tolist()


def test_a_stem_that_the_question_repeats_weighs_twice(snapshot: GraphSnapshot) -> None:
    once, often = asked("grass songs", snapshot), asked("grass: a song, songs, SONGS", snapshot)
    assert often.all_stems.tolist() == once.all_stems.tolist()
    by_stem = dict(zip(once.all_stems.tolist(), (often.all_weight / once.all_weight).tolist(), strict=True))
    assert by_stem == {hash_stem("grass"): 1, hash_stem("song"): 2}
    assert often.idf.tolist() == once.idf.tolist()


def test_words_of_a_lead_in_are_not_counted_if_it_names_a_document(snapshot: GraphSnapshot) -> None:
    question = "Consider the songs of Zebra; what grass is eaten?"
    terms = extract_question_terms(question, [], snapshot.statistics, range(find_rest(question)))
    assert set(terms.written) == {"grass", "eaten"}
    assert len(terms.all_stems) == 2


def test_a_word_of_the_title_counts_for_all_passages_of_a_document_alike() -> None:
    texts = ("the lease of Halden, by Halden", "rent is due in May", "keys are returned", "no pets")
    lease = [Said(title="Halden", text=text, document="lease") for text in texts]
    letter = Said(title="Letter", text="Halden wrote about rent", document="letter")
    snapshot = corpus(*lease, letter)
    told = evidence(snapshot, "When does Halden pay rent?", dense=[0.5] * 5)
    opening, rent, keys, *_ = told.wording_all.tolist()
    assert rent == 1.0, "the clause says what is asked"
    assert opening == pytest.approx(keys), "the name tells nothing of the passages that all have it in their title"
    assert keys > 0, "but it tells the document from others"
    few = evidence(corpus(*lease[:2], letter), "When does Halden pay rent?", dense=[0.5] * 3)
    assert few.wording_all[0] > keys, "two passages of a document are compared as any others"
