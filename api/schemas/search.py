"""The body of `/search`, and its response made from the hits of `core`.

First come the strategies that a request names, checked against what HTTP clients may choose.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

import retrieval
from api.schemas.base import NOT_BLANK, FilterIn, Flag, In, Number, Text, Whole, needs_name
from api.schemas.validity import AsOf, convert_validity
from api.schemas.values import fill
from app.services.asked_corpora import MAX_CORPORA
from app.services.links import Links
from app.services.questions import MAX_CONTEXT, GroupBy, Layout, SearchRequest
from core.errors import InvalidStrategy
from core.passage_context import describe_hit, find_page_label
from core.ports.retrieval import MAX_K, Hit
from core.strategies import (
    MAX_SPEC_LENGTH,
    StrategyConfig,
    StrategySpec,
    list_names,
    load_module,
    parse_spec,
    split_outside_brackets,
)
from core.trace import Trace, Usage
from hopweave.wire import base
from hopweave.wire import search as wire
from reasoning import REASONERS
from retrieval.presentation import PresentedHit, SearchPage

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


class SearchIn(In):
    """`searcher` is `NAME[:key=value,…]`; if unset, the server's default."""

    model_config = ConfigDict(json_schema_extra=needs_name("searcher_options", "searcher"))

    query: Text = Field(json_schema_extra=NOT_BLANK)
    searcher: Searcher | None = None
    searcher_options: dict[str, Any] = Field(default_factory=dict)
    k: Whole = Field(default=5, ge=1, le=MAX_K)
    filter: FilterIn | None = None
    min_similarity: Number | None = Field(default=None, ge=-1, le=1, allow_inf_nan=False)
    as_of: AsOf = None
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
            as_of=self.as_of,
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


def convert_page(page: SearchPage, trace: Trace, links: Links) -> wire.SearchResult:
    """Returns the response of a search, with the usage, notes and timing of its trace."""
    return wire.SearchResult(
        hits=tuple(_convert_presented(hit, links) for hit in page.hits),
        generation=page.generation if len(page.generations) < 2 else None,
        generations=dict(page.generations),
        notes=tuple(trace.notes),
        timing=dict(trace.timing),
        usage=convert_usage(trace.usage),
    )


def convert_usage(usage: Usage) -> base.Usage:
    return fill(base.Usage, usage, actions=tuple(fill(base.ActionUsage, row) for row in usage.actions.values()))


def convert_hit(hit: Hit, links: Links) -> wire.Hit:
    validity = convert_validity(hit.validity)
    return fill(wire.Hit, hit, **_show_passage(hit, links), part_of=describe_hit(hit), validity=validity)


def _convert_presented(presented: PresentedHit, links: Links) -> wire.SearchHit:
    hit = presented.hit
    return fill(
        wire.SearchHit,
        hit,
        **_show_passage(hit, links),
        part_of=describe_hit(hit, presented.snippet.span),
        validity=convert_validity(hit.validity),
        snippet=fill(wire.Snippet, presented.snippet),
        before=tuple(fill(wire.HitChunk, chunk) for chunk in presented.before),
        after=tuple(fill(wire.HitChunk, chunk) for chunk in presented.after),
        other_passages=tuple(fill(wire.OtherPassage, other.chunk, score=other.score) for other in presented.others),
    )


def _show_passage(hit: Hit, links: Links) -> dict[str, str | None]:
    return {
        "page_label": find_page_label(hit.document.metadata, hit.chunk.page),
        "link": links.to(hit.corpus, hit.document.id, hit.chunk.id),
    }
