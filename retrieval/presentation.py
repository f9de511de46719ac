"""Hits as users read them: snippets with marked words, neighbouring passages, and one hit for each document.

Also finds the cells of tables that the citations of an answer are about. The table of a passage may begin in an earlier
passage.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from core.corpora import Corpus
from core.documents import Chunk, Span
from core.passage_context import find_cell
from core.ports.reasoning import Answer, Citation
from core.ports.record import Contents
from core.ports.retrieval import MAX_K, Hit, Query, Searcher, SearchResult
from core.text.sentences import Range, split_sentences
from core.text.terms import Word, hash_stem, split_words
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.graph.terms import TermStatistics
from retrieval.interruption import check_interrupted, run_interruptibly

_LONGEST = 320
"""Characters of a snippet. Of a longer sentence, the part with the most weight is taken."""

_READ = 20_000
"""Characters of a passage that are read. Chunkers make shorter chunks; chunks that users submit may be longer."""

_LONGEST_ROW = 640
"""Characters of a row of a table, and of a sentence. Of a longer row the sentences are looked at, and of a longer
sentence the lines: it is a text without ends of sentences.
"""

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_CELLS = re.compile(r"[^\s|][^\S\n]+\|[^\S\n]+[^\s|]|[^\s]\t+[^\s]|^[^\n;:]{1,60}: [^\n;]{0,200}; [^\n;:]{1,60}: ")
"""Cells with bars or tabs between them, or with their names: `City: Ulm; River: Danube`."""
_LEADER = re.compile(
    r"(?<=[^\s.·…_])[^\S\n]{0,8}(?:[.·…_][^\S\n]?){5,}+[^\S\n]*+(?:\d{1,5}|[ivxlcdm]{1,8})?[^\S\n]*+$",
    re.MULTILINE | re.IGNORECASE,
)
"""The dots between a title and its page in a table of contents."""


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """A part of a passage: `text` is `passage[span.start:span.end]`. `marks` are places in `text`, ascending."""

    text: str
    span: Span
    marks: tuple[Span, ...]


def _weigh_words(question: str, statistics: TermStatistics) -> dict[str, float]:
    """Returns the stems of the question's words with their inverse document frequencies."""
    stems = sorted({word.stem for word in split_words(question)})
    df = statistics.document_frequency(np.array([hash_stem(stem) for stem in stems], np.uint32))
    idf = np.log1p((statistics.chunks - df + 0.5) / (df + 0.5))
    return dict(zip(stems, idf.tolist(), strict=True))


def make_snippet(text: str, weights: Mapping[str, float]) -> Snippet:
    """Returns the sentence in which the words of the question weigh most, each counted once.

    Of several, it is the first; without any word of the question, the first of all. A line of a table of contents is
    taken only if no sentence has a word. `weights` are by stem.
    """
    text = text[:_READ]
    words = [word for word in split_words(text) if word.stem in weights]
    units = [_strip(text, unit) for unit in _split(text)] or [_strip(text, (0, len(text)))]
    start, end = max(units, key=lambda unit: _rate(text, unit, _weigh(_inside(words, unit), weights)))
    if end - start > _LONGEST:
        start, end = _shorten(text, (start, end), _inside(words, (start, end)), weights)
    marks = _join(_inside(words, (start, end)))
    return Snippet(
        text=text[start:end],
        span=Span(start=start, end=end),
        marks=tuple(Span(start=first - start, end=last - start) for first, last in marks),
    )


def _split(text: str) -> Iterator[Range]:
    """Yields the units that a snippet may be: rows of tables, lines of tables of contents, and sentences between."""
    at = 0
    for line in _LINE.finditer(text):
        if _is_row(line[0]):
            yield from _split_prose(text, at, line.start())
            yield line.span()
            at = line.end()
    yield from _split_prose(text, at, len(text))


def _is_row(line: str) -> bool:
    return len(line) <= _LONGEST_ROW and bool(_CELLS.search(line) or _LEADER.search(line))


def _split_prose(text: str, first: int, last: int) -> Iterator[Range]:
    """Yields the sentences of a part; of a text without ends of sentences, the lines."""
    for start, end in split_sentences(text[first:last]):
        if end - start <= _LONGEST_ROW:
            yield first + start, first + end
        else:
            yield from (line.span() for line in _LINE.finditer(text, first + start, first + end) if line[0].strip())


