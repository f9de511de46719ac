"""Estimates the work and the cost of an ingest, without doing it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from app.container import Container
from app.services.ingestion import MAX_DOCUMENTS
from app.services.scripts import LOOKED_AT, ScriptCheck
from core.corpora import Corpus
from core.documents import Submission, loader_notes
from core.errors import InvalidSettings, LoadFailed, UnsupportedMedia
from core.execution.limits import WorkLimit
from core.graph_schema import NO_SCHEMA, read_graph_schema
from core.ports.chat import ChatRequest, Completion, OnToken
from core.ports.indexing import Chunker, DraftChunk, Extractor, LoadedDocument
from core.prompting.prompts import use_prompts
from core.settings import LlmSettings
from core.strategies import build, parse_spec
from core.trace import Trace
from indexer import AttachmentReader, Loaders, Rejection, fingerprint, make_extractor, source_of
from models import make_chat_models

_SECONDS_A_MEGABYTE = 4.0
"""Processor time of a text beyond `HOPWEAVE_PARSER__ESTIMATE_SECONDS`: twice what ordinary text takes to be cut."""
_SECONDS = "HOPWEAVE_PARSER__ESTIMATE_SECONDS"
_CHARACTERS_A_TOKEN = 4.0
_ANSWER_SHARE = 1.6
"""Characters of an answer per character of its passage, measured with OpenIE on 1,890 passages of MuSiQue."""
_SECONDS_A_CALL = 2.0


@dataclass(frozen=True, kw_only=True)
class ModelEstimate:
    """Calls, tokens and time of the language model. `assumptions` explain the numbers."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Counts of what was read. `rejected` are the sources that an ingest would skip or fail to load.

    `unchanged` documents are indexed already: `documents` and `bytes` include them, all other counts do not. `tokens`
    are tokens of the embedding model. `model` is None if the extractor does not call a language model. `notes` are what
    loaders tell of documents, by key, and of scripts that the embedding model does not know.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimate | None
    rejected: tuple[Rejection, ...]
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(kw_only=True)
class _Count:
    documents: int = 0
    unchanged: int = 0
    bytes: int = 0
    chunks: int = 0
    tokens: int = 0
    prompted: int = 0
    answered: float = 0.0
    notes: list[tuple[str, str]] = field(default_factory=list)
    scripts: ScriptCheck


class _NoModels:
    """Stands in for language models that are never called, so that an estimate needs none."""

    model = ""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings

    def of(self, role: str) -> "_NoModels":  # noqa: ARG002 - the port has it
        return self

    def is_small(self, role: str) -> bool:
        """Returns whether the configured model is small, since its prompt is shorter; False if there is none."""
        try:
            return make_chat_models(self._settings, None, None).is_small(role)
        except InvalidSettings:
            return False

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        raise NotImplementedError("an estimate calls no model")

    async def delete_corpus(self, corpus_id: str) -> None:
        """There is no cache."""

    async def close(self) -> None:
        """There is no connection."""


