"""What a question counts that is no kind of documents: "How many suppliers …?", "How many pumps failed?".

The corpus tells what it is, if no table does:

- documents whose metadata or title names one ("type: pump", "Pump P-101") are documents of this kind
- a field of the metadata, or a line, with this name ("supplier", "Supplier: Norwind") has the names to be counted
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.documents import DocumentRef
from core.ports.reasoning import Question
from core.ports.retrieval import QueryPart
from core.ports.surveying import DocumentFinder, WordsAsked
from core.text.terms import split_words
from reasoning.strategies.survey.grouping import Grouping
from reasoning.strategies.survey.plan import Plan, read_plan
from reasoning.strategies.survey.tabulation import Tabulation
from reasoning.strategies.survey.values import stems_of

_REFS = 1000
_LEAST_OF_KIND = 2
"""Documents that a corpus has of a kind of its own: one title may be about anything."""
_LONGEST_VALUE = 60
_SIGN = re.compile(r"\S{0,20}\d")
_NAME = re.compile(r"[^\W\d_]")


async def resolve_unit(finder: DocumentFinder, question: Question, plan: Plan, most: int) -> Plan:
    """Returns the plan with what the question counts as a kind of documents, or as a field of their metadata, if at
    most `most` documents of a corpus tell so; else the plan as it is.
    """
    names = [stems for name in plan.unit_names if len(stems := stems_of(name)) == 1]
    if not names or plan.counts_rows or plan.grouping is not None or plan.aggregate is not None:
        return plan
    own = frozenset(stem for stems in names for stem in stems)
    of_kind, fields = 0, set[str]()
    for part in question.parts or (QueryPart(corpus=question.corpus, documents=question.documents),):
        found = await finder.find(part.corpus, WordsAsked(), part.documents, most)
        ids = [candidate.document_id for candidate in found.documents]
        for start in range(0, len(ids), _REFS):
            refs = (await finder.get_refs(part.corpus, ids[start : start + _REFS])).values()
            of_kind += sum(_is_one(ref, names) for ref in refs)
            fields |= {field for ref in refs for field in ref.metadata if stems_of(field) in names}
    if of_kind >= _LEAST_OF_KIND:
        return read_plan(question.text, own)
    if fields:
        unnamed = read_plan(question.text, own)
        grouping = count_by(plan, min(fields))
        return replace(unnamed, kind="", kind_wording=frozenset(), grouping=grouping)
    return plan


def count_by(plan: Plan, name: str) -> Grouping:
    """Returns the grouping whose groups are what the question counts, if documents call it by this name."""
    return Grouping(name=name, counted=plan.unit)


def has_names(tabulation: Tabulation) -> bool:
    """Returns whether groups have names, and not numbers as in `Employees: 250`."""
    names = [group.name for group in tabulation.groups if group.name]
    return bool(names) and all(_NAME.match(name) for name in names)


def _is_one(document: DocumentRef, names: Sequence[frozenset[str]]) -> bool:
    values = [value for value in document.metadata.values() if isinstance(value, str) and len(value) < _LONGEST_VALUE]
    if any(stems_of(value) in names for value in values):
        return True
    first = next(iter(split_words(document.title)), None)
    return (
        first is not None
        and frozenset([first.stem]) in names
        and _begins_with_sign(document.title[first.end :].split())
    )


def _begins_with_sign(words: Iterable[str]) -> bool:
    return any(_SIGN.match(word) for word in list(words)[:1])
