"""What an ingest would do and cost, without doing it."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from app.container import Container
from app.services.ingestion import MAX_DOCUMENTS
from core.corpora import Corpus
from core.documents import Submission
from core.errors import LoadFailed, UnsupportedMedia
from core.ports.indexing import Chunker, Extractor, Source
from core.strategies import build, parse_spec
from indexer import Rejection, fingerprint, loader_for, make_extractor
from models import make_chat_models

__all__ = ["Estimate", "ModelEstimate", "estimate"]

_CHARACTERS_A_TOKEN = 4.0
_ANSWER_SHARE = 1.6
"""Characters of an answer per character of its passage: of OpenIE of 1,890 passages of MuSiQue."""
_SECONDS_A_CALL = 2.0


@dataclass(frozen=True, kw_only=True)
class ModelEstimate:
    """What a language model would be asked; `assumptions` say what stands behind the numbers."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Counts of what was read; `rejected` are the sources that an ingest would pass over or fail at.

    `unchanged` documents are indexed as they are: they are among `documents` and `bytes`, and in no other number.
    `tokens` are what the embedding model reads; `model` is None where the extractor asks no language model.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimate | None
    rejected: tuple[Rejection, ...]


@dataclass
class _Count:
    documents: int = 0
    unchanged: int = 0
    bytes: int = 0
    chunks: int = 0
    tokens: int = 0
    prompted: int = 0
    answered: float = 0.0


async def estimate(
    container: Container, corpus: Corpus | None, chunker: str, extractor: str, found: Iterable[Submission | Rejection]
) -> Estimate:
    """Load and cut every document as a worker would; nothing is written. `corpus` is None where it would be made."""
    # Without backends: to name the stores would make their files.
    cutter: Chunker = build("indexer.chunkers", parse_spec(chunker), "chunker", None)
    # For the same reason not the container's models, which have a cache: none of these is asked.
    llm = container.settings.llm
    finder = make_extractor(extractor, make_chat_models(llm, None, None) if llm.model else None)
    count, rejected = _Count(), list[Rejection]()
    rest = iter(found)
    while part := await asyncio.to_thread(lambda: list(islice(rest, MAX_DOCUMENTS))):
        rejected += [one for one in part if isinstance(one, Rejection)]
        submissions = [one for one in part if isinstance(one, Submission)]
        same = await _unchanged(container, corpus, submissions)
        rejected += await asyncio.to_thread(_add, container, cutter, finder, submissions, same, count)
    return Estimate(
        documents=count.documents,
        unchanged=count.unchanged,
        bytes=count.bytes,
        chunks=count.chunks,
        tokens=count.tokens,
        model=_of_model(container, count) if finder.model_calls else None,
        rejected=tuple(rejected),
    )


async def _unchanged(container: Container, corpus: Corpus | None, submissions: Sequence[Submission]) -> frozenset[str]:
    if corpus is None:
        return frozenset()
    fingerprints = {submission.key: fingerprint(submission) for submission in submissions}
    return await container.record.submissions.find_unchanged(corpus.id, fingerprints)


def _add(
    container: Container,
    chunker: Chunker,
    extractor: Extractor,
    submissions: Sequence[Submission],
    same: frozenset[str],
    count: _Count,
) -> list[Rejection]:
    rejected = []
    for one in submissions:
        if one.key in same:
            count.unchanged += 1
        else:
            try:
                loaded = loader_for(one.media_type).load(_source(one))
            except (LoadFailed, UnsupportedMedia) as error:
                rejected.append(Rejection(source=one.key, reason=str(error)))
                continue
            cut = chunker.chunk(loaded, container.embedder.tokens)
            count.chunks += len(cut)
            count.tokens += sum(chunk.tokens for chunk in cut)
            if extractor.model_calls:
                count.prompted += sum(extractor.model_calls.characters(loaded, chunk) for chunk in cut)
                count.answered += sum(len(chunk.text) for chunk in cut) * _ANSWER_SHARE
        count.documents += 1
        count.bytes += len(one.content)
    return rejected


def _of_model(container: Container, count: _Count) -> ModelEstimate:
    at_a_time = container.settings.llm.concurrency
    return ModelEstimate(
        calls=count.chunks,
        prompt_tokens=round(count.prompted / _CHARACTERS_A_TOKEN),
        completion_tokens=round(count.answered / _CHARACTERS_A_TOKEN),
        seconds=round(count.chunks * _SECONDS_A_CALL / at_a_time, 1),
        assumptions=(
            "one call a passage, none asked again",
            f"{_CHARACTERS_A_TOKEN:g} characters a token",
            f"answers of {_ANSWER_SHARE:g} times the characters of their passage, without reasoning",
            f"{_SECONDS_A_CALL:g} seconds a call, {at_a_time} calls at a time (HOPWEAVE_LLM__CONCURRENCY)",
        ),
    )


def _source(submission: Submission) -> Source:
    return Source(
        key=submission.key,
        content=submission.content,
        media_type=submission.media_type,
        title=submission.title,
        metadata=submission.metadata,
    )
