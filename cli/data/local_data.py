"""`LocalData`: the data of the folder in this process. Each method imports only what it needs."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from api.cursors import decode_cursor, encode_cursor
from app.composition import choose_composition
from cli.flows import questions
from core.corpora import Corpus, CorpusCounts
from core.documents import Document, RevisionState
from core.errors import NotFound
from core.graph import FitTally
from core.jobs import Job, JobKind, JobState
from core.ports.record import Record
from core.principals import DocumentAccess
from core.settings import Settings

if TYPE_CHECKING:
    from app.container import Container


Json = dict[str, Any]


class LocalData:
    """Implements `cli.data.data.Data`. A context manager; it opens the record or the container on first use."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for name in ("container", "record"):
            if name in vars(self):
                await vars(self)[name].close()

    @cached_property
    def record(self) -> Record:
        """The record without the rest of the container, whose import takes most of the time of a short command."""
        return choose_composition(self._settings).make_record()

    @cached_property
    def container(self) -> "Container":
        from app.container import Container

        return Container(self._settings)

    async def list_corpora(self) -> list[tuple[Corpus, CorpusCounts]]:
        corpora = self.record.corpora
        return [(corpus, await corpora.count(corpus.id)) for corpus in await corpora.list()]

    async def show_corpus(self, corpus: str) -> tuple[Corpus, CorpusCounts]:
        return await self._count(await self.record.corpora.get(corpus))

    async def check_schema(self, corpus: str) -> tuple[FitTally, bool] | None:
        found = await self.record.corpora.get(corpus)
        if await self.record.graph_schemas.get(found.id) is None:
            return None
        from app.services.graph import check_facts

        fits = await check_facts(self.container, found)
        return FitTally(within=fits.within, outside=fits.outside, unnamed=fits.unnamed), fits.complete

    async def rename_corpus(self, corpus: str, name: str) -> tuple[Corpus, CorpusCounts]:
        return await self._count(await self.record.corpora.rename(corpus, name))

    async def delete_corpus(self, corpus: str) -> Job:
        from app.services.corpora import delete

        return await delete(self.container, corpus)

    async def list_documents(
        self,
        corpus: str,
        *,
        key: str | None,
        state: RevisionState | None,
        enabled: bool | None,
        where: str | None,
        limit: int,
        cursor: str | None,
    ) -> tuple[Sequence[Document], str | None]:
        from app.services.documents import list_matching
        from cli.options import parse_filter_text
        from core.filters import parse_filter

        found = await self.record.corpora.get(corpus)
        scope = ("documents", found.id, key, state, where, None if enabled is None else str(enabled))
        selected: dict[str, Any] = {"key": key, "state": state, "enabled": enabled, "limit": limit}
        selected["cursor"] = decode_cursor(cursor, *scope)
        only = parse_filter_text(where)
        if only is None:
            page = await self.record.documents.list(found.id, **selected)
        else:
            page = await list_matching(self, found, parse_filter(only), **selected)
        return page.data, encode_cursor(page.next_cursor, *scope)

    async def list_validity(self, corpus: str) -> Sequence[Json]:
        from api.schemas.validity import convert_validity
        from api.schemas.values import dump
        from app.services.validity import open_register

        register = await open_register(self.container, await self.record.corpora.get(corpus))
        refs = [] if register is None else sorted(register.dated.values(), key=lambda ref: ref.key)
        found = {} if register is None else register.validity
        shown = ((ref, convert_validity(found[ref.id])) for ref in refs)
        return [{"key": ref.key, "title": ref.title, "validity": dump(validity)} for ref, validity in shown]

    async def compare_documents(self, corpus: str, old: Document | None, new: Document) -> Json:
        from api.schemas.validity import convert_differences
        from api.schemas.values import dump
        from app.services.validity import compare_documents

        found = await self.record.corpora.get(corpus)
        return dump(
            convert_differences(await compare_documents(self.container, found, new.id, None if old is None else old.id))
        )

    async def find_document(self, corpus: str, name: str) -> Document | None:
        from app.services.documents import find_document

        found = await self.record.corpora.get(corpus)
        try:
            return await find_document(self, found, name)
        except NotFound:
            return None

    async def delete_documents(self, corpus: str, documents: Sequence[Document]) -> Job:
        from app.services.ingestion import delete_documents

        return await delete_documents(
            self.container, await self.record.corpora.get(corpus), [one.id for one in documents]
        )

    async def delete_matching(self, corpus: str, where: Mapping[str, Any]) -> Job:
        from app.services.documents import delete_matching
        from core.filters import parse_filter

        return await delete_matching(self.container, await self.record.corpora.get(corpus), parse_filter(where))

    async def switch_documents(self, corpus: str, documents: Sequence[Document], *, enabled: bool) -> int:
        found = await self.record.corpora.get(corpus)
        ids = [one.id for one in documents]
        return len(await self.record.submissions.set_enabled(found.id, ids, enabled=enabled))

    async def change_document(self, corpus: str, document: Document, change: Mapping[str, Any]) -> Job:
        from api.schemas.documents import DocumentPatchIn
        from app.services.documents import patch_document

        patch = DocumentPatchIn.model_validate(change)
        apply = patch.apply if patch.makes_revision else None
        access = patch.new_access if patch.sets_access else ...
        found = await self.record.corpora.get(corpus)
        changed = await patch_document(self.container, found, document.id, apply, enabled=patch.enabled, access=access)
        return changed.job

    async def set_access(
        self, corpus: str, documents: Sequence[Document], where: Mapping[str, Any] | None, access: DocumentAccess
    ) -> int:
        from app.services.documents import set_access_by_keys, set_access_matching
        from core.filters import parse_filter

        found = await self.record.corpora.get(corpus)
        if where is not None:
            return await set_access_matching(self.container, found, parse_filter(where), access)
        changed, _ = await set_access_by_keys(self.container, found, [one.key for one in documents], access)
        return changed

    async def read_content(self, corpus: str, document: Document) -> bytes:
        found = await self.record.corpora.get(corpus)
        return await self.container.files.get(found.id, document.content_hash)

    async def read_pages(self, corpus: str, document: Document, *, only: int | None) -> Mapping[int, str]:
        from app.services.documents import load_pages

        return await load_pages(self.container, await self.record.corpora.get(corpus), document, only=only)

    async def list_jobs(
        self, *, corpus: str | None, kind: JobKind | None, state: JobState | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Job], str | None]:
        scope = ("jobs", corpus, kind, state)
        before = decode_cursor(cursor, *scope)
        found = await self.record.jobs.list(limit=limit + 1, before=before, corpus=corpus, kind=kind, state=state)
        last = found[limit - 1].id if len(found) > limit else None
        return found[:limit], encode_cursor(last, *scope)

    async def show_job(self, job: str) -> Job:
        return await self.record.jobs.get(job)

    async def cancel_job(self, job: str) -> Job:
        return await self.record.jobs.cancel(job)

    async def resume_job(self, job: str, *, tokens: int | None) -> Job:
        from app.services.ingestion import resume

        return await resume(self.container, job, tokens=tokens)

    async def list_questions(
        self, corpus: str, *, kept: bool | None, limit: int, cursor: str | None
    ) -> tuple[list[Json], str | None]:
        return await questions.list_questions(self.container, corpus, kept=kept, limit=limit, cursor=cursor)

    async def show_question(self, corpus: str, id: str) -> Json:
        return await questions.show_question(self.container, corpus, id)

    async def ask_again(self, corpus: str, id: str) -> Json:
        return await questions.ask_again(self.container, corpus, id)

    async def compare_question(self, corpus: str, id: str) -> Json:
        return await questions.compare_question(self.container, corpus, id)

    async def keep_question(self, corpus: str, id: str, *, kept: bool) -> Json:
        return await questions.keep_question(self.container, corpus, id, kept=kept)

    async def delete_question(self, corpus: str, id: str) -> None:
        await questions.delete_question(self.container, corpus, id)

    async def complete(self, job: Job) -> Job:
        from cli.flows.jobs import complete_job

        return await complete_job(self.container, job)

    async def _count(self, corpus: Corpus) -> tuple[Corpus, CorpusCounts]:
        return corpus, await self.record.corpora.count(corpus.id)
