"""The candidate pool of a question: the best chunks of each signal, each with all three signals.

First come rare words of a question, found whole in the text index: the signal of a query that is typed for one word.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from core.documents import HEADING_SEPARATOR, Chunk
from core.ports.embedding import Vectors
from core.ports.retrieval import Query
from core.text.query import Clause, Group, Term, TextQuery, any_of
from core.text.terms import MARKS, WORD, hash_stem, split_words
from core.text.word_lists import FUNCTION_WORDS, STOP_WORDS
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import (
    ScoredChunks,
    compute_cosines,
    fetch_vectors,
    find_few,
    search_text,
    search_vectors,
)
from retrieval.candidates.fusion import order_by_score, weigh_graph
from retrieval.candidates.named_parts import find_part_chunks
from retrieval.candidates.row_labels import NO_LABELS, RowLabels, find_labelled
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.graph.terms import TermStatistics
from retrieval.interruption import check_interrupted, run_interruptibly
from retrieval.pagerank.personalized import GraphRanking, PageRankConfig, note_limits, rank_from_question

RARE = 3
"""A word that more chunks have is not rare."""

_MOST = 6
"""Words that are searched for one by one, words with the rarest stems first."""
_MOST_READ = 200
"""Words of a question that are looked at, so that a pasted text costs no more."""
_LONGEST = 100
_SHORT = 4
"""With so few words, any two of them may be what is searched for."""
_READ = 40
"""Chunks whose texts are read to find a word with signs in them."""
_MOST_CHARACTERS = 2_000_000
"""Characters of these texts. Chunks are a hundred times smaller, unless they came with ready embeddings."""
_WORD = re.compile(r"§{1,2}\s?\S{1,400}|\S{1,400}")
_EDGES = re.compile(rf"^[^\w§#]+|(?<![^\w{MARKS}+#])[^\w{MARKS}+#]+$")
_VERSION = re.compile(r"v?(\d+(?:[.\-_]\d+)+)", re.IGNORECASE)
_SIGN = re.compile(rf"[\w{MARKS}][^\w{MARKS}\u200c\u200d]+[\w{MARKS}]|[_\d+#]")
_SECTION = re.compile(r"§{0,2}\s?\d+(?:\.\d+)*[a-z]?")
_LEADER = re.compile(r"[^.…]{0,150}(?:(?:\. ?){4}|…)")
_END = rf"(?![\w{MARKS}]|[.\-]\d)"
"""Where a word ends: the section 4.2 does not stand in "4.2.1"."""


@dataclass(frozen=True, kw_only=True)
class ExactWords:
    """The rare words of a question: for each, the chunks that have it, and its idf. `total` is the idf of all words of
    the question together.
    """

    words: tuple[str, ...]
    chunks: tuple[NDArray[np.int64], ...]
    idf: tuple[float, ...]
    total: float

    def within(self, text: str) -> "ExactWords":
        """Returns the words that stand in a text, as shares of all words of the question."""
        kept = [place for place, word in enumerate(self.words) if word.casefold() in text.casefold()]
        return ExactWords(
            words=tuple(self.words[place] for place in kept),
            chunks=tuple(self.chunks[place] for place in kept),
            idf=tuple(self.idf[place] for place in kept),
            total=self.total,
        )

    @property
    def all_chunks(self) -> NDArray[np.int64]:
        """The chunks that have at least one of the words, ascending."""
        return np.unique(np.concatenate([np.zeros(0, np.int64), *self.chunks]))


@dataclass(frozen=True, kw_only=True)
class _Word:
    """A word of a question, or two adjacent words, at `[start, end)`.

    `idf` is by its rarest stem, 0 if the corpus does not have a stem of it. `is_sign` tells an identifier, a number, a
    version or a pair, whose parts may be frequent.
    """

    text: str
    start: int
    end: int
    idf: float
    is_sign: bool


async def find_exact_words(backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot) -> ExactWords:
    """Returns the words of the question that 1 to `RARE` chunks have, according to the text index.

    A word with a frequent stem may be rare as it is written, and so may pairs of words ("Art. 83"), so the index
    decides. It is asked at most `_MOST` times for words and pairs together.
    """
    words = _list_words(query.text, snapshot.statistics)
    likely = sorted(words, key=lambda word: (not word.is_sign, -word.idf))[:_MOST] + _list_pairs(query.text, words)
    found = await _find_chunks(backends, query, snapshot, [word.text for word in likely])
    rare = [(word, chunks) for word, chunks in zip(likely, found, strict=True) if 0 < len(chunks) <= RARE]
    rarest = float(np.log1p((snapshot.statistics.chunks + 0.5) / 1.5))
    others = [word for word in words if all(word.end <= other.start or other.end <= word.start for other, _ in rare)]
    return ExactWords(
        words=tuple(word.text for word, _ in rare),
        chunks=tuple(chunks for _, chunks in rare),
        idf=(rarest,) * len(rare),
        total=rarest * len(rare) + sum(word.idf for word in others),
    )


async def _find_chunks(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, words: Sequence[str]
) -> list[NDArray[np.int64]]:
    """Returns the chunks that have each word; none for a word in more than `RARE` chunks, or with its parts in more
    than `_READ` chunks.

    The index cuts a word at its signs: "§4.2.1" is "4", "2" and "1" there. Such a word is looked up in the texts of the
    few chunks that have its parts in order.
    """
    whole = [WORD.fullmatch(word) is not None for word in words]
    asked = [(_any_form(word), RARE if is_whole else _READ) for word, is_whole in zip(words, whole, strict=True)]
    found = await find_few(backends, query, snapshot, asked)
    read = {
        word: chunks for word, chunks, is_whole in zip(words, found, whole, strict=True) if not is_whole and len(chunks)
    }
    if not read:
        return found
    numbers = np.unique(np.concatenate(list(read.values()))).tolist()
    ids = snapshot.chunk_ids(numbers)
    chunks_by_id = await backends.contents.get_chunks(query.corpus.id, ids)
    known = {number: chunks_by_id[id] for number, id in zip(numbers, ids, strict=True) if id in chunks_by_id}
    having = await run_interruptibly(_look_up, read, known)
    return [having.get(word, chunks) for word, chunks in zip(words, found, strict=True)]


def _look_up(read: Mapping[str, NDArray[np.int64]], chunks: Mapping[int, Chunk]) -> dict[str, NDArray[np.int64]]:
    """Returns for each word its chunks that have it in their text. Reads `_MOST_CHARACTERS` of all texts together."""
    squeezed: dict[int, str] = {}
    left = _MOST_CHARACTERS
    for number, chunk in chunks.items():
        check_interrupted()
        text = f"{chunk.heading}\n{chunk.text}"[:left]
        squeezed[number] = _squeeze(text)
        left -= len(text)
    return {word: _choose(word, among.tolist(), chunks, squeezed) for word, among in read.items()}


def _choose(
    word: str, among: Sequence[int], chunks: Mapping[int, Chunk], squeezed: Mapping[int, str]
) -> NDArray[np.int64]:
    """Returns the chunks in which a word stands; in tables of contents only if it stands nowhere else.

    The number of a section asks for the section: if chunks are under a heading that begins with it, only the first
    `RARE` of these count.
    """
    pattern = _pattern_of(word)
    having = [number for number in among if pattern.search(squeezed.get(number, ""))]
    in_text = [
        number for number in having if any(not _is_of_contents(match) for match in pattern.finditer(squeezed[number]))
    ]
    if _SECTION.fullmatch(word):
        own = [number for number in in_text if _begins(pattern, chunks[number].heading)]
        if own:
            return np.sort(sorted(own, key=lambda number: chunks[number].position)[:RARE])
    return np.array(in_text or having, np.int64)


def _begins(pattern: re.Pattern[str], heading: str) -> bool:
    """Returns whether the last part of a path of headings begins with the pattern."""
    last = _squeeze(heading.rpartition(HEADING_SEPARATOR)[2])
    found = pattern.search(last)
    return found is not None and not any(map(str.isalnum, last[: found.start()]))


def _is_of_contents(match: re.Match[str]) -> bool:
    """Returns whether a match is in a line of a table of contents, such as `4.2 Ships . . . . 17`."""
    return _LEADER.match(match.string, match.end()) is not None


def _pattern_of(word: str) -> re.Pattern[str]:
    """Returns the pattern that finds a word whole in a squeezed text, and a version with or without its `v`.

    "1.8" does not stand in "2.1.8", nor in "1.8.2".
    """
    version = _VERSION.fullmatch(word)
    form = "v?" + re.escape(version[1]) if version else re.escape(_squeeze(word))
    return re.compile(rf"(?<!\w)(?<!\d\.){form}{_END}")


def _squeeze(text: str) -> str:
    """Returns a text without case, with white space as one space, or as no space behind "§"."""
    return " ".join(text.casefold().split()).replace("§ ", "§")


def weigh_exact_words(exact: ExactWords, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns how far each of `chunks` (n,) has the rare words, from 0 to 1, (n,).

    It is the square of the share that a chunk's rare words have in the idf of all words: a query of one rare word is
    about that word, and a long question hardly about any of its words.
    """
    out = np.zeros(len(chunks))
    for idf, having in zip(exact.idf, exact.chunks, strict=True):
        out[np.isin(chunks, having)] += idf
    share: NDArray[np.float64] = out / exact.total if exact.total > 0 else out
    return share**2


