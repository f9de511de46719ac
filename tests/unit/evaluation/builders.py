"""Hits, results and commands that tests of evaluation share."""

from collections.abc import Callable, Iterable

import typer
from typer.testing import CliRunner
from typer.testing import Result as Invoked

from core.documents import Chunk, DocumentRef, Span
from core.ports.retrieval import Hit
from evaluation import Result
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.search_rows import SearchRow

__all__ = ["hit", "invoke", "result_of"]


def hit(key: str, text: str = "nothing", *, title: str = "Title", span: Span | None = None, id: str = "") -> Hit:
    """A chunk of a document whose id is its key; the chunk's id tells its text and its place."""
    chunk = Chunk(
        id=id or f"{key}-{text}-{span}", document_id=key, view_id="v", position=0, text=text, heading="", page=None,
        span=span,
    )  # fmt: skip
    return Hit(chunk=chunk, document=DocumentRef(id=key, key=key, title=title, metadata={}), score=1.0)


def result_of(
    dataset: str, searches: Iterable[SearchRow] = (), answers: Iterable[AnswerRow] = (), baseline: str | None = None
) -> Result:
    """The result of a comparison on nine passages."""
    searched = tuple(searches)
    return Result(
        dataset=dataset, questions=len(searched), passages=9, corpus="c", index=None, searches=searched,
        answers=tuple(answers), baseline=baseline,
    )  # fmt: skip


def invoke(register: Callable[[typer.Typer], None], *arguments: object) -> Invoked:
    """Runs the one command that `register` adds."""
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, [*map(str, arguments)])
