"""The adapters of an installation: stores, models, caches and the notifier, made on first use and closed together.

First come its loaders and its images of pages, with the options and limits of the settings, and the process that writes
the snapshot file of a large corpus: what that takes in memory ends with the process.
"""

import asyncio
import logging
import os
import signal
import subprocess
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from app.broker.notifier import Notifier
from app.composition import choose_composition
from app.composition.composition import Closable
from app.container.embedders import Embedders
from app.container.prompts import check_roles, read_prompts
from app.container.trail_writer import TrailWriter
from core.errors import InvalidSettings, InvalidStrategy, Unavailable
from core.execution.processes import python_command
from core.execution.shared_secrets import SharedSecret
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.record import Corpora, Record
from core.ports.retrieval import Reranker
from core.ports.views import TextIndex, VectorStore
from core.settings import Settings
from indexer import (
    Docling,
    DoclingEndpoint,
    DoclingProcess,
    LaneLimits,
    Loaders,
    LoadingLane,
    PageImages,
    ParserLimits,
)
from models import RecordCache, make_chat_models, make_embedder
from models.rerankers.choice import make_reranker
from retrieval import SnapshotCache, SnapshotFiles, WebAccess
from stores.files import make_file_store
from stores.sqlite import SqliteModelCache
from stores.web import make_web_search

_MEGABYTE = 1024 * 1024
_PAGES = LaneLimits(what="texts of pages", all=64, of_one=16)
_ESTIMATES = LaneLimits(what="estimates", all=16, of_one=4)  # each holds its documents in memory


def _make_loaders(settings: Settings) -> Loaders:
    """Raises `InvalidSettings` if `HOPWEAVE_LOADERS` names an unknown loader or option."""
    try:
        return Loaders(settings.loaders, _limits(settings), _make_docling(settings))
    except InvalidStrategy as error:
        raise InvalidSettings(f"HOPWEAVE_LOADERS: {error}") from error


def _make_page_lane(settings: Settings) -> LoadingLane:
    return LoadingLane("page-texts", _PAGES, settings.loaders, _limits(settings), _make_docling(settings))


def _make_docling(settings: Settings) -> Docling | None:
    """Raises `InvalidSettings` if docling is to run here and is not installed."""
    docling = settings.docling
    if not docling.formats:
        return None
    languages = tuple(docling.ocr_languages)
    if docling.url:
        from models.docling_serve import DoclingServe  # imports its client of HTTP

        converter = DoclingServe(
            url=docling.url, api_key=docling.api_key, seconds=docling.seconds, ocr=docling.ocr, languages=languages
        )
        return DoclingEndpoint(docling.formats, converter)
    if find_spec("docling") is None:
        raise InvalidSettings(
            "HOPWEAVE_DOCLING__FORMATS without HOPWEAVE_DOCLING__URL needs docling, which is not installed: "
            'pip install "hopweave[docling]" (or uv tool install "hopweave[docling]")'
        )
    limits = ParserLimits(
        memory=docling.memory_mb * _MEGABYTE,
        kept=0.75,
        seconds=docling.seconds,
        output=settings.parser.output_mb * _MEGABYTE,
        seconds_setting="HOPWEAVE_DOCLING__SECONDS",
        memory_setting="HOPWEAVE_DOCLING__MEMORY_MB",
    )
    artifacts = str(docling.artifacts.absolute()) if docling.artifacts else ""
    return DoclingProcess(
        docling.formats,
        artifacts=artifacts,
        ocr=docling.ocr,
        languages=languages,
        limits=limits,
    )


def _make_estimate_lane(settings: Settings) -> LoadingLane:
    """An estimate reads with our own loaders: it is to take seconds, and to send nothing."""
    seconds, name = settings.parser.estimate_seconds, "HOPWEAVE_PARSER__ESTIMATE_SECONDS"
    limits = replace(_limits(settings), seconds=seconds, seconds_setting=name)
    return LoadingLane("estimates", _ESTIMATES, settings.loaders, limits)


def _make_page_images(settings: Settings) -> PageImages:
    return PageImages(_limits(settings), settings.parser.image_seconds)


def _limits(settings: Settings) -> ParserLimits:
    parser = settings.parser
    return ParserLimits(
        memory=parser.memory_mb * _MEGABYTE, seconds=parser.seconds, output=parser.output_mb * _MEGABYTE
    )


_MODULE = "app.worker.snapshot_process"
_LEAST_CHUNKS = 20_000
_LOG_BYTES = 2_000

_log = logging.getLogger("hopweave.app")


class SnapshotWriter:
    """Builds snapshots of corpora with at least `least_chunks` passages. Smaller snapshots take two seconds."""

    def __init__(self, data_dir: Path, corpora: Corpora, *, least_chunks: int = _LEAST_CHUNKS) -> None:
        self._data_dir = data_dir
        self._corpora = corpora
        self._least_chunks = least_chunks

    async def write(self, corpus_id: str) -> bool:
        """Writes or updates the file of a corpus in a child process, which takes a minute and more for a million
        passages.

        Returns False for a smaller corpus, and if the child fails, which is logged. The child ends with this process,
        and when the task is cancelled. Raises `Unavailable` if the child is killed.
        """
        if (await self._corpora.count(corpus_id)).chunks < self._least_chunks:
            return False
        process = self._start(corpus_id)
        try:
            code, told = await asyncio.to_thread(_wait, process)
        finally:
            process.kill()
        if code == -signal.SIGKILL:
            raise Unavailable(
                f"the snapshot of corpus {corpus_id} was not built: its process was killed, as Linux does when memory "
                "is short; a million passages take some 5 GB while it is built"
            )
        if code:
            _log.warning("the process that writes the snapshot of corpus %s failed: %s", corpus_id, told)
        return code == 0

    def _start(self, corpus_id: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - our own module, our own interpreter
            python_command(_MODULE, corpus_id),
            env={**os.environ, "HOPWEAVE_DATA_DIR": str(self._data_dir.resolve())},
            stdin=subprocess.PIPE,  # it ends when this is closed, however this process ended
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )


