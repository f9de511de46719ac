"""Open information extraction by a language model: a chunk's entities and triples in one structured call.

Names are counted as they stand in the chunk; what a triple names is an entity too. An answer's items are read one by
one: a triple that is not three names is counted malformed, and the rest of the answer is kept.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from core.errors import InvalidStrategy
from core.graph import Extraction, Surface, Triple
from core.ports.chat import ChatModel, ChatModels, ChatRequest, Completion, Message, OnToken
from core.ports.indexing import Asking, DraftChunk, Extractor, LoadedDocument
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from core.prompting.structured import structured
from core.strategies import StrategyConfig
from core.text.names import normalise
from core.trace import Trace
from indexer.chunking.occurrences import Occurrences

__all__ = ["GIVES_TRIPLES", "NEEDS_MODEL", "ROLE", "SOURCE", "Config", "OpenIE", "Statements", "build", "read"]

NEEDS_MODEL = True
GIVES_TRIPLES = True
SOURCE = "arXiv 2405.14831 (HippoRAG), section 2.3: OpenIE; here names and triples in one call"
ROLE = "extract"

_PROMPT = load_prompt("indexer.extractors", "openie")
_WARMER = 0.4  # what a model said in vain at 0, it would say again


class Config(StrategyConfig):
    """How the model is asked."""

    concurrency: int = Field(
        default=64, ge=1, description="Passages worked on at a time; HOPWEAVE_LLM__CONCURRENCY bounds the calls."
    )
    attempts: int = Field(
        default=3, ge=1, le=10, description="How often a passage is asked for whose answer cannot be used."
    )


class Statements(BaseModel):
    """The answer. The items are checked one by one, so that a single wrong one does not cost the others."""

    entities: list[Any] = Field(json_schema_extra={"items": {"type": "string"}})
    triples: list[Any] = Field(json_schema_extra={"items": {"type": "array", "items": {"type": "string"}}})


class OpenIE:
    """Fills `core.ports.indexing.Extractor` with the model of the role `extract`."""

    gives_triples = GIVES_TRIPLES

    def __init__(self, config: Config, model: ChatModel) -> None:
        self._concurrency = config.concurrency
        self._model = model
        self.fingerprint = f"llm-1({model.model},{_PROMPT.hash})"
        self.asking = Asking(
            concurrency=config.concurrency,
            attempts=config.attempts,
            characters=lambda document, chunk: sum(len(m.content) for m in _messages(document, chunk)),
        )

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,
        attempt: int = 0,
    ) -> list[Extraction]:
        slots = asyncio.Semaphore(self._concurrency)

        async def one(n: int) -> Extraction:
            async with slots:
                return await self._one(document, chunks[n], trace, attempt)

        if len(wanted) == 1:  # the usual case, and without the group an error comes as it is
            return [await one(wanted[0])]
        tasks = [asyncio.create_task(one(n)) for n in wanted]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        return (document.title, chunk.heading, chunk.text)

    async def _one(self, document: LoadedDocument, chunk: DraftChunk, trace: Trace, attempt: int) -> Extraction:
        request = ChatRequest(
            role=ROLE,
            messages=_messages(document, chunk),
            prompt_hash=_PROMPT.hash,
            labels={"document": document.key},
            temperature=_WARMER if attempt else 0.0,
            sample=attempt,
        )
        return read(await structured(_Sharing(self._model), request, Statements, trace), chunk.text)


@dataclass(frozen=True)
class _Sharing:
    """The model, letting others go first once it has answered: the next call is sent before this answer is read."""

    inner: ChatModel

    @property
    def model(self) -> str:
        return self.inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        completion = await self.inner.complete(request, trace, on_token)
        await asyncio.sleep(0)
        return completion


def read(found: Statements, text: str) -> Extraction:
    """What was found in `text`, as it is spelled there; a name that the text does not hold counts once."""
    names = [name for name in (_name(item) for item in found.entities) if name]
    triples = [_triple(item) for item in found.triples]
    whole = list(dict.fromkeys(triple for triple in triples if triple is not None))
    names += [name for triple in whole for name in (triple.subject, triple.object)]
    return Extraction(entities=_surfaces(names, text), triples=tuple(whole), malformed=triples.count(None))


def _surfaces(names: Iterable[str], text: str) -> tuple[Surface, ...]:
    occurrences = Occurrences([text])
    forms: dict[str, int] = {}
    for name in dict.fromkeys(names):
        count = occurrences.chunks_with(normalise(name)).get(0, 1)
        for surface in occurrences.surfaces(name, 0, count):
            forms[surface.form] = max(surface.count, forms.get(surface.form, 0))
    return tuple(Surface(form=form, count=count) for form, count in forms.items())


def _triple(item: object) -> Triple | None:
    parts = list(item.values()) if isinstance(item, dict) else item
    if not isinstance(parts, list) or len(parts) != 3:
        return None
    subject, predicate, object_ = (_name(part) for part in parts)
    if not (subject and predicate and object_):
        return None
    return Triple(subject=subject, predicate=predicate, object=object_)


def _name(item: object) -> str:
    """The text of an item on one line; a number is what it is written as; '' for what names nothing."""
    if isinstance(item, bool) or not isinstance(item, str | int | float):
        return ""
    text = " ".join(str(item).split())
    return text if normalise(text) else ""


def _messages(document: LoadedDocument, chunk: DraftChunk) -> tuple[Message, ...]:
    title = " › ".join(part for part in (document.title, chunk.heading) if part)
    return _PROMPT.messages({"title": neutral(title) or "(without a title)", "passage": neutral(chunk.text)})


def build(config: Config, models: ChatModels | None) -> Extractor:
    if models is None:
        raise InvalidStrategy(
            "the extractor 'llm' asks a language model, and none is configured: set HOPWEAVE_LLM__MODEL (and "
            "HOPWEAVE_LLM__BASE_URL for an endpoint of your own), or use the extractor 'pattern'"
        )
    return OpenIE(config, models.of(ROLE))
