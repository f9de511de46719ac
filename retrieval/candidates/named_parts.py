"""Passages of the part of a document that a question names: "series D", "release 2.6.0".

Meaning and words hardly tell one release from the next: its number stands in a heading alone. So the text index is
asked for the sign, and headings of candidates are read.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.documents import Chunk
from core.passage_context.named_parts import Part, compare_parts, list_parts
from core.ports.retrieval import Query
from core.text.query import any_of
from core.text.terms import hash_stem
from core.text.titles import find_name_words
from core.text.value_kinds import find_stems
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import find_few
from retrieval.graph.snapshot import GraphSnapshot

Floats = NDArray[np.float64]

_MOST_PARTS = 4
_MOST_FOUND = 60
"""A sign that more passages have is not looked up: the candidates have to do."""
_GAIN = 2.0
"""What a passage of the named part gains, and what a passage of another part loses, in standard deviations of the
candidates' scores.
"""


async def find_part_chunks(backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot) -> NDArray[np.int64]:
    """Returns the chunks, ascending, under a heading with a part that the question names."""
    parts = _list_parts(query)
    if not parts:
        return np.zeros(0, np.int64)
    asked = [(any_of((part.written,)), _MOST_FOUND) for part in parts]
    found = np.unique(np.concatenate(await find_few(backends, query, snapshot, asked)))
    return found[await _compare(backends, query, snapshot, found, parts) > 0]


async def weigh_named_parts(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, chunks: NDArray[np.int64], scores: Floats
) -> Floats:
    """Returns what is added to the score of each candidate, (n,): passages of the part that the question names gain,
    and those of other parts of the same kind lose; 0 if no candidate is of the named part.
    """
    parts = _list_parts(query)
    added = np.zeros(len(chunks))
    if not parts or not len(chunks):
        return added
    compared = await _compare(backends, query, snapshot, chunks, parts)
    if (compared > 0).any():
        added += _GAIN * max(float(scores.std()), 1.0) * compared  # 1 without the score of rare words
    return added


def _list_parts(query: Query) -> Sequence[Part]:
    """Returns the parts that the question names, without codes: many passages tell of a thing without a heading with
    its code.
    """
    return [part for part in list_parts(query.text) if not part.is_code][:_MOST_PARTS]


async def _compare(
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    chunks: NDArray[np.int64],
    parts: Sequence[Part],
) -> NDArray[np.int64]:
    """Returns for each chunk how its headings compare with the parts (`compare_parts`), (n,)."""
    out = np.zeros(len(chunks), np.int64)
    places = _find_headed(snapshot, chunks, parts)
    ids = snapshot.chunk_ids(chunks[places].tolist())
    read: Mapping[str, Chunk] = await backends.contents.get_chunks(query.corpus.id, ids)
    refs = await backends.documents.get_refs(query.corpus.id, {chunk.document_id for chunk in read.values()})
    names = {id: find_name_words(ref.key, ref.title) for id, ref in refs.items()}
    known = find_stems("\n".join(names.values()))
    for place, id in zip(places.tolist(), ids, strict=True):
        if id in read and read[id].document_id in names:
            out[place] = compare_parts(parts, read[id].heading, names[read[id].document_id], known)
    return out


def _find_headed(snapshot: GraphSnapshot, chunks: NDArray[np.int64], parts: Sequence[Part]) -> NDArray[np.int64]:
    """Returns the places of the chunks whose title or heading has the kind of a part; all for a release, whose kind no
    heading needs to say.
    """
    if not len(chunks) or any(part.is_release for part in parts):
        return np.arange(len(chunks))
    rows, owner = snapshot.terms_of(chunks)
    kinds = np.array([hash_stem(part.kind) for part in parts], np.uint32)
    return np.unique(owner[np.isin(rows["stem"], kinds) & (rows["place"] % 2 == 1)])
