"""The register of a corpus: which documents are in force on a day, by their statements and by what others claim.

A document is not in force before its `valid_from`, after its `valid_to` (the last day), and from the day on which a
document begins that supersedes it. Nothing else retires a document. A document supersedes another one only if whoever
wrote it could have changed the other one as well: who sees it must be among those who see the other one, and its
authority must be as high. Everything else that it says is a claim: it is shown, and retires nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import TypeAlias

from core.documents import DocumentRef
from core.errors import InvalidInput
from core.filters import DocumentFilter
from core.ids import digest
from core.text.titles import family_of
from core.validity.claims import OF_EARLIER_YEAR, WITHOUT_DAY, find_objection, find_objection_of_years
from core.validity.names import DocumentName, NameIndex
from core.validity.statements import (
    AMENDED_BY,
    AMENDS,
    SUPERSEDED_BY,
    SUPERSEDES,
    VALID_FROM,
    VALID_TO,
    Statement,
    StatementSource,
    list_marks,
    read_authority,
    read_day,
    read_part_statements,
    read_parties,
    read_statements,
)

EVERYTHING_IN_FORCE = "any"
AsOf: TypeAlias = date | None
"""The day that a search is of; None: all documents, whether they are in force or not."""


def parse_as_of(text: str | None) -> AsOf:
    """Returns the day; today (UTC) if none is given, None for `any`. Raises `InvalidInput`."""
    if text is None:
        return datetime.now(UTC).date()
    if text == EVERYTHING_IN_FORCE:
        return None
    if (day := read_day(text)) is None:
        raise InvalidInput(f"`as_of` is {text[:40]!r}; write a day such as 2024-05-01, or `{EVERYTHING_IN_FORCE}`")
    return day


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """What one document says of another one: `document` is the other one. `kind` is `supersedes`, `superseded_by`,
    `amends` or `amended_by`.

    `since` is the day from which it holds; None: it is not known. `problem` tells why it is only a claim; '' if it
    counts.
    """

    kind: str
    document: DocumentRef
    statement: Statement
    since: date | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """What is known of the validity of a document. `valid_to` is the last day, by its own statement or since another
    document supersedes it. None: there is no such day.

    `statements` are its own, and `parts` its own on parts of it. `unresolved` are names in them that no document has,
    or several have.
    """

    valid_from: date | None = None
    valid_to: date | None = None
    authority: str = ""
    statements: tuple[Statement, ...] = ()
    parts: tuple[Statement, ...] = ()
    relations: tuple[Relation, ...] = ()
    unresolved: tuple[str, ...] = ()

    @property
    def stated_end(self) -> date | None:
        """The last day by its own statements, whatever supersedes it."""
        return _first_day(self.statements, VALID_TO)

    @property
    def superseded_by(self) -> tuple[Relation, ...]:
        """The relations that count, and not mere claims."""
        return tuple(relation for relation in self.relations if relation.kind == SUPERSEDED_BY and not relation.problem)


_References = Sequence[tuple[str, Statement, DocumentName]]
_NAMING = (SUPERSEDES, SUPERSEDED_BY, AMENDS, AMENDED_BY)


class NameFinder:
    """The names in the statements of dated documents. `where` is the filter of the documents that may be meant."""

    def __init__(self, refs: Mapping[str, DocumentRef]) -> None:
        self.statements = {id: read_statements(ref.metadata) for id, ref in refs.items()}
        self.references: _References = [
            (id, statement, _make_name(statement, refs[id]))
            for id, statements in self.statements.items()
            for statement in statements
            if statement.states in _NAMING
        ]
        self.has_unmarked_claims = any(
            statement.states in (SUPERSEDES, AMENDS) and not list_marks(refs[id].metadata, statement.source)
            for id, statement, _ in self.references
        )
        self._names = {name for _, _, name in self.references}

    @cached_property
    def where(self) -> DocumentFilter | None:
        """None: no names are to be found."""
        if not self._names:
            return None
        listed = sorted((name.text, name.is_exact, name.title, name.key, name.parties) for name in self._names)
        index = NameIndex(self._names)
        return DocumentFilter(
            source={"$named": [list(name) for name in listed]}, test=lambda row: bool(index.find(row))
        )

    def resolve(self, refs: Iterable[DocumentRef]) -> Mapping[DocumentName, Sequence[DocumentRef]]:
        """Returns the documents that each name fits."""
        found: dict[DocumentName, list[DocumentRef]] = {}
        index = NameIndex(self._names)
        for ref in refs if self._names else ():
            for name in index.find({**ref.metadata, "$id": ref.id, "$key": ref.key, "$title": ref.title}):
                found.setdefault(name, []).append(ref)
        return found


def _make_name(statement: Statement, ref: DocumentRef) -> DocumentName:
    if statement.source is StatementSource.FIELD:
        return DocumentName(text=statement.value, is_exact=True)
    name = DocumentName(text=statement.value, is_exact=False, title=ref.title)
    if statement.states == AMENDS:
        name = replace(name, parties=read_parties(ref.metadata))
    return replace(name, key=ref.key) if name.is_number else name


class Register:
    """The validity of the documents of a corpus that state something, or of which others state something.

    `writers` are the filters of the keys that write. A document without a mark may be older than the marks: any key
    whose filter it matches may have written it.
    """

    def __init__(
        self,
        refs: Mapping[str, DocumentRef],
        finder: NameFinder,
        named: Iterable[DocumentRef],
        writers: Sequence[DocumentFilter] = (),
    ) -> None:
        self.dated, self.finder, self.named, self.writers = refs, finder, tuple(named), tuple(writers)
        self.refs = {**{ref.id: ref for ref in self.named}, **refs}
        self._statements, self._references = finder.statements, finder.references
        self._targets = finder.resolve(self.refs.values())

    @cached_property
    def validity(self) -> Mapping[str, Validity]:
        """Returns what is known, by the document's id."""
        own = {id: self._read_own(ref) for id, ref in self.refs.items()}
        relations: dict[str, list[Relation]] = {id: [] for id in own}
        unresolved: dict[str, list[str]] = {id: [] for id in own}
        for id, statement, name in self._references:
            other = self._find_target(id, name)
            if other is None:
                unresolved[id].append(statement.value)
                continue
            for about, relation in _relate(self.refs[id], other, statement, own, self.writers):
                relations[about].append(relation)
        _refuse_circles(relations)
        related = {
            id: replace(found, relations=tuple(relations[id]), unresolved=tuple(unresolved[id]))
            for id, found in own.items()
        }
        return {id: replace(found, valid_to=_find_end(found)) for id, found in related.items()}

    @cached_property
    def families(self) -> Mapping[str, Sequence[DocumentRef]]:
        """Returns the documents with the same name but for marks of versions, by this name; '' is none."""
        found: dict[str, list[DocumentRef]] = {}
        for ref in self.refs.values():
            found.setdefault(family_of(ref.key, ref.title)[0], []).append(ref)
        return found

    def find_retired(self, day: date, today: date) -> frozenset[str]:
        """Returns the ids of the documents that are not in force on a day."""
        return frozenset(id for id, found in self.validity.items() if not _is_in_force(found, day, today))

    def count_not_revived(self, retired: frozenset[str], day: date) -> int:
        """Returns how many documents are left out only because of documents that have ended themselves: the end of a
        newer document does not bring the older one back.
        """
        ended = {id for id in retired if _has_ended(self.validity[id], day)}
        return sum(
            bool(newer) and newer <= ended
            for newer in ({by.document.id for by in self.validity[id].superseded_by} for id in retired)
        )

    def in_force(self, retired: frozenset[str]) -> DocumentFilter:
        """Returns the filter of all documents but these."""
        name = digest("retired", sorted(retired))
        return DocumentFilter(source={"$retired": name}, test=lambda row: row["$id"] not in retired)

    def _find_target(self, id: str, name: DocumentName) -> DocumentRef | None:
        """Returns the only document that is meant; None if there is none, or several fit equally well."""
        fitting = [ref for ref in self._targets.get(name, ()) if ref.id != id]
        by_key = [ref for ref in fitting if name.text in (ref.key, ref.id)]
        by_title = [ref for ref in fitting if name.text.casefold() == ref.title.casefold()]
        fitting = by_key or by_title or fitting
        return fitting[0] if len(fitting) == 1 else None

    def _read_own(self, ref: DocumentRef) -> Validity:
        statements = self._statements.get(ref.id, ())
        return Validity(
            valid_from=_read_start(statements),
            authority=read_authority(ref.metadata),
            statements=statements,
            parts=read_part_statements(ref.metadata),
        )


