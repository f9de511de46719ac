"""The port of reasoners: a question, and the cited answer with its steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from core.corpora import Corpus
from core.documents import DocumentRef, Span
from core.passage_context import TableCell
from core.ports.chat import Message
from core.ports.retrieval import Hit, QueryPart
from core.trace import Trace
from core.validity import Validity


class Support(StrEnum):
    """What an answer stands on, the strongest first.

    `stated`: passages say it, or it follows from them by comparing, counting or definition. `quoted`: it is verbatim
    in a passage, and no model has read whether it answers. `inferred`: it follows from passages with an assumption.
    `memory`: the model's own knowledge, never cited. `none`: there is no answer.
    """

    STATED = "stated"
    QUOTED = "quoted"
    INFERRED = "inferred"
    MEMORY = "memory"
    NONE = "none"

    @property
    def rank(self) -> int:
        """0 for `none`; a greater number is a stronger support."""
        return len(Support) - 1 - list(Support).index(self)


class Unsupported(StrEnum):
    """What a reasoner does with an answer that no passage states.

    `infer` gives answers that are inferred from passages. `abstain` gives only what is stated, or quoted and more
    likely an answer than not. `memory` permits answers
    from the model's memory, too.
    """

    INFER = "infer"
    ABSTAIN = "abstain"
    MEMORY = "memory"


def weakest_support(supports: Iterable[Support]) -> Support:
    """Returns the support of a chain of steps: the weakest support of a step; `none` for an empty chain."""
    return min(supports, key=lambda support: support.rank, default=Support.NONE)


class Companions(Protocol):
    """What has to be read beside passages, such as the amendment of a clause."""

    async def add(self, hits: Sequence[Hit], documents: frozenset[str] | None) -> tuple[Hit, ...]:
        """Returns the hits, each followed by its companions of these documents (None: of all); none is added twice."""
        ...


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about a corpus; `documents`, `web`, `masked` and `parts` as in `core.ports.retrieval.Query`.

    `k` is the number of passages of a retrieval; None leaves it to the reasoner. `instructions` say how to write the
    answer, `history` is the conversation before the question. `unsupported` decides on answers that no passage states.
    `companions` adds passages to what a language model is shown (None: adds none).
    """

    corpus: Corpus
    text: str
    k: int | None = None
    documents: frozenset[str] | None = None
    instructions: str = ""
    history: tuple[Message, ...] = ()
    web: bool = False
    unsupported: Unsupported = Unsupported.INFER
    masked: bool = False
    parts: tuple[QueryPart, ...] = ()
    companions: Companions | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The source of one marker of the answer. `quote` is verbatim in the chunk.

    `part_of` tells what the quote is part of (`core.passage_context.describe_hit`); '' if nothing is known.
    `answer_span` is where the answer uses it, `source_span` where the quote is in the chunk's text. `cell` is the cell
    of a table that the quote is about, if it is about one: its span is in the chunk's text, too. With `url` the
    passage is from the web, and `chunk_id` names no chunk of a corpus. `corpus` is a name, '' with `url`. `validity` is
    as in `core.ports.retrieval.Hit`.
    """

    marker: int
    chunk_id: str
    document: DocumentRef
    page: int | None
    quote: str
    answer_span: Span
    source_span: Span
    part_of: str = ""
    cell: TableCell | None = None
    url: str | None = None
    corpus: str = ""
    validity: Validity | None = None


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The source of an intermediate answer: words that are verbatim in a chunk, and where."""

    hit: Hit
    text: str
    span: Span


@dataclass(frozen=True, kw_only=True)
class Step:
    """One hop of the reasoning: a question, all that was retrieved for it, and its answer.

    `parents` are the ids of the steps whose answers it used; `depth` counts from 0. `verdict` is a word of the strategy
    (such as `PASS`), `support` says what the answer stands on (`none` if there is none), and `unstated` what no passage
    states of it. `seconds` are wall time, `tokens` the tokens of its calls.
    """

    question: str
    hits: tuple[Hit, ...]
    answer: str
    id: str = ""
    parents: tuple[str, ...] = ()
    depth: int = 0
    verdict: str = ""
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """A row of the table of an answer that lists documents, or rows of their tables.

    - `kind` is `document` for a document that counts, `row` for a row of its table that counts in its place, `group`
      for all that count of a group together, `total` for all. `name` is what a `row` is about, '' in others.
    - `group` is the name of the group, '' without one. `value` is a number in plain digits, '' if nothing was added up,
      in `unit`, '' if none is given. `documents` is how many documents the row stands for, and `count` how many things
      that count: both are 1 for a document and for a row of its table.
    - `corpus`, `key` and `title` name the document, '' in other rows. `markers` are its citations in the answer.
    """

    kind: str
    group: str = ""
    name: str = ""
    value: str = ""
    unit: str = ""
    documents: int = 1
    count: int = 1
    corpus: str = ""
    key: str = ""
    title: str = ""
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A cited answer. `abstained` says that no answer is given, and then `text` says so.

    `support` says what the answer stands on; it is `none` if and only if `abstained`. `citations` of an abstention are
    the passages that are nearest to the question, if the reasoner shows any. `note` tells the reader of the answer in a
    sentence or two why it is not stated, that passages contradict it, or that it only quotes; '' if there is nothing to
    tell.
    `shown` are the evidence in the prompt of the last call: passages, quotes or summaries, and never the text of a
    question, or a sentence that says that nothing was found. None: there was no last call.
    `table` has the documents that an answer lists, with their groups and values, () for other answers.
    """

    text: str
    reasoner: str
    citations: tuple[Citation, ...] = ()
    steps: tuple[Step, ...] = field(default=())
    abstained: bool = False
    support: Support = Support.NONE
    note: str = ""
    shown: tuple[str, ...] | None = None
    table: tuple[AnswerRow, ...] = ()

    @property
    def plain(self) -> str:
        """The text without the markers of its citations."""
        text = self.text
        for marker in {citation.marker for citation in self.citations}:
            text = text.replace(f" [{marker}]", "").replace(f"[{marker}]", "")
        return text.strip()


class Reasoner(Protocol):
    """Answers a question from what it retrieves. An empty corpus gives an abstention and is not an error.

    `check` asks no model; it raises `InvalidInput`, as `answer` then does, if the corpus lacks what the reasoner or one
    of its searchers needs, such as facts.
    """

    async def check(self, corpus: Corpus) -> None: ...

    async def answer(self, question: Question, trace: Trace) -> Answer: ...