def _rate(text: str, unit: Range, weight: float) -> tuple[bool, float, bool]:
    """Returns the sort key of a unit: a unit with words, except a line of a table of contents, is above all others."""
    plain = _LEADER.search(text, *unit) is None
    return weight > 0 and plain, weight, plain


def _strip(text: str, place: Range) -> Range:
    part = text[slice(*place)]
    start = place[0] + len(part) - len(part.lstrip())
    return start, max(start, place[0] + len(part.rstrip()))


def _inside(words: Sequence[Word], place: Range) -> list[Word]:
    return [word for word in words if place[0] <= word.start and word.end <= place[1]]


def _weigh(words: Sequence[Word], weights: Mapping[str, float]) -> float:
    """Returns the sum in a fixed order, so that equal sets of words weigh the same."""
    return sum(weights[stem] for stem in sorted({word.stem for word in words}))


def _shorten(text: str, sentence: Range, words: Sequence[Word], weights: Mapping[str, float]) -> Range:
    """Returns the part of a long sentence that weighs most, cut between words where there is white space."""
    first, last = _find_densest(words, weights) if words else (sentence[0], sentence[0])
    last = min(last, first + _LONGEST)
    end = min(sentence[1], max(sentence[0], first - (_LONGEST - (last - first)) // 2) + _LONGEST)
    start = max(sentence[0], end - _LONGEST)
    if start > sentence[0]:
        start = next((place for place in range(start, first + 1) if text[place - 1].isspace()), start)
    if end < sentence[1]:
        end = next((place for place in range(end, last - 1, -1) if text[place].isspace()), end)
    return _strip(text, (start, end))


def _find_densest(words: Sequence[Word], weights: Mapping[str, float]) -> Range:
    """Returns the place of the heaviest words that fit into a snippet together; of equally heavy places, the first."""
    best, most = (words[0].start, words[0].end), -1.0
    for at, word in enumerate(words):
        end = word.start + _LONGEST
        fitting = [other for other in islice(words, at, at + _LONGEST) if other.end <= end]
        weight = _weigh(fitting, weights)
        if fitting and weight > most:
            best, most = (word.start, fitting[-1].end), weight
    return best


def _join(words: Sequence[Word]) -> list[Range]:
    """Returns the places of words. Words that overlap or touch share a place, as pairs in scripts without spaces do."""
    places: list[Range] = []
    for word in words:
        if places and word.start <= places[-1][1]:
            places[-1] = places[-1][0], max(places[-1][1], word.end)
        else:
            places.append((word.start, word.end))
    return places


@dataclass(frozen=True, kw_only=True)
class _Surrounded:
    """A hit with neighbours, in reading order."""

    hit: Hit
    before: tuple[Chunk, ...] = ()
    after: tuple[Chunk, ...] = ()


async def _add_neighbours(hits: Sequence[Hit], corpus_id: str, contents: Contents, distance: int) -> list[_Surrounded]:
    """Returns each hit with the passages that are at most `distance` away in its document, each passage once.

    A hit is no neighbour, and a passage near several hits is a neighbour of the first. A hit and its neighbours are of
    one revision: a hit has no neighbours if its passage was deleted, or is from the web.
    """
    ids = [hit.chunk.id for hit in hits if hit.url is None]
    found = await contents.get_surroundings(corpus_id, ids, distance) if distance and ids else {}
    shown = set(ids)
    surrounded: list[_Surrounded] = []
    for hit in hits:
        near = found.get(hit.chunk.id, [])
        here = next((chunk for chunk in near if chunk.id == hit.chunk.id), hit.chunk)
        others = [chunk for chunk in near if chunk.id not in shown]
        shown.update(chunk.id for chunk in others)
        surrounded.append(
            _Surrounded(
                hit=replace(hit, chunk=here),
                before=tuple(chunk for chunk in others if chunk.position < here.position),
                after=tuple(chunk for chunk in others if chunk.position > here.position),
            )
        )
    return surrounded


_PASSAGES = 8
"""Passages that are searched for each requested document; if they are not enough, so many times more."""


async def search_by_document(
    searcher: Searcher, query: Query, trace: Trace
) -> tuple[SearchResult, Mapping[str, tuple[Hit, ...]]]:
    """Returns the best hit of each of the `query.k` best documents, and the other hits of these documents.

    The other hits are by the id of the best hit's chunk. They rank before the first passage of any further document, so
    they do not depend on how many passages were searched. At most `MAX_K` passages are searched.
    """
    k = min(query.k * _PASSAGES, MAX_K)
    while True:
        result = await searcher.search(replace(query, k=k), trace)
        groups, enough = _group(result.hits, query.k)
        if enough or len(result.hits) < k or k == MAX_K:
            break
        k = min(k * _PASSAGES, MAX_K)
    if len(groups) < query.k and len(result.hits) == MAX_K:
        count = "one document" if len(groups) == 1 else f"{len(groups)} documents"
        trace.note(f"grouped: the first {MAX_K:,} passages are of {count}; others were not looked for")
    hits = tuple(group[0] for group in groups)
    return replace(result, hits=hits), {group[0].chunk.id: tuple(group[1:]) for group in groups}


def _group(hits: Sequence[Hit], k: int) -> tuple[list[list[Hit]], bool]:
    """Returns the hits of the first `k` documents before the first hit of another document, and whether that exists."""
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        document = (hit.corpus, hit.document.id)  # several corpora may have documents with the same key
        if document not in groups and len(groups) == k:
            return list(groups.values()), True
        groups.setdefault(document, []).append(hit)
    return list(groups.values()), False


@dataclass(frozen=True, kw_only=True)
class PresentedHit:
    """A hit with its snippet, its neighbours in reading order, and the other hits of its document, best first."""

    hit: Hit
    snippet: Snippet
    before: tuple[Chunk, ...] = ()
    after: tuple[Chunk, ...] = ()
    others: tuple[Hit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """The hits, best first, and the generation of the corpus that they were ranked in; of several, `generations`."""

    hits: tuple[PresentedHit, ...]
    generation: int
    generations: Mapping[str, int] = field(default_factory=dict)


async def present(
    result: SearchResult,
    query: Query,
    backends: RetrievalBackends,
    *,
    context: int = 0,
    others: Mapping[str, tuple[Hit, ...]] | None = None,
) -> SearchPage:
    """Returns the hits with their snippets and up to `context` passages before and after each.

    `others` are the other hits of the documents, by the id of the hit's chunk.
    """
    corpora = [part.corpus for part in query.parts] or [query.corpus]
    presented: dict[str, PresentedHit] = {}
    for number, corpus in enumerate(corpora):
        # Passages of the web are of no corpus; they are presented with the first.
        own = [hit for hit in result.hits if hit.corpus == corpus.name or (not hit.corpus and not number)]
        surrounded = await _add_neighbours(own, corpus.id, backends.contents, context)
        snapshot = await backends.snapshots.get(corpus.id)
        weights = _weigh_words(query.text, snapshot.statistics)
        snippets = await run_interruptibly(_make_snippets, [found.hit.chunk.text for found in surrounded], weights)
        for found, snippet in zip(surrounded, snippets, strict=True):
            presented[found.hit.chunk.id] = _present_one(found, snippet, (others or {}).get(found.hit.chunk.id, ()))
    hits = tuple(presented[hit.chunk.id] for hit in result.hits)
    return SearchPage(hits=hits, generation=result.generation, generations=result.generations)


def _make_snippets(texts: Sequence[str], weights: Mapping[str, float]) -> list[Snippet]:
    snippets = []
    for text in texts:
        check_interrupted()
        snippets.append(make_snippet(text, weights))
    return snippets


def _present_one(surrounded: _Surrounded, snippet: Snippet, others: tuple[Hit, ...]) -> PresentedHit:
    return PresentedHit(
        hit=surrounded.hit, snippet=snippet, before=surrounded.before, after=surrounded.after, others=others
    )


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
    chunk_ids: Collection[str], corpus_id: str, contents: Contents, distance: int = _DISTANCE
) -> Mapping[str, tuple[str, list[str]]]:
    """Returns, by id, the text of each chunk and the texts of up to `distance` chunks before it in its document."""
    if not chunk_ids:
        return {}
    found = {}
    for id, chunks in (await contents.get_surroundings(corpus_id, chunk_ids, distance)).items():
        here = next(chunk for chunk in chunks if chunk.id == id)
        found[id] = here.text, [chunk.text for chunk in chunks if chunk.position < here.position]
    return found


def _with_cell(citation: Citation, texts: tuple[str, list[str]] | None, answer: str, question: str) -> Citation:
    if citation.url is not None or texts is None:
        return citation
    words = answer[citation.answer_span.start : citation.answer_span.end]
    text, before = texts
    return replace(citation, cell=find_cell(text, citation.source_span, words, before, question))
