"""The course of a question over all rows of a table: which table is read, and when the question is declined.

The tables of the first documents among the hits are read whole. A table answers if it has all words of the question. If
none does, and no hit has the words for what is measured, the question is about a column that the table does not have.
"""

import re
from collections.abc import Sequence

from core.corpora import Corpus
from core.passage_context import split_units
from core.passage_context.other_words import find_near_words, find_other_words
from core.passage_context.tables import is_row
from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from core.ports.surveying import DocumentFinder
from core.text.value_kinds import find_stems
from reasoning.citations.quotes import passage_text
from reasoning.strategies.extractive.over_rows.computing import (
    compute_lines,
)
from reasoning.strategies.extractive.over_rows.conditions import has_stem
from reasoning.strategies.extractive.over_rows.fitting import Fit, fit, is_usable
from reasoning.strategies.extractive.over_rows.question.asked import (
    RowsAsked,
    Said,
    are_same,
    read_cell_asked,
    read_rows_asked,
)
from reasoning.strategies.extractive.over_rows.question.column_words import has_same_name
from reasoning.strategies.extractive.over_rows.question.operators import ORDERED, Wanted
from reasoning.strategies.extractive.over_rows.question.times import has_time, is_word_of_time
from reasoning.strategies.extractive.over_rows.sections import is_section, read_sections, turn_table
from reasoning.strategies.extractive.over_rows.tables import (
    read_passage,
    read_tables,
)
from reasoning.strategies.extractive.over_rows.writing import (
    RowsAnswer,
    decline_column,
    decline_time,
    refuse_size,
    write_answer,
)
from reasoning.strategies.extractive.quoting.units import READ, is_record
from reasoning.strategies.survey.values import read_passage_grids

MOST_DOCUMENTS = 3
"""Documents whose tables are read for a question."""
_MOSTLY = 0.8
"""The least part of a passage that is rows of tables, if nothing else in it could answer."""
_DIGIT = re.compile(r"\d")


async def answer_over_rows(
    finder: DocumentFinder | None, question: Question, text: str, hits: Sequence[Hit]
) -> RowsAnswer | None:
    """Returns the answer to a question over all rows of a table, or an abstention that names the columns of the table;
    None for any other question, and if no table has its words.
    """
    if finder is not None and (cell := await _tell_cells(finder, question, text, hits)):
        return cell
    asked = read_rows_asked(text)
    if asked is None or finder is None or (asked.wanted is not Wanted.CELL and _is_stated(asked, hits)):
        return None
    is_unknown = asked.wanted is Wanted.CELL
    if is_unknown and not all(_is_absent(stem, hits) for stem in asked.columns):
        return None
    fits = await _fit_tables(finder, question, asked, hits)
    if isinstance(fits, RowsAnswer):
        return fits
    if usable := _choose_usable(asked, fits) or _choose_usable(asked, _fit_turned(asked, fits)):
        best = max(usable, key=lambda one: one.known)
        equal = [other for other in usable if other is not best and other.known == best.known]
        if any(other.table.is_like(best.table) for other in equal) or _has_rival(best, fits):
            return None
        if lines := compute_lines(best.asked, best):
            return write_answer(best.asked, best, lines, equal)
    return _refuse_unsure(asked, fits, hits)


def _has_rival(best: Fit, fits: Sequence[Fit]) -> bool:
    """Returns whether another table has all words of the question as well, and several columns that may be meant."""
    return any(
        fitting.is_undecided and fitting.known >= best.known and not any(said.stem for said in fitting.left)
        for fitting in fits
        if fitting.table.called == best.table.called
    )


def _refuse_unsure(asked: RowsAsked, fits: Sequence[Fit], hits: Sequence[Hit]) -> RowsAnswer | None:
    """Returns an abstention if a column is missing, or the column of a time is not sure."""
    if missing := next((fitting for fitting in fits if _lacks_column(asked, fitting, hits)), None):
        return decline_column(missing)
    if undecided := next((fitting for fitting in fits if _is_undecided(fitting, hits)), None):
        return decline_time(undecided)
    return None


