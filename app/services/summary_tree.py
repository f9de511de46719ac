"""Makes the tree of a corpus (RAPTOR, arXiv 2401.18059, section 3): a corpus with its passages and their summaries.

The leaves are the documents of the corpus, with their passages and vectors. Each further layer groups the passages of
the layer below by their vectors, and has a document for each group with its summary. A tree that is not complete has
another name, and the same call continues it: a summary that is there is not written again.

The copies have the access of the documents when the tree is made, and a summary is for those who may see all that it
summarizes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.container import Container
from app.services.corpora import ensure, find_corpus
from app.services.documents import delete_by_keys, list_documents
from app.services.estimates import ModelEstimate
from app.services.ingestion import MAX_DOCUMENTS, submit_all
from core.corpora import NO_GRAPH, Corpus
from core.documents import Document, OnConflict, Submission
from core.errors import Conflict, InvalidInput, InvalidSettings, LoadFailed
from core.execution.threads import compute
from core.ids import document_id
from core.jobs import Job, JobState
from core.ports.chat import ChatModels
from core.ports.embedding_form import split_form
from core.ports.views import VectorKind
from core.principals import DocumentAccess, narrow
from core.prompting.prompts import use_prompts
from core.trace import Trace
from indexer import submission_from_json
from indexer.submission.given_embeddings import encode_embedding
from indexer.summary_tree.clustering import Clustering, check_tree_libraries, is_too_few
from indexer.summary_tree.summarizing import (
    SUMMARY_TOKENS,
    TreeNode,
    fingerprint_summary,
    summarize_cluster,
)

LEVEL, CHILDREN = "raptor_level", "raptor_children"
"""Metadata of a summary: its layer, from 1, and the keys of the documents that it summarizes. A passage of a document
with several has its number, from 1, after `#`.
"""

CompleteJob = Callable[[Job], Awaitable[Job]]
"""Waits for a job that a worker processes, and returns it when it has ended."""
TellProgress = Callable[[str, int, int], None]
"""Called with the name of the activity, how much of it is done, and how much there is."""

_LAYERS = 5
_UNFINISHED = "-unfinished"
_BATCH = 64
"""Summaries that are requested, and then stored, together."""
_GROUP = 6.7
"""The mean number of passages of a summary in the paper (appendix C)."""
_PROMPT_TOKENS = 180
_SECONDS_A_CALL = 3.0


@dataclass(frozen=True, kw_only=True)
class BuiltTree:
    """A complete tree. `layers` are the numbers of summaries, from the lowest layer; `written` of all these were
    summarized now, by `calls` and `tokens` of the language model. `passages` are the leaves.
    """

    corpus: Corpus
    passages: int
    layers: tuple[int, ...]
    written: int
    calls: int
    tokens: int


async def check_tree(container: Container, source: Corpus, name: str) -> ChatModels:
    """Returns the language models, if a tree of this corpus can be made under this name.

    Raises `InvalidInput` for a corpus without vectors, `InvalidSettings` without a language model or the libraries, and
    `Conflict` if the name is taken.
    """
    if not source.settings.has_vectors:
        raise InvalidInput(
            f"a tree groups passages by their vectors, and corpus {source.name!r} has none: embed it with `hopweave "
            f"corpora reindex {source.name} --embedding MODEL`"
        )
    container.check_embedding(source)
    if container.models is None:
        raise InvalidSettings(
            "a tree is made of summaries by a language model, and none is configured: set HOPWEAVE_LLM__MODEL (and "
            "HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY)"
        )
    check_tree_libraries()
    if await find_corpus(container, name) is not None:
        raise Conflict(f"corpus {name!r} exists: name another one, or delete it with `hopweave corpora delete {name}`")
    return container.models


async def estimate_tree_of(container: Container, source: Corpus) -> ModelEstimate:
    """Returns what `estimate_tree` returns, for the passages of a corpus; summaries that exist are counted, too."""
    count, tokens = 0, 0
    async for _, nodes in _read_nodes(
        container, source, [document async for document in list_documents(container, source)]
    ):
        count += len(nodes)
        tokens += sum(node.tokens for node in nodes)
    return estimate_tree(container, count, tokens)


def estimate_tree(container: Container, passages: int, tokens: int) -> ModelEstimate:
    """Returns the typical cost of the summaries over this many passages, by the paper's means: the number of summaries
    is known only when the layer below has been grouped.
    """
    calls, prompted, count = 0, 0.0, passages
    for _ in range(_LAYERS):
        if is_too_few(count):
            break
        groups = max(1, round(count / _GROUP))
        calls += groups
        prompted += tokens + groups * _PROMPT_TOKENS
        count, tokens = groups, groups * SUMMARY_TOKENS
    concurrency = container.settings.llm.concurrency
    return ModelEstimate(
        calls=calls,
        prompt_tokens=round(prompted),
        completion_tokens=calls * SUMMARY_TOKENS,
        seconds=round(calls * _SECONDS_A_CALL / concurrency, 1),
        assumptions=(
            f"{_GROUP:g} passages a summary and {SUMMARY_TOKENS} tokens of each, the means of the paper",
            f"{_SECONDS_A_CALL:g} seconds a call, {concurrency} calls at a time (HOPWEAVE_LLM__CONCURRENCY)",
        ),
    )


async def build_tree(
    container: Container, source: Corpus, name: str, complete: CompleteJob, tell: TellProgress = lambda *_: None
) -> BuiltTree:
    """Makes the tree of a corpus under a name that is free. Until it is complete, it is called `NAME-unfinished`.

    Raises what `check_tree` raises, what a call of a model raises, and `LoadFailed` if a document cannot be indexed;
    all summaries that were written are kept, and the same call continues.
    """
    models = await check_tree(container, source, name)
    settings = source.settings
    corpus = await ensure(
        container,
        name + _UNFINISHED,
        chunker="passage",
        extractor=NO_GRAPH,
        embedding=settings.embedding or None,
    )
    if corpus.settings.embedding_model != settings.embedding_model:
        raise Conflict(
            f"corpus {corpus.name!r} has the embedding model {corpus.settings.embedding_model!r}, and "
            f"{source.name!r} has {settings.embedding_model!r}: delete it, and reindex {source.name!r}"
        )
    with use_prompts(container.prompts):
        building = _Building(container, source, corpus, models, complete, tell)
        layers = await building.run()
    finished = await container.record.corpora.rename(corpus.name, name)
    return BuiltTree(
        corpus=finished,
        passages=building.passages,
        layers=layers,
        written=building.written,
        calls=building.trace.usage.calls,
        tokens=building.trace.usage.tokens,
    )


class _Building:
    """The state of a tree that is being made: which documents belong to it, and what was written."""

    def __init__(
        self,
        container: Container,
        source: Corpus,
        corpus: Corpus,
        models: ChatModels,
        complete: CompleteJob,
        tell: TellProgress,
    ) -> None:
        self._container, self._source, self._corpus = container, source, corpus
        self._models, self._complete, self._tell = models, complete, tell
        self._keys: set[str] = set()
        self._access: dict[str, DocumentAccess] = {}
        """The access of the documents of passages, by the ids of the passages."""
        self.trace = Trace()
        self.passages = 0
        self.written = 0

    async def run(self) -> tuple[int, ...]:
        """Writes all layers; returns the number of summaries of each."""
        nodes = await self._write_leaves()
        self.passages = len(nodes)
        layers: list[int] = []
        while len(layers) < _LAYERS and not is_too_few(len(nodes)):
            groups = await self._group(nodes)
            if len(groups) >= len(nodes):
                break  # it would not end with fewer
            nodes = await self._write_layer(len(layers) + 1, [[nodes[n] for n in group] for group in groups])
            layers.append(len(groups))
        await self._delete_others()
        return tuple(layers)

    async def _write_leaves(self) -> list[TreeNode]:
        """Copies the documents with their passages and vectors, and returns the passages of the copies."""
        documents = [
            document
            async for document in list_documents(self._container, self._source)
            if document.readable and document.enabled
        ]
        submissions = [submission async for submission in self._copy(documents)]
        self._tell("copying", 0, len(submissions))
        await self._submit(submissions)
        return await self._read([submission.key for submission in submissions])

    async def _copy(self, documents: Sequence[Document]) -> AsyncIterator[Submission]:
        settings = self._source.settings
        # Vectors of a model that compares dot products have a length, which embeddings of a document lose.
        with_vectors = split_form(settings.embedding_model)[1].dot is None
        async for document, nodes in _read_nodes(self._container, self._source, documents):
            vectors = await _fetch_vectors(self._container, self._source, nodes) if with_vectors else {}
            chunks = [
                {"text": node.text, **({"embedding": encode_embedding(vectors[node.view_id])} if vectors else {})}
                for node in nodes
            ]
            if chunks:
                yield submission_from_json(
                    {
                        "title": document.title,
                        "chunks": chunks,
                        "metadata": document.metadata,
                        "access": document.access,
                        "embedding_model": settings.embedding_model,
                    },
                    key=document.key,
                )

    async def _group(self, nodes: Sequence[TreeNode]) -> list[tuple[int, ...]]:
        self._tell("grouping", 0, len(nodes))
        vectors = await _fetch_vectors(self._container, self._corpus, nodes)
        clustering = Clustering(
            vectors=np.stack([vectors[node.view_id] for node in nodes]), tokens=[node.tokens for node in nodes]
        )
        return await compute(clustering.find_groups)

    async def _write_layer(self, level: int, groups: Sequence[Sequence[TreeNode]]) -> list[TreeNode]:
        """Writes a summary of each group that has none yet, and returns the passages of all of them."""
        keys = [f"raptor/{level}/{fingerprint_summary(group, self._models)}" for group in groups]
        present = {
            document.key async for document in list_documents(self._container, self._corpus) if document.readable
        }
        missing = [(key, group) for key, group in zip(keys, groups, strict=True) if key not in present]
        self._keys.update(keys)
        for key, group in zip(keys, groups, strict=True):
            if key in present:
                access = self._find_access(group)
                await self._container.record.submissions.set_access(self._corpus.id, [document_id(key)], access)
        for begin in range(0, len(missing), _BATCH):
            self._tell(f"summarizing layer {level}", begin, len(missing))
            await self._write_summaries(level, missing[begin : begin + _BATCH])
        return await self._read(keys)

    async def _write_summaries(self, level: int, groups: Sequence[tuple[str, Sequence[TreeNode]]]) -> None:
        """Writes what the model answers, even if calls fail; then raises the first error."""
        calls = (summarize_cluster(group, self._models, self._corpus.id, self.trace) for _, group in groups)
        replies = await asyncio.gather(*calls, return_exceptions=True)
        answered = [
            submission_from_json(
                {
                    "text": reply,
                    "metadata": {LEVEL: level, CHILDREN: [node.name for node in group]},
                    "access": self._find_access(group),
                },
                key=key,
            )
            for (key, group), reply in zip(groups, replies, strict=True)
            if isinstance(reply, str)
        ]
        await self._submit(answered)
        self.written += len(answered)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply

    def _find_access(self, group: Sequence[TreeNode]) -> DocumentAccess:
        """Returns who may see a summary: the principals that may see each passage of which it is made."""
        access: DocumentAccess = None
        for node in group:
            access = narrow(access, self._access[node.chunk_id])
        return access

    async def _submit(self, submissions: Sequence[Submission]) -> None:
        self._keys.update(submission.key for submission in submissions)
        job: Job | None = None
        async with aclosing(submit_all(self._container, self._corpus, submissions, OnConflict.REPLACE)) as parts:
            async for part in parts:
                if part.rejected:
                    raise LoadFailed(f"{part.rejected[0].source!r} cannot be copied: {part.rejected[0].reason}")
                job = part.job
        if job is None:
            return
        job = await self._complete(job)
        if job.state is not JobState.DONE or job.failures:
            key, reason = job.failures[0] if job.failures else ("", f"the job is {job.state}")
            raise LoadFailed(f"the tree could not be written (job {job.id}): {key} {reason}")

    async def _read(self, keys: Sequence[str]) -> list[TreeNode]:
        """Returns the passages of these documents of the tree, in the order of the keys."""
        wanted = set(keys)
        documents = {
            document.key: document
            async for document in list_documents(self._container, self._corpus)
            if document.key in wanted
        }
        chosen = [documents[key] for key in dict.fromkeys(keys)]
        found: list[TreeNode] = []
        async for document, nodes in _read_nodes(self._container, self._corpus, chosen):
            self._access |= dict.fromkeys((node.chunk_id for node in nodes), document.access)
            found += nodes
        return found

    async def _delete_others(self) -> None:
        """Deletes what an earlier call wrote that does not belong to the tree, since the corpus has changed since."""
        others = [
            document.key
            async for document in list_documents(self._container, self._corpus)
            if document.key not in self._keys
        ]
        if others:
            job, _ = await delete_by_keys(self._container, self._corpus, others)
            await self._complete(job)


async def _read_nodes(
    container: Container, corpus: Corpus, documents: Sequence[Document]
) -> AsyncIterator[tuple[Document, list[TreeNode]]]:
    """Yields documents with their passages."""
    tokens = container.embedders.of(corpus).tokens
    for document in documents:
        chunks = await container.record.contents.get_chunks_of(corpus.id, document.id)
        counts = await asyncio.to_thread(tokens.count, [chunk.text for chunk in chunks])
        several = len(chunks) > 1
        yield (
            document,
            [
                TreeNode(
                    chunk_id=chunk.id,
                    view_id=chunk.view_id,
                    name=f"{document.key}#{chunk.position + 1}" if several else document.key,
                    title=document.title,
                    text=chunk.text,
                    tokens=count,
                )
                for chunk, count in zip(chunks, counts, strict=True)
            ],
        )


async def _fetch_vectors(container: Container, corpus: Corpus, nodes: Sequence[TreeNode]) -> dict[str, Any]:
    """Returns the vectors of passages by the ids of views. Raises `LoadFailed` if a vector is missing."""
    found: dict[str, Any] = {}
    for begin in range(0, len(nodes), MAX_DOCUMENTS):
        ids = [node.view_id for node in nodes[begin : begin + MAX_DOCUMENTS]]
        found |= await container.vectors.fetch(corpus.id, VectorKind.CHUNK, ids)
    missing = [node.name for node in nodes if node.view_id not in found]
    if missing:
        raise LoadFailed(
            f"corpus {corpus.name!r} has no vector of {missing[0]!r}; `hopweave doctor --repair` writes what is missing"
        )
    return found
