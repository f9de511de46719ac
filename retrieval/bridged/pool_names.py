"""The names that the candidates of a pool mention, as arrays. Links and several features are computed from them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.candidates.pool import Pool
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph

__all__ = ["PoolNames", "collect_names"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class PoolNames:
    """The u names that n candidates mention, numbered from 0 within the pool.

    `entities` (u,) are their entities in the snapshot. Mention i is of name `name[i]` by candidate `owner[i]`, sorted
    by owner. `rarity` (u,) is ln(1 + N/df) / ln(1 + N) for N chunks. `linked` (u,) is True for names that the question
    has. `titles` (n, 2) are the names that title and heading are, -1 where there is none. `title_worth` (n, 2) is the
    weight of a link to them: 1 / the number of chunks that share the title.
    """

    entities: Ints
    owner: Ints
    name: Ints
    rarity: NDArray[np.float64]
    linked: NDArray[np.bool_]
    titles: Ints
    title_worth: NDArray[np.float64]

    @property
    def size(self) -> int:
        return len(self.entities)

    def mention_matrix(self, candidates: Ints) -> NDArray[np.bool_]:
        """Returns which names each of these candidates mentions, (k, u)."""
        out = np.zeros((len(candidates), self.size), np.bool_)
        places = np.full(len(self.titles), -1)
        places[candidates] = np.arange(len(candidates))
        row = places[self.owner]
        out[row[row >= 0], self.name[row >= 0]] = True
        return out

    def max_over_mentions(self, values: Floats) -> Floats:
        """Returns, of a value for each mention, (k, mentions), the greatest of each candidate, (k, n); 0 without a
        mention.
        """
        return self._reduce(np.maximum, values)

    def sum_over_mentions(self, values: Floats) -> Floats:
        """Returns the sum over each candidate's mentions, (k, n)."""
        return self._reduce(np.add, values)

    def weigh_titles(self, named: NDArray[np.bool_]) -> Floats:
        """Returns the weight of a candidate's best title among the names that are True, (k, u) to (k, n)."""
        return self.max_over_titles(named.astype(np.float64))

    def max_over_titles(self, values: Floats) -> Floats:
        """Returns the greatest value, (k, u), of a candidate's titles, each times its weight, (k, n)."""
        padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)  # the last column is for -1
        out: Floats = (padded[:, self.titles] * self.title_worth).max(axis=2)
        return out

    def weigh_reverse_titles(self, sources: Ints, *, linked: float) -> Floats:
        """Returns the weight of a source's title that a candidate names, (k, n); times `linked` if the question names
        it too.
        """
        out = np.zeros((len(sources), len(self.titles)))
        for row, source in enumerate(sources.tolist()):
            for title, worth in zip(self.titles[source].tolist(), self.title_worth[source].tolist(), strict=True):
                if title >= 0:
                    by = self.owner[self.name == title]
                    out[row, by] = np.maximum(out[row, by], worth * (linked if self.linked[title] else 1.0))
        return out

    def _reduce(self, ufunc: np.ufunc, values: Floats) -> Floats:
        out = np.zeros((len(values), len(self.titles)))
        if len(self.owner):
            owners, starts = np.unique(self.owner, return_index=True)
            out[:, owners] = ufunc.reduceat(values, starts, axis=1)
        return out


def collect_names(pool: Pool, snapshot: GraphSnapshot, graph: RetrievalGraph) -> PoolNames:
    """Returns the names that the pool's candidates mention in the graph of the query's documents."""
    owner, entity = _list_mentions(graph, pool.chunks)
    entities, name = np.unique(entity, return_inverse=True)
    total = max(graph.passages, 1)
    titles = snapshot.titles_of(pool.chunks)
    return PoolNames(
        entities=entities,
        owner=owner,
        name=name,
        rarity=np.log1p(total / np.maximum(graph.df[entities], 1)) / np.log1p(total),
        linked=np.isin(entities, pool.pagerank.entities),
        titles=_number_titles(titles, entities),
        title_worth=1.0 / np.maximum(_look_up_shares(snapshot, titles), 1),
    )


def _list_mentions(graph: RetrievalGraph, chunks: Ints) -> tuple[Ints, Ints]:
    """Returns the owner (the index in `chunks`) and the entity of each mention: a chunk's neighbours are its
    entities.
    """
    owner, others, _ = graph.adjacency.rows(chunks)
    return owner, others.astype(np.int64) - graph.chunks


def _look_up_shares(snapshot: GraphSnapshot, titles: Ints) -> Ints:
    out = np.zeros_like(titles)
    out[titles >= 0] = snapshot.count_titled(titles[titles >= 0])
    return out


def _number_titles(titles: Ints, entities: Ints) -> Ints:
    if not len(entities):
        return np.full_like(titles, -1)
    at = np.minimum(np.searchsorted(entities, titles), len(entities) - 1)
    return np.where(entities[at] == titles, at, -1)
