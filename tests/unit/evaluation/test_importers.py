"""Small cuts in the exact form of the published files (their texts are our own) become folders that can be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands.evaluation.import_dataset import register
from core.errors import Conflict, HopweaveError, InvalidInput, NotFound
from core.filters import parse_filter
from evaluation import FORMS, Experiment, import_dataset, read_dataset
from evaluation.experiment import select_questions
from tests.unit.evaluation.builders import invoke

HOTPOT: dict[str, Any] = {
    "_id": "5a8b57f25542995d1e6f1371",
    "answer": "yes",
    "question": "Were both painters of the same town?",
    "supporting_facts": [["Ana Corin", 0], ["Bela Corin", 1]],
    "context": [
        ["Ana Corin", ["Ana Corin was a painter.", " She was of Orrin."]],
        ["Orrin Hall", ["Orrin Hall is a house."]],
        ["Bela Corin", ["Bela Corin painted.", " He was of Orrin."]],
    ],
    "type": "comparison",
    "level": "hard",
}
TWOWIKI: dict[str, Any] = {
    "_id": "8813f87c0bdd11eba7f7acde48001122",
    "type": "compositional",
    "question": "Who was the mother of the founder of Orrin Mill?",
    "context": [
        ["Orrin Mill", ["Orrin Mill is a mill.", "It was founded by Tam Reed."]],
        ["Tam Reed", ["Tam Reed was a son of Una Reed."]],
    ],
    "supporting_facts": [["Orrin Mill", 1], ["Tam Reed", 0]],
    "evidences": [["Orrin Mill", "founder", "Tam Reed"], ["Tam Reed", "mother", "Una Reed"]],
    "answer": "Una Reed",
}
MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "paragraphs": [
        {"idx": 0, "title": "Vell", "paragraph_text": "Vell is a town.", "is_supporting": False},
        {"idx": 1, "title": "Orrin Mill", "paragraph_text": "The mill is in Orrin.", "is_supporting": True},
        {"idx": 2, "title": "Orrin", "paragraph_text": "Orrin is on the river Dole.", "is_supporting": True},
    ],
    "question": "On which river is the town of Orrin Mill?",
    "question_decomposition": [
        {"id": 1, "question": "Orrin Mill >> town", "answer": "Orrin", "paragraph_support_idx": 1},
        {"id": 2, "question": "On which river is #1 ?", "answer": "Dole", "paragraph_support_idx": 2},
    ],
    "answer": "Dole",
    "answer_aliases": ["River Dole", "Dole"],
    "answerable": True,
}
STRATEGY: dict[str, Any] = {
    "qid": "e0044a7b4d146d611e73",
    "term": "Orrin Mill",
    "description": "a mill",
    "question": "Could Tam Reed have seen Orrin Mill burn?",
    "answer": False,
    "facts": ["Tam Reed died in 1700.", "Orrin Mill burnt in 1740."],
    "decomposition": ["When did Tam Reed die?", "When did Orrin Mill burn?", "Is #2 before #1?"],
    "evidence": [
        [["no_evidence"], ["no_evidence"], ["operation"]],
        [[["Tam Reed-2"]], [["Orrin Mill-1", "Orrin Mill-4"], "no_evidence"], ["operation"]],
        [[["Tam Reed-9"]], ["no_evidence"], ["operation"]],
    ],
}
PARAGRAPHS = {
    name: {"title": name.split("-")[0], "section": "", "headers": [], "para_index": 1, "content": f"About {name}."}
    for name in ("Tam Reed-2", "Orrin Mill-1", "Orrin Mill-4", "Vell-1")
}
FLASHRAG: dict[str, Any] = {
    "id": "test_0",
    "question": "who founded orrin mill",
    "golden_answers": ["Tam Reed", "Reed"],
    "metadata": {},
}
FLASHRAG_CORPUS: list[dict[str, Any]] = [
    {"id": "0", "contents": '"Orrin Mill"\nOrrin Mill was founded\nby Tam Reed.'},
    {"id": "1", "contents": "The Dole\nA river."},
    {"id": "2", "contents": '"Orrin Mill"\nOrrin Mill was founded\nby Tam Reed.'},
]
QUESTIONS_OF_SQUAD: list[dict[str, Any]] = [
    {
        "id": "56d1",
        "question": "Who founded Orrin Mill?",
        "answers": [{"text": text, "answer_start": 26} for text in ("Tam Reed", "Reed", "Tam Reed")],
        "is_impossible": False,
    },
    {
        "id": "5ad3",
        "question": "Who burnt Orrin Mill?",
        "answers": [],
        "plausible_answers": [{"text": "Tam Reed", "answer_start": 26}],
        "is_impossible": True,
    },
]
PARAGRAPHS_OF_SQUAD: list[dict[str, Any]] = [
    {"context": "Orrin Mill was founded by Tam Reed.", "qas": QUESTIONS_OF_SQUAD},
    {"context": "The mill is in Orrin.", "qas": []},
]
SQUAD = {"version": "v2.0", "data": [{"title": "Orrin_Mill", "paragraphs": PARAGRAPHS_OF_SQUAD}]}
SELFRAG: dict[str, Any] = {
    "id": 4222362,
    "subj": "Orrin Mill",
    "s_pop": 57,
    "question": "Who founded Orrin Mill?",
    "possible_answers": '["Tam Reed"]',
    "answers": ["Tam Reed", "Reed"],
    "ctxs": [
        {"id": "1", "title": "Orrin Mill", "text": "It was founded by Tam Reed.", "score": 1.5, "hasanswer": True},
        {"id": "2", "title": "The Dole", "text": "A river.", "score": 1.2, "hasanswer": False},
    ],
}


def file_of(folder: Path, value: Any, *, lines: bool = False, name: str = "published.json") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(one) + "\n" for one in value) if lines else json.dumps(value), encoding="utf-8")
    return file


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def titles(folder: Path) -> dict[str, str]:
    return {row["id"]: row["title"] for row in rows(folder, "corpus.jsonl")}


def sentences(folder: Path) -> list[list[str]]:
    """The supporting sentences of each question, cut out of the passages."""
    texts = {row["id"]: row["text"] for row in rows(folder, "corpus.jsonl")}
    named = [row.get("supporting_sentences", []) for row in rows(folder, "questions.jsonl")]
    return [[texts[one["id"]][one["start"] : one["end"]] for one in own] for own in named]


LATER: dict[str, Any] = {**HOTPOT, "supporting_facts": [["Ana Corin", 0], ["Bela Corin", 9]]}
BLANKS: dict[str, Any] = {**HOTPOT, "supporting_facts": [["A", 1]], "context": [["A", [" ", "  One.", "", "Two. "]]]}


@pytest.mark.parametrize(
    ("form", "question", "found"),
    [
        ("hotpotqa", HOTPOT, ["Ana Corin was a painter.", "He was of Orrin."]),
        ("2wiki", TWOWIKI, ["It was founded by Tam Reed.", "Tam Reed was a son of Una Reed."]),
        ("hotpotqa", LATER, ["Ana Corin was a painter."]),
        ("hotpotqa", {**HOTPOT, "supporting_facts": [["Ana Corin", 1], ["Elsewhere", 0]]}, []),
        ("hotpotqa", BLANKS, ["One."]),
    ],
)
def test_supporting_sentences_are_where_they_stand_in_the_passage(
    form: str, question: dict[str, Any], found: list[str], tmp_path: Path
) -> None:
    import_dataset(form, [file_of(tmp_path, [question])], tmp_path / "out")
    assert sentences(tmp_path / "out") == [found]
    (read,) = read_dataset(tmp_path / "out").questions
    assert len(read.sentences) == len(found)


def test_hotpotqa(tmp_path: Path) -> None:
    other = {**HOTPOT, "_id": "5a8b", "answer": "Orrin", "type": "bridge"}
    out = tmp_path / "out"
    counts = import_dataset("hotpotqa", [file_of(tmp_path, [HOTPOT, other])], out)
    assert (counts.questions, counts.passages, counts.unsupported, counts.left_out) == (2, 3, 0, {})
    passages = {row["title"]: row["text"] for row in rows(out, "corpus.jsonl")}
    assert passages["Ana Corin"] == "Ana Corin was a painter. She was of Orrin."
    first, second = rows(out, "questions.jsonl")
    assert [titles(out)[id] for id in first["supporting"]] == ["Ana Corin", "Bela Corin"]
    assert (first["id"], first["answer"], first["type"]) == (HOTPOT["_id"], "yes", "comparison")
    assert (second["answer"], second["aliases"]) == ("Orrin", [])
    assert len(read_dataset(out).questions) == 2


def test_hotpotqa_fullwiki_may_lack_what_supports_a_question(tmp_path: Path) -> None:
    """Its passages were retrieved; a recall of what is not there would mislead."""
    lacking = {**HOTPOT, "context": HOTPOT["context"][:2]}
    counts = import_dataset("hotpotqa", [file_of(tmp_path, [lacking])], tmp_path / "out")
    assert counts.unsupported == 1
    assert rows(tmp_path / "out", "questions.jsonl")[0]["supporting"] == []
    assert read_dataset(tmp_path / "out").questions[0].supporting == frozenset()


def test_2wikimultihopqa_has_no_space_between_its_sentences(tmp_path: Path) -> None:
    import_dataset("2wiki", [file_of(tmp_path, [TWOWIKI])], tmp_path / "out")
    passages = {row["title"]: row["text"] for row in rows(tmp_path / "out", "corpus.jsonl")}
    assert passages["Orrin Mill"] == "Orrin Mill is a mill. It was founded by Tam Reed."
    (question,) = rows(tmp_path / "out", "questions.jsonl")
    assert [titles(tmp_path / "out")[id] for id in question["supporting"]] == ["Orrin Mill", "Tam Reed"]


def test_musique_keeps_its_hops_and_leaves_out_what_has_no_answer(tmp_path: Path) -> None:
    no_answer = {**MUSIQUE, "answerable": False, "paragraphs": MUSIQUE["paragraphs"][:2]}
    out = tmp_path / "out"
    counts = import_dataset("musique", [file_of(tmp_path, [MUSIQUE, no_answer], lines=True)], out)
    assert (counts.questions, counts.passages, counts.left_out) == (1, 3, {"unanswerable": 1})
    (question,) = rows(out, "questions.jsonl")
    named = titles(out)
    assert (question["answer"], question["aliases"]) == ("Dole", ["River Dole"])
    assert [named[id] for id in question["supporting"]] == ["Orrin Mill", "Orrin"]
    assert [(hop["question"], hop["answer"], named[hop["supporting"]]) for hop in question["hops"]] == [
        ("Orrin Mill >> town", "Orrin", "Orrin Mill"),
        ("On which river is #1 ?", "Dole", "Orrin"),
    ]


def test_strategyqa_takes_the_evidence_of_the_first_who_found_any(tmp_path: Path) -> None:
    unknown = {**STRATEGY, "qid": "b", "answer": True, "evidence": STRATEGY["evidence"][2:]}
    paragraphs = file_of(tmp_path, PARAGRAPHS, name="paragraphs.json")
    out = tmp_path / "out"
    counts = import_dataset("strategyqa", [file_of(tmp_path, [STRATEGY, unknown])], out, paragraphs)
    assert (counts.questions, counts.passages, counts.unsupported) == (2, 4, 1)
    texts = {row["id"]: row["text"] for row in rows(out, "corpus.jsonl")}
    first, second = rows(out, "questions.jsonl")
    assert [texts[id] for id in first["supporting"]] == [f"About {name}." for name in list(PARAGRAPHS)[:3]]
    assert (first["answer"], second["answer"], second["supporting"]) == ("no", "yes", [])


def test_flashrag_has_its_corpus_apart_and_each_passage_once(tmp_path: Path) -> None:
    nothing = {**FLASHRAG, "id": "test_1", "golden_answers": []}
    corpus = file_of(tmp_path, FLASHRAG_CORPUS, lines=True, name="corpus.jsonl")
    out = tmp_path / "out"
    counts = import_dataset("flashrag", [file_of(tmp_path, [FLASHRAG, nothing], lines=True)], out, corpus)
    assert (counts.questions, counts.passages, counts.left_out) == (1, 2, {"without an answer": 1})
    assert [(row["title"], row["text"]) for row in rows(out, "corpus.jsonl")] == [
        ("Orrin Mill", "Orrin Mill was founded\nby Tam Reed."),
        ("The Dole", "A river."),
    ]
    (question,) = rows(out, "questions.jsonl")
    assert (question["answer"], question["aliases"], question["supporting"]) == ("Tam Reed", ["Reed"], [])


def test_flashrag_null_is_no_answer(tmp_path: Path) -> None:
    odd = [{**FLASHRAG, "golden_answers": [None, " "]}, {**FLASHRAG, "id": "b", "golden_answers": [None, 1984]}]
    counts = import_dataset("flashrag", [file_of(tmp_path, odd, lines=True)], tmp_path / "out")
    assert (counts.questions, counts.left_out) == (1, {"without an answer": 1})
    assert [row["answer"] for row in rows(tmp_path / "out", "questions.jsonl")] == ["1984"]
    assert not (tmp_path / "out" / "corpus.jsonl").exists(), "it is for a corpus that is there"


def test_a_corpus_without_passages_is_refused(tmp_path: Path) -> None:
    corpus = file_of(tmp_path, [], lines=True, name="corpus.jsonl")
    with pytest.raises(InvalidInput, match=r"corpus.jsonl holds no passage"):
        import_dataset("flashrag", [file_of(tmp_path, [FLASHRAG], lines=True)], tmp_path / "out", corpus)


@pytest.mark.parametrize("form", ["squad", "selfrag", "flashrag"])
def test_bytes_that_are_no_text_are_refused_with_a_remedy(tmp_path: Path, form: str) -> None:
    file = tmp_path / ("file.jsonl" if form == "flashrag" else "file.json")
    file.write_bytes('{"question": "café"}\n'.encode("latin1"))
    with pytest.raises(InvalidInput, match=r"file.json.* is not UTF-8; convert the file, as with iconv"):
        import_dataset(form, [file], tmp_path / "out")


def test_flashrag_keeps_the_metadata_by_which_questions_are_selected(tmp_path: Path) -> None:
    """Of PopQA, the long tail; objects such as HotpotQA's passages are not kept."""
    metadata = {"s_pop": 57, "prop": "founder", "aka": ["mill"], "context": {"title": ["A"]}, "none": None}
    found = [
        {**FLASHRAG, "metadata": metadata},
        {**FLASHRAG, "id": "b", "metadata": {"s_pop": 100}},
        {**FLASHRAG, "id": "c", "metadata": None},
    ]
    import_dataset("flashrag", [file_of(tmp_path, found, lines=True)], tmp_path / "out")
    kept = [row.get("metadata") for row in rows(tmp_path / "out", "questions.jsonl")]
    assert kept == [{"s_pop": 57, "prop": "founder", "aka": ["mill"]}, {"s_pop": 100}, None]
    dataset = read_dataset(tmp_path / "out", needs_corpus=False)
    tail = Experiment(where=parse_filter({"s_pop": {"$lt": 100}}), limit=5)
    assert [one.id for one in select_questions(dataset, tail)] == ["test_0"]
    with pytest.raises(InvalidInput, match=r"none of the 3 questions of out; .*: aka, prop, s_pop"):
        select_questions(dataset, Experiment(where=parse_filter({"pop": 1})))


