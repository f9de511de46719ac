"""A dataset: a folder with passages, questions with their supports, and optionally given entities and facts."""

import hashlib
import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.documents import Span
from core.errors import InvalidInput
from core.ids import digest
from evaluation.datasets.json_lines import Row, read_rows
from indexer import TakenKeys
from retrieval.supports import Support

MAX_GRADE = 1_000
"""Collections have grades up to 5 or 100. The time and the memory of nDCG grow with the highest grade."""

_FORM = 'must be a list of passage ids or of {"id", "start", "end"}'


def _read_supporting(row: Row, name: str = "supporting") -> frozenset[Support]:
    """Returns the supports in a field of a question; raises `InvalidInput`. It does not check that the documents
    exist.
    """
    value = row.fields.get(name, [])
    if not isinstance(value, list):
        raise InvalidInput(f"{row.place}: `{name}` {_FORM}, not {value!r}")
    return frozenset(_support(item, name, row.place) for item in value)


def read_grades(row: Row) -> dict[str, int]:
    """Returns the grades of the passages that were judged for a question, by passage id; empty if none were.

    Raises `InvalidInput`. It does not check that the passages exist.
    """
    value = row.fields.get("grades", {})
    if not isinstance(value, Mapping):
        raise InvalidInput(f'{row.place}: `grades` must be an object, {{"passage id": grade}}, not {value!r:.80}')
    for key, grade in value.items():
        if type(grade) is not int or not 0 <= grade <= MAX_GRADE:  # bool is a subclass of int
            raise InvalidInput(
                f"{row.place}: the grade of {key!r} in `grades` must be a whole number from 0 (not relevant) to "
                f"{MAX_GRADE:,}, not {show_number(grade)}"
            )
    if value and not any(value.values()):
        raise InvalidInput(
            f"{row.place}: no passage in `grades` has a grade above 0, so every ranking would score 0; "
            "leave the question out"
        )
    return dict(value)


def show_number(value: object) -> str:
    """Returns a value for a message; Python refuses to write a number with thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**20:
        return "one with more than 20 digits"
    return repr(value)[:80]


def _support(item: object, name: str, place: str) -> Support:
    if isinstance(item, str):
        return Support(key=item)
    if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
        raise InvalidInput(f"{place}: `{name}` {_FORM}, and not hold {item!r}")
    start, end = item.get("start"), item.get("end")
    if type(start) is not int or type(end) is not int:  # bool is a subclass of int
        raise InvalidInput(
            f"{place}: `start` and `end` of {item['id']!r} in `{name}` must be whole numbers, not {start!r} and {end!r}"
        )
    if not 0 <= start < end:
        raise InvalidInput(
            f"{place}: {item['id']!r} in `{name}` has `start` {start} and `end` {end}; "
            "a span begins at 0 or later, and before its end"
        )
    return Support(key=item["id"], span=Span(start=start, end=end))


CORPUS_FILE = "corpus.jsonl"
QUESTIONS_FILE = "questions.jsonl"
GIVEN_FILE = "openie.jsonl"
DATASET_FILES = (CORPUS_FILE, QUESTIONS_FILE, GIVEN_FILE)
_QUERIES_FILE = "queries.jsonl"
_PART_BYTES = 1 << 20
_PARTS = range(2, 5)
"""How many things a question may ask for at once. An answer is compared with all orders of their answers."""


@dataclass(frozen=True, kw_only=True)
class GoldQuestion:
    """A question with its answer (empty: unknown), aliases of the answer, and the passages that support it (none:
    unknown).

    `grades` are the grades of the judged passages, by id, if the dataset has them; the passages with a grade above 0
    support the question. `sentences` are the parts of these passages that state the answer (none: unknown),
    `hop_answers` the answers of the hops in their order (none: unknown), and `type` is a word of the dataset. `parts`
    are the answers, with aliases, to each of several things that are asked for at once (none: only one thing is asked
    for). A question that is not `answerable` from the corpus has none of these. `metadata` are further facts of the
    dataset, by which questions are selected.
    """

    id: str
    text: str
    answer: str
    aliases: tuple[str, ...]
    supporting: frozenset[Support]
    answerable: bool = True
    sentences: frozenset[Support] = frozenset()
    hop_answers: tuple[str, ...] = ()
    type: str = ""
    grades: Mapping[str, int] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[tuple[str, ...], ...] = ()

    @property
    def answers(self) -> tuple[str, ...]:
        """All gold answers; none if the question is not answerable, or its answer is unknown."""
        return (self.answer, *self.aliases) if self.answerable and self.answer else ()

    @property
    def answers_by_part(self) -> tuple[tuple[str, ...], ...]:
        """The gold answers of each part, with which answers are compared; a single part if it asks for one thing."""
        return self.parts or (self.answers,)


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset. `passages` is their number (0: the folder has questions only); `fingerprint` changes with what is
    indexed. `kept` are the keys of the passages that are drawn (None: all are indexed).
    """

    name: str
    folder: Path
    questions: tuple[GoldQuestion, ...]
    passages: int
    fingerprint: str
    kept: frozenset[str] | None = None


