"""The tables of the papers as values, read from `tables.toml`: their rows, columns and published numbers."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal, Self

from core.errors import NotFound

__all__ = ["OVERALL", "UNKNOWN", "Column", "Paper", "Table", "TableRow", "dataset_names", "find_table", "list_tables"]

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
                "columns": tuple(Column(**one) for one in fields["columns"]),
                "overall": tuple(Column(**one) for one in fields.get("overall", ())),
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
