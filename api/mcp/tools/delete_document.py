"""`delete_document`: one document with everything that only it states."""

from pydantic import Field

from api.mcp.tool import Hints, Tool, ToolCall, parse_reference
from api.schemas.base import In, Out, Text
from app.services.ingestion import delete_one_document
from core.errors import InvalidInput
from core.keys import Scope

__all__ = ["DELETE_DOCUMENT"]


class DeleteArguments(In):
    id: Text = Field(
        min_length=1,
        max_length=200,
        description="The id of the document: `document` of the metadata that `fetch` returns, or `id` of a document of "
        "`ingest`, such as 'people/documents/4b0d…'.",
    )


class DeleteResult(Out):
    id: str
    job: str
    state: str = Field(description="The document is found no more, whatever the state of the job that deletes it.")


async def _delete(call: ToolCall, arguments: DeleteArguments) -> DeleteResult:
    wanted = parse_reference(arguments.id)
    if wanted.kind != "documents":
        raise InvalidInput(
            f"{arguments.id!r} is a passage, and only whole documents are deleted; `fetch` it, and give the `document` "
            "of its metadata"
        )
    corpus = await call.container.record.corpora.get(wanted.corpus)
    job = await delete_one_document(call.container, corpus, wanted.id)
    return DeleteResult(id=arguments.id, job=job.id, state=job.state)


DELETE_DOCUMENT = Tool(
    name="delete_document",
    title="Delete a document",
    description="Deletes a document from its corpus, with its passages and the facts that only it states. This cannot "
    "be undone: do it only if the user asked for this document to be deleted.",
    arguments=DeleteArguments,
    result=DeleteResult,
    hints=Hints(read_only=False, destructive=True),
    scope=Scope.WRITE,
    run=_delete,
)
