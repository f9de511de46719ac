"""The mentions and facts of extracted chunks, in a fixed order, and how the facts fit the schema of the corpus."""

from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.graph import Extraction, Fact, Fit, FitTally, Mention, Triple
from core.graph_schema import GraphSchema, StatedFact
from core.ids import assertion_id, entity_id, triple_id
from core.text.entity_types import FactEnd
from core.text.names import normalise
from core.text.titles import one_line
from indexer.chunking.batches import MadeSequence


@dataclass(frozen=True, kw_only=True)
class ExtractedGraph:
    """The mentions and facts of some chunks. `malformed` counts the triples left out because they name nothing.

    It includes the triples that the extractor has left out.
    """

    mentions: Sequence[Mention]
    facts: tuple[Fact, ...]
    malformed: int


class _MentionTable(MadeSequence[Mention]):
    """Mentions in arrays, since a long text has millions; each is made when it is read.

    The mentions of the chunk `chunk_ids[n]` end at `ends[n]`. Mention m is of `forms[of_form[m]]`, `counts[m]` times. A
    form is name and spelling joined by a line feed, in UTF-8; `entity_ids` are the ids for `forms`, 16 bytes each.
    """

    def __init__(self) -> None:
        self.chunk_ids: list[str] = []
        self.ends = array("q")
        self.forms: Sequence[bytes] = ()
        self.entity_ids = bytearray()
        self.of_form = array("q")
        self.counts = array("q")

    def __len__(self) -> int:
        return len(self.of_form)

    def __iter__(self) -> Iterator[Mention]:
        start = 0
        for chunk_id, end in zip(self.chunk_ids, self.ends, strict=True):
            for n in range(start, end):
                yield self._make(chunk_id, n)
            start = end

    def make(self, n: int) -> Mention:
        return self._make(self.chunk_ids[bisect_right(self.ends, n)], n)

    def _make(self, chunk_id: str, n: int) -> Mention:
        number = self.of_form[n]
        name, _, form = self.forms[number].decode("utf-8", "surrogatepass").partition("\n")
        entity = self.entity_ids[16 * number : 16 * number + 16].hex()
        return Mention(chunk_id=chunk_id, entity_id=entity, name=name, form=form, count=self.counts[n])


class GraphBuilder:
    """Collects the mentions and facts of chunks, in order. An extraction is not needed any more once it is added.

    A fact whose subject is its object is kept: the text states it, an export contains it, and the support of the entity
    counts it. The graph snapshot decides what such a loop means for ranking.
    """

    def __init__(self) -> None:
        self._mentions = _MentionTable()
        self._numbers: dict[bytes, int] = {}
        self._facts: list[Fact] = []
        self._malformed = 0

    def add(self, chunk_id: str, extraction: Extraction) -> None:
        """Adds the mentions by name and form, and the facts by the names of the triple."""
        triples = [triple for triple in extraction.triples if _is_complete(triple)]
        self._malformed += extraction.malformed + len(extraction.triples) - len(triples)
        self._facts += _facts(chunk_id, triples)
        table = self._mentions
        for spelling, count in sorted(_count_forms(extraction, triples).items()):
            if spelling[0]:
                table.of_form.append(self._number(spelling))
                table.counts.append(count)
        table.chunk_ids.append(chunk_id)
        table.ends.append(len(table))

    def build(self) -> ExtractedGraph:
        self._mentions.forms = list(self._numbers)
        return ExtractedGraph(mentions=self._mentions, facts=tuple(self._facts), malformed=self._malformed)

    def _number(self, spelling: tuple[str, str]) -> int:
        packed = "\n".join(spelling).encode("utf-8", "surrogatepass")  # neither has a line feed
        number = self._numbers.setdefault(packed, len(self._numbers))
        if 16 * number == len(self._mentions.entity_ids):
            self._mentions.entity_ids += bytes.fromhex(_entity_id(spelling[0]))
        return number


