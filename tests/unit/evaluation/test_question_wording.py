"""How relations of the fact store are asked for: each shape with its questions and descriptions."""

from collections import Counter

import pytest

from app.services.made_questions.making import _choose
from app.services.made_questions.material import Passage
from app.services.made_questions.questions import Kind, MadeQuestion, Quote
from app.services.made_questions.wording import End, read_relation
from core.documents import Span
from core.text.entity_types import EntityType

ADA = End(name="Ada Lund", type=EntityType.PERSON, noun="chemist")
PRESS = End(name="Orell Press", type=EntityType.ORGANISATION, noun="company")
FILM = End(name="Quartz", type=EntityType.WORK, noun="film")
BASEL = End(name="Basel", type=EntityType.PLACE)
DAY = End(name="5 March 1861", type=EntityType.DATE)


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "of_object", "of_subject"),
    [
        (PRESS, "was founded by", ADA, "Who founded Orell Press?", "Which company was founded by Ada Lund?"),
        (PRESS, "was founded in", BASEL, "Where was Orell Press founded?", ""),
        (PRESS, "was founded in", DAY, "When was Orell Press founded?", ""),
        (ADA, "was born on", DAY, "When was Ada Lund born?", ""),
        (ADA, "died on", DAY, "When did Ada Lund die?", ""),
        (ADA, "studied in", BASEL, "Where did Ada Lund study?", ""),
        (ADA, "founded", PRESS, "Which company did Ada Lund found?", "Who founded Orell Press?"),
        (FILM, "was written by", ADA, "Who wrote Quartz?", "Which film was written by Ada Lund?"),
        (FILM, "starring", ADA, "", "Which film starred Ada Lund?"),
        (FILM, "is silent film by", ADA, "Who is the silent film Quartz by?", ""),
        (ADA, "is director of", PRESS, "", "Who is the director of Orell Press?"),
        (PRESS, "has chairman", ADA, "Who is the chairman of Orell Press?", ""),
        (BASEL, "is town in", BASEL, "Where is Basel located?", ""),
    ],
)
def test_the_question_for_each_end(subject: End, predicate: str, object_: End, of_object: str, of_subject: str) -> None:
    relation = read_relation(predicate)
    assert relation is not None
    assert (relation.ask_object(subject, object_), relation.ask_subject(subject, object_)) == (of_object, of_subject)


OF_ADA = "the company that was founded by Ada Lund"


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "of_object", "of_subject"),
    [
        (PRESS, "was founded by", ADA, "the chemist who founded Orell Press", OF_ADA),
        (PRESS, "was founded in", BASEL, "the place where Orell Press was founded", ""),
        (ADA, "founded", PRESS, "the company that Ada Lund founded", "the chemist who founded Orell Press"),
        (FILM, "starring", ADA, "", "the film that starred Ada Lund"),
        (ADA, "is director of", PRESS, "", "the director of Orell Press"),
        (ADA, "was born on", DAY, "", ""),
    ],
)
def test_the_description_of_each_end(
    subject: End, predicate: str, object_: End, of_object: str, of_subject: str
) -> None:
    relation = read_relation(predicate)
    assert relation is not None
    described = (relation.describe_object(subject, object_), relation.describe_subject(subject, object_))
    assert described == (of_object, of_subject)


@pytest.mark.parametrize(
    "predicate", ["", "is", "is part of", "was used by", "released album in", "has", "shall notify", "Was founded by"]
)
def test_other_predicates_have_no_relation(predicate: str) -> None:
    assert read_relation(predicate) is None


def test_a_name_that_looks_like_a_place_was_written_by_nobody() -> None:
    relation = read_relation("was composed by")
    assert relation is not None
    assert relation.ask_object(End(name="Moon River", type=EntityType.PLACE), ADA) == ""


def test_documents_are_asked_about_in_turn() -> None:
    """As a choice of the least asked one, the first of equals, at each step."""
    passages = [Passage(id=str(n), key=str(n), title="", text="", span=None) for n in range(4)]
    places = [(0,), (0,), (0, 1), (1,), (2, 0), (2,), (3,), (1, 2, 3)]
    questions = [
        MadeQuestion(
            kind=Kind.SINGLE,
            text=str(number),
            quotes=tuple(Quote(passage=passages[place], place=Span(start=0, end=0)) for place in own),
        )
        for number, own in enumerate(places)
    ]
    left, asked, expected = list(questions), Counter[str](), []
    while left:
        chosen = min(left, key=lambda question: sum(asked[key] for key in question.keys) / len(question.keys))
        left.remove(chosen)
        asked.update(chosen.keys)
        expected.append(chosen)
    assert list(_choose({Kind.SINGLE: questions}, 100)) == expected