def _any_form(word: str) -> TextQuery:
    """Returns the query for a word; a version is searched for with and without its `v`."""
    version = _VERSION.fullmatch(word)
    if version is None:
        return any_of((word,))
    forms: tuple[Clause, ...] = (Term(text=version[1]), Term(text=f"v{version[1]}"))
    return TextQuery(should=(Group(any=forms),))


def _list_words(question: str, statistics: TermStatistics) -> list[_Word]:
    """Returns the words between white space without the signs around them, each once, without function words."""
    places: dict[str, tuple[int, int]] = {}
    for match in islice(_WORD.finditer(question), _MOST_READ):
        word = _EDGES.sub("", match.group())
        if word and len(word) <= _LONGEST and not _is_function_word(word):
            start = match.start() + match.group().index(word)
            places.setdefault(word.casefold(), (start, start + len(word)))
    stems = {key: [hash_stem(split_word.stem) for split_word in split_words(key)] for key in places}
    flat = np.array([stem for of_word in stems.values() for stem in of_word], np.uint32)
    df = dict(zip(flat.tolist(), statistics.document_frequency(flat).tolist(), strict=True))
    found = []
    for key, (start, end) in places.items():
        least = min((df[stem] for stem in stems[key]), default=0)
        idf = float(np.log1p((statistics.chunks - least + 0.5) / (least + 0.5))) if least else 0.0
        text = question[start:end]
        found.append(_Word(text=text, start=start, end=end, idf=idf, is_sign=_SIGN.search(text) is not None))
    return [word for word in found if word.idf or word.is_sign]


