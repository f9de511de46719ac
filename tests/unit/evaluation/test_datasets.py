"""A folder is read whole or refused, and the refusal says where."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.documents import Span
from core.errors import InvalidInput, NotFound
from evaluation import Support, read_dataset
from evaluation.datasets import dataset as dataset_module
from evaluation.datasets.dataset import sample_passages
from indexer.submission import reading
from tests.memory import find_peak

PASSAGES = [{"id": "p1", "title": "Rome", "text": "A city."}, {"id": "p2", "title": "Italy", "text": "A country."}]
QUESTION: dict[str, Any] = {"id": "q1", "question": "Where?", "answer": "Rome", "supporting": ["p1", "p2"]}

UNANSWERED = {name: value for name, value in QUESTION.items() if name != "answer"}
GRADED: dict[str, Any] = {"id": "q1", "question": "Where?", "grades": {"p1": 2, "p2": 0}}


def folder_of(
    path: Path, *, corpus: str | None = None, questions: str | None = None, openie: str | None = None
) -> Path:
    path = path / "Little Set"
    path.mkdir()
    (path / "corpus.jsonl").write_text(lines(*PASSAGES) if corpus is None else corpus, encoding="utf-8")
    (path / "questions.jsonl").write_text(lines(QUESTION) if questions is None else questions, encoding="utf-8")
    if openie is not None:
        (path / "openie.jsonl").write_text(openie, encoding="utf-8")
    return path


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_folder_becomes_values(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, corpus="\ufeff" + lines(PASSAGES[0]) + "\n  \n" + lines(PASSAGES[1]))
    dataset = read_dataset(folder)
    assert (dataset.name, dataset.passages) == ("Little Set", 2)
    (question,) = dataset.questions
    assert question.answers == ("Rome",)
    assert question.supporting == {Support(key="p1"), Support(key="p2")}


def test_spans_of_documents_may_support(tmp_path: Path) -> None:
    supporting = ["p1", {"id": "p2", "start": 2, "end": 10}, {"id": "p2", "start": 0, "end": 2}]
    (question,) = read_dataset(folder_of(tmp_path, questions=lines({**QUESTION, "supporting": supporting}))).questions
    assert question.supporting == {
        Support(key="p1"),
        Support(key="p2", span=Span(start=0, end=2)),
        Support(key="p2", span=Span(start=2, end=10)),
    }


def test_a_question_may_have_grades_or_supporting_passages_and_no_answer(tmp_path: Path) -> None:
    dataset = read_dataset(folder_of(tmp_path, questions=lines(GRADED, {**UNANSWERED, "id": "q2"})))
    graded, supported = dataset.questions
    assert (graded.answers, graded.answerable, graded.grades) == ((), True, {"p1": 2, "p2": 0})
    assert graded.supporting == {Support(key="p1")}
    assert (supported.answers, supported.grades) == ((), {})
    assert supported.supporting == {Support(key="p1"), Support(key="p2")}


def test_a_question_that_the_corpus_does_not_answer_needs_no_answer(tmp_path: Path) -> None:
    unanswerable = {"id": "q2", "question": "Why?", "answerable": False, "type": "foreign"}
    named = {**QUESTION, "id": "q3", "answerable": False, "supporting": ["elsewhere"]}
    dataset = read_dataset(folder_of(tmp_path, questions=lines(QUESTION, unanswerable, named)))
    assert [question.answerable for question in dataset.questions] == [True, False, False]
    assert dataset.questions[1].answers == dataset.questions[2].answers == ()
    assert dataset.questions[2].supporting == frozenset()
    assert dataset.questions[1].type == "foreign"


def test_questions_of_another_set_are_unanswerable_if_the_caller_says_so(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(lines({**QUESTION, "supporting": ["p9"]}))
    folder = folder_of(tmp_path)
    (question,) = read_dataset(folder, other, unanswerable=True).questions
    assert (question.answerable, question.answers, question.supporting) == (False, (), frozenset())
    with pytest.raises(InvalidInput, match="p9"):
        read_dataset(folder, other)


def test_supporting_sentences_and_hops_are_read(tmp_path: Path) -> None:
    fields = {
        "supporting_sentences": [{"id": "p1", "start": 0, "end": 7}],
        "hops": [{"question": "Which?", "answer": "Italy"}, {"question": "Where is #1?", "answer": "Rome"}],
    }
    (question,) = read_dataset(folder_of(tmp_path, questions=lines({**QUESTION, **fields}))).questions
    assert question.sentences == {Support(key="p1", span=Span(start=0, end=7))}
    assert question.hop_answers == ("Italy", "Rome")


def span(**place: Any) -> str:
    return lines({**QUESTION, "supporting": [{"id": "p2", "start": 0, "end": 5, **place}]})


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (span(id="p7"), "questions.jsonl line 1: no passage of corpus.jsonl has the id 'p7'"),
        (span(id=7), "questions.jsonl line 1: `supporting` must be a list of passage ids or of"),
        (lines({**QUESTION, "supporting": ["p1", 2]}), "line 1: `supporting` must be .* and not hold 2"),
        (span(start="0"), "line 1: `start` and `end` of 'p2' in `supporting` must be whole numbers, not '0' and 5"),
        (span(start=False), "whole numbers, not False and 5"),
        (span(end=None), "whole numbers, not 0 and None"),
        (span(start=5), "line 1: 'p2' in `supporting` has `start` 5 and `end` 5"),
        (span(start=-1), "has `start` -1 and `end` 5"),
        (span(end=11), "line 1: 'p2' in `supporting` has `end` 11; its text has 10 characters"),
        (lines(QUESTION) + span(start=9), "questions.jsonl line 2: 'p2' in"),
    ],
)
def test_spans_that_are_wrong_are_refused_with_their_place(tmp_path: Path, questions: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_dataset(folder_of(tmp_path, questions=questions))


def test_the_fingerprint_follows_what_is_indexed_and_not_the_questions(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    before = read_dataset(folder).fingerprint
    (folder / "questions.jsonl").write_text(lines({**QUESTION, "id": "q9"}))
    assert read_dataset(folder).fingerprint == before
    (folder / "openie.jsonl").write_text(lines({"id": "p1", "entities": ["Rome"], "triples": []}))
    assert read_dataset(folder).fingerprint != before


def test_other_questions_stand_in(tmp_path: Path) -> None:
    other = tmp_path / "mine.jsonl"
    other.write_text(lines({**QUESTION, "id": "mine", "aliases": ["Roma"]}))
    (question,) = read_dataset(folder_of(tmp_path), other).questions
    assert (question.id, question.answers) == ("mine", ("Rome", "Roma"))


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (lines(QUESTION) + "{not json\n", "questions.jsonl line 2: not valid JSON"),
        (lines(QUESTION) + '["a list"]\n', "questions.jsonl line 2: a line must be a JSON object"),
        (lines(QUESTION, QUESTION), r"line 2: the id 'q1' is that of .*line 1 already"),
        (lines({**QUESTION, "supporting": ["p1", "p7"]}), "line 1: no passage of corpus.jsonl has the id 'p7'"),
        (lines({k: v for k, v in QUESTION.items() if k != "supporting"}), "names no `supporting` passage"),
        (lines({**QUESTION, "supporting": "p1"}), "line 1: `supporting` must be a list of passage ids or of"),
        (lines({**QUESTION, "question": "  "}), "`question` must be a text"),
        (lines({**QUESTION, "answer": None}), "`answer` must be a text"),
        (lines({**QUESTION, "aliases": [1]}), "`aliases` must be a list of strings"),
        (lines({**UNANSWERED, "supporting": []}), "question 'q1' has no `answer`; give one, or the passages"),
        (lines({**UNANSWERED, "aliases": ["Roma"]}), "has no `answer`; .*and no `aliases`"),
        (lines({**QUESTION, "grades": {"p1": 1}}), "has `grades` and `supporting`; give one of them"),
        (lines({**GRADED, "grades": {"p1": 1.5}}), "must be a whole number from 0 .*, not 1.5"),
        (lines({**GRADED, "grades": {"p1": -1}}), "line 1: the grade of 'p1' in `grades` must be a whole number from"),
        (lines({**GRADED, "grades": {"p1": True}}), "must be a whole number from 0 .*, not True"),
        (lines({**GRADED, "grades": ["p1"]}), "`grades` must be an object"),
        (lines({**GRADED, "grades": {"p1": 0}}), "no passage in `grades` has a grade above 0"),
        (lines({**GRADED, "grades": {"p1": 1, "p7": 0}}), "no passage of corpus.jsonl has the id 'p7'"),
        (lines({**GRADED, "grades": {}}), "names no `supporting` passage"),
        (lines({**QUESTION, "answerable": "no"}), "`answerable` must be true or false, not 'no'"),
        (lines({**QUESTION, "supporting_sentences": ["p1"]}), "`supporting_sentences` needs `start` and `end`"),
        (
            lines({**QUESTION, "supporting_sentences": [{"id": "p1", "start": 0, "end": 8}]}),
            "'p1' in `supporting_sentences` has `end` 8; its text has 7 characters",
        ),
        (lines({**QUESTION, "hops": ["first"]}), "`hops` must be a list of objects"),
        (lines({**QUESTION, "hops": [{"question": "x"}]}), "line 1, `hops` 0: `answer` must be a text"),
        ("\n\n", "holds no question"),
    ],
)
def test_questions_that_are_wrong_are_refused_with_their_place(tmp_path: Path, questions: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_dataset(folder_of(tmp_path, questions=questions))


@pytest.mark.parametrize(
    ("corpus", "said"),
    [
        (lines(PASSAGES[0], PASSAGES[0]), "corpus.jsonl line 2: the id 'p1'"),
        (lines({"id": "p1"}), "corpus.jsonl line 1: passage 'p1' has no `text`"),
        (lines({"id": 1, "text": "x"}), "corpus.jsonl line 1: `id` must be a text"),
        ("", "holds no passage"),
    ],
)
def test_passages_that_are_wrong_are_refused_with_their_place(tmp_path: Path, corpus: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_dataset(folder_of(tmp_path, corpus=corpus))


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "corpus.jsonl").write_bytes(lines(*PASSAGES).encode() + b'{"id": "\xff"}\n')
    with pytest.raises(InvalidInput, match=r"corpus.jsonl line 3 is not UTF-8; convert the file"):
        read_dataset(folder)


def test_a_malformed_triple_is_data_and_a_malformed_line_is_not(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, openie=lines({"id": "p1", "entities": [], "triples": [["only", "two"]]}))
    read_dataset(folder)
    (folder / "openie.jsonl").write_text(lines({"id": "p1", "entities": [], "triples": {}}))
    with pytest.raises(InvalidInput, match=r"openie.jsonl line 1: `triples` must be a list"):
        read_dataset(folder)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(NotFound, match=r"corpus.jsonl cannot be read"):
        read_dataset(folder)
    assert read_dataset(folder, needs_corpus=False).passages == 0


def test_a_sample_depends_on_seed_and_keys_alone(tmp_path: Path) -> None:
    passages = [{"id": f"p{n}", "title": f"T{n}", "text": "A city."} for n in range(1, 200)]
    whole = read_dataset(folder_of(tmp_path, corpus=lines(*passages)))
    sample = sample_passages(whole, whole.questions, 5, 7)
    assert sample.kept == {"p1", "p2", "p159", "p55", "p87", "p137", "p59"}, "the same on any machine"
    assert sample.passages == 7
    assert sample.fingerprint != whole.fingerprint
    (tmp_path / "turned").mkdir()
    turned = read_dataset(folder_of(tmp_path / "turned", corpus=lines(*reversed(passages))))
    assert sample_passages(turned, turned.questions, 5, 7).kept == sample.kept
    larger = sample_passages(whole, whole.questions, 50, 7)
    assert sample.kept < (larger.kept or frozenset())
    assert sample_passages(whole, whole.questions, 5, 8).kept != sample.kept
    assert sample_passages(whole, whole.questions, 999, 7).passages == 199


def test_memory_does_not_grow_with_the_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder_with(count: int) -> Path:
        (tmp_path / str(count)).mkdir()
        passages = [{"id": str(n), "title": f"T{n}", "text": "A city of some size."} for n in range(count)]
        question = {**QUESTION, "supporting": ["1", "2"]}
        return folder_of(tmp_path / str(count), corpus=lines(*passages), questions=lines(question))

    monkeypatch.setattr(reading, "_NAMED", 1000)
    monkeypatch.setattr(dataset_module, "_PART_BYTES", 1 << 16)
    short, long = folder_with(3_000), folder_with(30_000)
    read_dataset(short)  # what is imported and compiled at first
    bound = find_peak(lambda: read_dataset(short)) + 27_000 * 10  # each passage of them would take hundreds of bytes
    assert find_peak(lambda: read_dataset(long), bound) < bound
    assert read_dataset(long).passages == 30_000
