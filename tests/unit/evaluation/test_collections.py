"""Retrieval collections in the form of BEIR, MTEB and TREC become folders with graded questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands.evaluation.import_dataset import register
from core.errors import InvalidInput, NotFound
from evaluation import Support, import_dataset, read_dataset
from evaluation.datasets.dataset import read_grades
from evaluation.datasets.json_lines import Row
from tests.unit.evaluation.builders import invoke

CORPUS = [
    {"_id": "d1", "title": "Sorting", "text": "Quicksort and its analysis.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "Merge sort on tapes."},
    {"_id": 3, "title": "Tapes only", "text": ""},
    {"_id": "d4", "title": None, "text": " "},
]
QUERIES = [{"_id": "q1", "text": "sorting"}, {"_id": "q2", "text": "tapes"}, {"_id": "q3", "text": "of another split"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq1\t3\t0\nq2\t3\t1\n"
GRADES = {"q1": {"d1": 2, "d2": 1, "3": 0}, "q2": {"3": 1}}
TOPICS = """<top>

<num> Number: q1
<title> sorting

<desc> Description:
Papers on sorting.

<narr> Narrative:
Any.
</top>
<top>
<num>q2</num>
<title></title>
<desc>
tapes
</desc>
</top>
"""
TREC_QRELS = "q1 0 d1 2\nq1 0 d2\t1\n\nq1 0 3 0\nq2 0  3 1\n"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def beir(folder: Path, **files: str) -> Path:
    """A collection; `files` replaces `corpus`, `queries` or `qrels`."""
    given = {"corpus": lines(CORPUS), "queries": lines(QUERIES), "qrels": QRELS, **files}
    (folder / "qrels").mkdir(parents=True)
    for name, place in (("corpus", "corpus.jsonl"), ("queries", "queries.jsonl"), ("qrels", "qrels/test.tsv")):
        (folder / place).write_bytes(given[name].encode())
    return folder


def imported(out: Path) -> dict[str, dict[str, int]]:
    return {question.id: dict(question.grades) for question in read_dataset(out).questions}


def test_beir_keeps_ids_and_grades(tmp_path: Path) -> None:
    counts = import_dataset("beir", [beir(tmp_path / "in")], tmp_path / "out")
    assert (counts.questions, counts.passages, counts.unsupported) == (2, 3, 0)
    assert counts.left_out == {"they are not judged": 1}
    assert counts.skipped == {"passages without a text were left out": 1}
    dataset = read_dataset(tmp_path / "out")
    first, second = dataset.questions
    assert (first.text, first.answers, first.grades) == ("sorting", (), GRADES["q1"])
    assert first.supporting == {Support(key="d1"), Support(key="d2")}
    assert second.grades == GRADES["q2"]
    passages = [json.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_text().splitlines()]
    assert [(one["id"], one["title"], one["text"]) for one in passages] == [
        ("d1", "Sorting", "Quicksort and its analysis."),
        ("d2", "", "Merge sort on tapes."),
        ("3", "", "Tapes only"),
    ]


def test_a_byte_order_mark_and_line_breaks_of_windows_change_nothing(tmp_path: Path) -> None:
    windows = {name: "\ufeff" + text.replace("\n", "\r\n") for name, text in {
        "corpus": lines(CORPUS), "queries": lines(QUERIES), "qrels": QRELS
    }.items()}  # fmt: skip
    import_dataset("beir", [beir(tmp_path / "in", **windows)], tmp_path / "out")
    assert imported(tmp_path / "out") == GRADES


def test_mteb_has_json_lines_in_folders(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    (folder / "corpus").mkdir()
    (folder / "corpus.jsonl").rename(folder / "corpus" / "corpus-0.jsonl")
    (folder / "qrels" / "test.tsv").unlink()
    rows = [
        {"query-id": query, "corpus-id": passage, "score": float(grade)}
        for query, grades in GRADES.items()
        for passage, grade in grades.items()
    ]
    (folder / "qrels" / "test.jsonl").write_text(lines(rows))
    import_dataset("beir", [folder], tmp_path / "out")
    assert imported(tmp_path / "out") == GRADES


def test_the_test_split_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td1\t1\n")
    import_dataset("beir", [folder], tmp_path / "out")
    assert imported(tmp_path / "out") == GRADES
    import_dataset("beir", [folder], tmp_path / "train", qrels=[folder / "qrels" / "train.tsv"])
    assert imported(tmp_path / "train") == {"q3": {"d1": 1}}
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    with pytest.raises(InvalidInput, match=r"in qrels/dev.tsv, qrels/train.tsv, .* name one with --qrels"):
        import_dataset("beir", [folder], tmp_path / "none")


@pytest.mark.parametrize("topics", [TOPICS, "q1\tsorting\nq2\ttapes\n", "\ufeffq1\tsorting\r\nq2\ttapes\r\n"])
@pytest.mark.parametrize("passages", ["d1\tSorting\tQuicksort.\nd2\tMerge sort.\n3\tTapes only\n", lines(CORPUS)])
def test_trec(tmp_path: Path, topics: str, passages: str) -> None:
    (tmp_path / "topics").write_bytes(topics.encode())
    (tmp_path / "qrels").write_text(TREC_QRELS)
    corpus = tmp_path / ("corpus.jsonl" if passages.startswith("{") else "corpus.tsv")
    corpus.write_text(passages)
    import_dataset("trec", [tmp_path / "topics"], tmp_path / "out", corpus, [tmp_path / "qrels"])
    assert imported(tmp_path / "out") == GRADES
    assert [question.text for question in read_dataset(tmp_path / "out").questions] == ["sorting", "tapes"]


def test_trec_without_passages_is_for_a_corpus_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text(TOPICS)
    (tmp_path / "qrels").write_text(TREC_QRELS)
    import_dataset("trec", [tmp_path / "topics"], tmp_path / "out", None, [tmp_path / "qrels"])
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["questions.jsonl"]
    assert [q.grades for q in read_dataset(tmp_path / "out", needs_corpus=False).questions] == [*GRADES.values()]


def test_what_is_left_out_is_counted_with_its_first_place(tmp_path: Path) -> None:
    extra = "q1\tgone\t1\nq1\tgone too\t1\nq9\td1\t1\nq1\td1\t2\nq2\td1\t-2\n"
    folder = beir(tmp_path / "in", qrels=QRELS + extra)
    file = folder / "qrels" / "test.tsv"
    counts = import_dataset("beir", [folder], tmp_path / "out")
    assert imported(tmp_path / "out") == {**GRADES, "q2": {"3": 1, "d1": 0}}
    assert counts.skipped == {
        "passages without a text were left out": 1,
        f"judgements were left out, since their passage is not in the corpus (the first: {file} line 6, 'gone')": 2,
        f"judgements with a negative grade count as 0 (the first: {file} line 10)": 1,
        f"judgements were repeated (the first: {file} line 9)": 1,
        f"judgements were left out, since their query is not among the queries (the first: {file} line 8, 'q9')": 1,
    }
    told = invoke(register, "beir", folder, "-o", tmp_path / "again")
    assert "2 judgements were left out, since their passage is not in the corpus" in " ".join(told.output.split())


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"qrels": QRELS + "q1\td1\n"}, "test.tsv line 6: the file has 3 columns, and this line has 2"),
        ({"qrels": QRELS + "q1\t\t1\n"}, "line 6: the file has 3 columns, and this line has 2"),
        ({"qrels": "q1 d1\n"}, "line 1: judgements have query, passage and grade, .*; this line has 2 columns"),
        ({"qrels": QRELS + "q1\td2\t2\n"}, "line 6: passage 'd2' has the grade 2 for query 'q1' here and 1 before"),
        ({"qrels": QRELS + "q2\td1\t0.5\n"}, "line 6: a grade must be a whole number, not '0.5'"),
        ({"qrels": QRELS + "q2\td1\tnan\n"}, "line 6: a grade must be a whole number, not 'nan'"),
        ({"qrels": QRELS + "q2\td1\t1001\n"}, "line 6: a grade must be at most 1,000"),
        ({"qrels": QRELS + "q2\td1\t1e300\n"}, "line 6: a grade must be at most 1,000"),
        ({"qrels": ""}, "test.tsv holds no judgement"),
        ({"qrels": "q1\tx\t1\n"}, "no judged passage is in the corpus .*line 1, 'x'.*of the same collection"),
        ({"qrels": "x\td1\t1\n"}, "none of the 1 judged queries is among the queries .*line 1, 'x'"),
        ({"qrels": "q1\td1\t0\n"}, "no question to import .*1 were left out: no passage is judged relevant; 2"),
        ({"qrels": "corpus-id\tquery-id\tscore\nd1\tq1\t1\n"}, "line 1: the columns must be query, passage and grade"),
        ({"queries": ""}, "queries.jsonl holds no query"),
        ({"corpus": ""}, "corpus.jsonl holds no passage"),
        ({"corpus": lines([*CORPUS, CORPUS[0]])}, "corpus.jsonl line 5: another passage has the id 'd1'"),
        ({"corpus": lines([{"_id": "d1", "title": "x"}])}, "corpus.jsonl line 1: a passage must have a `text`"),
        ({"corpus": lines([{"title": "x", "text": "y"}])}, "corpus.jsonl line 1: `_id` must be a text or a whole"),
        ({"queries": lines([*QUERIES, QUERIES[2]])}, "queries.jsonl line 4: the id 'q3' is that of .*line 3 already"),
        ({"queries": lines([{"_id": "q1", "text": ""}])}, "queries.jsonl line 1: `text` must be a text"),
    ],
)
def test_wrong_files_are_refused_with_their_place_and_nothing_is_written(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    folder = beir(tmp_path / "in", **files)
    with pytest.raises(InvalidInput, match=said):
        import_dataset("beir", [folder], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ("", "holds no topic"),
        ("q1 sorting\n", "line 1: a topic is a line of id and text, separated by one tab"),
        ("q1\tsorting\tmore\n", "line 1: a topic is a line of id and text"),
        (TOPICS.replace("</top>\n<top>", "<top>"), "line 11: the topic that begins at .*line 1 has no </top>"),
        (TOPICS.removesuffix("</top>\n"), "the topic that begins at .*line 12 has no </top>"),
        (TOPICS.replace("<num>q2</num>\n", ""), "line 12: a topic must have <num>, and <title> or <desc>"),
        ('<topics>\n<topic number="1">\n', "line 1: topics in tags stand between <top> and </top>, not '<topics>'"),
    ],
)
def test_wrong_topics_are_refused_with_their_place(tmp_path: Path, topics: str, said: str) -> None:
    (tmp_path / "topics").write_text(topics)
    (tmp_path / "qrels").write_text(TREC_QRELS)
    with pytest.raises(InvalidInput, match=said):
        import_dataset("trec", [tmp_path / "topics"], tmp_path / "out", None, [tmp_path / "qrels"])


def test_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes("q1\tcafé\n".encode("latin1"))
    (tmp_path / "qrels").write_text(TREC_QRELS)
    with pytest.raises(InvalidInput, match="topics line 1 is not UTF-8; convert the file"):
        import_dataset("trec", [tmp_path / "topics"], tmp_path / "out", None, [tmp_path / "qrels"])


def test_wrong_usage_is_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path / "in")
    qrels = [folder / "qrels" / "test.tsv"]
    with pytest.raises(InvalidInput, match="name it with --qrels"):
        import_dataset("trec", [tmp_path / "topics"], tmp_path / "out")
    with pytest.raises(InvalidInput, match="leave out --qrels"):
        import_dataset("musique", [tmp_path / "questions"], tmp_path / "out", qrels=qrels)
    with pytest.raises(InvalidInput, match="leave out --passages"):
        import_dataset("beir", [folder], tmp_path / "out", folder / "corpus.jsonl")
    with pytest.raises(InvalidInput, match="is one folder"):
        import_dataset("beir", [folder, folder], tmp_path / "out")
    with pytest.raises(NotFound, match=r"is no folder; a collection is a folder with corpus.jsonl"):
        import_dataset("beir", [folder / "corpus.jsonl"], tmp_path / "out")
    with pytest.raises(InvalidInput, match="convert it first: hopweave import-dataset beir"):
        read_dataset(folder)
    (folder / "queries.jsonl").rename(folder / "queries.parquet")
    with pytest.raises(NotFound, match=r"queries.jsonl is missing; Parquet files are not read here"):
        import_dataset("beir", [folder], tmp_path / "out")


@pytest.mark.parametrize("grade", [1001, 10**4000])
def test_a_question_with_such_a_grade_is_refused(grade: int) -> None:
    with pytest.raises(InvalidInput, match=r"the grade of 'p' in `grades` must be a whole number from 0 .* to 1,000"):
        read_grades(Row(place="here", fields={"grades": {"p": grade}}))
