"""What a search or a question is about: one or several corpora, of what generation, and which of their documents."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.container import Container
from app.services.validity import Selection, select_in_force
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput, NotFound, TimedOut
from core.filters import describe_no_match
from core.jobs import Job
from core.ports.retrieval import QueryPart
from core.trace import Trace

MAX_CORPORA = 16
"""Corpora of one search. Each costs a search of its own."""

_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.1

Asked: TypeAlias = Corpus | Sequence[Corpus]
MinGeneration: TypeAlias = int | Mapping[str, int] | None
"""The generation of the only corpus, or a generation for each of several corpora by name."""


async def open_corpora(container: Container, names: Sequence[str]) -> tuple[Corpus, ...]:
    """Returns the corpora with these names.

    Raises `InvalidInput` for no name, more than `MAX_CORPORA`, or a name that comes twice, and `NotFound` for a corpus
    that is not there or that the caller may not see.
    """
    if not names:
        raise InvalidInput("`corpora` is empty; name the corpora to search")
    if len(names) > MAX_CORPORA:
        raise InvalidInput(f"`corpora` names {len(names)}; at most {MAX_CORPORA} are searched at once")
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InvalidInput(f"`corpora` names {twice!r} twice; name each corpus once")
    return tuple([await container.record.corpora.get(name) for name in names])


def list_corpora(asked: Asked) -> tuple[Corpus, ...]:
    """Returns the corpora. Raises `InvalidInput` if there is none."""
    corpora = (asked,) if isinstance(asked, Corpus) else tuple(asked)
    if not corpora:
        raise InvalidInput("no corpus is named; name the corpora to search")
    return corpora


@dataclass(frozen=True, kw_only=True)
class ChosenDocuments:
    """The documents of all corpora (None: no corpus is restricted), the parts, and the validity of the documents.

    There are no parts for one corpus. `masked`: documents are left out only because they are not in force.
    """

    documents: frozenset[str] | None
    parts: tuple[QueryPart, ...]
    masked: bool
    selection: Selection


async def choose_documents(
    container: Container, corpora: Sequence[Corpus], where: Mapping[str, Any] | None, as_of: str | None
) -> ChosenDocuments:
    """Returns the documents that match and are in force.

    Raises `InvalidFilter`, `InvalidInput` for a wrong day, and `EmbeddingMismatch` for a corpus whose embedding model
    is not available here.
    """
    selection = await select_in_force(container, corpora, where, as_of)
    for corpus in corpora:
        container.check_embedding(corpus)
    restricted = [part.documents for part in selection.parts if part.documents is not None]
    documents = _unite(restricted) if restricted else None
    return ChosenDocuments(
        documents=documents,
        parts=selection.parts if len(corpora) > 1 else (),
        masked=documents is not None and where is None and container.sees_all_documents,
        selection=selection,
    )


def note_documents(chosen: ChosenDocuments, where: Mapping[str, Any] | None, trace: Trace) -> None:
    chosen.selection.note(trace)
    if where and chosen.documents is not None and not chosen.documents:
        trace.note(describe_no_match(where))


def _unite(parts: Sequence[frozenset[str]]) -> frozenset[str]:
    """Returns all documents of the parts. A single part is returned as the same set, for which searches keep masks."""
    return parts[0] if len(parts) == 1 else frozenset[str]().union(*parts)


async def await_generations(container: Container, corpora: Sequence[Corpus], wanted: MinGeneration) -> None:
    """Waits until snapshots of the corpora have the wanted generations, ten seconds at most.

    Raises `Conflict` for a generation that the record does not have by then, `TimedOut` if only the snapshot is late,
    and `InvalidInput` if it is not clear which corpus is meant.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    for corpus, generation in _pair(corpora, wanted):
        await _await_record(container, corpus, generation, deadline)
        await _await_snapshot(container, corpus, generation, deadline)


def _pair(corpora: Sequence[Corpus], wanted: MinGeneration) -> list[tuple[Corpus, int]]:
    if wanted is None:
        return []
    if isinstance(wanted, int):
        if len(corpora) > 1:
            raise InvalidInput(
                "`min_generation` is a number, and several corpora are searched; give each corpus its own, such as "
                f'{{"{corpora[0].name}": {wanted}}}'
            )
        return [(corpora[0], wanted)]
    names = {corpus.name for corpus in corpora}
    if unknown := sorted(wanted.keys() - names):
        raise InvalidInput(f"`min_generation` names {unknown[0]!r}, which is none of the corpora that are searched")
    return [(corpus, wanted[corpus.name]) for corpus in corpora if corpus.name in wanted]


async def _await_record(container: Container, corpus: Corpus, wanted: int, deadline: float) -> None:
    while (present := await container.record.graph.generation(corpus.id)) < wanted:
        if time.monotonic() >= deadline:
            raise Conflict(
                f"corpus {corpus.name!r} is at generation {present}, and {wanted} was asked for: wait until the job "
                "that writes it is done and ask with the `generation` that the job then has, or leave "
                "`min_generation` out"
            )
        await asyncio.sleep(_POLL_SECONDS)


async def _await_snapshot(container: Container, corpus: Corpus, wanted: int, deadline: float) -> None:
    while (await container.snapshots.get(corpus.id, min_generation=wanted)).generation < wanted:
        if time.monotonic() >= deadline:
            raise TimedOut(
                f"corpus {corpus.name!r} has generation {wanted}, but this process has not read it within "
                f"{_WAIT_SECONDS:.0f} seconds: try again, or leave `min_generation` out"
            )


async def read_generation(container: Container, job: Job) -> int | None:
    """Returns a generation of the job's corpus that holds all that the job has changed, for `min_generation`.

    None while the job goes on, and without the corpus.
    """
    if not job.state.final:
        return None
    try:
        return await container.record.graph.generation(job.corpus_id)
    except NotFound:
        return None