def _wait(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Returns the exit code, and the end of what the process wrote to its standard error."""
    assert process.stderr is not None  # noqa: S101 - for the type checker
    with process:
        told = process.stderr.read()
    return process.returncode, told[-_LOG_BYTES:].decode(errors="replace").strip()


class Adapters:
    """Makes each part once, when it is first used. `close` closes what was made, in reverse order.

    Roles, `prompts` and `loaders` are checked at once; raises `InvalidSettings` as `check_roles`, `read_prompts` and
    `_make_loaders` do.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        check_roles(settings.llm)
        self.prompts = read_prompts(settings)
        self.loaders = _make_loaders(settings)
        self.page_images = _make_page_images(settings)
        self.page_lane = _make_page_lane(settings)
        self.estimate_lane = _make_estimate_lane(settings)
        self.composition = choose_composition(settings)
        self._closers: list[Closable] = [self.loaders, self.page_images, self.page_lane, self.estimate_lane]

    @cached_property
    def record(self) -> Record:
        record = self.composition.make_record()
        self._closers.append(record)
        return record

    @cached_property
    def trails(self) -> TrailWriter | None:
        """None if answers leave no trail."""
        trails = self.composition.make_trails()
        if trails is None:
            return None
        _ = self.record  # its connection is closed after the writer
        writer = TrailWriter(trails)
        self._closers.append(writer)
        return writer

    @cached_property
    def vectors(self) -> VectorStore:
        vectors = self.composition.make_vectors()
        self._closers.append(vectors)
        return vectors

    @cached_property
    def text(self) -> TextIndex:
        text = self.composition.make_text_index()
        self._closers.append(text)
        return text

    @cached_property
    def certificate_secret(self) -> SharedSecret:
        """The secret from which the keys of certificates of deletions are derived."""
        return SharedSecret(
            self.settings.certificates.secret.get_secret_value(),
            self.settings.data_dir / "certificates.secret",
            what="the secret of certificates",
            setting="HOPWEAVE_CERTIFICATES__SECRET",
        )

    @cached_property
    def files(self) -> FileStore:
        return make_file_store(self.settings.files.url, self.settings.data_dir / "files")

    @cached_property
    def embedder(self) -> Embedder:
        """The configured model."""
        embedder = make_embedder(self.settings.embedding)
        self._closers.append(embedder)
        return embedder

    @cached_property
    def embedders(self) -> Embedders:
        """The configured model, and the models of corpora that were built with another model."""
        embedders = Embedders(self.settings.embedding, lambda: self.embedder, make_embedder)
        self._closers.append(embedders)
        return embedders

    @cached_property
    def models(self) -> ChatModels | None:
        """None if no language model is configured, in general or for a role. Raises `InvalidSettings`."""
        llm = self.settings.llm
        if not llm.model and not any(role.model for role in llm.roles.values()):
            return None
        cache = SqliteModelCache(self._model_cache_path) if llm.cache else None
        models = make_chat_models(self.settings.llm, cache, self.record.graph)
        self._closers += [cache, models] if cache else [models]
        return models

    async def delete_cached_answers(self, corpus_id: str) -> None:
        """Deletes the cached model answers that were made from deleted contents of a corpus, or from a deleted corpus.

        Does so whether or not answers are cached now.
        """
        if self._model_cache_path.exists():
            await self._record_cache.follow(corpus_id)

    @property
    def _model_cache_path(self) -> Path:
        return self.settings.data_dir / "model-cache.db"

    @cached_property
    def _record_cache(self) -> RecordCache:
        cache = RecordCache(SqliteModelCache(self._model_cache_path), self.record.graph)
        self._closers.append(cache)
        return cache

    @cached_property
    def reranker(self) -> Reranker | None:
        reranker = make_reranker(self.settings.reranker)
        self._closers += [reranker] if reranker else []
        return reranker

    @cached_property
    def web(self) -> WebAccess | None:
        search = make_web_search(self.settings.web)
        if search is None:
            return None
        self._closers.append(search)
        return WebAccess(search=search, after_private=self.settings.web.after_private)

    @cached_property
    def notifier(self) -> Notifier:
        notifier = self.composition.make_notifier()
        self._closers.append(notifier)
        return notifier

    @cached_property
    def snapshots(self) -> SnapshotCache:
        return self.make_snapshots(SnapshotWriter(self.settings.data_dir, self.record.corpora))

    def make_snapshots(self, writer: SnapshotWriter | None = None, *, wait_seconds: float = 60.0) -> SnapshotCache:
        """Returns a cache without snapshots. Without a `writer`, it builds snapshots of large corpora in this process.

        A snapshot that another process builds is waited for, at most `wait_seconds`.
        """
        graph = self.record.graph
        if not self.settings.store.mapped_snapshots:
            snapshots = SnapshotCache(graph)
        else:
            files = SnapshotFiles(graph, self.settings.data_dir / "snapshots", wait_seconds=wait_seconds)
            snapshots = SnapshotCache(graph, files=files, write_apart=None if writer is None else writer.write)
        self._closers.append(snapshots)
        return snapshots

    async def close(self) -> None:
        for closer in reversed(self._closers):
            await closer.close()
        self._closers.clear()