def read_dataset(
    folder: Path, questions: Path | None = None, *, needs_corpus: bool = True, unanswerable: bool = False
) -> Dataset:
    """Returns a dataset that has been read and checked; `questions` replaces the folder's own file.

    Raises `NotFound` for a missing file and `InvalidInput` for a wrong line, naming both. Without `needs_corpus` a
    folder of questions alone is accepted, and their supporting passages are not checked. `unanswerable` says that the
    corpus answers none of the questions, such as the questions of another dataset. Passages are read one after another:
    memory holds only the numbers that questions need, and the keys, as `TakenKeys` holds them.
    """
    corpus = folder / CORPUS_FILE
    asked_in = questions or folder / QUESTIONS_FILE
    if questions is None and not asked_in.exists() and (folder / _QUERIES_FILE).exists():
        raise InvalidInput(
            f"{folder} has {_QUERIES_FILE} and no {QUESTIONS_FILE}, as collections of BEIR and MTEB have; convert it "
            f"first: hopweave import-dataset beir {folder} -o FOLDER"
        )
    passages, lengths = 0, None
    if needs_corpus or corpus.exists():
        passages, lengths = _read_lengths(corpus, frozenset() if unanswerable else _find_wanted(asked_in))
    given = folder / GIVEN_FILE
    if given.exists():
        _check_given(given)
    asked = read_questions(asked_in, lengths, unanswerable=unanswerable)
    return Dataset(
        name=folder.resolve().name,
        folder=folder,
        questions=asked,
        passages=passages,
        fingerprint=_fingerprint(corpus, given),
    )


def _find_wanted(path: Path) -> frozenset[str]:
    """Returns the keys of all passages that support questions; `read_questions` says what is wrong with the file."""
    if not path.exists():
        return frozenset()
    wanted = set[str]()
    for row in read_rows(path):
        if row.fields.get("answerable") is False:
            continue
        for name in ("supporting", "supporting_sentences"):
            if isinstance(row.fields.get(name), list):
                wanted.update(support.key for support in _read_supporting(row, name))
        if isinstance(grades := row.fields.get("grades"), Mapping):
            wanted.update(grades)
    return frozenset(wanted)


def _read_lengths(path: Path, wanted: Collection[str]) -> tuple[int, dict[str, int]]:
    """Returns the number of passages, and the lengths of the texts of the passages in `wanted`."""
    taken = TakenKeys()
    count, lengths = 0, dict[str, int]()
    for count, row in enumerate(read_rows(path), start=1):  # noqa: B007 - the last one is the number of all
        key, text = row.text("id"), row.fields.get("text")
        if not isinstance(text, str):
            raise InvalidInput(f"{row.place}: passage {key!r} has no `text`")
        _check_unique(taken, key, row)
        if key in wanted:
            lengths[key] = len(text)
    if not count:
        raise InvalidInput(f"{path} holds no passage")
    return count, lengths


def _check_given(path: Path) -> None:
    """Checks the form of each line. Single triples may be malformed; indexing counts them."""
    for row in read_rows(path):
        row.text("id")
        row.texts("entities")
        if not isinstance(row.fields.get("triples", []), list):
            raise InvalidInput(f"{row.place}: `triples` must be a list")


def read_questions(
    path: Path, lengths: Mapping[str, int] | None = None, *, unanswerable: bool = False
) -> tuple[GoldQuestion, ...]:
    """Returns the questions of a file; supports are checked with `lengths`, the lengths of passages by key."""
    return tuple(question for _, question in read_question_rows(path, lengths, unanswerable=unanswerable))


def read_question_rows(
    path: Path, lengths: Mapping[str, int] | None = None, *, unanswerable: bool = False
) -> Iterator[tuple[Row, GoldQuestion]]:
    """Yields each question of a file with the row that holds it. Raises what `read_questions` raises."""
    taken = TakenKeys()
    row = None
    for row in read_rows(path):
        question = _read_unanswerable(row) if unanswerable or not _is_answerable(row) else _read_question(row)
        _check_unique(taken, question.id, row)
        if lengths is not None:
            _check_supporting("supporting", question.supporting, lengths, row.place)
            _check_supporting("supporting_sentences", question.sentences, lengths, row.place)
            _check_supporting("grades", [Support(key=key) for key in question.grades], lengths, row.place)
        yield row, question
    if row is None:
        raise InvalidInput(f"{path} holds no question")


def _is_answerable(row: Row) -> bool:
    value = row.fields.get("answerable", True)
    if not isinstance(value, bool):
        raise InvalidInput(f"{row.place}: `answerable` must be true or false, not {value!r}")
    return value


