"""Corpora: list, create, show, rename, drop."""

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
    corpus_detail,
    corpus_out,
)
from api.schemas.jobs import StartedOut, job_out
from app.services import corpora

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora", tags=["corpora"])


@router.get("", summary="List corpora, by name")
async def list_corpora(container: ContainerDep) -> CorpusListOut:
    return CorpusListOut(data=[corpus_out(corpus) for corpus in await container.record.corpora.list()])


@router.post("", summary="Create a corpus", status_code=HTTPStatus.CREATED)
async def create_corpus(body: CorpusIn, container: ContainerDep, response: Response) -> CorpusOut:
    corpus = await corpora.create(container, body.name, chunker=body.chunker, extractor=body.extractor, fine=body.fine)
    response.headers["Location"] = f"/v1/corpora/{corpus.name}"
    return corpus_out(corpus)


@router.get("/{corpus}", summary="A corpus with its settings and counts")
async def show_corpus(corpus: CorpusDep, container: ContainerDep) -> CorpusDetailOut:
    return corpus_detail(corpus, await container.record.corpora.count(corpus.id))


@router.patch("/{corpus}", summary="Rename a corpus")
async def rename_corpus(corpus: CorpusDep, body: RenameIn, container: ContainerDep) -> CorpusOut:
    return corpus_out(await container.record.corpora.rename(corpus.name, body.name))


@router.delete("/{corpus}", summary="Drop a corpus with everything in it", status_code=HTTPStatus.ACCEPTED)
async def drop_corpus(corpus: CorpusDep, container: ContainerDep, response: Response) -> StartedOut:
    job = await corpora.drop(container, corpus.name)
    set_job_location(response, job.id)
    return StartedOut(job=job_out(job))


@router.post("/{corpus}/reindex", summary="Build a corpus anew beside itself", status_code=HTTPStatus.ACCEPTED)
async def reindex_corpus(corpus: CorpusDep, body: ReindexIn, container: ContainerDep, response: Response) -> StartedOut:
    """The old one answers until the new one is whole; then they are swapped. Cancelling the job ends it.

    A document that can be read now and cannot be indexed anew ends the job as failed, and the old corpus stays.
    """
    job = await corpora.reindex(container, corpus.name, chunker=body.chunker, extractor=body.extractor, fine=body.fine)
    set_job_location(response, job.id)
    return StartedOut(job=job_out(job))