def test_squad_has_its_paragraphs_as_passages_and_questions_without_an_answer(tmp_path: Path) -> None:
    out = tmp_path / "out"
    counts = import_dataset("squad", [file_of(tmp_path, SQUAD)], out)
    assert (counts.questions, counts.passages, counts.unsupported, counts.left_out) == (2, 2, 0, {})
    assert [(row["title"], row["text"]) for row in rows(out, "corpus.jsonl")] == [
        ("Orrin Mill", "Orrin Mill was founded by Tam Reed."),
        ("Orrin Mill", "The mill is in Orrin."),
    ]
    answered, impossible = read_dataset(out).questions
    assert (answered.id, answered.answers, answered.answerable) == ("56d1", ("Tam Reed", "Reed"), True)
    assert {one.key for one in answered.supporting} == {rows(out, "corpus.jsonl")[0]["id"]}
    assert (impossible.id, impossible.answers, impossible.answerable) == ("5ad3", (), False)


def test_squad_1_1_marks_no_question(tmp_path: Path) -> None:
    first = without(QUESTIONS_OF_SQUAD[0], "is_impossible")
    paragraph = {**PARAGRAPHS_OF_SQUAD[0], "qas": [first, {**first, "id": "b", "answers": []}]}
    old = {"version": "1.1", "data": [{"title": "Orrin_Mill", "paragraphs": [paragraph]}]}
    counts = import_dataset("squad", [file_of(tmp_path, old)], tmp_path / "out")
    assert (counts.questions, counts.left_out) == (1, {"without an answer": 1})


