"""Relevance judgements (qrels): the grades of passages for queries, from the files of BEIR, MTEB and TREC."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.dataset import MAX_GRADE, show_number
from evaluation.datasets.json_lines import read_rows
from evaluation.importers.published_files import DatasetWriter, read_id, read_lines

_BEIR, _TREC = 3, 4
_FORMS = "query, passage and grade, separated by tabs (BEIR), or query, iteration, passage and grade (TREC)"


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query of a collection, and its place for messages."""

    id: str
    text: str
    place: str


@dataclass(frozen=True, kw_only=True)
class _Judgement:
    query: str
    passage: str
    grade: int
    place: str


@dataclass(kw_only=True)
class _LeftOut:
    """The number of judgements that are left out for one reason, and the place of the first."""

    count: int = 0
    first: str = ""

    def add(self, place: str, count: int = 1) -> None:
        self.count, self.first = self.count + count, self.first or place


@dataclass(kw_only=True)
class Judgements:
    """Grades by query and passage; `places` is where each query is judged first."""

    files: str
    grades: dict[str, dict[str, int]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


def read_judgements(files: Sequence[Path], writer: DatasetWriter, passages: Collection[str] | None) -> Judgements:
    """Returns the judgements of files. Judgements of passages that are not in `passages`, and repeated judgements, are
    left out and counted. A negative grade counts as 0: TREC marks junk with it.

    Raises `InvalidInput` for a line of another form, two grades of one passage, or if nothing is left.
    """
    judgements = Judgements(files=", ".join(map(str, files)))
    foreign, negative, repeated = _LeftOut(), _LeftOut(), _LeftOut()
    for judgement in chain.from_iterable(map(_read_file, files)):
        if passages is not None and judgement.passage not in passages:
            foreign.add(f"{judgement.place}, {judgement.passage!r}")
            continue
        if judgement.grade < 0:
            negative.add(judgement.place)
        grade = max(judgement.grade, 0)
        own = judgements.grades.setdefault(judgement.query, {})
        judgements.places.setdefault(judgement.query, judgement.place)
        if own.get(judgement.passage, grade) != grade:
            raise InvalidInput(
                f"{judgement.place}: passage {judgement.passage!r} has the grade {grade} for query {judgement.query!r} "
                f"here and {own[judgement.passage]} before; delete one of the lines"
            )
        if judgement.passage in own:
            repeated.add(judgement.place)
        own[judgement.passage] = grade
    if foreign.count and not judgements.grades:
        raise InvalidInput(
            f"{judgements.files}: no judged passage is in the corpus (the first: {foreign.first}); "
            "are these files of the same collection?"
        )
    if not judgements.grades:
        raise InvalidInput(f"{judgements.files} holds no judgement")
    _count(writer, foreign, "judgements were left out, since their passage is not in the corpus")
    _count(writer, negative, "judgements with a negative grade count as 0")
    _count(writer, repeated, "judgements were repeated")
    return judgements


def write_judged(queries: Iterable[Query], judgements: Judgements, writer: DatasetWriter) -> None:
    """Writes the queries that have a relevant passage. Others are left out, and counted.

    Raises `InvalidInput` for two queries of one id, or if no query is judged.
    """
    seen = dict[str, str]()
    for query in queries:
        if query.id in seen:
            raise InvalidInput(f"{query.place}: the id {query.id!r} is that of {seen[query.id]} already")
        seen[query.id] = query.place
        grades = judgements.grades.get(query.id, {})
        if any(grades.values()):
            writer.graded_question(query.id, query.text, grades, place=query.place)
        else:
            writer.counts.leave_out("no passage is judged relevant" if grades else "they are not judged")
    unknown = _LeftOut()
    for id, grades in judgements.grades.items():
        if id not in seen:
            unknown.add(f"{judgements.places[id]}, {id!r}", len(grades))
    if not seen.keys() & judgements.grades.keys():
        raise InvalidInput(
            f"{judgements.files}: none of the {len(judgements.grades):,} judged queries is among the queries "
            f"(the first: {unknown.first}); are these files of the same collection?"
        )
    _count(writer, unknown, "judgements were left out, since their query is not among the queries")


def _count(writer: DatasetWriter, left_out: _LeftOut, what: str) -> None:
    if left_out.count:
        writer.counts.skipped[f"{what} (the first: {left_out.first})"] = left_out.count


def _read_file(path: Path) -> Iterator[_Judgement]:
    return _read_json(path) if path.suffix in (".jsonl", ".json") else _read_columns(path)


def _read_json(path: Path) -> Iterator[_Judgement]:
    """Yields the judgements of MTEB: `query-id`, `corpus-id` and `score`."""
    for row in read_rows(path):
        yield _Judgement(
            query=read_id(row, "query-id", "query_id"),
            passage=read_id(row, "corpus-id", "corpus_id"),
            grade=_parse_grade(row.fields.get("score"), row.place),
            place=row.place,
        )


def _read_columns(path: Path) -> Iterator[_Judgement]:
    """Yields the judgements of BEIR, whose first line names its columns, or of TREC. The first line tells which."""
    columns, tabs = 0, False
    for place, line in read_lines(path):
        tabs = tabs or (not columns and line.count("\t") == _BEIR - 1)
        cells = [cell.strip() for cell in line.split("\t")] if tabs else line.split()
        if not columns:
            columns = len(cells)
            if columns not in (_BEIR, _TREC):
                raise InvalidInput(f"{place}: judgements have {_FORMS}; this line has {columns} columns")
            if columns == _BEIR and not _is_number(cells[-1]):
                _check_header(cells, place)
                continue
        if len(cells) != columns or not all(cells):
            raise InvalidInput(
                f"{place}: the file has {columns} columns, and this line has {len([c for c in cells if c])} that are "
                "not empty; correct or delete it"
            )
        yield _Judgement(query=cells[0], passage=cells[-2], grade=_parse_grade(cells[-1], place), place=place)


def _check_header(names: Sequence[str], place: str) -> None:
    """Raises `InvalidInput` if the columns are named and in another order: ids that are numbers would be exchanged."""
    ranks = [rank for name in names for rank, word in enumerate(("query", "corpus", "score")) if word in name.lower()]
    if ranks != sorted(ranks):
        raise InvalidInput(f"{place}: the columns must be query, passage and grade, and are {', '.join(names)}")


def _parse_grade(value: object, place: str) -> int:
    """Returns a whole number, also of `1.0` as some exports have it."""
    number = value
    if isinstance(value, str) and _is_number(value):
        number = float(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number // 1:
        raise InvalidInput(f"{place}: a grade must be a whole number, not {value!r:.80}")
    if abs(number) > MAX_GRADE:
        raise InvalidInput(
            f"{place}: a grade must be at most {MAX_GRADE:,}, or negative down to -{MAX_GRADE:,}, not "
            f"{show_number(int(number))}"
        )
    return int(number)


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
