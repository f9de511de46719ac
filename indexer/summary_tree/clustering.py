"""Groups of similar passages, each of which a model can summarize in one call (RAPTOR, arXiv 2401.18059, section 3).

UMAP reduces the embeddings, first with neighbourhoods that grow with their number, then within each group with small
neighbourhoods. A Gaussian mixture with the number of components that has the least BIC assigns each passage to every
component that is likely enough, so groups may overlap. Groups whose texts are too long are divided again. umap-learn
and scikit-learn are of the extra `tree`, and are imported when a tree is made.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidSettings
from core.ports.embedding import Vectors

DIMENSION = 10
"""Dimension to which embeddings are reduced (the authors' code)."""
_THRESHOLD = 0.1
"""The least probability of a component with which a passage belongs to it (the authors' code)."""
_MOST_COMPONENTS = 49
"""The largest number of components that is tried (the authors' code)."""
_LOCAL_NEIGHBOURS = 10
_SEED = 224
_DEEPEST = 10
"""How often a group is divided again; the authors' code has no bound, and may not end."""
_MOST_NODES = 400
"""Passages of a group: a document's metadata, which name them, are bounded."""
_INSTALL = 'pip install "hopweave[tree]" (or uv tool install "hopweave[tree]")'

Places = tuple[int, ...]


def is_too_few(nodes: int) -> bool:
    """Returns whether so few passages make no further layer."""
    return nodes <= DIMENSION + 1


def check_tree_libraries() -> None:
    """Raises `InvalidSettings`, with the command that installs them, if umap-learn or scikit-learn is missing."""
    if any(find_spec(name) is None for name in ("sklearn", "umap")):
        raise InvalidSettings(
            f"a tree of summaries needs umap-learn and scikit-learn, which are not installed: {_INSTALL}"
        )


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Clusters of one layer of a tree: `vectors` (n, dimension) of its nodes, and the `tokens` of their texts.

    The texts of a group have at most `most_tokens` together, unless it is one text that is longer. Equal input gives
    equal groups.
    """

    vectors: Vectors
    tokens: Sequence[int]
    most_tokens: int = 3_500

    def find_groups(self) -> list[Places]:
        """Returns the groups as ascending places of nodes, each group once; every node is in at least one.

        It computes for seconds to minutes. Raises what `check_tree_libraries` raises.
        """
        check_tree_libraries()
        with _silenced(), _one_thread():
            return sorted(set(self._divide(tuple(range(len(self.tokens))), depth=0)))

    def _divide(self, nodes: Places, depth: int) -> Iterator[Places]:
        """Yields the groups of these nodes. Groups that are too long are divided again."""
        if is_too_few(len(nodes)) or depth == _DEEPEST:
            yield from self._cut(nodes)
            return
        for group in _cluster(self.vectors[list(nodes)]):
            members = tuple(nodes[place] for place in group)
            if self._fits(members):
                yield members
            elif len(members) < len(nodes):
                yield from self._divide(members, depth + 1)
            else:  # it would be divided in the same way again
                yield from self._cut(members)

    def _fits(self, nodes: Sequence[int]) -> bool:
        if len(nodes) == 1:
            return True
        return len(nodes) <= _MOST_NODES and sum(self.tokens[node] for node in nodes) <= self.most_tokens

    def _cut(self, nodes: Sequence[int]) -> Iterator[Places]:
        """Yields runs of nodes in their order, as long as fits, of nodes that clustering does not divide."""
        run: list[int] = []
        for node in nodes:
            if run and not self._fits([*run, node]):
                yield tuple(run)
                run = []
            run.append(node)
        if run:
            yield tuple(run)


def _cluster(vectors: Vectors) -> list[Places]:
    """Returns the local clusters within the global clusters of more than `DIMENSION + 1` vectors, as places."""
    neighbours = max(2, int((len(vectors) - 1) ** 0.5))
    found: list[Places] = []
    for group in _mix(_reduce(vectors, neighbours)):
        if is_too_few(len(group)):
            found.append(group)
        else:
            local = _mix(_reduce(vectors[list(group)], _LOCAL_NEIGHBOURS))
            found += [tuple(group[place] for place in inner) for inner in local]
    return found


def _reduce(vectors: Vectors, neighbours: int) -> NDArray[np.float64]:
    """Returns the vectors in `DIMENSION` dimensions, by UMAP over cosines."""
    import umap

    # With a seed, UMAP runs in one thread. It warns unless `n_jobs` says so.
    reduction = umap.UMAP(n_neighbors=neighbours, n_components=DIMENSION, metric="cosine", random_state=_SEED, n_jobs=1)
    reduced: NDArray[np.float64] = reduction.fit_transform(vectors).astype(np.float64)
    return reduced


def _mix(points: NDArray[np.float64]) -> list[Places]:
    """Returns the groups of a Gaussian mixture. Each point belongs to its most probable component, and to every
    component that is probable enough.
    """
    from sklearn.mixture import GaussianMixture

    fitted = [
        GaussianMixture(n_components=count, random_state=_SEED).fit(points)
        for count in range(1, min(_MOST_COMPONENTS, len(points) - 1) + 1)
    ]
    best = min(fitted, key=lambda mixture: mixture.bic(points))
    probabilities = best.predict_proba(points)
    belongs = probabilities > _THRESHOLD
    belongs[np.arange(len(points)), probabilities.argmax(axis=1)] = True
    return [tuple(np.flatnonzero(column).tolist()) for column in belongs.T if column.any()]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keeps linear algebra in this thread: the matrices are so small that threads only wait for one another."""
    from threadpoolctl import threadpool_limits  # of scikit-learn

    with threadpool_limits(1):
        yield


@contextmanager
def _silenced() -> Iterator[None]:
    """Silences warnings that concern nobody who makes a tree: of libraries that umap-learn does not find, of mixtures
    that do not converge, and of small graphs that are not connected.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