@pytest.mark.parametrize("lines", [True, False])
def test_self_rag_has_the_passages_that_were_found_for_each_question(lines: bool, tmp_path: Path) -> None:
    trivia = {"question": "Where?", "answer": "Orrin", "top_contexts": [{"title": None, "text": "It is in Orrin."}]}
    found = [SELFRAG, trivia, {**SELFRAG, "id": "n", "answers": []}]
    file = file_of(tmp_path, found, lines=lines, name=f"tail.json{'l' if lines else ''}")
    out = tmp_path / "out"
    counts = import_dataset("selfrag", [file], out)
    assert (counts.questions, counts.passages, counts.left_out) == (2, 3, {"without an answer": 1})
    first, second = read_dataset(out).questions
    assert (first.id, first.answers, first.supporting) == ("4222362", ("Tam Reed", "Reed"), frozenset())
    assert first.metadata == {"subj": "Orrin Mill", "s_pop": 57, "possible_answers": '["Tam Reed"]'}
    assert (second.id, second.answers, second.metadata) == ("tail-2", ("Orrin",), {})
    assert [row["title"] for row in rows(out, "corpus.jsonl")] == ["Orrin Mill", "The Dole", ""]


def test_a_passage_has_one_id_in_every_import(tmp_path: Path) -> None:
    for name, context in (("one", HOTPOT["context"]), ("two", HOTPOT["context"][::-1])):
        import_dataset("hotpotqa", [file_of(tmp_path, [{**HOTPOT, "context": context}])], tmp_path / name)
    assert titles(tmp_path / "one") == titles(tmp_path / "two")


