"""Plans the run of a table: its rows, its folders, its experiment of `hopweave eval`, and the expected cost.

First come the tables of the papers as values, read from `tables.toml`: their rows, columns and published numbers.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

from core.errors import InvalidInput, NotFound
from core.strategies import StrategySpec, parse_spec
from evaluation.datasets.dataset import GIVEN_FILE, read_dataset
from evaluation.experiment import Experiment, select_questions

OVERALL = "overall"
"""The key of the published numbers over all datasets of a table."""
UNKNOWN = "–"
"""What a table has in place of a number that is not known."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper. `setting` is what its authors used: models, retrieval and questions."""

    name: str
    arxiv: str
    setting: str


@dataclass(frozen=True, kw_only=True)
class Column:
    """A number of a table. `metric` is its path in the scores of `Result`, such as `judge.relevance.score`; `scale` and
    `digits` are how the paper prints it.
    """

    metric: str
    heading: str
    scale: float = 1
    digits: int = 0

    def format(self, value: float | None) -> str:
        """Returns a measured value as the paper would print it; a dash for None."""
        return UNKNOWN if value is None else f"{value * self.scale:,.{self.digits}f}"


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """A system of a table. Of `reasoner`, `searcher` and `not_run` (why it cannot be run) one is given.

    `needs` are what the corpus or the settings must have: `triples`, `reranker`, `tree`. `calls` and `tokens` are what
    a question typically costs. `published` are numbers by dataset, in the order of the columns, with their known
    digits; '' is unknown.
    """

    name: str
    reasoner: str = ""
    searcher: str = ""
    not_run: str = ""
    needs: tuple[str, ...] = ()
    calls: float = 0
    tokens: float = 0
    published: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def spec(self) -> str:
        """The strategy as it is written on the command line; '' if the row cannot be run."""
        return self.reasoner or self.searcher

    def find_published(self, dataset: str, place: int) -> str:
        """Returns the published number of a column; a dash if it is not known."""
        numbers = self.published.get(dataset, ())
        return (numbers[place] if place < len(numbers) else "") or UNKNOWN

    @classmethod
    def from_toml(cls, fields: Mapping[str, Any]) -> Self:
        published = {dataset: tuple(numbers) for dataset, numbers in fields.get("published", {}).items()}
        return cls(**{**fields, "needs": tuple(fields.get("needs", ())), "published": published})


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or figure of a paper. `columns` are there for each dataset, `overall` once.

    With the shape `systems`, its lines are systems, and its datasets stand side by side; with `datasets`, its lines are
    datasets. `judge` says that a language model judges the answers.
    """

    id: str
    paper: Paper
    title: str
    datasets: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    overall: tuple[Column, ...] = ()
    shape: Literal["systems", "datasets"] = "systems"
    judge: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """All that any row needs, and `judge`."""
        named = [need for row in self.rows for need in row.needs]
        return tuple(dict.fromkeys([*named, *(["judge"] if self.judge else [])]))

    @classmethod
    def from_toml(cls, fields: Mapping[str, Any], papers: Mapping[str, Paper]) -> Self:
        return cls(
            **{
                **fields,
                "paper": papers[fields["id"].partition(".")[0]],
                "datasets": tuple(fields["datasets"]),
                "columns": tuple(Column(**column) for column in fields["columns"]),
                "overall": tuple(Column(**column) for column in fields.get("overall", ())),
                "rows": tuple(map(TableRow.from_toml, fields["rows"])),
            }
        )


def list_tables() -> tuple[Table, ...]:
    """Returns all tables in the order of the file."""
    source = _read()
    papers = {key: Paper(**fields) for key, fields in source["papers"].items()}
    return tuple(Table.from_toml(fields, papers) for fields in source["tables"])


def dataset_names() -> Mapping[str, str]:
    """Returns the names of the papers' datasets by key, such as `2wiki`."""
    names: Mapping[str, str] = _read()["datasets"]
    return names


