"""Noise changes how questions are asked, and never what is scored; the same seed gives the same file."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cli.commands.evaluation.add_noise import register
from core.errors import Conflict, InvalidInput, NotFound
from core.ports.reasoning import Answer
from core.trace import Trace
from evaluation import Noise, add_noise, read_dataset
from evaluation.answering import fingerprint_gold
from evaluation.datasets.dataset import read_questions
from evaluation.rows.scored_answers import score_answer
from tests.unit.evaluation.builders import invoke

PLACES = ("Orrin", "Vell", "Dole", "Barmouth", "Corstead", "Delwick", "Fendale", "Galford", "Holby", "Karcombe")
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": f"q{number}",
        "question": f"In which year before 1850 was the painter born who came from {place}?",
        "answer": f"Painter {place}",
        "aliases": [f"{place}'s painter"],
        "supporting": [f"p{number}", "p0"],
        "type": "bridge",
        "hops": [{"question": "Who came from it?", "answer": "A painter"}],
        "level": "hard",
    }
    for number, place in enumerate(PLACES)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    folder.mkdir()
    passages = [{"id": f"p{place}", "title": name, "text": f"{name} is a town."} for place, name in enumerate(PLACES)]
    write(folder / "corpus.jsonl", passages)
    write(folder / "questions.jsonl", QUESTIONS)
    return folder


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def noisy(folder: Path, **rates: Any) -> list[dict[str, Any]]:
    output = folder / f"noisy-{len(list(folder.iterdir()))}.jsonl"
    add_noise(folder, output, Noise(**rates))
    return [json.loads(line) for line in output.read_text("utf-8").splitlines()]


def test_a_filter_selects_the_same_questions_in_the_noisy_file(folder: Path) -> None:
    write(folder / "questions.jsonl", [{**row, "metadata": {"s_pop": n}} for n, row in enumerate(QUESTIONS)])
    rows = noisy(folder, intents=1)
    assert all("parts" in row for row in rows)
    assert [row["metadata"] for row in rows] == [{"s_pop": number} for number in range(len(QUESTIONS))]


def test_a_question_has_the_same_noise_in_a_smaller_set(folder: Path, tmp_path: Path) -> None:
    whole = {row["id"]: row["question"] for row in noisy(folder, spelling=0.5, order=0.3, chatter=0.5)}
    write(tmp_path / "few.jsonl", QUESTIONS[4:6])
    add_noise(tmp_path / "few.jsonl", tmp_path / "out.jsonl", Noise(spelling=0.5, order=0.3, chatter=0.5))
    few = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [row["question"] for row in few] == [whole["q4"], whole["q5"]]


def test_words_are_misspelt_and_numbers_are_not(folder: Path) -> None:
    for row, clean in zip(noisy(folder, spelling=1), QUESTIONS, strict=True):
        before, after = clean["question"].split(), row["question"].split()
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            assert (old == new) == (len(old.strip("?")) < 4 or old == "1850"), (old, new)
            assert old[0] == new[0]
            assert abs(len(old) - len(new)) <= 1
        assert row["noise"] == ["spelling"]
        assert {**row, "question": clean["question"]} == {**clean, "clean": [clean["question"]], "noise": ["spelling"]}


def test_words_change_places_and_none_is_lost(folder: Path) -> None:
    for row, clean in zip(noisy(folder, order=0.5), QUESTIONS, strict=True):
        assert row["question"] != clean["question"]
        assert row["question"].endswith("?")
        words = Counter(row["question"].rstrip("?").split())
        assert words == Counter(clean["question"].rstrip("?").split())


def test_no_word_moves_from_one_joined_question_into_the_other(folder: Path) -> None:
    for row in noisy(folder, order=1, intents=1):
        assert row["noise"] == ["intents", "order"]
        asked = [swap_pairs(text.rstrip("?")) for text in row["clean"]]
        places = [row["question"].index(text) for text in asked]
        assert places == sorted(places)
        assert not any(text.rstrip("?") in row["question"] for text in row["clean"])


def swap_pairs(text: str) -> str:
    """Returns the text with each two neighbouring words swapped, which is what `order=1` does to a question."""
    words = text.split(" ")
    pairs = [words[place : place + 2][::-1] for place in range(0, len(words), 2)]
    return " ".join(word for pair in pairs for word in pair)


def test_a_seed_gives_the_file_that_it_gave_before(folder: Path) -> None:
    rates = {"spelling": 0.3, "order": 0.2, "chatter": 0.5}
    first, second = noisy(folder, **rates, seed=3)[:2]
    assert noisy(folder, **rates, seed=4)[:2] != [first, second]
    assert first["question"] == "In whih year before was 1850 the painter boorn who came Otrin from?"
    assert second["question"] == "In whcih before year was 1850 the painter bonr who camme froom Vell?"


@pytest.mark.parametrize("field", ["clean", "noise"])
def test_noise_is_not_added_twice(folder: Path, tmp_path: Path, field: str) -> None:
    once = noisy(folder, spelling=0.3)
    write(tmp_path / "once.jsonl", [*QUESTIONS[:2], {**QUESTIONS[2], field: once[2][field]}])
    with pytest.raises(InvalidInput, match=rf"once\.jsonl line 3: `{field}` is there already.*add all kinds"):
        add_noise(tmp_path / "once.jsonl", tmp_path / "twice.jsonl", Noise(chatter=1))
    assert not (tmp_path / "twice.jsonl").exists()


@pytest.mark.parametrize("kind", ["spelling", "order", "chatter", "intents"])
@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -0.1, 1.01])
def test_a_rate_is_from_0_to_1(kind: str, rate: float) -> None:
    with pytest.raises(InvalidInput, match=f"the rate of {kind} must be a number from 0 to 1, not {rate}"):
        Noise(**{kind: rate})


def test_chatter_stands_around_the_question(folder: Path) -> None:
    for row, clean in zip(noisy(folder, chatter=1), QUESTIONS, strict=True):
        before, found, after = row["question"].partition(clean["question"])
        assert found
        assert before + after


def test_a_joined_question_asks_for_both_answers_with_the_passages_of_both(folder: Path) -> None:
    rows = noisy(folder, intents=1)
    by_text = {row["question"]: row for row in QUESTIONS}
    for row, own in zip(rows, QUESTIONS, strict=True):
        assert row["clean"][0] == own["question"]
        other = by_text[row["clean"][1]]
        assert other is not own
        assert all(text.rstrip("?") in row["question"] for text in row["clean"])
        assert row["id"] == own["id"]
        assert row["answer"] == f"{own['answer']}; {other['answer']}"
        assert row["parts"] == [[part["answer"], *part["aliases"]] for part in (own, other)]
        assert set(row["supporting"]) == {*own["supporting"], *other["supporting"]}
        assert len(row["supporting"]) == len(set(row["supporting"]))
        assert "hops" not in row
        assert row["noise"] == ["intents"]


def test_rates_are_kept(folder: Path) -> None:
    assert 2 <= sum(row["noise"] == ["intents"] for row in noisy(folder, intents=0.5)) <= 8
    unchanged = noisy(folder, spelling=0.000001)
    assert [row["question"] for row in unchanged] == [row["question"] for row in QUESTIONS]
    assert all(row["noise"] == [] for row in unchanged)


def test_what_has_no_single_answer_is_not_joined(folder: Path) -> None:
    others = [
        {"id": "none", "question": "Who is nobody?", "answerable": False},
        {"id": "graded", "question": "towns", "grades": {"p1": 1}},
        {"id": "searched", "question": "Which towns?", "supporting": ["p1"]},
        {"id": "twice", "question": "Who?", "answer": "A; B", "parts": [["A"], ["B"]], "supporting": ["p1"]},
    ]
    write(folder / "questions.jsonl", [QUESTIONS[0], *others])
    assert all("intents" not in row["noise"] for row in noisy(folder, intents=1)), "one question has no other one"
    write(folder / "questions.jsonl", [*QUESTIONS[:2], *others])
    rows = noisy(folder, intents=1, chatter=1)
    assert [row["id"] for row in rows if "intents" in row["noise"]] == ["q0", "q1"]
    assert all("chatter" in row["noise"] for row in rows)


def test_supports_that_are_unknown_of_one_are_unknown_of_both(folder: Path) -> None:
    sentence = {"id": "p0", "start": 0, "end": 5}
    first = {**QUESTIONS[0], "supporting_sentences": [sentence]}
    write(folder / "questions.jsonl", [first, {**QUESTIONS[1], "supporting": []}])
    for row in noisy(folder, intents=1):
        assert row["supporting"] == []
        assert "supporting_sentences" not in row
    write(folder / "questions.jsonl", [first, {**QUESTIONS[1], "supporting_sentences": [sentence]}])
    assert all(row["supporting_sentences"] == [sentence] for row in noisy(folder, intents=1))


@pytest.mark.parametrize(
    ("said", "em", "acc"),
    [
        ("Painter Orrin; Painter Vell", 1.0, 1.0),
        ("Vell's painter and Painter Orrin", 1.0, 1.0),
        ("Painter Orrin", 0.0, 0.0),
        ("It was Painter Orrin, then Painter Vell", 0.0, 1.0),
    ],
)
def test_a_joined_question_is_scored_by_both_answers(folder: Path, said: str, em: float, acc: float) -> None:
    write(folder / "questions.jsonl", QUESTIONS[:2])
    output = folder / "noisy.jsonl"
    add_noise(folder, output, Noise(intents=1, spelling=0.5))
    clean = read_dataset(folder).questions[0]
    question = read_dataset(folder, output).questions[0]
    assert question.answers_by_part == (clean.answers, read_dataset(folder).questions[1].answers)
    shown = ("Painter Orrin lived here.", "So did Vell's painter.")
    answer = Answer(text=said, reasoner="any", shown=shown)
    row = score_answer(question, "any", answer, seconds=1.0, trace=Trace())
    assert (row.scores["em"], row.scores["acc"], row.scores["succ"]) == (em, acc, 1.0)
    half = score_answer(question, "any", Answer(text=said, reasoner="any", shown=shown[:1]), seconds=1.0, trace=Trace())
    assert half.scores["succ"] == 0.0, "one of two answers is no success"
    assert fingerprint_gold(question) != fingerprint_gold(clean)


@pytest.mark.parametrize("parts", ["Rome", [["Rome"]], [["Rome"], []], [["Rome"], [""]], [["Rome"], [1]], [["a"]] * 5])
def test_malformed_parts_are_refused(folder: Path, parts: Any) -> None:
    write(folder / "questions.jsonl", [{**QUESTIONS[0], "parts": parts}])
    with pytest.raises(InvalidInput, match=r"questions.jsonl line 1: `parts` must be a list of 2 to 4 lists"):
        read_dataset(folder)


def test_what_cannot_be_done_is_said_before_anything_is_written(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with pytest.raises(InvalidInput, match="no noise was chosen"):
        Noise()
    with pytest.raises(NotFound):
        add_noise(tmp_path / "nowhere.jsonl", output, Noise(chatter=1))
    write(folder / "questions.jsonl", [{"id": "q", "question": "Who?"}])
    with pytest.raises(InvalidInput, match="line 1"):
        add_noise(folder, output, Noise(chatter=1))
    write(folder / "questions.jsonl", QUESTIONS)
    with pytest.raises(InvalidInput, match="cannot be written"):
        add_noise(folder, tmp_path / "missing" / "out.jsonl", Noise(chatter=1))
    assert not output.exists()
    output.touch()
    with pytest.raises(Conflict, match="exists already"):
        add_noise(folder, output, Noise(chatter=1))


def test_the_command_tells_what_it_changed(folder: Path, tmp_path: Path) -> None:
    options = ["--chatter", "1", "--intents", "1", "--seed", "5"]
    result = invoke(register, folder, "-o", tmp_path / "out.jsonl", *options)
    assert result.exit_code == 0, result.output
    assert "10 questions, 10 joined, 10 with chatter" in result.output
    told = invoke(register, folder, "-o", tmp_path / "other.jsonl", *options, "--json")
    assert json.loads(told.output)["changed"] == {"intents": 10, "order": 0, "chatter": 10, "spelling": 0}
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()


def test_a_blank_alias_is_no_answer_to_a_part(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", [{**QUESTIONS[0], "aliases": ["", "Bob"]}, QUESTIONS[1]])
    add_noise(tmp_path / "in.jsonl", tmp_path / "out.jsonl", Noise(intents=1))
    first, _ = read_questions(tmp_path / "out.jsonl")
    assert first.parts == (("Painter Orrin", "Bob"), ("Painter Vell", "Vell's painter"))


@pytest.mark.parametrize("place", ["id", "question"])
def test_half_of_a_surrogate_pair_is_refused_with_its_place(tmp_path: Path, place: str) -> None:
    write(tmp_path / "in.jsonl", [{**QUESTIONS[0], place: "Who \ud83d?"}])
    with pytest.raises(InvalidInput, match=rf"in\.jsonl line 1: `{place}` holds half of a surrogate pair"):
        add_noise(tmp_path / "in.jsonl", tmp_path / "out.jsonl", Noise(spelling=1))
    assert not (tmp_path / "out.jsonl").exists()


def test_the_bytes_of_half_of_a_surrogate_pair_are_refused_too(tmp_path: Path) -> None:
    line = json.dumps({**QUESTIONS[0], "question": "Who HALF?"}).encode().replace(b"HALF", b"\xed\xa0\xbd")
    (tmp_path / "in.jsonl").write_bytes(line + b"\n")
    with pytest.raises(InvalidInput, match=r"in\.jsonl line 1: `question` holds half of a surrogate pair"):
        add_noise(tmp_path / "in.jsonl", tmp_path / "out.jsonl", Noise(spelling=1))
