"""The bodies of the routes of made questions, and what they show."""

from typing import Annotated, Self

from pydantic import Field, PrivateAttr, model_validator

from api.schemas.base import NOT_BLANK, Flag, In, LenientIn, Text, Whole
from api.schemas.search import Searcher, parse_strategy
from api.schemas.values import fill, fill_all
from app.services import made_questions
from app.services.made_questions import KINDS, MOST_ASKED, MOST_MADE, MOST_SEARCHERS, MOST_SUPPORTS, Kind
from app.services.made_questions import SupportedQuestion as Supported
from app.services.questions import check_question
from core.documents import MAX_KEY_LENGTH, Span
from core.errors import InvalidInput
from core.strategies import StrategySpec
from hopweave.wire import made_questions as wire
from retrieval.supports import Support

_Key = Annotated[Text, Field(min_length=1, max_length=MAX_KEY_LENGTH)]
_MOST_PLACE = 2**53 - 1
"""Beyond it, programs that read JSON round numbers."""


class MakeQuestionsIn(In):
    """The same corpus, seed and kinds give the same questions."""

    count: Whole = Field(default=50, ge=1, le=MOST_MADE, description="How many questions, at most.")
    seed: Whole = Field(default=0, ge=0, le=_MOST_PLACE, description="The seed by which questions are drawn.")
    kinds: list[Kind] | None = Field(
        default=None, min_length=1, max_length=len(KINDS), description="Only questions of these kinds."
    )

    @property
    def chosen_kinds(self) -> tuple[Kind, ...]:
        return tuple(kind for kind in KINDS if self.kinds is None or kind in self.kinds)


class PartIn(In):
    id: _Key = Field(description="The key of a document.")
    start: Whole = Field(ge=0, le=_MOST_PLACE)
    end: Whole = Field(ge=1, le=_MOST_PLACE, description="Excluded; after `start`.")


class SupportedQuestionIn(LenientIn):
    """A line of the `questions.jsonl` of a dataset. Fields that are not listed here are ignored."""

    id: Text = Field(max_length=MAX_KEY_LENGTH)
    question: Text = Field(json_schema_extra=NOT_BLANK)
    answerable: Flag = Field(default=True, description="`false`: the question is not asked.")
    supporting: list[_Key | PartIn] = Field(
        default_factory=list,
        max_length=MOST_SUPPORTS,
        description="Keys of documents, or parts of documents. A question without any is not asked.",
    )

    def to_question(self) -> Supported:
        """Raises `InvalidInput` for a blank question, and for a part that ends before it starts."""
        check_question(self.question, f"the question of {self.id!r}")
        supports = [
            Support(key=entry) if isinstance(entry, str) else Support(key=entry.id, span=_read_span(entry))
            for entry in self.supporting
        ]
        return Supported(id=self.id, text=self.question, supporting=frozenset(supports))


def _read_span(part: PartIn) -> Span:
    if part.end <= part.start:
        raise InvalidInput(f"a part of {part.id!r} ends at {part.end} and starts at {part.start}; `end` is excluded")
    return Span(start=part.start, end=part.end)


class MeasureIn(In):
    """Searchers are asked with questions, such as made ones, and compared by what they find of the supports."""

    questions: list[SupportedQuestionIn] = Field(min_length=1, max_length=MOST_ASKED)
    searchers: list[Searcher] = Field(
        min_length=1, max_length=MOST_SEARCHERS, description="`NAME[:key=value,…]`, each once."
    )
    _specs: dict[str, StrategySpec] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _parse_searchers(self) -> Self:
        for text in self.searchers:
            spec = parse_strategy(text, {}, "searcher")
            if spec is not None:
                self._specs[text] = spec
        return self

    def to_questions(self) -> list[Supported]:
        """Returns the questions that have supports. Raises `InvalidInput` for one that cannot be asked, also if it has
        none.
        """
        questions = [(asked, asked.to_question()) for asked in self.questions]
        return [question for asked, question in questions if asked.answerable and question.supporting]

    def to_searchers(self) -> dict[str, StrategySpec]:
        return self._specs


def convert_made(made: made_questions.MadeQuestions, generation: int) -> wire.MadeQuestions:
    return wire.MadeQuestions(
        questions=tuple(map(_convert_question, made.questions)),
        kinds=tuple(
            fill(
                wire.PossibleQuestions,
                kind,
                kind=str(kind),
                made=sum(question.kind is kind for question in made.questions),
                possible=possible,
            )
            for kind, possible in made.possible.items()
        ),
        notes=made.notes,
        generation=generation,
    )


def _convert_question(question: made_questions.MadeQuestion) -> wire.MadeQuestion:
    return fill(
        wire.MadeQuestion,
        question,
        question=question.text,
        type=str(question.kind),
        answerable=bool(question.answer),
        supporting=tuple(map(_convert_support, question.supports)),
        quotes=tuple(quote.text for quote in question.quotes) if question.answer else (),
        documents=question.keys,
        hops=tuple(wire.MadeQuestionStep(question=asked, answer=answer) for asked, answer in question.hops),
    )


def _convert_support(support: Support) -> str | wire.SupportingPart:
    if support.span is None:
        return support.key
    return wire.SupportingPart(id=support.key, start=support.span.start, end=support.span.end)


def convert_measurement(measured: made_questions.Measurement) -> wire.Measurement:
    return fill(wire.Measurement, measured, searchers=fill_all(wire.SearcherScores, measured.searchers))
