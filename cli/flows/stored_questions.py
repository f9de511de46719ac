"""Stored questions in this process, as the HTTP API shows them."""

from typing import TYPE_CHECKING, Any

from api.deps import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from app.container import Container

__all__ = ["ask_again", "compare_question", "delete_question", "keep_question", "list_questions", "show_question"]

Json = dict[str, Any]


async def list_questions(
    container: "Container", corpus: str, *, kept: bool | None, limit: int, cursor: str | None
) -> tuple[list[Json], str | None]:
    """Deletes expired questions, then returns a page, newest first, and the cursor of the next page."""
    from api.schemas import stored_questions as schemas
    from app.services.stored_questions import questions

    found = await container.record.corpora.get(corpus)
    await container.record.questions.prune(after_seconds=container.settings.questions.stored_seconds)
    scope = ("questions", found.id, None if kept is None else str(kept))
    before = decode_cursor(cursor, *scope)
    listed = await questions.list_questions(container, found, kept=kept, limit=limit + 1, before=before)
    last = listed[limit - 1].id if len(listed) > limit else None
    return [schemas.show_question(found, one) for one in listed[:limit]], encode_cursor(last, *scope)


async def show_question(container: "Container", corpus: str, id: str) -> Json:
    from api.schemas import stored_questions as schemas
    from app.services.stored_questions import questions

    found = await container.record.corpora.get(corpus)
    return schemas.show_question(found, await questions.read_question(container, found, id))


async def ask_again(container: "Container", corpus: str, id: str) -> Json:
    """Asks a question again, and returns the new question when it has ended."""
    from api.schemas import stored_questions as schemas
    from app.services.stored_questions import questions
    from app.services.stored_questions.runner import answer_stored
    from core.trace import Trace

    found = await container.record.corpora.get(corpus)
    body = schemas.load_request(await container.record.questions.get(found.id, id))
    request, trace = body.to_request(), Trace(budget=body.budget.within(container.settings.budget))
    await questions.check_askable(container, found, request)
    made = await questions.store_question(container, found, schemas.dump_request(body), again_of=id)
    await answer_stored(container, found, made.id, request, trace, schemas.StoredForm())
    return await show_question(container, corpus, made.id)


async def compare_question(container: "Container", corpus: str, id: str) -> Json:
    from api.schemas.stored_questions import QuestionChangesOut
    from app.services.stored_questions import questions

    found = await container.record.corpora.get(corpus)
    return QuestionChangesOut.from_changes(await questions.compare(container, found, id)).model_dump(mode="json")


async def keep_question(container: "Container", corpus: str, id: str, *, kept: bool) -> Json:
    found = await container.record.corpora.get(corpus)
    await container.record.questions.set_kept(found.id, id, kept=kept)
    return await show_question(container, corpus, id)


async def delete_question(container: "Container", corpus: str, id: str) -> None:
    found = await container.record.corpora.get(corpus)
    await container.record.questions.delete(found.id, id)
