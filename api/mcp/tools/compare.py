"""`compare_documents`: what changed between two versions of a document, clause by clause."""

from typing import Annotated

from pydantic import Field

from api.mcp.tool import CorpusName, Hints, Tool, ToolCall, choose_corpus
from api.schemas.base import In, Out, Text
from app.services.validity import compare_documents
from core.documents import MAX_KEY_LENGTH
from core.keys import Scope
from core.validity.differences import Change, Clause

_MOST = 50
_SHOWN = 1_000
_Name = Annotated[Text, Field(max_length=MAX_KEY_LENGTH)]


class CompareArguments(In):
    newer: _Name = Field(min_length=1, description="The key or the id of the newer document.")
    older: _Name = Field(default="", description="The older document. Leave it out for the one that it supersedes.")
    corpus: CorpusName = ""


class ClauseOut(Out):
    kind: str = Field(description="`added`, `removed` or `changed`.")
    clause: str = Field(description="Its number and heading; empty for what stands before the first clause.")
    old: str = Field(description="The older text, cut after 1,000 characters.")
    new: str
    words: list[str] = Field(description="Words that changed: 'old → new'.")


class CompareResult(Out):
    older: str
    newer: str
    unchanged: int = Field(description="How many clauses are the same.")
    changed: int = Field(description="How many clauses changed; the first 50 are listed.")
    cut: bool = Field(description="Whether a text is too long to be compared whole: more may have changed.")
    clauses: list[ClauseOut]


async def _compare(call: ToolCall, given: CompareArguments) -> CompareResult:
    corpus = await call.container.record.corpora.get(await choose_corpus(call, given.corpus))
    found = await compare_documents(call.container, corpus, given.newer, given.older or None)
    return CompareResult(
        older=found.old.key,
        newer=found.new.key,
        unchanged=found.unchanged,
        changed=len(found.changes),
        cut=found.cut,
        clauses=[_show(change) for change in found.changes[:_MOST]],
    )


def _show(change: Change) -> ClauseOut:
    named = change.new or change.old
    return ClauseOut(
        kind=change.kind,
        clause="" if named is None else named.name,
        old=_read(change.old),
        new=_read(change.new),
        words=[f"{words.old} → {words.new}"[:_SHOWN] for words in change.words[:_MOST]],
    )


def _read(clause: Clause | None) -> str:
    return "" if clause is None else clause.text[:_SHOWN]


COMPARE_DOCUMENTS = Tool(
    name="compare_documents",
    title="Compare two documents",
    description="Tells what changed between two versions of a document, such as a policy and the one that it replaces: "
    "clauses that were added, removed or changed, with the changed words.",
    arguments=CompareArguments,
    result=CompareResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_compare,
)
