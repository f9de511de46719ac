"""The body of `/search` and its response, and the hits that answers show, too.

First come the strategies that a request names, checked against what HTTP clients may choose.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

import retrieval
from api.schemas.base import NOT_BLANK, FilterIn, Flag, In, Number, Out, SpanOut, Text, UsageOut, Whole, needs_name
from app.services.links import LINK, Links
from app.services.questions import MAX_CONTEXT, MAX_CORPORA, GroupBy, Layout, SearchRequest
from core.errors import InvalidStrategy
from core.passage_context import describe_hit, find_page_label
from core.ports.retrieval import MAX_K, Hit, NodeKind
from core.strategies import (
    MAX_SPEC_LENGTH,
    StrategyConfig,
    StrategySpec,
    list_names,
    load_module,
    parse_spec,
    split_outside_brackets,
)
from core.trace import Trace
from reasoning import REASONERS
from retrieval.presentation import PresentedHit, SearchPage

__all__ = [
    "MIN_GENERATION",
    "PAGE_LABEL",
    "PART_OF",
    "CorpusNames",
    "HitDocumentOut",
    "HitOut",
    "MinGenerationIn",
    "Reasoner",
    "SearchCorporaIn",
    "SearchIn",
    "SearchOut",
    "Searcher",
    "parse_strategy",
]

_PACKAGES = {"searcher": retrieval.SEARCHERS, "reasoner": REASONERS}


def _begin_with_name(kind: str) -> Any:
    """Returns what a schema says of a strategy: its name. `/v1/strategies` describes its options."""
    return Field(json_schema_extra={"pattern": f"^(?:{'|'.join(list_names(_PACKAGES[kind]))})(?::.*)?$"})


Searcher = Annotated[str, _begin_with_name("searcher")]
Reasoner = Annotated[str, _begin_with_name("reasoner")]
"""`NAME[:key=value,…]`, which `parse_strategy` reads."""


def parse_strategy(text: str | None, options: Mapping[str, Any], kind: str) -> StrategySpec | None:
    """Returns the strategy that `text` names, with the options of the text and of `options`; None if none is named.

    Raises `InvalidStrategy` for options without a name, and for an option that names a file, here or in a strategy
    that an option names: an HTTP client must not learn which files this machine has.
    """
    if text is None:
        if options:
            raise InvalidStrategy(f"options were given for a {kind} that is not named; name the {kind}")
        return None
    spec = parse_spec(text)
    spec = StrategySpec(name=spec.name, options={**spec.options, **options})
    try:
        _refuse_files(spec, kind)
    except RecursionError as error:
        raise InvalidStrategy(f"the options of the {kind} {spec.name!r} go too deep") from error
    return spec


def _refuse_files(spec: StrategySpec, kind: str) -> None:
    config: type[StrategyConfig] = load_module(_PACKAGES[kind], spec.name, kind).Config
    for option, value in spec.options.items():
        shipped = _shipped_names(config, option)
        if shipped is None:
            for inner_kind, inner in _inner_strategies(value):
                _refuse_files(inner, inner_kind)
        elif value not in shipped:
            raise InvalidStrategy(
                f"over HTTP a {option} is one of {', '.join(shipped)}; a file is named by the settings of the server "
                f"(HOPWEAVE_{kind.upper()}={spec.name}:{option}=FILE) or on the command line"
            )


def _shipped_names(config: type[StrategyConfig], option: str) -> list[str] | None:
    """Returns the values of an option that takes a file which name no file; None if the option takes no file.

    A Config marks an option that takes a file with `json_schema_extra={"file": True, "shipped": [names]}`.
    """
    field = config.model_fields.get(option)
    extra = field.json_schema_extra if field is not None else None
    if not isinstance(extra, dict) or not extra.get("file"):
        return None
    shipped = extra.get("shipped", [])
    return [str(name) for name in shipped] if isinstance(shipped, list) else []


def _inner_strategies(value: object) -> Iterator[tuple[str, StrategySpec]]:
    """Yields each strategy with options that an option's value may name, alone or joined with others by `+`."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _inner_strategies(item)
    if not isinstance(value, str):
        return
    if len(value) > MAX_SPEC_LENGTH:
        raise InvalidStrategy(
            f"{value[:40]!r}…: an option has at most {MAX_SPEC_LENGTH:,} characters, not {len(value):,}"
        )
    for part in dict.fromkeys([*split_outside_brackets(value, "+"), *value.split("+")]):
        name, _, options = part.strip().lstrip("[").partition(":")
        whole = part.count("[") == part.count("]")  # half of a name in brackets can be built by nobody
        for kind, package in _PACKAGES.items():
            if options and whole and name.strip() in list_names(package):
                yield kind, parse_spec(part)


