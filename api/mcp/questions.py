"""`Questions`: who answers searches and questions. Over stdio that may be the server of the data folder."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from api.schemas.ask import AnswerOut, AskIn, BudgetIn
from api.schemas.events import convert_event
from api.schemas.search import SearchIn, SearchOut
from app.container import Container
from app.services.links import Links
from app.services.questions import ask, search_page
from core.trace import Event, Trace

__all__ = ["ContainerQuestions", "Json", "OnEvent", "Questions"]

Json = dict[str, Any]
OnEvent = Callable[[str, Mapping[str, Any]], None]
"""Takes kind and data of each event of a question, as they are streamed."""


class Questions(Protocol):
    """Takes the bodies of `POST …/search` and `POST …/ask`, and returns the responses.

    Raises errors of `core.errors`. The work ends when the caller is cancelled.
    """

    async def search(self, corpus: str, body: Json) -> Json: ...

    async def ask(self, corpus: str, body: Json, on_event: OnEvent) -> Json: ...


class ContainerQuestions:
    """Answers in this process."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._links = Links.of(container.settings)

    async def search(self, corpus: str, body: Json) -> Json:
        asked = SearchIn.model_validate(body)
        trace = Trace(budget=BudgetIn().within(self._container.settings.budget))
        found = await self._container.record.corpora.get(corpus)
        page = await search_page(self._container, found, asked.to_request(), asked.to_layout(), trace)
        return SearchOut.from_page(page, trace, self._links).model_dump(mode="json")

    async def ask(self, corpus: str, body: Json, on_event: OnEvent) -> Json:
        request = AskIn.model_validate(body).to_request()
        trace = Trace(budget=BudgetIn().within(self._container.settings.budget))

        def pass_on(event: Event) -> None:
            if (data := convert_event(event, self._links)) is not None:
                on_event(event.kind, data.model_dump(mode="json"))

        trace.listeners.append(pass_on)
        found = await self._container.record.corpora.get(corpus)
        answer = await ask(self._container, found, request, trace)
        return AnswerOut.from_answer(answer, trace, self._links).model_dump(mode="json")
