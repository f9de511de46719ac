"""One corpus: its embedding model, what is stale, its work, and its views against the record."""

from collections.abc import AsyncIterator, Sequence

from app.container import Container
from app.doctor.consistency import ViewState, examine_views, finding_of, named_by_record
from app.doctor.findings import Finding, Level
from app.doctor.index_check import examine_index
from app.doctor.scripts import unread_scripts
from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import HopweaveError, InvalidStrategy
from indexer import versions_of

__all__ = ["CorpusExamination"]

_SHOWN = 1000


class CorpusExamination:
    """What is found of one corpus; `states` are those of its views, once `findings` has been read to its end."""

    def __init__(self, container: Container, corpus: Corpus, *, waiting: bool) -> None:
        self._container = container
        self._corpus = corpus
        self._waiting = waiting
        self.states: Sequence[ViewState] = ()

    async def findings(self) -> AsyncIterator[Finding]:
        """Raises nothing that a store may raise: that is a finding, too."""
        yield self._embedding()
        yield self._versions()
        try:
            async for finding in self._of_rows():
                yield finding
        except HopweaveError as error:
            yield self._finding("views", Level.PROBLEM, str(error))

    async def _of_rows(self) -> AsyncIterator[Finding]:
        container, corpus = self._container, self._corpus
        working = await self._in_work()
        yield await self._work(working)
        named = await named_by_record(container, corpus)
        self.states = await examine_views(container, corpus, named, busy=working > 0 or self._waiting)
        for state in self.states:
            yield finding_of(corpus, state)
        if (index := await examine_index(container, corpus)) is not None:
            yield index
        unmentioned = await container.record.maintenance.count_orphans(corpus.id)
        if unmentioned:
            remedy = "`hopweave doctor --repair` removes them"
            yield self._finding("entities", Level.PROBLEM, f"{unmentioned} are mentioned by nothing", remedy)
        unread = unread_scripts(named.sample, container.embedder.tokens)
        if unread:
            detail = f"{container.embedder.model} does not know the corpus' scripts: {', '.join(unread).lower()}"
            remedy = "choose a model that does with HOPWEAVE_EMBEDDING__MODEL, then `hopweave corpora reindex`"
            yield self._finding("scripts", Level.NOTE, detail, remedy)

    def _embedding(self) -> Finding:
        try:
            self._container.check_embedding(self._corpus)
        except HopweaveError as error:
            return self._finding("embedding", Level.PROBLEM, str(error))
        return self._finding("embedding", Level.OK, f"{self._corpus.settings.embedding_model}, as configured")

    def _versions(self) -> Finding:
        """Whether it would be built as it was; a corpus of an older release does not say how it was built."""
        settings = self._corpus.settings
        try:
            now = versions_of(settings.chunker, settings.extractor, self._container.models)
        except InvalidStrategy as error:
            return self._finding("versions", Level.NOTE, str(error))
        changed = [
            f"{role} {settings.versions[role]} (now {version})"
            for role, version in now.items()
            if role in settings.versions and settings.versions[role] != version
        ]
        if not changed:
            return self._finding("versions", Level.OK, ", ".join(now.values()))
        remedy = f"`hopweave corpora reindex {self._corpus.name}` builds it anew"
        return self._finding("versions", Level.NOTE, f"built with {', '.join(changed)}: stale", remedy)

    async def _in_work(self) -> int:
        """How many documents some worker has, or had, in hand (at most a thousand of each state are counted)."""
        states = [state for state in RevisionState if state.in_work]
        documents = self._container.record.documents
        pages = [await documents.list(self._corpus.id, limit=_SHOWN, state=state) for state in states]
        return sum(len(page.data) for page in pages)

    async def _work(self, working: int) -> Finding:
        lapsed = await self._container.record.maintenance.count_expired_leases(self._corpus.id)
        if lapsed:
            detail = f"{lapsed} documents were left in work by a worker that is gone"
        elif working or self._waiting:
            detail = f"{working} documents are in work" + ("; more is waiting" if self._waiting else "")
        else:
            return self._finding("work", Level.OK, "nothing is waiting")
        remedy = "a running worker takes it over; else `hopweave serve`, `ingest` or `worker` goes on with it"
        return self._finding("work", Level.NOTE, detail, remedy)

    def _finding(self, what: str, level: Level, detail: str, remedy: str = "") -> Finding:
        return Finding(subject=f"corpus {self._corpus.name}: {what}", level=level, detail=detail, remedy=remedy)
