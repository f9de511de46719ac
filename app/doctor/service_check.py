"""Examines the services that need no store: the models and the web search."""

from collections.abc import AsyncIterator

from app.container import Container
from app.doctor.findings import Finding, Level
from app.doctor.model_check import check_models
from core.errors import HopweaveError
from core.ports.embedding_form import split_form
from models import make_chat_models

__all__ = ["examine_services"]


async def examine_services(container: Container) -> AsyncIterator[Finding]:
    """Yields one finding for each model, and one for the web search."""
    yield await _examine_embedding_model(container)
    for finding in await _examine_language_models(container):
        yield finding
    yield await _examine_reranker(container)
    yield _examine_web(container)


async def _examine_embedding_model(container: Container) -> Finding:
    try:
        vector = await container.embedder.embed_query("Does the model answer?")
    except HopweaveError as error:
        told = "HOPWEAVE_EMBEDDING__" in str(error)  # the setting that is wrong, which may be any of them
        remedy = "" if told else "check HOPWEAVE_EMBEDDING__MODEL and HOPWEAVE_EMBEDDING__KIND"
        return Finding(subject="embedding model", level=Level.PROBLEM, detail=str(error), remedy=remedy)
    weights, form = split_form(container.embedder.model)
    detail = f"{weights} answers with {len(vector)} dimensions, {form.describe() or 'no prefixes'}"
    return Finding(subject="embedding model", level=Level.OK, detail=detail)


async def _examine_language_models(container: Container) -> list[Finding]:
    settings = container.settings.llm
    models = make_chat_models(settings, None, None)
    try:
        return await check_models(models, settings)
    finally:
        await models.close()


async def _examine_reranker(container: Container) -> Finding:
    subject = "reranker"
    try:
        if container.reranker is None:
            remedy = "HOPWEAVE_RERANKER__KIND sets one, for the searcher `reranked` and the reasoner `omni`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
        await container.reranker.rank("Does it answer?", ["It does."])
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    return Finding(subject=subject, level=Level.OK, detail=f"{container.settings.reranker.kind} answers")


def _examine_web(container: Container) -> Finding:
    """Returns whether a web search is configured. No query is sent."""
    subject = "web search"
    try:
        if container.web is None:
            remedy = "HOPWEAVE_WEB__KIND sets one, for the searcher `web`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    detail = f"{container.settings.web.kind} is configured; no query was sent to try it"
    return Finding(subject=subject, level=Level.OK, detail=detail)
