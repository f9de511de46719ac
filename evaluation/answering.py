"""Runs every question through a reasoner, some concurrently, and returns a row for each; stored rows are used again.

A row describes the language models and the prompts behind its answer. First come fingerprints of all that an answer
depends on: a stored row is used again only if they are the same.
"""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache

import retrieval
from app.container import Container
from app.services.questions import AskRequest, SearchRequest, ask, search
from core.corpora import Corpus
from core.errors import HopweaveError
from core.ids import digest
from core.ports.reasoning import Unsupported
from core.prompting import fences
from core.prompting.prompts import Prompt, PromptLibrary, list_prompt_files, parse_prompt
from core.settings import Settings
from core.strategies import load_module, parse_config, parse_spec
from core.trace import Budget, Trace
from evaluation.datasets.dataset import Dataset, GoldQuestion
from evaluation.indexing import ReportProgress
from evaluation.rows.answer_rows import AnswerRow, Cost, ModelRow
from evaluation.rows.rows_file import ANSWER, RowsFile
from evaluation.rows.scored_answers import score_answer, score_failed_answer
from models import ConfiguredModels
from reasoning import REASONERS
from retrieval import warm

_SCORING = "2"
"""Another number if the same answer is scored otherwise, so that no row of an earlier release counts."""
_JUDGE = "judge"
_PROMPTED = ("reasoning", "retrieval")
"""The packages whose prompts an answer depends on."""


def fingerprint_answers(
    container: Container,
    corpus: Corpus,
    dataset: Dataset | None,
    reasoner: str,
    *,
    over: str | None,
    k: int | None,
    web: bool,
    unsupported: str,
) -> str:
    """Returns the fingerprint of a reasoner's answers on a corpus.

    Without `dataset` the corpus existed before, and counts by its id and generation. A named searcher differs from the
    same searcher by default, since some reasoners have searchers of their own.
    """
    documents = [dataset.fingerprint] if dataset else [corpus.id, str(corpus.generation)]
    settings = container.settings
    return digest(
        "answers",
        [
            _SCORING,
            *documents,
            json.dumps(asdict(corpus.settings), sort_keys=True),
            _strategy(REASONERS, reasoner, "reasoner"),
            _strategy(retrieval.SEARCHERS, over or settings.searcher, "searcher"),
            json.dumps([over is not None, k, web, unsupported]),
            _models(settings),
            fingerprint_prompts(container.prompts, *_PROMPTED),
            fences.FINGERPRINT,
        ],
    )


def fingerprint_gold(question: GoldQuestion) -> str:
    """Returns the fingerprint of a question with what it is scored by."""
    supporting = sorted((s.key, (s.span.start, s.span.end) if s.span else ()) for s in question.supporting)
    sentences = sorted(sentence.label for sentence in question.sentences)
    rest = [
        supporting,
        sentences,
        question.hop_answers,
        question.answerable,
        *([question.parts] if question.parts else []),
    ]
    return digest("gold", [question.id, question.text, *question.answers, json.dumps(rest)])


def fingerprint_prompts(library: PromptLibrary, *packages: str) -> str:
    """Returns the fingerprint of the wording of every prompt in these packages, as the library replaces it."""
    prompts = [library.replaced.get(prompt.name, prompt) for package in packages for prompt in _read_prompts(package)]
    return digest("prompts", [prompt.hash for prompt in prompts])


def _is_judge(role: str) -> bool:
    """Returns whether a role only judges answers."""
    return role.startswith(_JUDGE)


@cache
def _read_prompts(package: str) -> tuple[Prompt, ...]:
    files = list_prompt_files(package)
    return tuple(parse_prompt(file.name.removesuffix(".md"), file.read_text("utf-8")) for file in files)


def _strategy(package: str, text: str, kind: str) -> str:
    """Returns the name with all options in effect, so that a changed default is another strategy."""
    spec = parse_spec(text)
    return f"{spec.name} {parse_config(package, spec, kind).model_dump_json()}"


