"""The ends of chunks: limits, what is repeated, the cheapest way, and how little a changed sentence moves."""

import random
from collections.abc import Sequence
from itertools import accumulate, islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.ports.indexing import Block, LoadedDocument
from core.text.sentences import Range
from indexer.chunkers.sentences import Config, SentenceChunker
from indexer.chunking.packing import pack
from indexer.chunking.pieces import Frame, Piece
from testing.contracts.chunker import WordTokens
from tests.benchmarks.documents.prose import make_sentence, make_sentences, make_text

_SENTENCES = st.lists(
    st.tuples(st.text("ab c", min_size=1, max_size=4), st.integers(1, 12), st.sampled_from([" ", "\n", "\n\n"])),
    min_size=1,
    max_size=40,
)


def pieces(sentences: Sequence[tuple[str, int, str]]) -> list[Piece]:
    texts = [f"{text}.{after}" for text, _, after in sentences]
    frame = Frame(0, "".join(texts), "", 0, 0)
    offsets = [0, *accumulate(map(len, texts))]
    return [Piece(frame, part, tokens) for part, (_, tokens, _) in zip(pairwise(offsets), sentences, strict=True)]


def inside(found: Range, all_pieces: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in all_pieces if found[0] <= piece.range[0] and piece.range[1] <= found[1]]


@given(_SENTENCES, st.integers(12, 40), st.integers(0, 3))
def test_chunks_are_whole_sentences_within_the_budget_and_none_is_lost(
    sentences: list[tuple[str, int, str]], budget: int, overlap: int
) -> None:
    whole = pieces(sentences)
    found = pack(whole, budget, overlap)
    assert found[0][0] == 0
    assert found[-1][1] == whole[-1].range[1]
    for one in found:
        assert sum(piece.tokens for piece in inside(one, whole)) <= budget
        assert {one[0], one[1]} <= {at for piece in whole for at in piece.range}
    for before, after in pairwise(found):
        repeated = inside((after[0], before[1]), whole)
        assert after[0] <= before[1] < after[1]
        assert len(repeated) <= overlap
        assert sum(piece.tokens for piece in repeated) <= budget // 4
        assert not any(piece.text.endswith("\n\n") for piece in repeated)


@given(_SENTENCES, st.integers(12, 40))
def test_what_fits_is_one_chunk(sentences: list[tuple[str, int, str]], more: int) -> None:
    whole = pieces(sentences)
    assert pack(whole, sum(piece.tokens for piece in whole) + more, 1) == [(0, whole[-1].range[1])]


def test_ends_are_those_of_paragraphs_where_there_are_some() -> None:
    sentences = [(f"sentence {n}", 5, "\n\n" if n % 4 == 3 else " ") for n in range(400)]
    ends = [end for _, end in pack(pieces(sentences), 50, 1)]
    of_paragraphs = {piece.range[1] for piece in pieces(sentences) if piece.text.endswith("\n\n")}
    assert all(end in of_paragraphs for end in ends)


def test_parts_of_a_sentence_that_is_too_long_fill_the_budget() -> None:
    parts = [Piece(piece.frame, piece.range, 5, whole=False) for piece in pieces([("word", 5, " ")] * 20)]
    assert [len(inside(one, parts)) for one in pack(parts, 32, 1)] == [6, 6, 6, 2]


def test_a_changed_sentence_changes_few_chunks() -> None:
    random_ = random.Random(3)
    sentences = list(islice(make_sentences(5), 700))
    chunker, tokens = SentenceChunker(config=Config()), WordTokens(254)

    def cut() -> set[str]:
        blocks = (Block(text=make_text(sentences)),)
        return {chunk.text for chunk in chunker.chunk(LoadedDocument(key="k", title="", blocks=blocks), tokens)}

    before, changed = cut(), list[int]()
    for _ in range(60):
        sentences[random_.randrange(len(sentences))] = make_sentence(random_)
        after = cut()
        changed.append(len(after - before))
        before = after
    assert sum(count > 3 for count in changed) <= 3
    assert max(changed) <= 8


def test_names_of_columns_are_in_one_chunk_with_a_row() -> None:
    for number in range(50):
        prose = [(f"Sentence {n} of report {number}", 6, " ") for n in range(40)]
        names = [(f"| {month} {number} | May {number}", 4, "\n") for month in ("March", "June")]
        whole = pieces([*prose[: 5 + number % 7], *names, ("Pumps | 4 | 5", 4, "\n"), *prose])
        last = 6 + number % 7
        chunks = [inside(found, whole) for found in pack(whole, 40, 0)]
        assert any(whole[last] in own and whole[last + 1] in own for own in chunks)
