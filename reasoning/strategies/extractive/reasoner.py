"""The reasoner: searches once, or once for each side of a comparison, and quotes or declines."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from core.corpora import Corpus
from core.events import AnswerEvent, StepEvent
from core.ports.reasoning import Answer, Question, Step, Support, Unsupported
from core.ports.retrieval import Hit, Query, check_searched
from core.strategies import StrategyConfig
from core.text.titles import stem_of
from core.trace import Trace
from reasoning.citations.quotes import passage_text
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.respelling import respell
from reasoning.strategies.extractive.fiscal_years import call_fiscal_quarter
from reasoning.strategies.extractive.looking import Look, find_heads, find_missing_sign, find_unnamed, search_and_read
from reasoning.strategies.extractive.over_periods.families import choose_family, quarters_of
from reasoning.strategies.extractive.over_periods.found import Series
from reasoning.strategies.extractive.over_periods.missing import (
    find_missing_period,
    quote_other_periods,
)
from reasoning.strategies.extractive.over_periods.rows import read_asked
from reasoning.strategies.extractive.over_periods.sentences import (
    SENTENCES_NOTE,
    count_reports,
    find_sentence,
    leave_out_course,
)
from reasoning.strategies.extractive.over_periods.series import asks_for_series, find_series
from reasoning.strategies.extractive.over_rows import NOTE, answer_over_rows
from reasoning.strategies.extractive.over_rows.question.relations import find_list_query
from reasoning.strategies.extractive.quoting.answering import (
    LEAST,
    NOTHING,
    choose_quotes,
    decline,
    describe_quotes,
    is_answered,
    quote_heading,
    quote_units,
    write_values,
)
from reasoning.strategies.extractive.quoting.reading import Reading, choose_depth
from reasoning.strategies.extractive.quoting.stated import asks_of_relation
from reasoning.strategies.extractive.quoting.wording import asks_for_each, asks_for_outlooks, leave_out_each
from reasoning.strategies.extractive.quoting.writing import Written, cite, write, write_nearest
from reasoning.strategies.extractive.sides import split_sides

_FEWEST_SIDES = 2
_MOST_VERSIONS = 8
"""Versions of a document that are searched for a question about each."""
_FROM_EACH = 10
"""Passages of each report in which a sentence is looked for that tells a value."""
_LABEL = "Extractive: this answer only quotes its sources; no language model wrote it."
_REMEDY = "set up a language model"
_UNREAD = (
    "the conversation before the question was not read: `extractive` asks no language model; ask a question that can "
    "be understood alone"
)


class Config(StrategyConfig):
    """How many units are quoted, how probable it has to be that the passages answer, and whether facts help."""

    sentences: int = Field(default=3, ge=1, le=20, description="At most this many sentences or rows are quoted.")
    min_probability: float = Field(
        default=LEAST,
        ge=0,
        le=1,
        description=(
            "Declines if it is less probable that the passages answer, by words, values and cosines; "
            "`calibrate-extractive` finds it."
        ),
    )
    facts: bool = Field(
        default=True,
        description="Whether a sentence that states the fact that is asked for goes first, if the corpus has facts.",
    )


class Extractive:
    """Quotes sentences and cells, and computes from cells: counts, sums, changes.

    Every word of a quote is in a passage or its headings, or names a document, the sender of a mail or a side of the
    question. What is computed stands in no passage: the answer says that code computed it, and cites the cells, or the
    first rows and how many were read. Fixed sentences tell what was left out or not found.
    """

    def __init__(self, config: Config, backends: ReasoningBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._backends.searcher, corpus)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        if question.history:
            trace.note(_UNREAD)
        question, respelled = await respell(self._backends, question, trace)
        question, called = await call_fiscal_quarter(self._backends, question, trace)
        over_periods = await self._look(question, question.text, trace) if asks_for_series(question.text) else None
        looks = [over_periods] if over_periods else []
        answer = await self._conclude_series(question, over_periods, trace) if over_periods else None
        if answer is None and over_periods:
            answer = await self._conclude_sentences(question, over_periods, looks, trace)
        if answer is None:
            looks = await self._look_at_versions(question, trace) or await self._look_at_sides(question, trace)
            answer = await self._conclude_rows(question, looks, trace)
            answer = answer or await self._conclude_values_of_sides(question, looks, trace)
            answer = answer or self._conclude_sides(question, looks)
        if answer is None:
            look = over_periods or await self._look(question, question.text, trace)
            looks = [look]
            answer = await self._conclude_rows(question, looks, trace) or await self._conclude_listed(
                question, looks, trace
            )
            answer = answer or await self._conclude_missing(question, look, trace) or self._conclude(question, look)
        steps = []
        for number, look in enumerate(looks, start=1):
            said = look.answer if look.side else ("" if answer.abstained else answer.text)
            steps.append(
                Step(
                    id=str(number),
                    question=look.question,
                    hits=look.hits,
                    answer=said,
                    support=answer.support if said else Support.NONE,
                    seconds=look.seconds,
                )
            )
            trace.emit(StepEvent(result=steps[-1]))
        answer = replace(answer, steps=tuple(steps), note=" ".join(filter(None, (answer.note, respelled, called))))
        trace.emit(AnswerEvent(answer=answer))
        return answer

    async def _look_at_sides(self, question: Question, trace: Trace) -> list[Look]:
        """Searches and reads for each side of a question, such as two companies; returns [] if it has no sides."""
        sides = split_sides(question.text)
        if sides is None:
            return []
        looks = [
            await self._look(question, text, trace, step, side)
            for step, (side, text) in enumerate(sides.questions.items(), start=1)
        ]
        joined = sides.joined.casefold()
        is_one_name = any(joined in find_heads(hit).casefold() for look in looks for hit in look.hits)
        return [] if is_one_name else [look.prefer_side() for look in looks]

    async def _look_at_versions(self, question: Question, trace: Trace) -> list[Look]:
        """Searches and reads each version of a document for a question about each; returns [] for any other question.
        The newest versions are read, the oldest of them first.
        """
        if question.parts or not (asks_for_each(question.text) or asks_for_outlooks(question.text)):
            return []
        text = leave_out_each(question.text)
        look = await self._look(question, text, trace)
        family = choose_family(read_asked(text), text, look.hits) if look.hits else None
        if not family or len(family) < _FEWEST_SIDES:
            return []
        if len(family) > _MOST_VERSIONS:
            trace.note(f"{len(family) - _MOST_VERSIONS} older versions were not read")
        looks = [
            await self._look(replace(question, documents=frozenset({ref.id})), text, trace, step, stem_of(ref.key))
            for step, ref in enumerate(family[-_MOST_VERSIONS:], start=1)
        ]
        return [replace(look, is_version=True) for look in looks]

    async def _look(self, question: Question, text: str, trace: Trace, step: int = 1, side: str = "") -> Look:
        query = Query(
            corpus=question.corpus,
            text=text,
            k=question.k or choose_depth(text),
            documents=question.documents,
            parts=question.parts,
            web=question.web,
            masked=question.masked,
            private=False,
            facts=self._config.facts and asks_of_relation(text),
        )
        return await search_and_read(self._backends, query, trace, step=str(step), side=side)

    async def _conclude_rows(self, question: Question, looks: list[Look], trace: Trace) -> Answer | None:
        """Returns the answer to a question over all rows of one table, whose passages are then hits of the step; None
        for any other question.
        """
        if not looks:
            return None
        hits = tuple({hit.chunk.id: hit for look in looks for hit in look.hits}.values())
        with trace.timed("rows"):
            found = await answer_over_rows(self._backends.finder, question, question.text, hits)
        if found is None:
            return None
        read = tuple({hit.chunk.id: hit for hit in (*hits, *found.hits)}.values())
        looks[:] = [replace(looks[0], question=question.text, side="", hits=read)]
        return Answer(
            text=found.text,
            reasoner="extractive",
            citations=found.citations,
            abstained=found.abstained,
            support=Support.NONE if found.abstained else Support.QUOTED,
            note="" if found.abstained else NOTE,
            shown=tuple(passage_text(hit) for hit in found.hits),
            table=found.table,
        )

    async def _conclude_listed(self, question: Question, looks: list[Look], trace: Trace) -> Answer | None:
        """Returns the answer from a list of persons that is found by other words than those of the question."""
        query = find_list_query(question.text)
        if not query or question.unsupported is Unsupported.ABSTAIN:
            return None
        more = [await self._look(question, query, trace, step=2)]
        answer = await self._conclude_rows(question, more, trace)
        if answer is not None and answer.abstained:
            return None
        looks[:] = looks if answer is None else more
        return answer

    def _conclude(self, question: Question, look: Look) -> Answer:
        reading = look.reading
        shown = tuple(passage_text(hit) for hit in look.hits)
        dated = quote_heading(reading)
        is_found = dated is not None and question.unsupported is not Unsupported.ABSTAIN
        if not is_found and not self._answers(question, reading):
            text, citations = decline(reading)
            return Answer(
                text=text,
                reasoner="extractive",
                citations=citations,
                abstained=True,
                shown=shown,
            )
        text, citations = dated or quote_units(look.question, reading, self._config.sentences)
        return Answer(
            text=text,
            reasoner="extractive",
            citations=citations,
            support=Support.QUOTED,
            note=" ".join(filter(None, (_LABEL if dated else describe_quotes(reading, _LABEL, _REMEDY), look.note))),
            shown=shown,
        )

    async def _conclude_missing(self, question: Question, look: Look, trace: Trace) -> Answer | None:
        """Returns an abstention if the question names a quarter that no document tells, a company that the report with
        the best unit does not name, or a sign, `SC-2022-009`, that nothing has; None for any other question.
        """
        units = look.reading.units
        missing = find_missing_period(question.text, look.hits, units)
        if missing is not None:
            text, citations = quote_other_periods(missing, question.text, units)
        elif owner := await find_unnamed(self._backends, question, look, trace):
            text, citations = cite(write_nearest(units), f"No report that was found names {owner}. Nearest:")
        elif sign := await find_missing_sign(self._backends, question, look, trace):
            text, citations = cite(write_nearest(units), f"No passage that was found has {sign}. Nearest:")
        else:
            return None
        return Answer(
            text=text,
            reasoner="extractive",
            citations=citations,
            abstained=True,
            shown=tuple(passage_text(hit) for hit in look.hits),
        )

    async def _conclude_series(self, question: Question, look: Look, trace: Trace) -> Answer | None:
        """Returns the values of versions of a document, or of a table's periods, that a question asks for; None if it
        asks for none.
        """
        series = await self._find_series(question, question.text, look, trace)
        if series is None:
            return None
        return self._tell_series(
            question, series, look.hits, look.reading if self._answers(question, look.reading) else None
        )

    async def _conclude_sentences(
        self, question: Question, look: Look, looks: list[Look], trace: Trace
    ) -> Answer | None:
        """Returns the sentence of each report that tells the value that a question asks over periods, or of one
        quarter; None for any other question, or if fewer than half of the reports surely have one. `looks` becomes what
        was read.
        """
        least = count_reports(question.text)
        if not least or question.parts or not look.hits or question.unsupported is Unsupported.ABSTAIN:
            return None
        text = leave_out_course(question.text)
        family = [ref for ref in choose_family(read_asked(text), question.text, look.hits) or () if quarters_of(ref)][
            -_MOST_VERSIONS:
        ]
        if len(family) < least:
            return None
        read = [
            await self._look(
                replace(question, documents=frozenset({ref.id}), k=question.k or _FROM_EACH),
                text,
                trace,
                step,
                stem_of(ref.key),
            )
            for step, ref in enumerate(family, start=1)
        ]
        found = {look.side: unit for look in read if (unit := find_sentence(text, look.reading.units)) is not None}
        if len(found) < least or 2 * len(found) < len(read):
            return None
        told, citations = cite([Written(unit=unit, text=unit.text, label=f"{side}: ") for side, unit in found.items()])
        missing = [look.side for look in read if look.side not in found]
        if missing:
            told += f"\n\n{', '.join(missing)}: {NOTHING[0].lower()}{NOTHING[1:]}"
        looks[:] = [replace(look, is_version=True) for look in read]
        return Answer(
            text=told,
            reasoner="extractive",
            citations=citations,
            support=Support.QUOTED,
            note=f"{_LABEL} {SENTENCES_NOTE}",
            shown=tuple(dict.fromkeys(passage_text(unit.hit) for unit in found.values())),
        )

    async def _conclude_values_of_sides(self, question: Question, looks: Sequence[Look], trace: Trace) -> Answer | None:
        """Returns the value of one report that a question asks for of each of its sides, such as two companies; None if
        the value of one of them is not surely found.
        """
        sides = split_sides(question.text)
        found = []
        for look, text in zip(looks, sides.questions.values() if sides else (), strict=False):
            series = None if look.is_version else await self._find_series(question, text, look, trace)
            if series is None or not series.is_single or series.others or series.ratios:
                return None
            cells = [replace(cell, label=f"{look.side}: {cell.label}") for cell in series.cells]
            found.append(replace(series, cells=cells))
        if not found:
            return None
        first, *others = found
        return self._tell_series(question, replace(first, others=others), [hit for look in looks for hit in look.hits])

    async def _find_series(self, question: Question, text: str, look: Look, trace: Trace) -> Series | None:
        async def search(documents: frozenset[str], k: int) -> Sequence[Hit]:
            query = Query(corpus=question.corpus, text=text, k=k, documents=documents, private=False)
            return (await self._backends.searcher.search(query, trace)).hits

        return await find_series(question, text, look.hits, search)

    def _tell_series(
        self, question: Question, series: Series, hits: Sequence[Hit], reading: Reading | None = None
    ) -> Answer:
        text, citations, note = write_values(question.text, series, reading, self._config.sentences - 1)
        by_chunk = {hit.chunk.id: hit for hit in (*series.hits, *hits)}
        shown = tuple(passage_text(by_chunk[id]) for id in dict.fromkeys(citation.chunk_id for citation in citations))
        return Answer(
            text=text,
            reasoner="extractive",
            citations=citations,
            support=Support.QUOTED,
            note=f"{_LABEL} {note}",
            shown=shown,
        )

    def _conclude_sides(self, question: Question, looks: Sequence[Look]) -> Answer | None:
        """Returns the best quotes of each side, or None unless at least two sides are answered. Versions may say the
        same; other sides are answered by different units.
        """
        found = [
            look
            for look in looks
            if self._answers(question, look.reading)
            and look.is_about_side
            and (look.is_version or find_missing_period(look.question, look.hits, look.reading.units) is None)
        ]
        if len({(look.is_version and look.side, look.answer) for look in found}) < _FEWEST_SIDES:
            return None
        most = max(1, self._config.sentences // len(looks))
        written = [
            item
            for look in found
            for item in write(look.question, choose_quotes(look.question, look.reading, most), f"{look.side}: ")
        ]
        text, citations = cite(written)
        missing = [look.side for look in looks if look not in found]
        if missing:
            text += f"\n\n{', '.join(missing)}: {NOTHING[0].lower()}{NOTHING[1:]}"
        least = min((look.reading for look in found), key=lambda reading: reading.right)
        return Answer(
            text=text,
            reasoner="extractive",
            citations=citations,
            support=Support.QUOTED,
            note=describe_quotes(least, _LABEL, _REMEDY),
            shown=tuple(dict.fromkeys(passage_text(hit) for look in looks for hit in look.hits)),
        )

    def _answers(self, question: Question, reading: Reading) -> bool:
        sure = question.unsupported is Unsupported.ABSTAIN
        return is_answered(reading, self._config.min_probability, sure=sure)
