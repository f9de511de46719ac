"""`Asked`: a conversation with a model, as work that writes a reply. The chat routes of all protocols use it."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request

from api.protocols.conversation import Conversation, read_conversation
from api.protocols.models import Model, find_model
from api.protocols.reply import Reply, reply_from_answer, reply_from_completion
from api.protocols.streaming import OnText
from app.container import Container
from app.services import questions
from app.services.links import Links
from app.services.plain_chat import PlainRequest, complete_plain
from core.budget import Budget
from core.corpora import Corpus
from core.events import TokenEvent
from core.ports.chat import Message
from core.trace import Event, Listener, Trace

__all__ = ["Asked", "ask_model"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked of which model; `trace` has the usage afterwards. `write` is the work.

    `stops`, `temperature` and `max_tokens` are parameters of the client; the last two count for `plain`.
    """

    container: Container
    model: Model
    conversation: Conversation
    trace: Trace
    address: str
    stops: Sequence[str] = ()
    temperature: float = 1.0
    max_tokens: int | None = None

    async def write(self, on_text: OnText | None = None) -> Reply:
        """Returns the reply, and calls `on_text` with the pieces of its text as they are written."""
        if self.model.corpus is None:
            return await self._write_plain(on_text)
        if on_text is not None:
            self.trace.listeners.append(_make_listener(on_text))
        return await self._answer(self.model.corpus)

    async def _answer(self, corpus: Corpus) -> Reply:
        request = questions.AskRequest(
            question=self.conversation.question,
            reasoner=self.model.reasoner,
            instructions=self.conversation.instructions,
            history=self.conversation.history,
        )
        answer = await questions.ask(self.container, corpus, request, self.trace)
        return reply_from_answer(
            answer,
            self.trace,
            address=self.address,
            links=Links.of(self.container.settings),
            corpus=corpus.name,
            shown=self.container.settings.api.chat_sources,
            stops=self.stops,
        )

    async def _write_plain(self, on_text: OnText | None) -> Reply:
        request = PlainRequest(
            messages=self.conversation.messages,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            stop=tuple(self.stops),
        )
        completion = await complete_plain(self.container, request, self.trace, on_text)
        return reply_from_completion(completion, self.stops)


async def ask_model(
    container: Container,
    request: Request,
    model: str,
    messages: Sequence[Message],
    *,
    stops: Sequence[str] = (),
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Asked:
    """Returns what a client asks. Raises `NotFound` for an unknown model, and `InvalidInput` for messages that end
    without a question.
    """
    settings = container.settings
    return Asked(
        container=container,
        model=await find_model(container, model),
        conversation=read_conversation(messages),
        trace=Trace(budget=Budget(**settings.budget.model_dump())),
        address=(settings.api.public_url or str(request.base_url)).rstrip("/"),
        stops=stops,
        temperature=1.0 if temperature is None else temperature,
        max_tokens=max_tokens,
    )


def _make_listener(on_text: OnText) -> Listener:
    def listen(event: Event) -> None:
        if isinstance(event, TokenEvent):
            on_text(event.text)

    return listen