_Generation = Annotated[Whole, Field(ge=0, le=2**53)]
MinGenerationIn: TypeAlias = _Generation | dict[str, _Generation] | None
MIN_GENERATION: Any = Field(
    default=None,
    description="Wait, at most ten seconds, until the corpus is searched in this generation or a later one, such as "
    "the `generation` of a job. For several corpora, one for each name.",
)

PART_OF = (
    "What the passage is part of, on one line: the path of its headings, sender and date of a mail, and the names of "
    "the columns of the table in which it begins, if it does not have them itself. Empty if nothing is known."
)

PAGE_LABEL = "The label of the page, such as `iv`; empty if it has none, or if that is the number of the page."


class SearchIn(In):
    """`searcher` is `NAME[:key=value,…]`; if unset, the server's default."""

    model_config = ConfigDict(json_schema_extra=needs_name("searcher_options", "searcher"))

    query: Text = Field(json_schema_extra=NOT_BLANK)
    searcher: Searcher | None = None
    searcher_options: dict[str, Any] = Field(default_factory=dict)
    k: Whole = Field(default=5, ge=1, le=MAX_K)
    filter: FilterIn | None = None
    min_similarity: Number | None = Field(default=None, ge=-1, le=1, allow_inf_nan=False)
    min_generation: MinGenerationIn = MIN_GENERATION
    explain: Flag | Literal["features"] = Field(
        default=False,
        description="`true`: each hit has its `path` and `reasons`; `features`: its `contributions`, too.",
    )
    web: Flag = Field(default=False, description="Permits the query to a web search.")
    context: Whole = Field(
        default=0, ge=0, le=MAX_CONTEXT, description="Passages before and after each hit in its document."
    )
    group_by: GroupBy | None = Field(
        default=None, description="`document`: one hit for each document, its best passage; `k` counts documents."
    )
    _searcher: StrategySpec | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _parse_strategy(self) -> Self:
        self._searcher = parse_strategy(self.searcher, self.searcher_options, "searcher")
        return self

    def to_request(self) -> SearchRequest:
        """Returns the request that the service takes; raises `InvalidInput` as `SearchRequest` does."""
        return SearchRequest(
            query=self.query,
            searcher=self._searcher,
            k=self.k,
            filter=self.filter,
            min_similarity=self.min_similarity,
            min_generation=self.min_generation,
            explain=self.explain is not False,
            contributions=self.explain == "features",
            web=self.web,
        )

    def to_layout(self) -> Layout:
        """Returns how the hits are to be presented."""
        return Layout(context=self.context, group_by=self.group_by)


CorpusNames = Annotated[
    list[str],
    Field(
        description=f"The names of 1 to {MAX_CORPORA} corpora, each once.",
        json_schema_extra={"minItems": 1, "maxItems": MAX_CORPORA, "uniqueItems": True},
    ),
]


class SearchCorporaIn(SearchIn):
    """A search of several corpora. `filter` holds for each of them."""

    corpora: CorpusNames


class HitChunkOut(Out):
    """`position` is the number of the passage in its document, from 0."""

    id: str
    position: int
    text: str
    page: int | None
    span: SpanOut | None
    heading: str


class HitDocumentOut(Out):
    id: str
    key: str
    title: str
    metadata: dict[str, Any]


class HitVersionOut(Out):
    """Another version of a hit's document."""

    id: str
    key: str
    title: str


class SignalsOut(Out):
    """The raw cosine, BM25 score and PageRank mass; null if the searcher did not compute it."""

    dense: float | None
    sparse: float | None
    graph: float | None


class PathStepOut(Out):
    """One edge of the path through the graph: `source` —`relation`→ `target`, as the chunk `chunk_id` states.

    A passage is named by the title (else the key) of its document, and its heading.
    """

    source: str
    relation: str
    target: str
    chunk_id: str
    source_kind: NodeKind
    target_kind: NodeKind


