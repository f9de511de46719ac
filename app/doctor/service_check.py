"""The models and the search engine: what needs no store."""

from collections.abc import AsyncIterator

from app.container import Container
from app.doctor.findings import Finding, Level
from app.doctor.model_check import check_models
from core.errors import HopweaveError
from models import make_chat_models

__all__ = ["examine_services"]


async def examine_services(container: Container) -> AsyncIterator[Finding]:
    """One finding each for the models, and one for the web search."""
    yield await _embedding_model(container)
    for finding in await _language_models(container):
        yield finding
    yield await _reranker(container)
    yield _web(container)


async def _embedding_model(container: Container) -> Finding:
    try:
        vector = await container.embedder.embed_query("Does the model answer?")
    except HopweaveError as error:
        remedy = "check HOPWEAVE_EMBEDDING__MODEL and HOPWEAVE_EMBEDDING__KIND"
        return Finding(subject="embedding model", level=Level.PROBLEM, detail=str(error), remedy=remedy)
    detail = f"{container.embedder.model} answers with {len(vector)} dimensions"
    return Finding(subject="embedding model", level=Level.OK, detail=detail)


async def _language_models(container: Container) -> list[Finding]:
    settings = container.settings.llm
    models = make_chat_models(settings, None, None)
    try:
        return await check_models(models, settings)
    finally:
        await models.close()


async def _reranker(container: Container) -> Finding:
    subject = "reranker"
    try:
        if container.reranker is None:
            remedy = "HOPWEAVE_RERANKER__KIND sets one, for the searcher `reranked` and the reasoner `omni`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
        await container.reranker.rank("Does it answer?", ["It does."])
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    return Finding(subject=subject, level=Level.OK, detail=f"{container.settings.reranker.kind} answers")


def _web(container: Container) -> Finding:
    """Configured or not; nothing is sent out to try it."""
    subject = "web search"
    try:
        if container.web is None:
            remedy = "HOPWEAVE_WEB__KIND sets one, for the searcher `web`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    detail = f"{container.settings.web.kind} is configured; no query was sent to try it"
    return Finding(subject=subject, level=Level.OK, detail=detail)
