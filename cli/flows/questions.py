"""Runs one search or one question for a command, and draws the plan while it runs."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from api.schemas.ask import BudgetIn
from app.container import Container
from app.services.questions import AskRequest, Layout, SearchRequest, search_page
from app.services.questions import ask as ask_corpus
from cli.runtime import run_with_container
from core.budget import Budget
from core.errors import InvalidInput
from core.faults import describe_faults
from core.ports.reasoning import Answer
from core.settings import BudgetSettings, read_settings
from core.strategies import parse_spec
from core.trace import Trace
from retrieval.presentation import SearchPage

__all__ = ["run_question", "run_search"]


def run_search(corpus: str, request: SearchRequest, layout: Layout) -> tuple[SearchPage, Trace]:
    async def work(container: Container) -> tuple[SearchPage, Trace]:
        trace = Trace(budget=BudgetIn().within(container.settings.budget))
        found = await container.record.corpora.get(corpus)
        return await search_page(container, found, request, layout, trace), trace

    return run_with_container(work)


def run_question(
    corpus: str, request: AskRequest, *, budget: str | None, prompts: Path | None, shown: bool
) -> tuple[Answer, Trace]:
    """Returns the answer and its trace; draws the plan on stderr if `shown`.

    `budget` is `calls=…,tokens=…,seconds=…`; `prompts` is a folder in place of that of the settings.
    """
    settings = read_settings() if prompts is None else read_settings(prompts_dir=prompts)

    async def work(container: Container) -> tuple[Answer, Trace]:
        trace = Trace(budget=_budget(budget, BudgetIn().within(container.settings.budget)))
        found = await container.record.corpora.get(corpus)
        async with AsyncExitStack() as stack:
            if shown:
                from cli.output.plan_view import draw_plan

                await stack.enter_async_context(draw_plan(trace))
            return await ask_corpus(container, found, request, trace), trace

    return run_with_container(work, settings)


def _budget(text: str | None, otherwise: Budget) -> Budget:
    """Returns the limits of `text` over those of the settings, which it may exceed; `null` means no limit."""
    given = dict(parse_spec(f"budget:{text}").options) if text else {}
    try:
        checked = BudgetSettings.model_validate(given)
    except ValidationError as error:
        problems = describe_faults(error, field="limit")
        raise InvalidInput(f"--budget {text!r} is wrong: {problems}; write calls=20,tokens=50000,seconds=60") from error
    return replace(otherwise, **{name: getattr(checked, name) for name in given})