class HitOut(Out):
    """`score` ranks the hits of one query and has no other meaning."""

    corpus: str = Field(description="The name of the corpus; empty for a passage of the web.")
    chunk: HitChunkOut
    document: HitDocumentOut
    page_label: str = Field(default="", description=PAGE_LABEL)
    part_of: str = Field(default="", description=PART_OF)
    score: float
    signals: SignalsOut
    path: list[PathStepOut]
    reasons: list[str] = Field(
        description="Why the hit was found, in words, the strongest reason first; empty without `explain`, and from "
        "searchers other than `bridged`."
    )
    contributions: dict[str, float] = Field(
        description="What each feature adds to `score`, which is their sum. Empty unless `explain` is `features`, and "
        "from searchers other than `bridged`. Of several corpora, the sum is the score within the hit's corpus."
    )
    versions: list[HitVersionOut] = Field(
        default=[],
        description="Other versions of the document, the newest first, as far as the search looked at passages of "
        "them; empty from searchers other than `bridged`.",
    )
    url: str | None = Field(
        description="The address of a passage of the web, which is in no corpus; its `chunk` and `document` are made "
        "from the result of the search engine."
    )
    link: str | None = Field(description=LINK)

    @classmethod
    def from_hit(cls, hit: Hit, links: Links) -> "HitOut":
        return HitOut(
            corpus=hit.corpus,
            chunk=HitChunkOut.model_validate(hit.chunk),
            document=HitDocumentOut.model_validate(hit.document),
            page_label=find_page_label(hit.document.metadata, hit.chunk.page),
            part_of=describe_hit(hit),
            score=hit.score,
            signals=SignalsOut.model_validate(hit.signals),
            path=[PathStepOut.model_validate(step) for step in hit.path],
            reasons=list(hit.reasons),
            contributions=dict(hit.contributions),
            versions=[HitVersionOut.model_validate(version) for version in hit.versions],
            url=hit.url,
            link=links.to(hit.corpus, hit.document.id, hit.chunk.id),
        )


class SnippetOut(Out):
    """The sentence of the passage that has the rarest words of the question.

    `text` is `chunk.text[span.start:span.end]`. `marks` are the places of the question's words in `text`.
    """

    text: str
    span: SpanOut
    marks: list[SpanOut]


class OtherPassageOut(Out):
    """The place of a further passage of the document. `GET …/chunks/{id}` has its text."""

    id: str
    position: int
    page: int | None
    span: SpanOut | None
    heading: str
    score: float

    @classmethod
    def from_hit(cls, hit: Hit) -> Self:
        chunk = hit.chunk
        span = SpanOut.model_validate(chunk.span) if chunk.span else None
        return cls(
            id=chunk.id,
            position=chunk.position,
            page=chunk.page,
            span=span,
            heading=chunk.heading,
            score=hit.score,
        )


class SearchHitOut(HitOut):
    """A hit of a search. `before` and `after` have the `context` passages beside it, in reading order.

    No passage comes twice: a neighbour that is a hit, or that came with a better hit, is left out. `part_of` is that of
    the snippet.
    """

    snippet: SnippetOut
    before: list[HitChunkOut]
    after: list[HitChunkOut]
    other_passages: list[OtherPassageOut] = Field(
        description="With `group_by`, the document's passages that rank before the next document, best first."
    )

    @classmethod
    def from_presented(cls, presented: PresentedHit, links: Links) -> Self:
        part_of = describe_hit(presented.hit, presented.snippet.span)
        return cls(
            **{**dict(HitOut.from_hit(presented.hit, links)), "part_of": part_of},
            snippet=SnippetOut.model_validate(presented.snippet),
            before=[HitChunkOut.model_validate(chunk) for chunk in presented.before],
            after=[HitChunkOut.model_validate(chunk) for chunk in presented.after],
            other_passages=[OtherPassageOut.from_hit(hit) for hit in presented.others],
        )


class SearchOut(Out):
    """`timing` is in seconds by stage."""

    hits: list[SearchHitOut]
    generation: int | None = Field(description="The generation in which the corpus was searched; null for several.")
    generations: dict[str, int] = Field(description="The generation of each corpus, by name.")
    notes: list[str]
    timing: dict[str, float]
    usage: UsageOut

    @classmethod
    def from_page(cls, page: SearchPage, trace: Trace, links: Links) -> Self:
        """Returns the response of a search, with the usage, notes and timing of its trace."""
        return cls(
            hits=[SearchHitOut.from_presented(hit, links) for hit in page.hits],
            generation=page.generation if len(page.generations) < 2 else None,
            generations=dict(page.generations),
            notes=trace.notes,
            timing=trace.timing,
            usage=UsageOut.from_usage(trace.usage),
        )
