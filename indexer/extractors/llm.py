"""Open information extraction by a language model: a chunk's entities and triples in one structured call.

Names are counted as they are spelled in the chunk. What a triple names is an entity too. The items of an answer are
read one by one: a triple that is not three names, or does not stand in the chunk, counts as malformed, and the rest of
the answer is kept.

A small model has a prompt of its own, which asks for triples only: the extractor `pattern` finds the names. The types
and relations of a schema follow the prompt, up to some two thousand characters; without a schema, the prompt is what
its file says.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from core.errors import InvalidStrategy, MalformedReply
from core.graph import Extraction
from core.graph_schema import NO_SCHEMA, GraphSchema
from core.ids import digest
from core.ports.chat import ChatModel, ChatModels, ChatRequest, Completion, Message, OnToken
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument, ModelCalls
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.strategies import StrategyConfig
from core.trace import Trace
from indexer.extractors._combined import merge
from indexer.extractors._grounding import Grounds
from indexer.extractors._statements import Facts, Statements, find_facts, read_facts, read_statements
from indexer.extractors.pattern import PatternExtractor

NEEDS_MODEL = True
GIVES_TRIPLES = True
SOURCE = "arXiv 2405.14831 (HippoRAG), section 2.3: OpenIE; here names and triples in one call"
ROLE = "extract"

_RETRY_TEMPERATURE = 0.4  # at 0 a model would repeat an answer that cannot be used
_FEWEST_TOKENS = 150
"""Tokens that a small model may answer, beside one for every two characters of its passage. A small model may repeat
itself until it is stopped, which takes minutes; what it wrote by then is kept.
"""


class Config(StrategyConfig):
    """How the model is called."""

    concurrency: int = Field(
        default=64,
        ge=1,
        le=1024,
        description="Passages worked on at a time; HOPWEAVE_LLM__CONCURRENCY bounds the calls.",
    )
    attempts: int = Field(
        default=3, ge=1, le=10, description="How often a passage is asked for whose answer cannot be used."
    )


class LlmExtractor:
    """Extracts with the model of the role `extract`."""

    gives_triples = GIVES_TRIPLES

    def __init__(
        self, config: Config, model: ChatModel, *, is_small: bool = False, schema: GraphSchema = NO_SCHEMA
    ) -> None:
        self._config = config
        self._concurrency = config.concurrency
        self._model = model
        self._names = PatternExtractor() if is_small else None
        self._prompt = load_prompt("indexer.extractors", "openie_small" if is_small else "openie")
        self._schema = describe_schema(schema, is_small=is_small)
        told = f",{digest('schema', [self._schema])[:16]}" if self._schema else ""
        self.fingerprint = f"llm-2({model.model},{self._prompt.hash}{told})"
        self.model_calls = ModelCalls(
            concurrency=config.concurrency,
            attempts=config.attempts,
            characters=lambda document, chunk: sum(len(m.content) for m in self._make_messages(document, chunk)),
        )

    def with_schema(self, schema: GraphSchema) -> "LlmExtractor":
        return LlmExtractor(self._config, self._model, is_small=self._names is not None, schema=schema)

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
                return await self._extract_chunk(document, chunks, n, trace, attempt)

        if len(wanted) == 1:  # the usual case: no task is needed
            return [await one(wanted[0])]
        tasks = [asyncio.create_task(one(n)) for n in wanted]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        names = self._names.input_of(document, chunk) if self._names else ()
        return (document.title, chunk.heading, chunk.text, *names)

    async def _extract_chunk(
        self, document: LoadedDocument, chunks: Sequence[DraftChunk], n: int, trace: Trace, attempt: int
    ) -> Extraction:
        chunk = chunks[n]
        request = ChatRequest(
            role=ROLE,
            messages=self._make_messages(document, chunk),
            prompt_hash=self._prompt.hash,
            reply=self._prompt.reply,
            labels={"document": document.key},
            temperature=_RETRY_TEMPERATURE if attempt else 0.0,
            sample=attempt,
            max_tokens=_FEWEST_TOKENS + len(chunk.text) // 2 if self._names else None,
        )
        model = _Yielding(self._model)
        if self._names is None:
            statements = await complete_structured(model, request, Statements, trace)
            grounds = Grounds(title=document.title, heading=chunk.heading, text=chunk.text)
            return read_statements(statements, chunk.text, grounds)
        try:
            facts = await complete_structured(model, request, Facts, trace)
        except MalformedReply as error:
            facts = find_facts(error.text)  # of an answer that repeats itself until it is cut off
            if not facts.facts:
                raise
        [named] = await self._names.extract(document, chunks, [n], trace)
        names = [name.form for name in named.entities]
        grounds = Grounds(title=document.title, heading=chunk.heading, text=chunk.text, names=names)
        return merge([named, read_facts(facts, chunk.text, grounds)])

    def _make_messages(self, document: LoadedDocument, chunk: DraftChunk) -> tuple[Message, ...]:
        title = " › ".join(part for part in (document.title, chunk.heading) if part)
        system, user = self._prompt.messages(
            {"title": neutral(title) or "(without a title)", "passage": neutral(chunk.text)}
        )
        return (replace(system, content=f"{system.content}\n\n{self._schema}") if self._schema else system, user)


@dataclass(frozen=True)
class _Yielding:
    """The model, but other tasks run before an answer is read, so that the next call is sent first."""

    inner: ChatModel

    @property
    def model(self) -> str:
        return self.inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        completion = await self.inner.complete(request, trace, on_token)
        await asyncio.sleep(0)
        return completion


def build(config: Config, models: ChatModels | None) -> Extractor:
    if models is None:
        raise InvalidStrategy(
            "the extractor 'llm' asks a language model, and none is configured: set HOPWEAVE_LLM__MODEL (and "
            "HOPWEAVE_LLM__BASE_URL for an endpoint of your own), or use the extractor 'pattern'"
        )
    return LlmExtractor(config, models.of(ROLE), is_small=models.is_small(ROLE))


MOST_CHARACTERS = 2_000
"""Characters of the types and relations. Each call pays for them; what comes later in the file is left out."""

_RELATIONS = """\
Relations that matter here, as name (subject -> object). Where the passage states one of them, the predicate is its \
name, with the ends in this order. It is not stated where it is denied, or only possible or allowed. Write down all \
other statements as before."""
_RELATIONS_SMALL = """\
Look for facts of these kinds above all, as name (subject -> object). Keep the words of the text for the verb."""
_TYPES = "Names of these types matter above all:"


def describe_schema(schema: GraphSchema, *, is_small: bool) -> str:
    """Returns the lines for the model; '' for a schema without types and relations.

    Only names and ends are told, so that another synonym, colour or description pays for no passage again. A small
    model keeps the words of the text: its facts have to stand in one sentence.
    """
    relations = [
        f"{one.name} ({' or '.join(one.subjects) or 'any'} -> {' or '.join(one.objects) or 'any'})"
        for one in schema.relations.values()
    ]
    told, room = _fit(relations, MOST_CHARACTERS)
    types, _ = _fit(schema.types, room)
    parts = []
    if types:
        parts.append(f"{_TYPES} {', '.join(types)}.")
    if told:
        parts.append("\n".join([_RELATIONS_SMALL if is_small else _RELATIONS, *(f"- {one}" for one in told)]))
    return "\n".join(parts)


def _fit(items: Iterable[str], room: int) -> tuple[list[str], int]:
    """Returns the first items that fit, and the characters that are left."""
    kept: list[str] = []
    for item in items:
        room -= len(item) + 2
        if room < 0:
            return kept, 0
        kept.append(item)
    return kept, room