async def _tell_cells(finder: DocumentFinder, question: Question, text: str, hits: Sequence[Hit]) -> RowsAnswer | None:
    """Returns the measure of one thing from the table with most words of the question; of several, from the one whose
    row has the thing as a whole cell. None if several are as good.
    """
    asked = read_cell_asked(text)
    fits = await _fit_tables(finder, question, asked, hits) if asked else []
    if asked is None or isinstance(fits, RowsAnswer):
        return None
    told = [fitting for fitting in (*fits, *_fit_turned(asked, fits)) if is_usable(fitting)]
    most = max((fitting.known for fitting in told), default=0)
    best = [fitting for fitting in told if fitting.known == most]
    thing = asked.text.strip()
    whole = [fitting for fitting in best if thing in map(str.casefold, fitting.rows[0].cells.values())]
    best = whole or best
    return write_answer(asked, best[0], compute_lines(asked, best[0]), ()) if len(best) == 1 else None


def _choose_usable(asked: RowsAsked, fits: Sequence[Fit]) -> list[Fit]:
    return [fitting for fitting in _prefer_named(asked, fits) if is_usable(fitting)]


def _prefer_named(asked: RowsAsked, fits: Sequence[Fit]) -> list[Fit]:
    """Returns the tables of the documents whose names, with the line above the table, have the most words of the
    question, "in the staff list"; words of the columns of a table that fits do not count. If only tables of other
    documents fit, no table is meant.
    """
    columns = find_stems(" ".join(name for fitting in fits if is_usable(fitting) for name in fitting.table.columns))
    words = {said.stem for said in asked.words if not said.is_light and not has_stem(said.stem, columns)}
    named = [
        sum(
            has_stem(word, find_stems(f"{table.hit.document.title}\n{table.hit.document.key}\n{table.lead}"))
            for word in words
        )
        for table in (fitting.table for fitting in fits)
    ]
    most = max(named, default=0)
    return [fitting for fitting, count in zip(fits, named, strict=True) if count == most]


async def _fit_tables(
    finder: DocumentFinder, question: Question, asked: RowsAsked, hits: Sequence[Hit]
) -> list[Fit] | RowsAnswer:
    """Returns how the question fits the tables of the first documents; or a refusal, if one is too large to be read."""
    fits: list[Fit] = []
    for hit in _choose_hits(asked, hits):
        tables = await read_tables(
            finder, _find_corpus(question, hit), hit, read_sections if _may_count_sections(asked) else None
        )
        if tables is None:
            if any(is_usable(fitting) for table in read_passage(hit) for fitting in [fit(asked, table)]):
                return RowsAnswer(text=refuse_size(hit), abstained=True)
            continue
        fits += [fit(asked, table) for table in tables if table.rows]
    return fits


def _fit_turned(asked: RowsAsked, fits: Sequence[Fit]) -> list[Fit]:
    """Returns how the question fits the columns of the tables as rows, where it names a label of theirs."""
    if asked.wanted not in ORDERED and asked.comparison is None and not asked.is_told:
        return []
    turned = [
        turn_table(fitting.table, asked.stems, is_told=asked.is_told)
        for fitting in fits
        if fitting.table.called == "row"
    ]
    found = [fit(asked, table) for table in turned if table is not None]
    return [fitting for fitting in found if fitting.compared or fitting.told or _is_measure_of_all(asked, fitting)]


def _is_measure_of_all(asked: RowsAsked, one: Fit) -> bool:
    """Returns whether things may be ordered by a label: amounts of one unit, which the word for the order is of, as in
    "the longest range", or tells itself, as "cheapest".
    """
    names = find_stems(one.measure)
    units = {amount.unit for amount in one.table.amounts.get(one.measure, ()) if amount}
    is_next = any(
        _is_next(asked, said) and (has_stem(said.stem, names) or has_same_name(said.stem, names))
        for said in asked.words
    )
    return len(units) == 1 and (is_next or asked.superlative is not None)


def _may_count_sections(asked: RowsAsked) -> bool:
    """Returns whether sections that are alike may be counted or listed: not persons."""
    return asked.wanted is Wanted.COUNT and not asked.is_who


def _choose_hits(asked: RowsAsked, hits: Sequence[Hit]) -> list[Hit]:
    """Returns the first hit of each document that has a table with a word of the question in its columns, then of those
    that have one in a cell or in the title; and for a cell the best hit, if it has a table.
    """
    if asked.wanted is Wanted.CELL and not asked.is_told:
        return [hit for hit in hits[:1] if hit.url is None and read_passage_grids(hit.chunk)]
    chosen: dict[str, Hit] = {}
    others: dict[str, Hit] = {}
    words = [said.stem for said in asked.words if not said.is_light and not said.is_generic]
    for hit in hits:
        grids = read_passage_grids(hit.chunk) if hit.url is None else []
        if not grids and (hit.url is not None or not _may_count_sections(asked) or not is_section(hit.chunk)):
            continue
        names = [
            name for grid in grids for name in (*grid.columns, *(name for row in grid.rows[:1] for name in row.names))
        ]
        stems = find_stems(" ".join(names))
        if any(are_same(said.stem, own) or own.endswith(said.stem) for said in asked.words for own in stems):
            chosen.setdefault(hit.document.id, hit)
            continue
        document = hit.document
        own = find_stems(f"{passage_text(hit)}\n{document.title}\n{document.key}")
        if any(has_same_name(stem, stems) or has_stem(stem, own) for stem in words) or _names_column(
            asked, stems | own
        ):
            others.setdefault(document.id, hit)
    return [
        hit
        for _, hit in zip(
            range(MOST_DOCUMENTS),
            (chosen | {id: hit for id, hit in others.items() if id not in chosen}).values(),
            strict=False,
        )
    ]