async def estimate(
    container: Container,
    corpus: Corpus | None,
    chunker: str,
    extractor: str,
    found: Iterable[Submission | Rejection],
    *,
    embedding: str | None = None,
    schema: str | None = None,
) -> Estimate:
    """Loads and chunks every document as a worker would. Writes nothing. `corpus` is None if it does not exist yet;
    `embedding` is then the model that it is to have (None: the configured model), and `schema` its schema.
    """
    embedders = container.embedders
    embedder = embedders.find(corpus.settings) if corpus else embedders.named(embedding or embedders.configured_name)
    embedder = embedder or container.embedder
    # Without backends, because opening the stores would create their files.
    chunking: Chunker = build("indexer.chunkers", parse_spec(chunker), "chunker", None)
    # For the same reason without the models of the container, whose cache is a file.
    text = await container.record.graph_schemas.get(corpus.id) if corpus else schema
    told = NO_SCHEMA if text is None else read_graph_schema(text)
    with use_prompts(container.prompts):
        extraction = make_extractor(extractor, _NoModels(container.settings.llm), told)
    count, rejected = _Count(scripts=ScriptCheck(embedder)), list[Rejection]()
    chunk = partial(chunking.chunk, tokens=embedder.tokens)
    rest = iter(found)
    async with container.estimate_lane.admit(container.caller) as take_turn:
        while part := await asyncio.to_thread(lambda: list(islice(rest, MAX_DOCUMENTS))):
            part = await take_turn(partial(_read_attachments, part))
            rejected += [rejection for rejection in part if isinstance(rejection, Rejection)]
            submissions = [submission for submission in part if isinstance(submission, Submission)]
            unchanged = await _find_unchanged(container, corpus, submissions)
            new = [submission for submission in submissions if submission.key not in unchanged]
            count.unchanged += len(submissions) - len(new)
            count.documents += len(submissions) - len(new)
            count.bytes += sum(len(submission.content) for submission in submissions if submission.key in unchanged)
            for submission in new:
                seconds = (
                    container.settings.parser.estimate_seconds
                    + _SECONDS_A_MEGABYTE * len(submission.content) / 1_000_000
                )
                limit = WorkLimit(submission.key, seconds, _SECONDS)
                try:
                    reason = await take_turn(partial(_add, submission, chunk, extraction, count, limit))
                finally:
                    limit.end()  # its thread may still run after the client has left
                rejected += [Rejection(source=submission.key, reason=reason)] if reason else []
    return Estimate(
        documents=count.documents,
        unchanged=count.unchanged,
        bytes=count.bytes,
        chunks=count.chunks,
        tokens=count.tokens,
        model=_estimate_model(container, count) if extraction.model_calls else None,
        rejected=tuple(rejected),
        notes=(*count.notes, *count.scripts.notes),
    )


def _read_attachments(part: Sequence[Submission | Rejection], loaders: Loaders) -> list[Submission | Rejection]:
    return list(AttachmentReader(loaders).read(part))


async def _find_unchanged(
    container: Container, corpus: Corpus | None, submissions: Sequence[Submission]
) -> frozenset[str]:
    if corpus is None:
        return frozenset()
    fingerprints = {submission.key: fingerprint(submission) for submission in submissions}
    return await container.record.submissions.find_unchanged(corpus.id, fingerprints)


def _add(
    submission: Submission,
    chunk: Callable[[LoadedDocument], Sequence[DraftChunk]],
    extractor: Extractor,
    count: _Count,
    limit: WorkLimit,
    loaders: Loaders,
) -> str:
    """Adds a document. Returns why it would be rejected, or ''."""
    try:
        with limit.running():
            loaded = loaders.load(source_of(submission))
            chunks = chunk(loaded)
    except (LoadFailed, UnsupportedMedia) as error:
        return str(error)
    count.chunks += len(chunks)
    count.notes += [(submission.key, note) for note in loader_notes(loaded.metadata)]
    count.scripts.add(submission.key, [draft.text for draft in chunks[:LOOKED_AT]])
    count.tokens += sum(draft.tokens for draft in chunks)
    if extractor.model_calls:
        count.prompted += sum(extractor.model_calls.characters(loaded, draft) for draft in chunks)
        count.answered += sum(len(draft.text) for draft in chunks) * _ANSWER_SHARE
    count.documents += 1
    count.bytes += len(submission.content)
    return ""


def _estimate_model(container: Container, count: _Count) -> ModelEstimate:
    concurrency = container.settings.llm.concurrency
    return ModelEstimate(
        calls=count.chunks,
        prompt_tokens=round(count.prompted / _CHARACTERS_A_TOKEN),
        completion_tokens=round(count.answered / _CHARACTERS_A_TOKEN),
        seconds=round(count.chunks * _SECONDS_A_CALL / concurrency, 1),
        assumptions=(
            "one call a passage, none asked again",
            f"{_CHARACTERS_A_TOKEN:g} characters a token",
            f"answers of {_ANSWER_SHARE:g} times the characters of their passage, without reasoning",
            f"{_SECONDS_A_CALL:g} seconds a call, {concurrency} calls at a time (HOPWEAVE_LLM__CONCURRENCY)",
        ),
    )
