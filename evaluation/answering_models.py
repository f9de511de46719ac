"""What rows say of the language models and the prompts behind answers, and of the models that judge them."""

from collections.abc import Sequence

import retrieval
from app.container import Container
from core.strategies import load_module, parse_spec
from evaluation.fingerprints import PROMPTED, fingerprint_prompts, is_judge
from evaluation.rows.model_rows import ModelRow
from models import ConfiguredModels
from reasoning import REASONERS

__all__ = ["describe_judges", "describe_models", "describe_prompts", "needs_model"]

_EXTRACT = "extract"
_SHORT = 8
"""Digits of a fingerprint that tell the prompts of a report apart."""


async def describe_models(container: Container) -> tuple[ModelRow, ...]:
    """Returns the models that answer: first the model of all roles, then the models of roles that differ from it.

    Asks their endpoints what kind of server they are, so call it once for many questions.
    """
    llm = container.settings.llm
    roles = [role for role in sorted(llm.roles) if role != _EXTRACT and not is_judge(role)]
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


def describe_prompts(container: Container) -> str:
    """Returns a short hash of the wording of all prompts, after the name of the folder that replaces some of them."""
    folder = container.settings.prompts_dir
    fingerprint = fingerprint_prompts(container.prompts, *PROMPTED)[:_SHORT]
    return f"{folder.name} {fingerprint}" if folder and container.prompts.replaced else fingerprint


def needs_model(reasoner: str, searcher: str) -> bool:
    """Returns whether a language model has a part in the answers of a reasoner over a searcher."""
    strategies = ((REASONERS, "reasoner", reasoner), (retrieval.SEARCHERS, "searcher", searcher))
    return any(
        getattr(load_module(package, parse_spec(text).name, kind), "NEEDS_MODEL", False)
        for package, kind, text in strategies
    )