def find_table(id: str) -> Table:
    """Returns the table with this id; raises `NotFound`, naming the existing tables."""
    tables = {table.id: table for table in list_tables()}
    if id not in tables:
        raise NotFound(f"there is no table {id!r}; there are: {', '.join(tables)}")
    return tables[id]


@cache
def _read() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("tables.toml").read_text("utf-8"))


_WORDS = re.compile(r"[a-z0-9]+")
_WHOLE_WORD = 3
"""A dataset whose key is so short is found in a folder's name only as a whole word."""

_JUDGE_CALLS, _JUDGE_TOKENS = 3, 5_000
"""What judging an answer typically costs: its relevance, its faithfulness, and the gain of a depth or two."""
_REFERENCE_TOKENS = 1_500
"""What the reference answer to a question typically costs, in one call."""


@dataclass(frozen=True, kw_only=True)
class PlacedDataset:
    """A folder, and the dataset of the table that it stands for; '' if it stands for none."""

    key: str
    folder: Path

    @property
    def title(self) -> str:
        """The paper's name of the dataset with the folder; the folder alone if the paper does not have it."""
        folder = self.folder.resolve().name
        return f"{dataset_names()[self.key]} ({folder})" if self.key else folder


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """Questions of all datasets together, and the calls and tokens of a language model for all rows."""

    questions: int
    answers: int
    calls: float
    tokens: float


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The rows of a table that are run on these datasets, and the experiment that does it."""

    table: Table
    rows: tuple[TableRow, ...]
    datasets: tuple[PlacedDataset, ...]
    experiment: Experiment

    @property
    def folders(self) -> list[Path]:
        return [placed.folder for placed in self.datasets]

    def estimate_cost(self) -> CostEstimate:
        """Reads the questions, and multiplies their number by what a question typically costs in each row.

        Stored answers are counted as if they were asked again. Raises what is wrong with a folder.
        """
        count = sum(self._count_questions(placed) for placed in self.datasets)
        calls = sum(row.calls for row in self.rows)
        tokens = sum(row.tokens for row in self.rows)
        if self.experiment.judge:
            calls += (1 + _JUDGE_CALLS) * len(self.experiment.reasoners)
            tokens += (_REFERENCE_TOKENS + _JUDGE_TOKENS) * len(self.experiment.reasoners)
        answers = count * len(self.experiment.reasoners)
        return CostEstimate(questions=count, answers=answers, calls=count * calls, tokens=count * tokens)

    def _count_questions(self, placed: PlacedDataset) -> int:
        experiment = self.experiment
        dataset = read_dataset(placed.folder, experiment.questions, needs_corpus=experiment.corpus is None)
        return len(select_questions(dataset, experiment))


def place_datasets(table: Table, texts: Iterable[str]) -> tuple[PlacedDataset, ...]:
    """Returns the folders of `DIR` or `NAME=DIR`, in the order of the table's datasets; folders that stand for no
    dataset come last.

    Without a name, a folder stands for the dataset whose key is a word of its own name, such as `hotpotqa-dev-60`.
    Raises `InvalidInput` for a name that the table does not have or that is given twice, and `NotFound` for a folder
    that does not exist.
    """
    placed = [_place_dataset(table, text) for text in texts]
    for key in table.datasets:
        folders = [str(dataset.folder) for dataset in placed if dataset.key == key]
        if len(folders) > 1:
            raise InvalidInput(
                f"--dataset: {' and '.join(folders)} stand for {key}; name another dataset as NAME=DIR, or run them "
                "one after the other"
            )
    order = [*table.datasets, ""]
    return tuple(sorted(placed, key=lambda dataset: order.index(dataset.key)))


def _place_dataset(table: Table, text: str) -> PlacedDataset:
    name, equals, path = text.partition("=")
    if not equals or Path(text).is_dir():
        name, path = "", text
    folder = Path(path)
    if name and name.lower() not in table.datasets:
        raise InvalidInput(f"--dataset {text}: {table.id} has no dataset {name!r}; it has: {', '.join(table.datasets)}")
    if not folder.is_dir():
        raise NotFound(
            f"--dataset {text}: there is no folder {folder}; name one with corpus.jsonl and questions.jsonl, as "
            "`hopweave import-dataset` makes it"
        )
    return PlacedDataset(key=name.lower() or _find_key(table, folder), folder=folder)


def _find_key(table: Table, folder: Path) -> str:
    words = _WORDS.findall(folder.resolve().name.lower())
    for key in table.datasets:
        if any(word == key or (len(key) > _WHOLE_WORD and word.startswith(key)) for word in words):
            return key
    return ""


def plan_reproduction(
    table: Table,
    datasets: Sequence[PlacedDataset],
    experiment: Experiment,
    *,
    only: Sequence[str] = (),
    extractor: str | None = None,
    has_reranker: bool,
) -> Reproduction:
    """Returns how the table is run: with the sample and the other options of `experiment`, and the table's strategies.

    `only` are names of rows (none: all that can be run). Without an `extractor`, it is `pattern+given` if a row needs
    triples, else `pattern`. Raises `InvalidInput`, before anything is asked, for an unknown row, for rows that cannot
    be run, and for rows that need triples or a reranker that are not there.
    """
    rows = _choose_rows(table, only)
    needing = {need: [row.name for row in rows if need in row.needs] for need in table.needs}
    if needing.get("reranker") and not has_reranker:
        raise InvalidInput(
            f"{table.id}: {_list_names(needing['reranker'])} need a reranking model: set HOPWEAVE_RERANKER__KIND to "
            "'cross-encoder' or 'colbert' (with HOPWEAVE_RERANKER__MODEL) or 'http' (with HOPWEAVE_RERANKER__URL), or "
            "choose other rows with --only"
        )
    chosen = extractor or ("pattern+given" if needing.get("triples") else "pattern")
    if needing.get("triples") and experiment.corpus is None:
        for placed in datasets:
            _require_triples(table, placed.folder, chosen, needing["triples"])
    return Reproduction(
        table=table,
        rows=rows,
        datasets=tuple(datasets),
        experiment=replace(
            experiment,
            reasoners=tuple(dict.fromkeys(row.reasoner for row in rows if row.reasoner)),
            on_tree=frozenset(row.reasoner for row in rows if "tree" in row.needs),
            searchers=tuple(dict.fromkeys(row.searcher for row in rows if row.searcher)),
            extractor=chosen,
            judge=table.judge,
            judge_reference="own" if table.judge else experiment.judge_reference,
        ),
    )


def _choose_rows(table: Table, only: Sequence[str]) -> tuple[TableRow, ...]:
    """Returns the rows that are run."""
    by_name = {row.name.casefold(): row for row in table.rows}
    unknown = next((name for name in only if name.casefold() not in by_name), None)
    if unknown is not None:
        names = ", ".join(repr(row.name) for row in table.rows if row.spec)
        raise InvalidInput(f"--only {unknown!r}: {table.id} has no such row; it has: {names}")
    chosen = [by_name[name.casefold()] for name in only] or list(table.rows)
    refused = [row for row in chosen if not row.spec]
    if refused and (only or len(refused) == len(chosen)):
        reasons = "; ".join(f"{row.name}: {row.not_run}" for row in refused)
        raise InvalidInput(f"{table.id} cannot be run: {reasons}")
    return tuple(row for row in table.rows if row in chosen and row.spec)


def _require_triples(table: Table, folder: Path, extractor: str, rows: Sequence[str]) -> None:
    parts = {_spec.name for _spec in _parse_parts(extractor)}
    if "llm" in parts or ("given" in parts and (folder / GIVEN_FILE).exists()):
        return
    raise InvalidInput(
        f"{table.id}: {_list_names(rows)} need a graph of triples, and {folder} has no {GIVEN_FILE}: let a language "
        "model extract them with --extractor pattern+llm, give a folder that has the file, or choose other rows with "
        "--only"
    )


def _parse_parts(extractor: str) -> list[StrategySpec]:
    return [parse_spec(part) for part in extractor.split("+")]


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