def _first_day(statements: Sequence[Statement], field: str) -> date | None:
    return next((read_day(statement.value) for statement in statements if statement.states == field), None)


def _read_start(statements: Sequence[Statement]) -> date | None:
    return _first_day(statements, VALID_FROM)


def _is_of_field(found: Validity, states: str) -> bool:
    """Returns whether a field says this of a document, and not only its own text or the name of its file."""
    first = next((statement for statement in found.statements if statement.states == states), None)
    return first is not None and first.source is StatementSource.FIELD


def _relate(
    ref: DocumentRef,
    other: DocumentRef,
    statement: Statement,
    own: Mapping[str, Validity],
    writers: Sequence[DocumentFilter],
) -> list[tuple[str, Relation]]:
    """Returns what a statement of `ref` on `other` is to both: pairs of a document's id and its relation."""
    if statement.states in (AMENDS, AMENDED_BY):
        newer, older = (ref, other) if statement.states == AMENDS else (other, ref)
        since = _read_since(statement, own[newer.id])
        problem = find_objection(newer, older, statement, writers) if statement.states == AMENDS else ""
        return [
            (newer.id, Relation(kind=AMENDS, document=older, statement=statement, since=since, problem=problem)),
            (older.id, Relation(kind=AMENDED_BY, document=newer, statement=statement, since=since, problem=problem)),
        ]
    newer, older = (ref, other) if statement.states == SUPERSEDES else (other, ref)
    since, begun = _read_since(statement, own[newer.id]), own[older.id].valid_from
    problem = ""
    if statement.states == SUPERSEDES:  # a document that says this of itself may
        days = since, begun, statement.source is StatementSource.FIELD
        problem = find_objection(newer, older, statement, writers) or find_objection_of_years(newer, older, *days)
    if not problem and since is not None and begun is not None and since <= begun:
        problem = "it begins no later than the document that it names"
    if not problem and _ends_before(own[newer.id], since):
        problem = "it ended before it began, and so was never in force"
    return [
        (newer.id, Relation(kind=SUPERSEDES, document=older, statement=statement, since=since, problem=problem)),
        (older.id, Relation(kind=SUPERSEDED_BY, document=newer, statement=statement, since=since, problem=problem)),
    ]


