"""The contract of chunkers, for any text and any tokenizer."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ports.embedding import TokenCounter
from core.ports.indexing import Block, Chunker, DraftChunk, LoadedDocument

__all__ = ["CharacterTokens", "ChunkerContract", "PieceTokens", "WordTokens"]


class WordTokens:
    """Words and marks, as WordPiece without pieces: joining adds nothing."""

    def __init__(self, max_tokens: int = 32) -> None:
        self.max_tokens = max_tokens
        self.calls = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        self.calls += 1
        return [len(re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", text)) for text in texts]

    def unknown(self, texts: Sequence[str]) -> None:
        return None


class CharacterTokens:
    """Every code point, white space too: a line end costs a token."""

    def __init__(self, max_tokens: int = 32) -> None:
        self.max_tokens = max_tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def unknown(self, texts: Sequence[str]) -> None:
        return None


class PieceTokens(CharacterTokens):
    """Far from additive: a text has many more tokens than its parts together."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) + len(text) ** 2 // 128 for text in texts]


_SENTENCES = st.sampled_from(
    [
        "Dr. Smith went home. ",
        "Кто написал «Войну и мир»? ",
        "هل تعرف القاهرة؟ نعم، أعرفها. ",
        "北京是中华人民共和国的首都。",
        "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
        "Die Straße führt z. B. nach Köln; dort endet sie, wie man sagt. ",
        "an (unclosed bracket. And more. ",
        "\n\n",
        "\r\n",
        "- an item\n",
        "👩‍👩‍👧 e\u0301 A\u2028.\u2029",
        "supercalifragilisticexpialidocious" * 3,
        "   ",
    ]
)
_TEXTS = st.one_of(st.lists(_SENTENCES, max_size=30).map("".join), st.text(st.characters(codec="utf-8"), max_size=300))
_HEADINGS = st.lists(st.sampled_from(["Geschichte", "第一章", "A heading of several words"]), max_size=3).map(tuple)
_BLOCKS = st.builds(Block, text=_TEXTS, heading=_HEADINGS, page=st.none() | st.integers(1, 9), start=st.integers(0, 9))
_DOCUMENTS = st.builds(
    LoadedDocument,
    key=st.just("key"),
    title=st.sampled_from(["", "Title", "A very long title " * 8, "长标题" * 20]),
    blocks=st.lists(_BLOCKS, max_size=4).map(tuple),
)
_COUNTERS = st.builds(
    lambda kind, limit: kind(limit),
    st.sampled_from([WordTokens, CharacterTokens, PieceTokens]),
    st.integers(16, 80),
)
Counter = WordTokens | CharacterTokens


class ChunkerContract(ABC):
    """Subclasses give the fixture `chunker`, of scope class or wider, and the pipeline's `embedded_texts`."""

    @abstractmethod
    def embedded_texts(self, title: str, chunks: Sequence[DraftChunk], tokens: TokenCounter) -> list[str]:
        """The texts that are embedded for the chunks of the document `title`."""

    @given(document=_DOCUMENTS, tokens=_COUNTERS)
    def test_chunks_stand_in_their_block_where_they_say(
        self, chunker: Chunker, document: LoadedDocument, tokens: Counter
    ) -> None:
        for chunk in chunker.chunk(document, tokens):
            block = document.blocks[chunk.block]
            assert block.start is not None
            assert chunk.start is not None
            at = chunk.start - block.start
            assert block.text[at : at + len(chunk.text)] == chunk.text
            assert chunk.text
            assert chunk.text == chunk.text.strip()
            assert chunk.page == block.page
            assert chunk.heading == " › ".join(block.heading)

    @given(document=_DOCUMENTS, tokens=_COUNTERS)
    def test_all_that_is_not_white_space_is_in_a_chunk(
        self, chunker: Chunker, document: LoadedDocument, tokens: Counter
    ) -> None:
        covered: list[set[int]] = [set() for _ in document.blocks]
        for chunk in chunker.chunk(document, tokens):
            assert chunk.start is not None
            begin = chunk.start - (document.blocks[chunk.block].start or 0)
            covered[chunk.block].update(range(begin, begin + len(chunk.text)))
        for block, seen in zip(document.blocks, covered, strict=True):
            assert [n for n, c in enumerate(block.text) if not c.isspace() and n not in seen] == []

    @given(document=_DOCUMENTS, tokens=_COUNTERS)
    def test_what_is_embedded_is_read_whole(self, chunker: Chunker, document: LoadedDocument, tokens: Counter) -> None:
        chunks = chunker.chunk(document, tokens)
        counts = tokens.count(self.embedded_texts(document.title, chunks, tokens))
        assert [chunk.tokens for chunk in chunks] == counts
        for chunk, count in zip(chunks, counts, strict=True):
            assert count <= tokens.max_tokens or _one_character(chunk.text)

    @given(document=_DOCUMENTS, tokens=_COUNTERS)
    def test_chunks_come_in_order_and_none_holds_another(
        self, chunker: Chunker, document: LoadedDocument, tokens: Counter
    ) -> None:
        chunks = chunker.chunk(document, tokens)
        places = [(chunk.block, chunk.start or 0, (chunk.start or 0) + len(chunk.text)) for chunk in chunks]
        assert places == sorted(places)
        for (block, start, end), (next_block, next_start, next_end) in pairwise(places):
            assert next_block > block or (next_start > start and next_end > end)
        assert chunker.chunk(document, tokens) == chunks

    @pytest.mark.parametrize("text", ["", " \n\t\u3000"])
    def test_a_document_without_text_has_no_chunk(self, chunker: Chunker, text: str) -> None:
        document = LoadedDocument(key="k", title="T", blocks=(Block(text=text, heading=("H",)), Block(text="")))
        assert chunker.chunk(document, WordTokens()) == []
        assert chunker.chunk(LoadedDocument(key="k", title="T", blocks=()), WordTokens()) == []

    def test_a_block_without_a_place_gives_chunks_without_one(self, chunker: Chunker) -> None:
        document = LoadedDocument(key="k", title="", blocks=(Block(text="One. Two.", start=None),))
        assert [(c.text, c.start) for c in chunker.chunk(document, WordTokens())] == [("One. Two.", None)]

    def test_a_block_that_fits_is_one_chunk(self, chunker: Chunker) -> None:
        document = LoadedDocument(key="k", title="T", blocks=(Block(text=" A b. C d. \n"), Block(text="E.", start=12)))
        assert [(c.text, c.start, c.block) for c in chunker.chunk(document, WordTokens())] == [
            ("A b. C d.", 1, 0),
            ("E.", 12, 1),
        ]


def _one_character(text: str) -> bool:
    """What is one character to the reader is never cut, whatever it costs."""
    return all(
        c in "\u200d\ufe0e\ufe0f" or unicodedata.category(c)[0] == "M" or p == "\u200d" for p, c in pairwise(text)
    )