def without(question: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in question.items() if key != name}


@pytest.mark.parametrize(
    ("form", "value", "said"),
    [
        ("hotpotqa", [HOTPOT, without(HOTPOT, "answer")], "published.json item 1: `answer` must be a text"),
        ("hotpotqa", [without(HOTPOT, "supporting_facts")], "item 0: `supporting_facts` must be a list, not missing"),
        ("hotpotqa", [{**HOTPOT, "context": [["Ana Corin", "no list"]]}], "`context` 'Ana Corin' must hold a list"),
        ("hotpotqa", [{**HOTPOT, "context": {"title": []}}], "`context` must be a list"),
        ("hotpotqa", [HOTPOT, HOTPOT], "item 1: another question has the id"),
        ("hotpotqa", {"data": []}, "is not a JSON list of questions"),
        ("2wiki", ["text"], "item 0 must be a JSON object"),
        ("musique", [without(MUSIQUE, "paragraphs")], "line 1: `paragraphs` must be a list, not missing"),
        ("musique", [{**MUSIQUE, "paragraphs": [{"idx": 0}]}], "line 1, `paragraphs` 0: `title` must be a text"),
        ("musique", [{**MUSIQUE, "paragraphs": MUSIQUE["paragraphs"][:2]}], "`paragraph_support_idx` 2 is not in"),
        ("flashrag", [without(FLASHRAG, "golden_answers")], "line 1: `golden_answers` must be a list, not missing"),
        ("flashrag", [{**FLASHRAG, "metadata": [1]}], "line 1: `metadata` must be an object"),
        ("squad", [SQUAD], "must be a JSON object"),
        ("squad", {"data": [{"title": "A"}]}, "published.json, `data` 0: `paragraphs` must be a list, not missing"),
        ("selfrag", [{**SELFRAG, "answers": [["a"]]}], "item 0: `answers` must be a list of texts"),
        ("strategyqa", [{**STRATEGY, "answer": "no"}], "item 0: `answer` must be true or false, not 'no'"),
    ],
)
def test_what_is_missing_is_named_with_its_place_and_nothing_is_written(
    tmp_path: Path, form: str, value: Any, said: str
) -> None:
    passages = file_of(tmp_path, PARAGRAPHS, name="paragraphs.json") if form == "strategyqa" else None
    file = file_of(tmp_path, value, lines=form in ("musique", "flashrag"))
    with pytest.raises(InvalidInput, match=said):
        import_dataset(form, [file], tmp_path / "out", passages)
    assert not (tmp_path / "out").exists()


