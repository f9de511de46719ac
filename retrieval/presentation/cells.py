"""Finds the cells of tables that citations are about. The table of a passage may begin in an earlier passage."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.corpora import Corpus
from core.passage_context import find_cell
from core.ports.reasoning import Answer, Citation
from core.ports.record import Contents

__all__ = ["locate_cells", "read_before"]

_DISTANCE = 24
"""Passages before a passage that may have the header of its table."""


async def locate_cells(answer: Answer, question: str, corpora: Sequence[Corpus], contents: Contents) -> Answer:
    """Returns the answer with the cells of its citations. Passages of the web, and deleted passages, have no cells.

    If the answer quotes a whole row, the cell is the cell that the question asks for.
    """
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for citation in answer.citations:
        if citation.url is None:
            wanted[citation.corpus].add(citation.chunk_id)
    found: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for corpus in corpora:
        read = await read_before(wanted[corpus.name], corpus.id, contents)
        found |= {(corpus.name, id): texts for id, texts in read.items()}

    def locate() -> tuple[Citation, ...]:
        places = ((citation, found.get((citation.corpus, citation.chunk_id))) for citation in answer.citations)
        return tuple(_with_cell(place, texts, answer.text, question) for place, texts in places)

    # Tables of tens of thousands of characters take tenths of a second, in which other requests are answered.
    return replace(answer, citations=await asyncio.to_thread(locate))


async def read_before(
    chunk_ids: Collection[str], corpus_id: str, contents: Contents
) -> Mapping[str, tuple[str, list[str]]]:
    """Returns, by id, the text of each chunk and the texts of the chunks before it in its document, in order."""
    if not chunk_ids:
        return {}
    found = {}
    for id, chunks in (await contents.get_surroundings(corpus_id, chunk_ids, _DISTANCE)).items():
        here = next(chunk for chunk in chunks if chunk.id == id)
        found[id] = here.text, [chunk.text for chunk in chunks if chunk.position < here.position]
    return found


def _with_cell(citation: Citation, texts: tuple[str, list[str]] | None, answer: str, question: str) -> Citation:
    if citation.url is not None or texts is None:
        return citation
    words = answer[citation.answer_span.start : citation.answer_span.end]
    text, before = texts
    return replace(citation, cell=find_cell(text, citation.source_span, words, before, question))