@lru_cache(maxsize=1 << 14)
def _entity_id(name: str) -> str:
    """The spellings of an entity share its id."""
    return entity_id(name)


def make_graph(chunk_ids: Sequence[str], extractions: Sequence[Extraction]) -> ExtractedGraph:
    """Returns mentions and facts ordered by chunk (as given), then by name and form, or by the names of the triple."""
    builder = GraphBuilder()
    for chunk_id, extraction in zip(chunk_ids, extractions, strict=True):
        builder.add(chunk_id, extraction)
    return builder.build()


def _is_complete(triple: Triple) -> bool:
    return bool(normalise(triple.subject) and triple.predicate.strip() and normalise(triple.object))


def _count_forms(extraction: Extraction, triples: Iterable[Triple]) -> dict[tuple[str, str], int]:
    """Returns how often each spelling occurs, by normalised name and form."""
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for surface in extraction.entities:
        counts[normalise(surface.form), one_line(surface.form)] += surface.count
    for form in (one_line(form) for triple in triples for form in (triple.subject, triple.object)):
        counts.setdefault((normalise(form), form), 1)
    return counts


def _facts(chunk_id: str, triples: Iterable[Triple]) -> list[Fact]:
    """Makes one fact for each triple. Triples with equal names and predicate make one fact."""
    named = {(normalise(t.subject), one_line(t.predicate), normalise(t.object)) for t in triples}
    facts = []
    for subject, predicate, object_ in sorted(named):
        subject_id, object_id = entity_id(subject), entity_id(object_)
        triple = triple_id(subject_id, predicate, object_id)
        facts.append(
            Fact(
                id=assertion_id(triple, chunk_id),
                triple_id=triple,
                chunk_id=chunk_id,
                subject_id=subject_id,
                predicate=predicate,
                object_id=object_id,
            )
        )
    return facts


def apply_schema(graph: ExtractedGraph, schema: GraphSchema) -> tuple[ExtractedGraph, FitTally]:
    """Returns the graph of a document, and how many of its facts fit the schema in each way. A strict schema leaves out
    the facts that are outside of it; the names stay.

    The types of entities follow from their names and from the facts of this document alone, so what is left out does
    not depend on other documents.
    """
    if not schema:
        return graph, FitTally()
    named = [fact for fact in graph.facts if schema.find_relation(fact.predicate)]
    types = _find_types(graph, schema, {id for fact in named for id in (fact.subject_id, fact.object_id)})
    fits = [schema.check(fact.predicate, types.get(fact.subject_id), types.get(fact.object_id)) for fact in graph.facts]
    tally = FitTally(**{fit.value: count for fit, count in Counter(fits).items()})
    if not schema.strict or not tally.outside:
        return graph, tally
    kept = tuple(fact for fact, fit in zip(graph.facts, fits, strict=True) if fit is not Fit.OUTSIDE)
    return replace(graph, facts=kept), tally


def _find_types(graph: ExtractedGraph, schema: GraphSchema, entities: set[str]) -> dict[str, str | None]:
    if not entities:
        return {}
    ends = {id for fact in graph.facts for id in (fact.subject_id, fact.object_id)}
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mention in graph.mentions:
        if mention.entity_id in ends:
            forms[mention.entity_id][mention.form] += mention.count
    names = {id: max(counts, key=lambda form: (counts[form], form)) for id, counts in forms.items()}
    stated: defaultdict[str, list[StatedFact]] = defaultdict(list)
    for fact in graph.facts:
        for end, id, other in (
            (FactEnd.SUBJECT, fact.subject_id, fact.object_id),
            (FactEnd.OBJECT, fact.object_id, fact.subject_id),
        ):
            if id in entities:
                stated[id].append(StatedFact(end=end, phrase=fact.predicate, other=names.get(other, "")))
    return {id: schema.choose_type(names[id], stated[id]) for id in entities if id in names}
