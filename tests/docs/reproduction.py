"""The papers' tables as `docs/reproduce.md` has them. Open it to change that page's form; `make docs` writes it."""

from collections.abc import Iterator
from itertools import groupby

from evaluation import OVERALL, UNKNOWN, Table, dataset_names, list_tables

__all__ = ["reproduction_page"]

_TOP = """# The papers' tables

Every table and figure of the published systems that this project knows, with its rows, the strategy that runs each \
row, and the published numbers. `make docs` makes this page from `evaluation/reproduction/tables.toml`, from which \
`hopweave reproduce` reads them, too. The number after the point of a table's name is ours, not the paper's. A dash \
is a number that is not known here.

<!-- not run: needs a language model and question sets that are not in the repository -->
```console
$ hopweave reproduce                                              # the list of tables
$ hopweave reproduce level.2                                      # one table: rows, published numbers, what it needs
$ hopweave reproduce level.2 --dataset hotpotqa-dev --limit 50 --estimate
$ hopweave reproduce level.2 --dataset hotpotqa-dev --dataset nq=my-questions --limit 50 -o level.md
$ hopweave reproduce par.1 --dataset musique-dev --extractor pattern+llm --only "Vanilla RAG" --only "PAR RAG"
```

The command runs the rows of a table with the machinery of [`hopweave eval`](evaluation.md): the same sample for each \
row, the configured model, and a file of rows, so that an interrupted table goes on where it ended, and rows that two \
tables share are asked once. It prints the table in the paper's shape: each cell is what was measured here, with the \
published number in parentheses. One line says how models and data differ from the paper's. Differences in the model \
alone often exceed those between systems, so compare rows with each other before you compare them with the paper.

- A folder stands for the dataset whose name is a word of its own, such as `hotpotqa-dev`; `NAME=DIR` says which it \
stands for. A folder that stands for none has a column without published numbers. \
[`hopweave import-dataset`](evaluation.md#public-question-sets) converts the authors' files.
- Before anything is asked, the command prints the cost: the number of questions times what a question with several \
hops typically costs, derived from the [measured figures](strategies/README.md#three-kinds-of-figures). With an \
extractor that calls a model, it also prints the cost of extraction. Afterwards, it prints what was counted.
- *triples*: the corpus needs facts. By default they are read from the folder's `openie.jsonl` (extractor \
`pattern+given`). A folder without this file is refused, unless `hopweave reproduce par.1 --extractor pattern+llm` \
lets the configured model extract them. \
*tree*: the command makes a tree of summaries over the passages with the configured model, once, and needs the \
extra `tree`; its cost is estimated before, also with `--corpus`. *reranker*: set `HOPWEAVE_RERANKER__KIND`. \
*judge*: the configured model judges the answers ([how](evaluation.md#--judge)); give it another one with \
`--model judge=NAME`. References are written from the judged reasoner's own passages. The web takes part in `level` \
if one is configured and the option `--web` is given.
- For tables with seconds, set `HOPWEAVE_LLM__CACHE=false`, and answer one question at a time (the default).
- Rows that compare models have one row for the configured model: run the table once for each model.
"""


def reproduction_page() -> str:
    """Returns the page."""
    parts = [_TOP]
    for _, tables in groupby(list_tables(), key=lambda table: table.paper.name):
        own = list(tables)
        paper = own[0].paper
        name = paper.name.replace("*", r"\*")
        link = f"[arXiv {paper.arxiv}](https://arxiv.org/abs/{paper.arxiv})"
        parts.append(f"## {name}\n\n{link}. The authors used: {paper.setting}.\n")
        parts += [_section(table) for table in own]
    return "\n".join(parts)


def _section(table: Table) -> str:
    needs = f"Needs: {', '.join(table.needs)}.\n\n" if table.needs else ""
    datasets = ", ".join(dataset_names()[dataset] for dataset in table.datasets)
    return f"### {table.id}\n\n{table.title}. Datasets: {datasets}.\n\n{needs}{''.join(_lines(table))}"


def _lines(table: Table) -> Iterator[str]:
    """Yields the lines of a table; columns without any published number are left out."""
    columns = [
        (dataset, place, f"{dataset_names().get(dataset, 'all')}: {column.heading}")
        for dataset, own in (*((one, table.columns) for one in table.datasets), (OVERALL, table.overall))
        for place, column in enumerate(own)
        if any(row.find_published(dataset, place) != UNKNOWN for row in table.rows)
    ]
    yield _line(["row", "strategy", *(heading for _, _, heading in columns)])
    yield _line(["---", "---", *["---:"] * len(columns)])
    for row in table.rows:
        cells = [row.find_published(dataset, place) for dataset, place, _ in columns]
        name = row.name.replace("*", r"\*")
        yield _line([name, f"`{row.spec}`" if row.spec else f"not run: {row.not_run}", *cells])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
