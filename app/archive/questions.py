"""Stored questions as rows of a backup, and back."""

from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime

from app.archive.format.rows import ArchiveQuestionRow, ArchiveQuestionSource
from app.container import Container
from core.corpora import Corpus
from core.questions import AskedQuestion, QuestionSource, QuestionState

__all__ = ["StoredQuestion", "load_question_row", "read_question_rows"]

StoredQuestion = tuple[AskedQuestion, list[QuestionSource]]


async def read_question_rows(container: Container, corpus: Corpus) -> AsyncGenerator[Mapping[str, object]]:
    """Yields the questions of a corpus that have ended, the oldest first."""
    generation = (await container.record.corpora.get_by_id(corpus.id)).generation
    for question, sources in await container.record.questions.export(corpus.id):
        yield {
            "kind": "question",
            "id": question.id,
            "asked_by": question.asked_by,
            "text": question.text,
            "request": dict(question.request),
            "state": question.state.value,
            "asked_at": question.asked_at.timestamp(),
            "answered_at": question.answered_at and question.answered_at.timestamp(),
            "outdated": question.generation is None or question.generation < generation,
            "answer": question.answer and dict(question.answer),
            "support": question.support,
            "problem": question.problem and dict(question.problem),
            "verification": question.verification and dict(question.verification),
            "kept": question.kept,
            "again_of": question.again_of,
            "withdrawn": question.withdrawn,
            "sources": [vars(one) for one in sources],
        }


def load_question_row(row: ArchiveQuestionRow, corpus_id: str) -> StoredQuestion:
    """The reverse. `generation` only says whether the question is outdated: None if it is."""
    question = AskedQuestion(
        id=row.id,
        corpus_id=corpus_id,
        asked_by=row.asked_by,
        text=row.text,
        request=row.request,
        state=QuestionState(row.state),
        asked_at=datetime.fromtimestamp(row.asked_at, UTC),
        answered_at=None if row.answered_at is None else datetime.fromtimestamp(row.answered_at, UTC),
        generation=None if row.outdated else 0,
        answer=row.answer,
        support=row.support,
        problem=row.problem,
        verification=row.verification,
        kept=row.kept,
        again_of=row.again_of,
        withdrawn=row.withdrawn,
    )
    return question, [_load_source(one) for one in row.sources]


def _load_source(row: ArchiveQuestionSource) -> QuestionSource:
    return QuestionSource(document_id=row.document_id, fingerprint=row.fingerprint, cited=row.cited)