def _read_since(statement: Statement, newer: Validity) -> date | None:
    """Returns the day that the sentence itself names, or else the first day of the newer document."""
    return read_day(statement.since) or newer.valid_from


def _ends_before(newer: Validity, since: date | None) -> bool:
    return since is not None and newer.stated_end is not None and newer.stated_end < since


_UNSETTLED = frozenset(("", WITHOUT_DAY, OF_EARLIER_YEAR))
"""Problems of claims that contradict others nevertheless: without two days, nothing tells which of them is right."""
_IN_A_CIRCLE = "a conflict: the documents claim to supersede one another"


def _refuse_circles(relations: Mapping[str, list[Relation]]) -> None:
    """Makes claims of relations by which a document supersedes itself, over others or not."""
    newer_of = {
        id: [
            relation.document.id
            for relation in found
            if relation.kind == SUPERSEDED_BY and relation.problem in _UNSETTLED
        ]
        for id, found in relations.items()
    }
    reached = {id: _walk(newer_of, id) for id in newer_of if newer_of[id]}
    in_circle = {id: found for id, found in reached.items() if id in found}
    for id, newer in in_circle.items():
        relations[id][:] = [
            replace(relation, problem=_IN_A_CIRCLE)
            if relation.kind in (SUPERSEDES, SUPERSEDED_BY)
            and relation.problem in _UNSETTLED
            and relation.document.id in newer
            and id in in_circle.get(relation.document.id, ())
            else relation
            for relation in relations[id]
        ]


def _walk(edges: Mapping[str, Collection[str]], start: str) -> set[str]:
    """Returns all that can be reached from `start`, with `start` only if a way leads back to it."""
    reached: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        at = waiting.pop()
        if at not in reached:
            reached.add(at)
            waiting += edges.get(at, ())
    return reached


def _has_ended(found: Validity, day: date) -> bool:
    return found.stated_end is not None and day > found.stated_end and not found.superseded_by


def _find_end(found: Validity) -> date | None:
    ends = [found.stated_end, _last_before(found.superseded_by)]
    return min((end for end in ends if end is not None), default=None)


def _last_before(superseded_by: Iterable[Relation]) -> date | None:
    """Returns the last day before another document supersedes this one; None if none does, or no day is known."""
    since = [relation.since for relation in superseded_by if relation.since is not None]
    return min(since) - timedelta(days=1) if since else None


def _is_in_force(found: Validity, day: date, today: date) -> bool:
    """Days that only a document's own text or file's name states hide it on earlier days, and not today or later: what
    an expired contract says is still asked. A document that is superseded since an unknown day is not in force today
    and later; of days before, nobody knows, so it is found.
    """
    is_earlier = day < today
    begins, ends = found.valid_from, found.stated_end
    if begins is not None and day < begins and (is_earlier or _is_of_field(found, VALID_FROM)):
        return False
    if ends is not None and day > ends and (is_earlier or _is_of_field(found, VALID_TO)):
        return False
    last = _last_before(found.superseded_by)
    if last is not None and day > last:
        return False
    undated = any(relation.since is None for relation in found.superseded_by)
    return not (undated and day >= today)
