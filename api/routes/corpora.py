"""The routes of corpora: list, create, show, rename, delete, reindex."""

from http import HTTPStatus

from fastapi import APIRouter, Response

from api.deps import ContainerDep, CorpusDep, set_job_location
from api.schemas.corpora import (
    CorpusDetailOut,
    CorpusIn,
    CorpusListOut,
    CorpusOut,
    ReindexIn,
    RenameIn,
)
from api.schemas.jobs import StartedOut
from app.services import corpora

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora", tags=["corpora"])


@router.get("", summary="List corpora, by name")
async def list_corpora(container: ContainerDep) -> CorpusListOut:
    return CorpusListOut(data=[CorpusOut.from_corpus(corpus) for corpus in await container.record.corpora.list()])


@router.post("", summary="Create a corpus", status_code=HTTPStatus.CREATED)
async def create_corpus(body: CorpusIn, container: ContainerDep, response: Response) -> CorpusOut:
    corpus = await corpora.create(container, body.name, chunker=body.chunker, extractor=body.extractor, fine=body.fine)
    response.headers["Location"] = f"/v1/corpora/{corpus.name}"
    return CorpusOut.from_corpus(corpus)


@router.get("/{corpus}", summary="A corpus with its settings and counts")
async def show_corpus(corpus: CorpusDep, container: ContainerDep) -> CorpusDetailOut:
    return CorpusDetailOut.from_counts(corpus, await container.record.corpora.count(corpus.id))


@router.patch("/{corpus}", summary="Rename a corpus")
async def rename_corpus(corpus: CorpusDep, body: RenameIn, container: ContainerDep) -> CorpusOut:
    return CorpusOut.from_corpus(await container.record.corpora.rename(corpus.name, body.name))


@router.delete(
    "/{corpus}",
    summary="Delete a corpus with everything in it",
    status_code=HTTPStatus.ACCEPTED,
    operation_id="drop_corpus_v1_corpora__corpus__delete",  # the name that clients were generated with
)
async def delete_corpus(corpus: CorpusDep, container: ContainerDep, response: Response) -> StartedOut:
    job = await corpora.delete(container, corpus.name)
    set_job_location(response, job.id)
    return StartedOut.from_job(job)


@router.post("/{corpus}/reindex", summary="Index a corpus again in the background", status_code=HTTPStatus.ACCEPTED)
async def reindex_corpus(corpus: CorpusDep, body: ReindexIn, container: ContainerDep, response: Response) -> StartedOut:
    """The present index answers until the new one is complete and replaces it. Cancelling the job stops it.

    If a document that is readable now cannot be indexed again, the job fails and the present index stays.
    """
    job = await corpora.reindex(container, corpus.name, chunker=body.chunker, extractor=body.extractor, fine=body.fine)
    set_job_location(response, job.id)
    return StartedOut.from_job(job)