def test_wrong_usage_is_refused(tmp_path: Path) -> None:
    file = file_of(tmp_path, [HOTPOT])
    with pytest.raises(InvalidInput, match="there is no form 'quac'; there are: hotpotqa, 2wiki, musique"):
        import_dataset("quac", [file], tmp_path / "out")
    with pytest.raises(InvalidInput, match="leave out --passages"):
        import_dataset("hotpotqa", [file], tmp_path / "out", file)
    with pytest.raises(InvalidInput, match="name it with --passages"):
        import_dataset("strategyqa", [file], tmp_path / "out")
    with pytest.raises(NotFound, match="nowhere"):
        import_dataset("hotpotqa", [tmp_path / "nowhere"], tmp_path / "out")
    import_dataset("hotpotqa", [file], tmp_path / "out")
    with pytest.raises(Conflict, match="another folder with -o"):
        import_dataset("hotpotqa", [file], tmp_path / "out")


def test_the_command_tells_what_it_made(tmp_path: Path) -> None:
    file, out = file_of(tmp_path, [{**HOTPOT, "context": HOTPOT["context"][:1]}]), tmp_path / "out"
    counts = {"passages": 1, "questions": 1, "unsupported": 1, "left_out": {}, "skipped": {}}
    assert json.loads(invoke(register, "hotpotqa", file, "-o", out, "--json").stdout) == {"folder": str(out), **counts}
    assert isinstance(invoke(register, "hotpotqa", file, "-o", out).exception, HopweaveError)
    forms = "hotpotqa 2wiki musique squad selfrag strategyqa flashrag beir trec"
    assert set(FORMS) == set(forms.split())