def _read_unanswerable(row: Row) -> GoldQuestion:
    return GoldQuestion(
        id=row.text("id"),
        text=row.text("question"),
        answer="",
        aliases=(),
        supporting=frozenset(),
        answerable=False,
        type=_read_type(row),
        metadata=_read_metadata(row),
    )


def _read_question(row: Row) -> GoldQuestion:
    grades = read_grades(row)
    question = GoldQuestion(
        id=row.text("id"),
        text=row.text("question"),
        answer=row.text("answer") if "answer" in row.fields else "",
        aliases=row.texts("aliases"),
        supporting=frozenset(Support(key=key) for key, grade in grades.items() if grade) or _read_supporting(row),
        sentences=_read_supporting(row, "supporting_sentences"),
        hop_answers=tuple(hop.text("answer") for hop in row.objects("hops")),
        type=_read_type(row),
        grades=grades,
        metadata=_read_metadata(row),
        parts=_read_parts(row),
    )
    if grades and "supporting" in row.fields:
        raise InvalidInput(f"{row.place}: question {question.id!r} has `grades` and `supporting`; give one of them")
    if not grades and "supporting" not in row.fields:
        raise InvalidInput(
            f"{row.place}: question {question.id!r} names no `supporting` passage; where none is known, write []"
        )
    if not question.answer and (question.aliases or question.parts or not question.supporting):
        raise InvalidInput(
            f"{row.place}: question {question.id!r} has no `answer`; give one, or the passages that support it in "
            "`supporting` or `grades` (and no `aliases` or `parts`), to measure searchers alone"
        )
    whole = next((support.key for support in question.sentences if support.span is None), None)
    if whole is not None:
        raise InvalidInput(f"{row.place}: {whole!r} in `supporting_sentences` needs `start` and `end`")
    return question


def _read_parts(row: Row) -> tuple[tuple[str, ...], ...]:
    value = row.fields.get("parts", [])
    if not isinstance(value, list) or not all(map(_is_list_of_answers, value)) or len(value) not in (0, *_PARTS):
        raise InvalidInput(
            f"{row.place}: `parts` must be a list of {_PARTS.start} to {_PARTS.stop - 1} lists, each with the answers "
            f"to one part of the question, not {value!r:.80}"
        )
    return tuple(map(tuple, value))


def _is_list_of_answers(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) and text.strip() for text in value)


def _read_type(row: Row) -> str:
    value = row.fields.get("type", "")
    return value if isinstance(value, str) else ""


def _read_metadata(row: Row) -> Mapping[str, Any]:
    value = row.fields.get("metadata", {})
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{row.place}: `metadata` must be an object, not {value!r:.80}")
    return value


def _check_supporting(name: str, supporting: Collection[Support], lengths: Mapping[str, int], place: str) -> None:
    for support in sorted(supporting, key=lambda support: support.key):
        if support.key not in lengths:
            raise InvalidInput(f"{place}: no passage of {CORPUS_FILE} has the id {support.key!r}")
        end, length = support.span.end if support.span else 0, lengths[support.key]
        if end > length:
            raise InvalidInput(
                f"{place}: {support.key!r} in `{name}` has `end` {end}; its text has {length} characters"
            )


def _check_unique(taken: TakenKeys, key: str, row: Row) -> None:
    before = taken.take(key, row.place)
    if before is not None:
        raise InvalidInput(f"{row.place}: the id {key!r} is that of {before} already")


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update((path.stat().st_size if path.exists() else 0).to_bytes(8, "big"))
        if path.exists():
            with path.open("rb") as file:
                while part := file.read(_PART_BYTES):
                    digest.update(part)
    return digest.hexdigest()


def sample_passages(dataset: Dataset, questions: Iterable[GoldQuestion], count: int, seed: int) -> Dataset:
    """Returns the dataset with the passages that support `questions`, and `count` others that are drawn.

    Drawn are those whose keys have the least hashes with the seed. So a sample depends on the seed and the keys alone,
    on no machine, version or order; a larger sample holds a smaller sample; and only `count` keys are in memory.
    """
    gold = {support.key for question in questions for support in (*question.supporting, *question.sentences)}
    others = (key for key in _read_keys(dataset) if key not in gold)
    drawn = heapq.nsmallest(count, others, key=lambda key: _hash(seed, key))
    kept = frozenset((*gold, *drawn))
    fingerprint = digest("sample", [dataset.fingerprint, *sorted(kept)])
    return replace(dataset, passages=len(kept), kept=kept, fingerprint=fingerprint)


def _read_keys(dataset: Dataset) -> Iterator[str]:
    for row in read_rows(dataset.folder / CORPUS_FILE):
        yield row.text("id")


def _hash(seed: int, key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=16, key=str(seed).encode()).digest()