def _list_pairs(question: str, words: Sequence[_Word]) -> list[_Word]:
    """Returns pairs of adjacent words that may be a name or a reference: both have a capital or a digit, or the
    question has hardly another word.
    """
    short = len(words) <= _SHORT
    pairs = []
    for left, right in pairwise(sorted(words, key=lambda word: word.start)):
        between = question[left.end : right.start]
        if between.strip(" .") or not (short or (_is_marked(left.text) and _is_marked(right.text))):
            continue
        text = question[left.start : right.end]
        pairs.append(_Word(text=text, start=left.start, end=right.end, idf=min(left.idf, right.idf), is_sign=True))
    return sorted(pairs, key=lambda pair: -pair.idf)[:_MOST]


def _is_marked(word: str) -> bool:
    return any(character.isupper() or character.isdigit() for character in word)


def _is_function_word(word: str) -> bool:
    folded = word.casefold()
    return folded in STOP_WORDS or folded in FUNCTION_WORDS or (len(word) < 2 and not word.isdigit())


_BY_CAPITALS = "pattern"
_NO_VECTOR: Vectors = np.zeros(0, np.float32)


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The candidate chunks, ascending, with their cosine (`dense`), BM25 (`sparse`), PageRank mass (`graph`) and how
    far each has the question's rare words (`exact`).

    - `graph_share`: how much the graph is expected to tell about the chunks, from 0 to 1.
    - `exact_words`: these words.
    - `documents`: a number for the document of each chunk.
    - `dense` is NaN for a chunk without a vector (yet). `sparse` and `graph` are 0 for a chunk that is not among the
      best, unless its value is known.
    - `labels`: the labels of rows of tables that the question says, without `with_labelled` none.
    - `vector`: the vector of the question. `vectors` (n, dimension): the vectors of the chunks, 0 for a missing vector;
      without rows if they were not requested, and without columns in a corpus without vectors.
    - `unknown`: the entries that the snapshot does not know.
    """

    chunks: NDArray[np.int64]
    dense: NDArray[np.float64]
    sparse: NDArray[np.float64]
    graph: NDArray[np.float64]
    graph_share: float
    exact: NDArray[np.float64]
    exact_words: ExactWords
    documents: NDArray[np.int64]
    pagerank: GraphRanking
    labels: RowLabels
    vector: Vectors
    vectors: Vectors
    unknown: tuple[str, ...] = ()


async def gather_pool(
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    trace: Trace,
    *,
    size: int,
    pagerank_config: PageRankConfig,
    with_vectors: bool = False,
    with_labelled: bool = False,
) -> Pool:
    """Returns the union of the best `size` chunks by each signal; the searches run concurrently.

    `with_labelled` adds passages with labels of rows that the question says, in the documents of these chunks.
    """
    (vector, by_cosine), by_words, exact, by_part, pagerank = await asyncio.gather(
        _search_dense(backends, query, snapshot, trace, size),
        _search_sparse(backends, query, snapshot, trace, size),
        _search_exact(backends, query, snapshot, trace),
        find_part_chunks(backends, query, snapshot),
        rank_graph(query, snapshot, trace, pagerank_config),
    )
    by_mass = pagerank.chunks[order_by_score(pagerank.chunks, pagerank.mass)[:size]]
    chunks = np.unique(np.concatenate([by_cosine.chunks, by_words.chunks, exact.all_chunks, by_part, by_mass]))
    labels = NO_LABELS
    if with_labelled:
        labels, labelled = await run_interruptibly(find_labelled, query.text, chunks, snapshot)
        chunks = np.union1d(chunks, labelled)
    dense = _align(by_cosine, chunks, missing=np.nan)
    unknown = np.flatnonzero(np.isnan(dense))
    wanted = np.arange(len(chunks)) if with_vectors else unknown
    with trace.timed("dense"):
        vectors = await fetch_vectors(backends, query, snapshot, chunks[wanted])
    dense[unknown] = compute_cosines(vectors[unknown] if with_vectors else vectors, vector)
    sparse = _align(by_words, chunks, missing=0.0)
    graph = _align(ScoredChunks(chunks=pagerank.chunks, scores=pagerank.mass), chunks, missing=0.0)
    documents = number_documents(snapshot, chunks)
    return Pool(
        chunks=chunks,
        dense=dense,
        sparse=sparse,
        graph=graph,
        graph_share=weigh_graph(dense, sparse, graph, documents) if _knows_names(query, snapshot) else 0.0,
        exact=weigh_exact_words(exact, chunks),
        exact_words=exact,
        documents=documents,
        pagerank=pagerank,
        labels=labels,
        vector=vector,
        vectors=vectors if with_vectors else vectors[:0],
        unknown=tuple(dict.fromkeys((*by_cosine.unknown, *by_words.unknown))),
    )


def _knows_names(query: Query, snapshot: GraphSnapshot) -> bool:
    """Returns whether the entities are names. `pattern` finds names by capitals: in a text in capitals, it takes each
    run of words for a name.
    """
    if snapshot.statistics.is_cased or query.corpus.settings.extractor != _BY_CAPITALS:
        return True
    letters = [char for char in query.text if char.isalpha()]
    return 2 * sum(char.isupper() or char.islower() for char in letters) < len(letters)


def number_documents(snapshot: GraphSnapshot, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns a number for each chunk (n,), the same for chunks of one document, from 0."""
    ids = snapshot.document_ids(chunks.tolist())
    numbers = {id: number for number, id in enumerate(sorted(set(ids)))}
    return np.array([numbers[id] for id in ids], np.int64)


