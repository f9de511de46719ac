"""`Data`: what the commands on corpora, documents and jobs need, and the choice of who does it.

`ServerData` asks the server that runs on the data folder, `LocalData` does it in this process.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from core.record_policy.errors import no_document

if TYPE_CHECKING:
    from core.corpora import Corpus, CorpusCounts
    from core.documents import Document, RevisionState
    from core.graph import FitTally
    from core.jobs import Job, JobKind, JobState
    from core.principals import DocumentAccess


T = TypeVar("T")
Json = dict[str, Any]


class Data(Protocol):
    """The corpora, documents and jobs of the data folder. `corpus` is a name.

    All methods raise the errors of `core.errors`, with the same message whoever answers.
    """

    async def list_corpora(self) -> "list[tuple[Corpus, CorpusCounts]]": ...

    async def show_corpus(self, corpus: str) -> "tuple[Corpus, CorpusCounts]": ...

    async def check_schema(self, corpus: str) -> "tuple[FitTally, bool] | None":
        """Returns how the facts fit the schema, and whether all are compared; None for a corpus without a schema."""
        ...

    async def rename_corpus(self, corpus: str, name: str) -> "tuple[Corpus, CorpusCounts]": ...

    async def delete_corpus(self, corpus: str) -> "Job":
        """Returns the job, which has begun."""
        ...

    async def list_documents(
        self,
        corpus: str,
        *,
        key: str | None,
        state: "RevisionState | None",
        enabled: bool | None,
        where: str | None,
        limit: int,
        cursor: str | None,
    ) -> "tuple[Sequence[Document], str | None]":
        """Returns a page, and the cursor of the next page. `where` is the text of a filter."""
        ...

    async def find_document(self, corpus: str, name: str) -> "Document | None":
        """Returns the document with this key, else the document with this id; None if there is neither."""
        ...

    async def delete_documents(self, corpus: str, documents: "Sequence[Document]") -> "Job":
        """Returns the job, which has begun."""
        ...

    async def delete_matching(self, corpus: str, where: Mapping[str, Any]) -> "Job":
        """Does the same for the documents that match a filter."""
        ...

    async def switch_documents(self, corpus: str, documents: "Sequence[Document]", *, enabled: bool) -> int:
        """Enables or disables documents, at once. Returns how many were not so before."""
        ...

    async def change_document(self, corpus: str, document: "Document", change: Mapping[str, Any]) -> "Job":
        """Changes title, metadata or both, and `enabled`. `change` is a body of `PATCH …/documents/{id}`."""
        ...

    async def list_validity(self, corpus: str) -> Sequence[Json]:
        """Returns `key`, `title` and `validity`, as the HTTP API shows it, of the documents that state something on
        their validity, by key.
        """
        ...

    async def compare_documents(self, corpus: str, old: "Document | None", new: "Document") -> Json:
        """Returns what changed, as the HTTP API shows it."""
        ...

    async def set_access(
        self,
        corpus: str,
        documents: "Sequence[Document]",
        where: Mapping[str, Any] | None,
        access: "DocumentAccess",
    ) -> int:
        """Says who may see documents, or with `where` all that match a filter, at once. Returns how many there are."""
        ...

    async def read_content(self, corpus: str, document: "Document") -> bytes: ...

    async def read_pages(self, corpus: str, document: "Document", *, only: int | None) -> Mapping[int, str]:
        """Returns the texts of all pages by number, or of one page."""
        ...

    async def list_jobs(
        self,
        *,
        corpus: str | None,
        kind: "JobKind | None",
        state: "JobState | None",
        limit: int,
        cursor: str | None,
    ) -> "tuple[Sequence[Job], str | None]":
        """Returns a page, newest first, and the cursor of the next page."""
        ...

    async def show_job(self, job: str) -> "Job": ...

    async def cancel_job(self, job: str) -> "Job": ...

    async def resume_job(self, job: str, *, tokens: int | None) -> "Job": ...

    async def list_questions(
        self, corpus: str, *, kept: bool | None, limit: int, cursor: str | None
    ) -> tuple[list[Json], str | None]:
        """Returns a page of stored questions as the HTTP API shows them, newest first, and the cursor of the next."""
        ...

    async def show_question(self, corpus: str, id: str) -> Json: ...

    async def ask_again(self, corpus: str, id: str) -> Json:
        """Asks a stored question again, and returns the new question when it has ended."""
        ...

    async def compare_question(self, corpus: str, id: str) -> Json:
        """Returns what changed since the question that this question asks again."""
        ...

    async def keep_question(self, corpus: str, id: str, *, kept: bool) -> Json: ...

    async def delete_question(self, corpus: str, id: str) -> None: ...

    async def complete(self, job: "Job") -> "Job":
        """Waits until the job is final or paused, while a worker runs, and returns it."""
        ...


def run_with_data(work: "Callable[[Data], Awaitable[T]]") -> "T":
    """Runs `work` with the data of the server that runs on the data folder; if there is none, of this process.

    A server with other settings or another version refuses the first request of `work`, which is then run again here.
    """
    from cli.local_server import Misdirected, find_server
    from core.settings import read_settings

    settings = read_settings()
    if (server := find_server(settings)) is not None:
        from cli.data.server_data import ServerData

        with closing(server):
            try:
                return asyncio.run(_await(work(ServerData(server, settings))))
            except Misdirected:
                pass
    from cli.data.local_data import LocalData
    from cli.runtime import present_folder

    async def run_here() -> "T":
        async with LocalData(used) as data:
            return await work(data)

    with present_folder(settings, creates=False) as used:
        return asyncio.run(run_here())


async def get_document(data: Data, corpus: str, name: str) -> "Document":
    """Returns the document with this key, else the document with this id. Raises `NotFound`."""
    found = await data.find_document(corpus, name)
    if found is None:
        raise no_document(corpus, name)
    return found


async def _await(one: "Awaitable[T]") -> "T":
    return await one
