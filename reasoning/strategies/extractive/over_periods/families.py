"""Which documents a question over periods is about: the versions of one family, or one of several tables."""

from collections import Counter
from collections.abc import Sequence

from core.documents import DocumentRef
from core.passage_context.other_words import find_other_words
from core.ports.retrieval import Hit
from core.text.periods import find_bounds, find_newest, find_quarters, is_within, list_quarters
from core.text.titles import family_of, order_of_marks
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.choice import find_label
from reasoning.strategies.extractive.over_periods.rows import Asked, list_rows


def choose_family(asked: Asked, question: str, hits: Sequence[Hit]) -> list[DocumentRef] | None:
    """Returns the versions of one document that the question asks over, the oldest first; [] if the hits are of no
    family, None if they are of several that have the row and the question names none.

    A family that has the row goes before others, and one whose names have more words of the question.
    """
    families = {hit.chunk.id: family_of(hit.document.key, hit.document.title)[0] for hit in hits if hit.versions}
    rows = list(list_rows(asked, hits))
    label = find_label(rows) if rows else frozenset()
    having = [families.get(row.cells[0].hit.chunk.id, "") for row in rows if row.name == label]
    if having and not any(having):
        return []
    counts = Counter(family for family in having if family) or Counter(families.values())
    named = {
        family: count_named(asked, [hit for hit in hits if families.get(hit.chunk.id) == family]) for family in counts
    }
    best = sorted(counts, key=lambda family: (-named[family], -counts[family]))
    if not best:
        return []
    if having and len(best) > 1 and named[best[0]] == named[best[1]]:
        return None
    refs = {
        ref.id: ref for hit in hits if families.get(hit.chunk.id) == best[0] for ref in (hit.document, *hit.versions)
    }
    bounds = find_bounds(question)
    marks = {id: family_of(ref.key, ref.title)[1] for id, ref in refs.items()}
    quarters = find_quarters(question)
    within = [ref for id, ref in refs.items() if bounds is None or is_within(marks[id], bounds)]
    if quarters is not None:
        within = [ref for ref in refs.values() if quarters_of(ref) & set(quarters.wanted)]
    newest = find_newest(question)
    if newest and newest.are_years and any(mark[0] in "qm" for ref in within for mark in marks[ref.id]):
        return None  # how many reports a year has is not known
    in_order = sorted(within, key=lambda ref: (order_of_marks(marks[ref.id]), ref.key))
    return in_order[-newest.count :] if newest else in_order


def quarters_of(ref: DocumentRef) -> set[tuple[int, int]]:
    """Returns the quarter that the name of a document says, `(2025, 3)`; an empty set if it says none, or several."""
    marks = family_of(ref.key, ref.title)[1]
    years = [int(mark) for mark in marks if mark.isdigit()]
    quarters = [int(mark[1:]) for mark in marks if mark[0] == "q"]
    return {(years[0], quarters[0])} if len(years) == len(quarters) == 1 else set()


def list_named(asked: Asked, hits: Sequence[Hit]) -> list[str]:
    """Returns the ids of the documents whose titles or files have the most names of the question, in the order of the
    hits; if none has any, the only document.
    """
    named = dict[str, int]()
    for hit in hits:
        document = hit.document
        named.setdefault(document.id, len(asked.names & find_stems(f"{document.title} {document.key}")))
    most = max(named.values(), default=0)
    return [id for id, count in named.items() if count == most] if most or len(named) == 1 else []


def is_dated(ref: DocumentRef) -> bool:
    """Returns whether a document is called by a day, and by no quarter: `Acme 10-Q 2023-08-04`."""
    marks = family_of(ref.key, ref.title)[1]
    return any(mark[0] == "m" for mark in marks) and not any(mark[0] == "q" for mark in marks)


def find_told_quarter(hits: Sequence[Hit]) -> tuple[int, int] | None:
    """Returns the quarter that most passages of a document name; None if none names a quarter with its year."""
    told = Counter(quarter for hit in hits for quarter in {*list_quarters(hit.chunk.text)})
    return max(told, key=lambda quarter: (told[quarter], quarter), default=None)


def count_named(asked: Asked, hits: Sequence[Hit]) -> int:
    """Returns how many words of the question the names of the hits' documents have, and of its names their texts."""
    titles = find_stems(" ".join(f"{hit.document.title} {hit.document.key}" for hit in hits))
    return len(asked.words & titles) + len(asked.names & find_stems(" ".join(hit.chunk.text for hit in hits)) - titles)


def has_names(asked: Asked, hits: Sequence[Hit]) -> bool:
    """Returns whether each name of the question stands in the hits, or in the names of their documents."""
    words = " ".join(f"{hit.document.title} {hit.document.key} {hit.chunk.heading} {hit.chunk.text}" for hit in hits)
    told = find_stems(words)
    said = frozenset(stem for term in find_other_words(asked.text) for stem in term.said)
    return asked.names - said <= told
