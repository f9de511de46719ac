"""What an answer depends on beside its question: a row is used again only where all of it is the same."""

import json
from dataclasses import asdict
from functools import cache

import retrieval
from app.container import Container
from core.corpora import Corpus
from core.ids import digest
from core.prompting.prompts import prompt_files
from core.settings import Settings
from core.strategies import config_of, parse_spec
from evaluation.datasets.dataset import Dataset, GoldQuestion
from reasoning import REASONERS

__all__ = ["fingerprint_answers", "fingerprint_gold", "fingerprint_prompts"]

_JUDGE = "judge"
_PROMPTED = ("reasoning", "retrieval")


def fingerprint_answers(
    container: Container,
    corpus: Corpus,
    dataset: Dataset | None,
    reasoner: str,
    *,
    over: str | None,
    k: int | None,
    web: bool,
) -> str:
    """Of a reasoner on a corpus. Without `dataset` the corpus was there already, and counts as it now is.

    A searcher that is named is not the same as one that is the default: some reasoners have searchers of their own.
    """
    documents = [dataset.fingerprint] if dataset else [corpus.id, str(corpus.generation)]
    settings = container.settings
    return digest(
        "answers",
        [
            *documents,
            json.dumps(asdict(corpus.settings), sort_keys=True),
            _strategy(REASONERS, reasoner, "reasoner"),
            _strategy(retrieval.SEARCHERS, over or settings.searcher, "searcher"),
            json.dumps([over is not None, k, web]),
            _models(settings),
            fingerprint_prompts(*_PROMPTED),
        ],
    )


def fingerprint_gold(question: GoldQuestion) -> str:
    """Of a question with what it is scored by."""
    supporting = sorted((s.key, (s.span.start, s.span.end) if s.span else ()) for s in question.supporting)
    return digest("gold", [question.id, question.text, *question.answers, json.dumps(supporting)])


@cache
def fingerprint_prompts(*packages: str) -> str:
    """Of the wording of every prompt in these packages."""
    parts = [
        part for package in packages for path in prompt_files(package) for part in (path.name, path.read_text("utf-8"))
    ]
    return digest("prompts", parts)


def _strategy(package: str, text: str, kind: str) -> str:
    """The name with every option as it is in force: a default that changes is another strategy."""
    spec = parse_spec(text)
    return f"{spec.name} {config_of(package, spec, kind).model_dump_json()}"


def _models(settings: Settings) -> str:
    """What answers are made with, without keys, and without what only judges them."""
    llm = settings.llm
    roles = {role: one for role, one in sorted(llm.roles.items()) if not role.startswith(_JUDGE)}
    return json.dumps(
        [
            [llm.base_url, llm.model, llm.max_output_tokens],
            {role: [one.base_url, one.model, one.max_output_tokens, one.temperature] for role, one in roles.items()},
            [settings.reranker.kind, settings.reranker.model, settings.reranker.url],
            [settings.web.kind, settings.web.url, settings.web.after_private],
            settings.budget.model_dump(mode="json"),
        ]
    )
