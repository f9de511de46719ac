"""The passages that an answer stands on, and what they lack of the question."""

import pytest

from reasoning.reading import find_evidence, find_unlinked
from testing.word_search import hit

MILL = hit("mill", "Ravelin Mills", "Ravelin Mills was founded by Ines Corvo. It burnt down in 1920.")
CORVO = hit("corvo", "Ines Corvo", "Ines Corvo was an engineer, who was born in Porto. Her husband was Rui Lopes.")
PORTO = hit("porto", "Porto", "Porto is a city on the Douro.")
HITS = (PORTO, CORVO, MILL)


def test_the_answer_and_what_leads_to_it() -> None:
    assert find_evidence("Porto", "Where was the founder of Ravelin Mills born?", HITS) == (CORVO, MILL)
    assert find_evidence("Ines Corvo", "Who founded Ravelin Mills?", HITS) == (MILL,)


def test_nothing_holds_the_answer() -> None:
    assert find_evidence("Lisbon", "Where was Ines Corvo born?", HITS) == ()


def test_sentences_stand_on_the_passage_that_has_their_words() -> None:
    said = "The mill keeps the keys of its looms in a locked chest beside the gate of the yard"
    lost = hit("lost", "Rules", "Weavers who lost their keys ask how keys are kept.")
    kept = hit("kept", "Rules", f"{said}.")
    assert find_evidence(said, "How are the keys kept that weavers lost?", (lost, kept)) == (kept,)


def test_a_judgement_stands_on_what_it_judges() -> None:
    assert find_evidence("no", "Is Porto older than Ravelin Mills?", HITS) == (PORTO, MILL)


@pytest.mark.parametrize(
    ("answer", "question", "unlinked"),
    [
        ("Ines Corvo", "Who founded Ravelin Mills?", ()),
        ("Porto", "Where was the engineer Ines Corvo born?", ()),
        ("1920", "When was Ravelin Mills burnt?", ()),
        ("Ines Corvo", "When was Ravelin Mills founded?", ("a date",)),
        ("Ines Corvo", "How many looms did Ravelin Mills have?", ("looms", "a number")),
        ("Ines Corvo", "Who is the spouse of the founder of Ravelin Mills?", ("spouse",)),
        ("Ines Corvo", "Which prize of Ravelin Mills was first?", ("prize",)),
        ("Porto", "Where was the founder of Ravelin Mills born?", ("Ravelin Mills",)),
        (
            "1920",
            "When were wages of the weavers and spinners at Ravelin Mills raised?",
            ("wages", "weavers", "spinners", "raised"),
        ),
    ],
)
def test_what_the_question_asks_and_the_passage_lacks(answer: str, question: str, unlinked: tuple[str, ...]) -> None:
    texts = [f"{one.document.title}\n{one.chunk.text}" for one in find_evidence(answer, question, HITS)]
    assert find_unlinked(answer, question, texts) == unlinked


def test_without_evidence_the_whole_question_is_missing() -> None:
    assert find_unlinked("Porto", "Where?", []) == ("Where?",)
