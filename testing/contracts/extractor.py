"""The contract of extractors. An extractor that calls a model gets one that answers equal requests equally."""

from collections.abc import Sequence
from dataclasses import replace

from core.corpora import NO_GRAPH
from core.graph import Extraction, Triple
from core.ports.indexing import Block, DraftChunk, Extractor, LoadedDocument
from core.text.names import normalise
from core.trace import Trace

__all__ = ["ExtractorContract", "all_of", "sample"]


def sample() -> tuple[LoadedDocument, list[DraftChunk]]:
    """Three chunks of two blocks, in several scripts, with entities and triples given."""
    texts = ["Marie Curie was born in Warsaw.", "Мария Кюри жила в Париже.", "居里夫人在巴黎工作。"]
    document = LoadedDocument(
        key="curie",
        title="Marie Curie (physicist)",
        blocks=(
            Block(text=texts[0] + " " + texts[1]),
            Block(
                text=texts[2],
                start=100,
                entities=("巴黎",),
                triples=(Triple(subject="居里夫人", predicate="工作于", object="巴黎"),),
            ),
        ),
        entities=("Warsaw", "Париж"),
        triples=(Triple(subject="Marie Curie", predicate="born in", object="Warsaw"),),
        malformed=2,
    )
    chunks = [
        DraftChunk(text=texts[0], start=0, block=0),
        DraftChunk(text=texts[1], start=len(texts[0]) + 1, block=0),
        DraftChunk(text=texts[2], start=100, block=1),
    ]
    return document, chunks


async def all_of(extractor: Extractor, document: LoadedDocument, chunks: Sequence[DraftChunk]) -> list[Extraction]:
    return await extractor.extract(document, chunks, range(len(chunks)), Trace())


class ExtractorContract:
    """Subclasses give the fixture `extractor`."""

    async def test_there_is_one_extraction_per_chunk(self, extractor: Extractor) -> None:
        document, chunks = sample()
        found = await all_of(extractor, document, chunks)
        assert len(found) == len(chunks)
        assert any(extraction.entities for extraction in found) == (extractor.fingerprint != NO_GRAPH)
        assert await extractor.extract(document, [], [], Trace()) == []

    async def test_what_is_wanted_is_given_in_that_order(self, extractor: Extractor) -> None:
        document, chunks = sample()
        found = await all_of(extractor, document, chunks)
        assert await extractor.extract(document, chunks, [2, 0], Trace()) == [found[2], found[0]]
        assert await extractor.extract(document, chunks, [], Trace()) == []
        other, its_chunks = replace(document, entities=("Мария",)), chunks[:2]
        assert (
            await extractor.extract(other, its_chunks, [1], Trace()) == (await all_of(extractor, other, its_chunks))[1:]
        )

    async def test_names_are_names_and_counted(self, extractor: Extractor) -> None:
        document, chunks = sample()
        for extraction in await all_of(extractor, document, chunks):
            forms = [surface.form for surface in extraction.entities]
            assert len(set(forms)) == len(forms)
            assert all(normalise(form) for form in forms)
            assert all(surface.count >= 1 for surface in extraction.entities)

    async def test_the_same_input_gives_the_same(self, extractor: Extractor) -> None:
        document, chunks = sample()
        again, same_chunks = sample()
        assert await all_of(extractor, document, chunks) == await all_of(extractor, again, same_chunks)
        assert _inputs(extractor, document, chunks) == _inputs(extractor, again, same_chunks)

    async def test_a_chunk_whose_result_changes_has_another_input(self, extractor: Extractor) -> None:
        """The staged extraction of the old input would be taken otherwise."""
        document, chunks = sample()
        before = await all_of(extractor, document, chunks)
        inputs = _inputs(extractor, document, chunks)
        for changed, its_chunks in _changes(document, chunks):
            after = await all_of(extractor, changed, its_chunks)
            for n, (old, new) in enumerate(zip(before, after, strict=True)):
                assert old == new or inputs[n] != _inputs(extractor, changed, its_chunks)[n]

    async def test_triples_come_from_extractors_that_say_so(self, extractor: Extractor) -> None:
        document, chunks = sample()
        found = await all_of(extractor, document, chunks)
        assert extractor.gives_triples or not any(extraction.triples for extraction in found)
        assert extractor.fingerprint


def _changes(document: LoadedDocument, chunks: list[DraftChunk]) -> list[tuple[LoadedDocument, list[DraftChunk]]]:
    second = "Warsaw is far from Париж, said Marie Curie."
    first, last = document.blocks
    rewritten = replace(first, text=chunks[0].text + " " + second)
    return [
        (replace(document, title="Pierre Curie"), chunks),
        (replace(document, malformed=0), chunks),
        (replace(document, entities=("Marie Curie",)), chunks),
        (replace(document, triples=()), chunks),
        (replace(document, blocks=(first, replace(last, entities=(), triples=()))), chunks),
        (replace(document, blocks=(rewritten, last)), [chunks[0], replace(chunks[1], text=second), chunks[2]]),
    ]


def _inputs(extractor: Extractor, document: LoadedDocument, chunks: Sequence[DraftChunk]) -> list[list[str]]:
    return [list(extractor.input_of(document, chunk)) for chunk in chunks]
