"""What changed since a snapshot was built, as small columns. Applying further changes costs what these hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges, GraphRows
from core.ports.record.graph import graph_rows
from retrieval.graph.chunk_terms import ChunkTerms, make_offsets
from retrieval.graph.column_building import build_columns, read_columns
from retrieval.graph.column_updates import ColumnUpdate, join_columns
from retrieval.graph.columns import Columns, Ids, encode_ids
from retrieval.graph.flat import FlatSnapshot
from retrieval.graph.naming.names import pack_names
from retrieval.graph.positions import find_positions, sort_unique

__all__ = ["Delta", "select_terms"]

Numbers = NDArray[np.int64]
Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Delta:
    """The difference between a snapshot, its base, and a later generation.

    `added` has the chunks that came since, also in place of others, with their mentions and facts, and no synonyms.
    `removed` are the numbers of the base's chunks that are not there any more, ascending. All synonyms of the entities
    `unlinked` count no more; those of now are in `synonyms`, by the ids of their entities, with the `names` of these.
    """

    added: Columns = field(default_factory=lambda: build_columns(graph_rows()))
    removed: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    unlinked: frozenset[str] = frozenset()
    synonyms: Mapping[Pair, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def apply(self, base: FlatSnapshot, changes: GraphChanges) -> "Delta":
        """Returns the difference after further changes; this one does not change."""
        new = _without_synonyms(read_columns(changes.added))
        removed = encode_ids(changes.removed)
        update = join_columns(self.added, new, removed=removed, unlinked=encode_ids(()))
        gone = find_positions(base.columns.chunk_ids, np.unique(np.concatenate([removed, new.chunk_ids])))
        unlinked = frozenset(changes.synonyms_of)
        synonyms = {pair: score for pair, score in self.synonyms.items() if unlinked.isdisjoint(pair)}
        found = _list_synonyms(changes.added)
        for pair, score in found:
            synonyms[pair] = max(score, synonyms.get(pair, 0.0))
        ends = {id for pair, _ in found for id in pair}
        at = find_positions(changes.added.entity_ids, encode_ids(ends))
        fresh = {id: changes.added.names[place] for id, place in zip(ends, at.tolist(), strict=True)}
        return Delta(
            added=update.columns,
            removed=sort_unique(self.removed, gone[gone >= 0]),
            unlinked=self.unlinked | unlinked,
            synonyms=synonyms,
            names={**self.names, **fresh},
        )

    def merge_into(self, base: FlatSnapshot) -> ColumnUpdate:
        """Returns the columns of the base with these changes, all rows copied."""
        new = self._join_synonyms()
        removed = base.stated.chunk_ids[self.removed]
        return join_columns(base.stated, new, removed=removed, unlinked=encode_ids(self.unlinked))

    def _join_synonyms(self) -> Columns:
        """Returns the added columns with the synonyms, and with the entities that only these name."""
        listed = {id for pair in self.synonyms for id in pair}
        ids = np.unique(np.concatenate([self.added.entity_ids, encode_ids(listed)]))
        at = find_positions(self.added.entity_ids, ids)
        names = [
            self.added.names[place] if place >= 0 else self.names[id.decode()]
            for place, id in zip(at.tolist(), ids.tolist(), strict=True)
        ]
        to = find_positions(ids, self.added.entity_ids).astype(np.int32)
        mentions, facts = self.added.mentions.copy(), self.added.facts.copy()
        mentions[:, 1], facts[:, 1:] = to[mentions[:, 1]], to[facts[:, 1:]]
        ends = find_positions(ids, encode_ids(id for pair in self.synonyms for id in pair))
        return replace(
            self.added,
            entity_ids=ids,
            names=pack_names(names),
            mentions=mentions,
            facts=facts,
            synonyms=ends.astype(np.int32).reshape(-1, 2),
            scores=np.fromiter(self.synonyms.values(), np.float32, len(self.synonyms)),
        )


def select_terms(base: FlatSnapshot, chunks: Numbers) -> ChunkTerms:
    """Returns the terms of some chunks, in their order."""
    rows, owner = base.columns.terms.of(chunks)
    return ChunkTerms(offsets=make_offsets(np.bincount(owner, minlength=len(chunks))), rows=rows)


def _without_synonyms(columns: Columns) -> Columns:
    return replace(columns, synonyms=columns.synonyms[:0], scores=columns.scores[:0])


def _list_synonyms(rows: GraphRows) -> list[tuple[Pair, float]]:
    """Returns pairs of ids, the smaller first, with their cosines."""
    ids: Ids = rows.entity_ids
    pairs = np.sort(rows.synonyms, axis=1).tolist()
    return [
        ((ids[first].decode(), ids[second].decode()), score)
        for (first, second), score in zip(pairs, rows.scores.tolist(), strict=True)
    ]