async def rank_graph(query: Query, snapshot: GraphSnapshot, trace: Trace, config: PageRankConfig) -> GraphRanking:
    """Returns PageRank from the question's names, computed in a thread."""
    with trace.timed("graph"):
        ranking = await run_interruptibly(rank_from_question, snapshot, query.text, config, query.documents)
    note_limits(ranking, snapshot, trace)
    return ranking


async def _search_dense(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, size: int
) -> tuple[Vectors, ScoredChunks]:
    if not query.corpus.settings.has_vectors:
        return _NO_VECTOR, ScoredChunks(chunks=np.zeros(0, np.int64), scores=np.zeros(0))
    with trace.timed("embed"):
        vector = await backends.embedder.embed_query(query.text)
    with trace.timed("dense"):
        return vector, await search_vectors(backends, query, snapshot, vector, size)


async def _search_sparse(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, size: int
) -> ScoredChunks:
    with trace.timed("sparse"):
        return await search_text(backends, query, snapshot, size)


async def _search_exact(backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace) -> ExactWords:
    with trace.timed("exact"):
        return await find_exact_words(backends, query, snapshot)


def _align(found: ScoredChunks, chunks: NDArray[np.int64], *, missing: float) -> NDArray[np.float64]:
    """Returns the scores of `chunks` (ascending), and `missing` for chunks that were not found."""
    out = np.full(len(chunks), missing)
    among = np.isin(found.chunks, chunks)
    out[np.searchsorted(chunks, found.chunks[among])] = found.scores[among]
    return out
