"""Fingerprints of all that an answer depends on; a stored row is used again only if they are the same."""

import json
from dataclasses import asdict
from functools import cache

import retrieval
from app.container import Container
from core.corpora import Corpus
from core.ids import digest
from core.prompting import fences
from core.prompting.prompts import Prompt, PromptLibrary, list_prompt_files, parse_prompt
from core.settings import Settings
from core.strategies import parse_config, parse_spec
from evaluation.datasets.dataset import Dataset, GoldQuestion
from reasoning import REASONERS

__all__ = ["PROMPTED", "fingerprint_answers", "fingerprint_gold", "fingerprint_prompts", "is_judge"]

_SCORING = "2"
"""Another number if the same answer is scored otherwise, so that no row of an earlier release counts."""
_JUDGE = "judge"
PROMPTED = ("reasoning", "retrieval")
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
            fingerprint_prompts(container.prompts, *PROMPTED),
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


def is_judge(role: str) -> bool:
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
    roles = {role: one for role, one in sorted(llm.roles.items()) if not is_judge(role)}
    return json.dumps(
        [
            [llm.base_url, llm.model, llm.max_output_tokens, llm.profile],
            {role: [one.base_url, one.model, one.max_output_tokens, one.temperature] for role, one in roles.items()},
            [settings.reranker.kind, settings.reranker.model, settings.reranker.url],
            [settings.web.kind, settings.web.url, settings.web.after_private],
            settings.budget.model_dump(mode="json"),
        ]
    )
