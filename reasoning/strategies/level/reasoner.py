"""The course of a question in `level`: with the high-level searcher, or with the low-level searchers alone.

First come the options, as users write them. `_LowLevelSearchers` builds the low-level searchers by name, and chooses
the searchers for a question. The last call reads the findings of all rounds, or what the low-level searchers found
alone.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, field_validator

from core.errors import InvalidInput, InvalidStrategy
from core.events import PlannedStep
from core.ports.reasoning import Answer
from core.ports.retrieval import MAX_K, Searcher
from core.strategies import StrategyConfig, parse_spec, preset_field
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.contexts import conclude_contexts
from reasoning.engine.answers import Conclusion, answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, memory_field
from reasoning.engine.session import Session
from reasoning.strategies.level.exploration import (
    LAST,
    ExplorationSettings,
    QueryFinding,
    chunks_of,
    explore,
    passages_of,
)
from reasoning.strategies.level.low_level import (
    AtomicQuery,
    CallAllowance,
    CommonAllowance,
    DenseSearch,
    LowLevelSearcher,
    UnchangedSearch,
    distinct_hits,
    search_all,
)
from reasoning.strategies.level.sparse import KeywordRules, Rewrite, SparseSearch

_LEAST_CALLS = 3
"""The least calls of a question: for atomic queries, a summary, and the answer."""

_UNLIMITED = "null: no limit but the budget of the question (the paper)."


class Config(StrategyConfig):
    """The paper's parameters and ablations, bounds where it has none, and what saves calls. With `preset=paper`, the
    bounds are gone and nothing is saved. `docs/strategies/level-rag.md` lists what then differs from the paper.
    """

    searchers: str = Field(
        default="",
        description="Names joined by '+' (`sparse+dense+graph`); empty: sparse+dense, graph if the corpus has triples, "
        "and web if it is configured and the request permits it. `sparse` and `dense` rewrite queries, others get them "
        "unchanged.",
    )
    k: int = Field(
        default=10, ge=1, le=MAX_K, description="Passages of each searcher; the request's `k` takes precedence."
    )
    high_level: bool = Field(
        default=True, description="false: only the low-level searchers, with the question itself (the ablation)."
    )
    summarize: bool = Field(default=True, description="false: later calls read the passages themselves (the ablation).")
    memory: bool = memory_field()
    verify: Literal["separate", "merged"] = Field(
        default="separate",
        description="`merged`: the supplement's call decides whether more is needed, as in the published code.",
    )
    max_calls: int | None = Field(
        default=20,
        ge=_LEAST_CALLS,
        le=1000,
        description="At most this many calls of a model for a question, the last call included. Each round gets what "
        f"later rounds do not need at least. {_UNLIMITED}",
    )
    supplements: int | None = Field(
        default=3, ge=0, le=10, description=f"At most this many rounds of supplements. {_UNLIMITED}"
    )
    max_queries: int | None = Field(
        default=5, ge=1, le=20, description=f"At most this many atomic queries a round. {_UNLIMITED}"
    )
    rewrite: Literal["always", "adaptive", "never"] = Field(
        default="always",
        description="For sparse. `always`: keywords for every query (the paper); `adaptive`: only if the unchanged "
        "query finds too little (the published script); `never`: unchanged queries, which are not refined.",
    )
    sparse_depth: int = Field(default=3, ge=0, le=3, description="Refinements of refinements; 0: keywords alone.")
    max_refined: int = Field(
        default=6, ge=0, le=27, description="At most this many refined keyword queries are tried (the paper: 27)."
    )
    dense_rewrites: int = Field(default=3, ge=0, le=10, description="At most this many pseudo-documents are tried.")
    refine: Literal["together", "separate"] = Field(
        default="together",
        description="How a keyword query is refined. `together`: one call names the words to extend, emphasize and "
        "filter with; `separate`: a call for each of the three operations (the paper).",
    )
    loosen: bool = Field(
        default=True, description="A phrase that no passage has is tried again as words; false: it stays (the paper)."
    )
    judge_all: bool = Field(
        default=False,
        description="true: every retrieval with passages is verified (the paper), also one that hardly differs from "
        "an earlier one, and the last one.",
    )
    conclude_always: bool = Field(
        default=False,
        description="true: the last call is made although every summary says that nothing was found (the paper).",
    )

    preset: Literal["", "paper"] = preset_field(
        paper={
            "searchers": "sparse+dense+web",
            "k": 10,
            "high_level": True,
            "summarize": True,
            "memory": True,
            "max_calls": None,
            "verify": "separate",
            "supplements": None,
            "max_queries": None,
            "rewrite": "always",
            "sparse_depth": 3,
            "max_refined": 27,
            "dense_rewrites": 3,
            "refine": "separate",
            "loosen": False,
            "judge_all": True,
            "conclude_always": True,
        }
    )

    @field_validator("searchers")
    @classmethod
    def _check_names(cls, searchers: str) -> str:
        names = _split_names(searchers)
        if searchers.strip() and not all(names):
            raise ValueError("a name between two '+' is empty")
        if len(set(names)) < len(names):
            raise ValueError("a searcher is named twice")
        return searchers


def _split_names(searchers: str) -> tuple[str, ...]:
    """Returns the names of an option such as `sparse+dense`; '' gives none."""
    return tuple(name.strip() for name in searchers.split("+")) if searchers.strip() else ()


class LevelRag:
    """The high-level searcher decides what to look up; the low-level searchers decide how to query their indexes.

    Raises `InvalidStrategy` if the request names a searcher: this reasoner has a list of its own.
    """

    def __init__(self, config: Config, backends: ReasoningBackends) -> None:
        if backends.searcher_chosen:
            raise InvalidStrategy(
                f"the reasoner 'level' has searchers of its own, and cannot take {backends.searcher_name!r} as the "
                f"request's searcher: name it in their list, as in level:searchers=sparse+{backends.searcher_name}"
            )
        self._config = config
        rewriting = _RewriteSettings(
            sparse=config.rewrite,
            keywords=KeywordRules(
                depth=config.sparse_depth,
                max_refined=config.max_refined,
                refine=config.refine,
                loosen=config.loosen,
                judge_all=config.judge_all,
            ),
            dense=config.dense_rewrites,
            judge_all=config.judge_all,
        )
        self._searchers = _LowLevelSearchers(_split_names(config.searchers), rewriting, backends)

    @property
    def searchers(self) -> tuple[Searcher, ...]:
        """The searchers that every question uses."""
        return self._searchers.required

    async def solve(self, session: Session) -> Answer:
        searchers = await self._searchers.permitted_in(session)
        limit = self._limit_calls(session)
        allowance = CommonAllowance if self._config.max_calls is None else CallAllowance
        calls = allowance(limit - 1)  # the last call has its place
        if self._config.high_level:
            conclusion = await self._explore(session, searchers, calls)
        else:
            k = session.question.k or self._config.k
            conclusion = await _conclude_searchers(session, k, searchers, calls)
        if calls.refused:
            session.trace.note(
                f"level: no more than {limit} calls are made (max_calls, or the budget); answered from what was found"
            )
        return answer_from_conclusion(session, conclusion)

    def _limit_calls(self, session: Session) -> int:
        """Returns how many calls may be made: no more than the budget has, so that it is not used up before the last
        call, but as many as an answer needs.
        """
        limits = (self._config.max_calls, session.trace.budget.calls)
        return max(_LEAST_CALLS, min((limit for limit in limits if limit is not None), default=sys.maxsize))

    async def _explore(
        self, session: Session, searchers: tuple[LowLevelSearcher, ...], calls: CallAllowance
    ) -> Conclusion:
        settings = ExplorationSettings(
            searchers=searchers,
            k=session.question.k or self._config.k,
            summarize=self._config.summarize,
            verify=self._config.verify,
            supplements=self._config.supplements,
            max_queries=self._config.max_queries,
            judge_all=self._config.judge_all,
        )
        findings = await explore(session, settings, calls)
        return await _conclude_findings(
            session, findings, summarized=settings.summarize, always=self._config.conclude_always
        )


async def _conclude_findings(
    session: Session, findings: Sequence[QueryFinding], *, summarized: bool, always: bool
) -> Conclusion:
    """Answers the question from the summaries of the findings, or from their passages if they were not `summarized`.

    If nothing was found, there is no summary that would be evidence, and a model is called only with `always`.
    """
    if not always and not any(finding.found for finding in findings):
        return Conclusion(shown=() if summarized else None)
    question, planned = session.question.text, session.planned[LAST]
    async with session.step(LAST, question, parents=planned.parents, depth=planned.depth) as step:
        if summarized:
            contexts = [finding.context for finding in findings]
            conclusion = await conclude_contexts(session, question, contexts, step=LAST, chunks=chunks_of(findings))
        else:
            conclusion = await conclude(session, question, passages_of(findings), step=LAST)
        fill_step(step, conclusion)
    return conclusion


async def _conclude_searchers(
    session: Session, k: int, searchers: Sequence[LowLevelSearcher], calls: CallAllowance
) -> Conclusion:
    """Answers the question from the passages that the low-level searchers find for the question itself."""
    query = AtomicQuery(id="1", text=session.question.text, private=False)
    async with session.step(query.id, query.text) as step:
        session.plan([PlannedStep(id=query.id, question=query.text)])
        hits = await search_all(session, query, k, searchers, calls)
        conclusion = await conclude(session, query.text, hits, step=query.id)
        step.hits = distinct_hits((*hits, *session.found(query.id)))
        fill_step(step, conclusion)
    return conclusion


_DEFAULT = ("sparse", "dense", "graph", "web")
"""Without names in the options: the graph only for a corpus that has triples, the web only if it is configured."""

_GRAPH = "graph"
_WEB = "web"


@dataclass(frozen=True, kw_only=True)
class _RewriteSettings:
    """Which queries are rewritten, how, and how often; `dense` is the largest number of pseudo-documents."""

    sparse: Rewrite
    keywords: KeywordRules
    dense: int
    judge_all: bool


class _LowLevelSearchers:
    """The searchers of these names, or of `_DEFAULT`. The web is among them if a search engine is configured."""

    def __init__(self, names: Sequence[str], rewriting: _RewriteSettings, backends: ReasoningBackends) -> None:
        self._names = tuple(names)
        self._backends = backends
        self._rewriting = rewriting
        self._built = {name: self._build(name) for name in names or _DEFAULT if not self._unconfigured(name)}

    @property
    def required(self) -> tuple[Searcher, ...]:
        """The searchers of each question: all but the web, and the graph if it is not named."""
        optional = () if self._names else (_GRAPH,)
        names = [name for name in self._built if name not in optional and not _is_web(name)]
        return tuple(self._backends.named_searcher(name)[1] for name in names)

    async def permitted_in(self, session: Session) -> tuple[LowLevelSearcher, ...]:
        """Returns the searchers for one question: with the web only if the request permits it, and with the graph only
        if it is named or the corpus has facts.

        A note says that the web was named and is left out. Raises `InvalidInput` if no searcher is left.
        """
        if any(_is_web(name) for name in self._names):
            if not self._backends.web_configured:
                session.trace.note("level: the web was left out; no search engine is configured (HOPWEAVE_WEB__KIND)")
            elif not session.question.web:
                session.trace.note("level: the web was left out; the request does not permit it (set web to true)")
        chosen = [searcher for name, searcher in self._built.items() if await self._serves(name, session)]
        if not chosen:
            raise InvalidInput(
                "level: the web is its only searcher, and the request does not permit it: name another in `searchers`"
            )
        return tuple(chosen)

    async def _serves(self, name: str, session: Session) -> bool:
        if name == _GRAPH and not self._names:
            return await self._backends.has_facts(session.question.corpus)
        return session.question.web or not _is_web(name)

    def _build(self, name: str) -> LowLevelSearcher:
        searcher = self._backends.named_searcher(name)
        match parse_spec(name).name:
            case "sparse":
                return SparseSearch(
                    plain=searcher,
                    lucene=self._backends.named_searcher("sparse:syntax=lucene"),
                    rewrite=self._rewriting.sparse,
                    rules=self._rewriting.keywords,
                )
            case "dense":
                return DenseSearch(searcher, self._rewriting.dense, judge_all=self._rewriting.judge_all)
        return UnchangedSearch(searcher)

    def _unconfigured(self, name: str) -> bool:
        return _is_web(name) and not self._backends.web_configured


def _is_web(name: str) -> bool:
    return parse_spec(name).name == _WEB