@pytest.mark.parametrize("form", ["squad", "flashrag"])
def test_half_of_a_surrogate_pair_is_refused_with_its_place(tmp_path: Path, form: str) -> None:
    file = tmp_path / "file.jsonl"
    flat = {"id": "1", "question": "\ud800", "golden_answers": ["a"]}
    paragraph = {"context": "text", "qas": [{"id": "1", "question": "\ud800", "answers": [{"text": "a"}]}]}
    value = {"data": [{"title": "T", "paragraphs": [paragraph]}]} if form == "squad" else flat
    file.write_text(json.dumps(value) + "\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"question` holds half of a surrogate pair, which is not a character; corr"):
        import_dataset(form, [file], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nan_is_a_null_and_messages_are_short(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    nan = {"id": "1", "question": "Who?", "golden_answers": [float("nan"), "a"]}
    file.write_text(json.dumps({**nan, "metadata": {"s_pop": float("nan"), "n": 1}}) + "\n", encoding="utf-8")
    import_dataset("flashrag", [file], tmp_path / "out")
    [line] = (tmp_path / "out" / "questions.jsonl").read_text("utf-8").splitlines()
    asked = json.loads(line)
    assert (asked["answer"], asked["aliases"], asked["metadata"]) == ("a", [], {"n": 1})
    file.write_text(json.dumps({**nan, "question": ["q" * 10_000]}) + "\n", encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        import_dataset("flashrag", [file], tmp_path / "other")
    assert len(str(refused.value)) < 500