def _names_column(asked: RowsAsked, stems: frozenset[str]) -> bool:
    """Returns whether a word such as "cheapest" or "older than" names a column, or a label."""
    named = asked.of_names | (asked.superlative.names if asked.superlative else frozenset())
    return not named.isdisjoint(stems)


def _find_corpus(question: Question, hit: Hit) -> Corpus:
    return next((part.corpus for part in question.parts if part.corpus.name == hit.corpus), question.corpus)


def _is_stated(asked: RowsAsked, hits: Sequence[Hit]) -> bool:
    """Returns whether a sentence has all words of the question, also the word for what is wanted, and its number."""
    stems = asked.operator | {said.stem for said in asked.words}
    number = asked.comparison.number if asked.comparison and asked.factor == 1 else ""
    for hit in hits:
        text = hit.chunk.text[:READ]
        for start, end in split_units(text):
            unit = text[start:end]
            if not (is_row(unit) or is_record(unit.strip())):
                own = find_stems(unit)
                if number in unit and all(any(are_same(stem, other) for other in own) for stem in stems):
                    return True
    return False


def _is_absent(stem: str, hits: Sequence[Hit]) -> bool:
    return not any(are_same(stem, own) for hit in hits for own in find_stems(passage_text(hit)))


def _lacks_column(asked: RowsAsked, one: Fit, hits: Sequence[Hit]) -> bool:
    """Returns whether the question is about the table of the best hit, and measures what neither the table nor a hit
    has a word for.
    """
    left = [said.stem for said in one.left]
    if not left or not one.known or one.table.hit.document.id != hits[0].document.id:
        return False
    if any(not said.stem or _DIGIT.search(said.stem) or is_word_of_time(said.written) for said in one.left):
        return False
    if asked.wanted is Wanted.CELL:
        if not one.is_one or set(left) != asked.columns:
            return False
    elif (
        not _is_next(asked, one.left[0])
        or asked.wanted is Wanted.COUNT
        or one.is_measured
        or one.is_one
        or not one.is_noun_known
        or len(left) > 2
    ):
        return False
    return all(_is_absent(stem, hits) for stem in left) and not _has_other_words(one)


def _is_undecided(one: Fit, hits: Sequence[Hit]) -> bool:
    """Returns whether the question is about the table of the best hit, which has all its words, and only the time is
    not sure: several columns have dates, or too few rows have one.
    """
    asked = one.asked
    is_known = one.known > 0 and one.table.hit.document.id == hits[0].document.id
    if one.table.label in one.table.dates or not one.table.dates:
        return False  # a row of a month answers itself
    if not is_known or one.is_one or asked.wanted in {Wanted.CELL, Wanted.DIFFERENCE} or not one.left:
        return False
    return all(_tells_time(said.written) for said in one.left) and _is_all_rows(hits[0])


def _tells_time(written: str) -> bool:
    return is_word_of_time(written) or has_time(written)


def _is_all_rows(hit: Hit) -> bool:
    """Returns whether a passage has rows of tables and hardly anything else, which could answer the question."""
    rows = sum(grid.end - grid.start for grid in read_passage_grids(hit.chunk))
    return rows >= _MOSTLY * len(hit.chunk.text.strip())


def _is_next(asked: RowsAsked, said: Said) -> bool:
    """Returns whether a word is measured: "the highest weight", and not "costs the most"."""
    return asked.after <= said.start and not asked.text[asked.after : said.start].strip()


def _has_other_words(one: Fit) -> bool:
    """Returns whether a column may be called by another word for what is missing."""
    words = " ".join(said.written for said in one.left)
    columns = find_stems(" ".join(one.table.columns))
    return any(term.is_in(columns) for term in (*find_other_words(words), *find_near_words(words)))