def _models(settings: Settings) -> str:
    """Returns the settings of the models that answer, without keys and without models that only judge."""
    llm = settings.llm
    roles = {role: chosen for role, chosen in sorted(llm.roles.items()) if not _is_judge(role)}
    return json.dumps(
        [
            [llm.base_url, llm.model, llm.max_output_tokens, llm.profile],
            {
                role: [chosen.base_url, chosen.model, chosen.max_output_tokens, chosen.temperature]
                for role, chosen in roles.items()
            },
            [settings.reranker.kind, settings.reranker.model, settings.reranker.url],
            [settings.web.kind, settings.web.url, settings.web.after_private],
            settings.budget.model_dump(mode="json"),
        ]
    )


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Where and how questions are answered.

    `over` is the searcher, `k` the number of passages of a search; None leaves either to the reasoner. `indexed` says
    that the corpus contains exactly the dataset, so that rows fit any other corpus that does.
    """

    dataset: Dataset
    corpus: Corpus
    indexed: bool
    over: str | None = None
    k: int | None = None
    web: bool = False
    unsupported: Unsupported = Unsupported.INFER
    concurrency: int = 1


async def answer_all(
    container: Container,
    asked: AnswerOptions,
    questions: Sequence[GoldQuestion],
    reasoner: str,
    rows: RowsFile | None,
    progress: ReportProgress,
) -> list[AnswerRow]:
    """Returns one row for each question, in their order. Failed rows are computed again, others are taken from
    `rows`.
    """
    fingerprint = fingerprint_answers(
        container,
        asked.corpus,
        asked.dataset if asked.indexed else None,
        reasoner,
        over=asked.over,
        k=asked.k,
        web=asked.web,
        unsupported=asked.unsupported,
    )
    made: dict[int, AnswerRow] = {}
    for place, question in enumerate(questions):
        kept = rows.restore(ANSWER, fingerprint, fingerprint_gold(question), AnswerRow.from_json) if rows else None
        if kept is not None:
            made[place] = kept
    waiting = [place for place in range(len(questions)) if place not in made]
    models: tuple[ModelRow, ...] = ()
    prompts = ""
    if waiting:
        await _warm_up(container, asked)
        over = asked.over or container.settings.searcher
        if needs_model(REASONERS, reasoner, "reasoner") or needs_model(retrieval.SEARCHERS, over, "searcher"):
            models, prompts = await describe_models(container), _describe_prompts(container)

    async def work() -> None:
        while waiting:
            place = waiting.pop(0)
            row = await _answer(container, asked, questions[place], reasoner)
            gold = fingerprint_gold(questions[place])
            made[place] = replace(row, fingerprint=fingerprint, gold=gold, models=models, prompt_set=prompts)
            if rows:
                rows.keep(ANSWER, asked.dataset.name, made[place].to_json())
            progress(reasoner, len(made), len(questions))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(asked.concurrency, len(waiting))):
            group.create_task(work())
    return [made[place] for place in range(len(questions))]


async def _warm_up(container: Container, asked: AnswerOptions) -> None:
    """Searches once, so that loading an embedding model is not timed."""
    await asyncio.to_thread(warm)
    request = SearchRequest(query="warm", searcher=parse_spec(asked.over) if asked.over else None)
    await search(container, asked.corpus, request, Trace())


async def _answer(container: Container, asked: AnswerOptions, question: GoldQuestion, reasoner: str) -> AnswerRow:
    spec, over = parse_spec(reasoner), parse_spec(asked.over) if asked.over else None
    limits = container.settings.budget
    trace = Trace(budget=Budget(calls=limits.calls, tokens=limits.tokens, seconds=limits.seconds))
    permitted = asked.unsupported.value
    began = time.perf_counter()
    try:
        request = AskRequest(
            question=question.text,
            reasoner=spec,
            searcher=over,
            k=asked.k,
            web=asked.web,
            unsupported=asked.unsupported,
        )
        answer = await ask(container, asked.corpus, request, trace)
    except HopweaveError as error:
        seconds, cost = time.perf_counter() - began, Cost.of(trace)
        return score_failed_answer(question, reasoner, str(error), seconds=seconds, cost=cost, unsupported=permitted)
    seconds = time.perf_counter() - began
    return score_answer(question, reasoner, answer, seconds=seconds, trace=trace, unsupported=permitted)


_EXTRACT = "extract"
_SHORT = 8
"""Digits of a fingerprint that tell the prompts of a report apart."""


async def describe_models(container: Container) -> tuple[ModelRow, ...]:
    """Returns the models that answer: first the model of all roles, then the models of roles that differ from it.

    Asks their endpoints what kind of server they are, so call it once for many questions.
    """
    llm = container.settings.llm
    roles = [role for role in sorted(llm.roles) if role != _EXTRACT and not _is_judge(role)]
    return await _describe(container, ["", *roles] if llm.model else roles)


async def describe_judges(container: Container, roles: Sequence[str]) -> tuple[ModelRow, ...]:
    """Returns the models of the roles that judge: first the model of all roles, unless each has settings of its own.

    Asks their endpoints what kind of server they are, so call it once for many answers.
    """
    llm = container.settings.llm
    own = [role for role in roles if role in llm.roles]
    return await _describe(container, ["", *own] if llm.model and len(own) < len(roles) else own)


async def _describe(container: Container, roles: Sequence[str]) -> tuple[ModelRow, ...]:
    models, llm = container.models, container.settings.llm
    if not isinstance(models, ConfiguredModels):
        return ()
    rows = []
    for role in roles:
        configured, own = models.configured(role), llm.roles.get(role)
        rows.append(
            ModelRow(
                role=role,
                name=configured.model,
                endpoint=await configured.find_kind(),
                temperature=own.temperature if own else None,
                max_output_tokens=own.max_output_tokens if own and own.max_output_tokens else llm.max_output_tokens,
                profile="small" if models.is_small(role) else "large",
            )
        )
    return tuple(rows)


def _describe_prompts(container: Container) -> str:
    """Returns a short hash of the wording of all prompts, after the name of the folder that replaces some of them."""
    folder = container.settings.prompts_dir
    fingerprint = fingerprint_prompts(container.prompts, *_PROMPTED)[:_SHORT]
    return f"{folder.name} {fingerprint}" if folder and container.prompts.replaced else fingerprint


def needs_model(package: str, text: str, kind: str) -> bool:
    """Returns whether a language model has a part in the answers of a reasoner, or in the ranking of a searcher."""
    return bool(getattr(load_module(package, parse_spec(text).name, kind), "NEEDS_MODEL", False))
