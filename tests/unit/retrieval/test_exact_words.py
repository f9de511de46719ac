"""Rare words of a question are found whole, over the embedded text index, and count by their share in the question."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.documents import Chunk
from core.text.query import TextQuery
from core.trace import Trace
from retrieval.candidates import pool
from retrieval.candidates.pool import RARE, ExactWords, find_exact_words, weigh_exact_words
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

COMMON = "The reader consults the manual for 24 of the hours, and No error waits in version 1 or 8. "
TEXTS = {
    "lock": "A statement that cannot lock a row raises lock_not_available at once; is the row not available, wait.",
    "gap": "Set glp_ios_mip_gap to a tolerance, and the solver ends early.",
    "old": "Since 1.8 the index is written by one process.",
    "new": "Release v1.9 brings mapped files.",
    "later": "The files of 1.8.2 and 2.1.8 and 21.8 are read too, and those of dev1.80.",
    "clause": "As §4.2.1 says, notice is given in writing.",
    "clauses": "See § 195 for limitation, and §\n  13-8-50 for sewers.",
    "support": "Our 24-hours line helps at any time.",
    "support too": "A line for 24 or more hours. Hours 24 and 25 are billed.",
    "persian": "او می\u200cخواهد کتابخانه را ببیند.",
    "decision": "The court decided in No. 245178 that rent is due.",
    "article": "Fines are in Art. 83 of the law.",
    "articles": "Art. 5 and Art. 6 and page 83 are quoted often; art is 83 times dearer.",
    "archive": "Fetch app-v1.2.3.tar.gz and unpack it.",
    "language": "It is written in C++ and in F#.",
    "name": "The samples were taken by Veiko Sinivee in spring.",
    "other names": "Veiko Tamm and Anna Sinivee wrote the report. Sinivee and Veiko are frequent names.",
    "beida": "北京大学位于北京。",
    "moscow": "Роман «Обломов» написал Гончаров.",
    "jerusalem": "הספר נמצא בירושלים.",
    "delhi": "यह किताब दिल्ली में है।",
    **{f"filler {number}": f"Matter {number}: page 83 has art of Veiko and of Sinivee." for number in range(6)},
}
MOST_SEARCHES = 12


class Counting:
    """A text index that counts what it is asked."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self.asked: list[TextQuery] = []

    async def find_few(
        self, corpus_id: str, asked: Sequence[tuple[TextQuery, int]], documents: Collection[str] | None = None
    ) -> list[list[str]]:
        self.asked += [query for query, _ in asked]
        found: list[list[str]] = await self._index.find_few(corpus_id, asked, documents)
        return found


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put([Passage(key=key, title="Manual", text=COMMON + text) for key, text in TEXTS.items()])
        yield world


async def find(world: World, question: str, **fields: Any) -> tuple[ExactWords, dict[str, set[str]]]:
    """What was found, and by word the keys of the passages that have it."""
    snapshot = await world.backends.snapshots.get(world.corpus.id)
    found = await find_exact_words(world.backends, world.query(question, **fields), snapshot)
    having: dict[str, set[str]] = {}
    for word, chunks in zip(found.words, found.chunks, strict=True):
        rows = await world.backends.contents.get_chunks(world.corpus.id, snapshot.chunk_ids(chunks.tolist()))
        having[word] = {key_of(chunk) for chunk in rows.values()}
    return found, having


def key_of(chunk: Chunk) -> str:
    return next(key for key, text in TEXTS.items() if chunk.text == COMMON + text)


async def weigh(world: World, question: str) -> dict[str, float]:
    """The weight of each passage that has any, by key."""
    snapshot = await world.backends.snapshots.get(world.corpus.id)
    found = await find_exact_words(world.backends, world.query(question), snapshot)
    chunks = np.arange(snapshot.whole.passages)
    rows = await world.backends.contents.get_chunks(world.corpus.id, snapshot.chunk_ids(chunks.tolist()))
    keys = [key_of(rows[id]) for id in snapshot.chunk_ids(chunks.tolist())]
    return {key: weight for key, weight in zip(keys, weigh_exact_words(found, chunks).tolist(), strict=True) if weight}


FOUND: dict[str, dict[str, set[str]]] = {
    "lock_not_available": {"lock_not_available": {"lock"}},
    "LOCK_NOT_AVAILABLE": {"LOCK_NOT_AVAILABLE": {"lock"}},
    "(lock_not_available)?!": {"lock_not_available": {"lock"}},
    "glp_ios_mip_gap": {"glp_ios_mip_gap": {"gap"}},
    "glp_ios": {},
    "v1.8": {"v1.8": {"old"}},
    "1.8": {"1.8": {"old"}},
    "V1.9": {"V1.9": {"new"}},
    "1.9": {"1.9": {"new"}},
    "1.8.2": {"1.8.2": {"later"}},
    "§4.2.1": {"§4.2.1": {"clause"}},
    "§ 4.2.1": {"§ 4.2.1": {"clause"}},
    "§ 4.2": {},
    "§ 195": {"§ 195": {"clauses"}},
    "§195": {"§195": {"clauses"}},
    "§ 13-8-50": {"§ 13-8-50": {"clauses"}},
    "§ 13": {},
    "24-hours": {"24-hours": {"support"}},
    "No. 245178": {"245178": {"decision"}},
    "Art. 83": {"Art. 83": {"article"}},
    "Veiko Sinivee": {"Veiko Sinivee": {"name"}},
    "app-v1.2.3.tar.gz": {"app-v1.2.3.tar.gz": {"archive"}},
    "C++": {"C++": {"language"}},
    "Обломов": {"Обломов": {"moscow"}},
    "обломов": {"обломов": {"moscow"}},
    "北京大学": {"北京大学": {"beida"}},
    "בירושלים": {"בירושלים": {"jerusalem"}},
    "दिल्ली": {"दिल्ली": {"delhi"}},
    "«दिल्ली»?": {"दिल्ली": {"delhi"}},
    "می\u200cخواهد": {"می\u200cخواهد": {"persian"}},
}
"""By question: its rare words, with the passages that have them."""


async def test_rare_words_are_found_whole(world: World) -> None:
    assert {question: (await find(world, question))[1] for question in FOUND} == FOUND


async def test_a_lone_rare_word_is_all_of_its_query(world: World) -> None:
    for question, having in FOUND.items():
        expected = {key: 1.0 for keys in having.values() for key in keys}
        assert await weigh(world, question) == expected, question


async def test_a_word_of_many_passages_gives_nothing(world: World) -> None:
    for question in ("manual", "the manual", "What does the reader consult?", "24", "error", "", "?"):
        found, _ = await find(world, question)
        assert found.words == (), question
        assert found.all_chunks.tolist() == []
        assert await weigh(world, question) == {}


@pytest.mark.parametrize(("count", "rare"), [(1, True), (RARE, True), (RARE + 1, False)])
@pytest.mark.parametrize("word", ["zymurgy", "zym_urgy", "7.31.4"])
async def test_a_word_is_rare_up_to_three_passages(tmp_path: Path, word: str, count: int, *, rare: bool) -> None:
    async with open_world(tmp_path) as world:
        texts = [f"About {word} number {n}." if n < count else f"Nothing of it, number {n}." for n in range(9)]
        await world.put([Passage(key=str(n), title="", text=text) for n, text in enumerate(texts)])
        snapshot = await world.backends.snapshots.get(world.corpus.id)
        found = await find_exact_words(world.backends, world.query(word), snapshot)
        assert found.words == ((word,) if rare else ())
        assert len(found.all_chunks) == (count if rare else 0)


async def test_versions_are_told_apart_from_those_that_begin_alike(tmp_path: Path) -> None:
    """Four passages name versions that begin with 1.8, and one names 1.8 itself."""
    async with open_world(tmp_path) as world:
        versions = ["1.8", "1.8.1", "1.8.2", "1.8.3", "1.8.4", "3.1.8"]
        await world.put([Passage(key=one, title="", text=f"Changes of {one}: files.") for one in versions])
        snapshot = await world.backends.snapshots.get(world.corpus.id)
        found = await find_exact_words(world.backends, world.query("v1.8"), snapshot)
        [chunk] = snapshot.chunk_ids(found.all_chunks.tolist())
        rows = await world.backends.contents.get_chunks(world.corpus.id, [chunk])
        assert rows[chunk].text == "Changes of 1.8: files."


async def test_only_chosen_documents_are_searched(world: World) -> None:
    snapshot = await world.backends.snapshots.get(world.corpus.id)
    [chunk] = (await find(world, "lock_not_available"))[0].all_chunks.tolist()
    [document] = snapshot.document_ids([chunk])
    others = frozenset(snapshot.documents) - {document}
    assert (await find(world, "lock_not_available", documents=others))[0].words == ()
    assert (await find(world, "lock_not_available", documents=frozenset([document])))[0].words


async def test_a_word_of_a_document_that_was_deleted_is_not_found(world: World) -> None:
    await world.remove(["lock"])
    assert (await find(world, "lock_not_available"))[0].words == ()


LONG_QUESTION = (
    "When the solver ends early and the court decided that rent is due, notice is given in writing, samples were taken "
    "in spring, and the limitation of sewers is quoted often by frequent names in the report, why is "
    "lock_not_available raised by a statement that waits for a row at any time?"
)


async def test_in_a_long_question_a_rare_word_counts_little(world: World) -> None:
    """Its weight is the square of its share, so it falls faster than the question grows."""
    alone, short, long = [
        (await weigh(world, question))["lock"]
        for question in (
            "lock_not_available",
            "What does the error lock_not_available mean to a reader?",
            LONG_QUESTION,
        )
    ]
    assert alone == 1
    assert 0.3 < short < 1
    assert 0 < long < 0.1


def exact(chunks: Sequence[Sequence[int]], idf: Sequence[float], total: float) -> ExactWords:
    arrays = tuple(np.array(one, np.int64) for one in chunks)
    return ExactWords(words=("w",) * len(idf), chunks=arrays, idf=tuple(idf), total=total)


def test_the_weight_is_the_square_of_the_share_in_the_idf() -> None:
    found = exact([[2, 5], [5]], [3.0, 2.0], 10.0)
    assert found.all_chunks.tolist() == [2, 5]
    np.testing.assert_allclose(weigh_exact_words(found, np.array([1, 2, 5])), [0, 0.3**2, 0.5**2])


def test_without_rare_words_all_weights_are_zero() -> None:
    assert weigh_exact_words(exact([], [], 7.0), np.arange(3)).tolist() == [0, 0, 0]
    assert weigh_exact_words(exact([], [], 0.0), np.arange(3)).tolist() == [0, 0, 0]
    assert weigh_exact_words(exact([], [], 0.0), np.zeros(0, np.int64)).tolist() == []
    assert exact([], [], 0.0).all_chunks.dtype == np.int64


@given(
    words=st.lists(st.tuples(st.sets(st.integers(0, 9), min_size=1, max_size=3), st.floats(0.1, 9)), max_size=5),
    rest=st.floats(0, 50),
)
def test_weights_lie_between_zero_and_one_and_more_words_weigh_more(
    words: list[tuple[set[int], float]], rest: float
) -> None:
    idf = [one for _, one in words]
    found = exact([sorted(chunks) for chunks, _ in words], idf, sum(idf) + rest)
    weights = weigh_exact_words(found, np.arange(10))
    assert ((weights >= 0) & (weights <= 1 + 1e-9)).all()
    assert set(np.flatnonzero(weights).tolist()) == set(found.all_chunks.tolist())
    fewer = replace(found, words=found.words[1:], chunks=found.chunks[1:], idf=found.idf[1:])
    assert (weigh_exact_words(fewer, np.arange(10)) <= weights + 1e-12).all()


LONG = {
    "words": " ".join(f"word{number}" for number in range(10_000)),
    "names": " ".join(f"Name{number}" for number in range(10_000)),
    "identifiers": " ".join(f"item_{number}" for number in range(10_000)),
    "one word": "a" * 100_000,
    "one word with signs": "a-" * 50_000,
    "signs": "!?" * 50_000,
    "paragraphs": "§" * 99_999 + "a",
    "paragraphs apart": "§ " * 50_000,
    "digits": "1." * 50_000,
    "line breaks": "\n" * 100_000,
    "the same word": "lock_not_available " * 5_000,
}


async def test_a_pasted_text_costs_a_bounded_number_of_searches(world: World) -> None:
    snapshot = await world.backends.snapshots.get(world.corpus.id)
    for name, text in LONG.items():
        counting = Counting(world.text)
        backends = replace(world.backends, text=counting)  # type: ignore[arg-type]
        await find_exact_words(backends, world.query(text), snapshot)
        assert len(counting.asked) <= MOST_SEARCHES, name


def test_a_run_of_paragraph_signs_is_cut_into_short_words() -> None:
    """The signs around a word are looked for at each place of the word, so its length is bounded."""
    assert max(len(match.group()) for match in pool._WORD.finditer("§" * 9_999 + "a")) <= 403


async def test_a_word_far_behind_in_a_pasted_text_is_not_looked_up(world: World) -> None:
    many = " ".join(f"word{number}" for number in range(300))
    assert (await find(world, f"{many} lock_not_available"))[0].words == ()
    assert (await find(world, f"lock_not_available {many}"))[0].words == ("lock_not_available",)


async def test_a_word_that_is_written_twice_is_looked_up_once(world: World) -> None:
    found, _ = await find(world, "lock_not_available, LOCK_NOT_AVAILABLE!")
    assert found.words == ("lock_not_available",)
    assert await weigh(world, "lock_not_available, LOCK_NOT_AVAILABLE!") == {"lock": 1}


GARBAGE = [
    '"', '""', '"a', "\\", "\\\\", "a\\", '\\"', "*:*", "*", "?", "AND", "OR", "NOT", "AND OR NOT", "a AND", "TO", "IN",
    "text:x", "title:[a TO b]", "a^b ~2", "(", ")", "()", "(a", "{!x}", "/.*/", "a/b/c", "+", "-", "+-", "--x", "&&",
    "||", "!", "§", "§§", "§ ", "§§ 4", "#", "_", "__", ".", "1.", ".1", "v", "v.", "v1", "v1.", "1..2", "1.-2", "\x00",
    "a\x00b", "\ud800", "x\ud800_y", "\u200d", "\u0301", "é́", "🦓", "🦓_🦓", "İ", "ß_ß", "ﬁ_ﬁ", "a\u2028b", "%s", "[",
    "]", "a[b]c", "^", "$", "(?x)", "a|b", "'", "it's", "צה\"ל",
]  # fmt: skip


async def test_no_text_is_an_error(world: World) -> None:
    for text in GARBAGE:
        for question in (text, f"{text} {text}", f"lock_not_available {text}", f'"{text}" lock{text}available'):
            found, _ = await find(world, question)
            assert len(found.words) == len(found.chunks) == len(found.idf), question
            assert all(0 < len(chunks) <= RARE for chunks in found.chunks), question
            assert sum(found.idf) <= found.total + 1e-9, question


@pytest.mark.parametrize("searcher", ["bridged", "fused"])
async def test_searchers_read_any_text(world: World, searcher: str) -> None:
    for text in GARBAGE:
        await world.searcher(searcher).search(world.query(f"lock_not_available {text}"), Trace())


async def test_garbage_beside_a_rare_word_does_not_hide_it(world: World) -> None:
    for text in GARBAGE:
        if text.strip(" §"):
            assert "lock_not_available" in (await find(world, f"lock_not_available {text}"))[0].words, text


async def test_an_empty_corpus_has_no_rare_words(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        snapshot = await world.backends.snapshots.get(world.corpus.id)
        found = await find_exact_words(world.backends, world.query("lock_not_available v1.8 Veiko Sinivee"), snapshot)
        assert (found.words, found.total) == ((), 0)


def test_what_is_read_to_find_words_is_bounded() -> None:
    """Each text is read once, however many words are looked up in it, and long ones up to the bound."""
    text = "a 1.8 " + "b " * 500000 + "4.2"
    assert look_up("1.8", *[("", text)] * 4) == [0, 1]
    assert look_up("4.2", *[("", text)] * 4) == [0]


def look_up(word: str, *texts: tuple[str, str]) -> list[int]:
    """Returns the chunks, of which heading and text are given, in which the word is found."""
    chunks = {
        n: Chunk(
            id=str(n), document_id="d", view_id=str(n), position=9 - n, text=text, heading=heading, page=None, span=None
        )
        for n, (heading, text) in enumerate(texts)
    }
    found: list[int] = pool._look_up({word: np.arange(len(texts))}, chunks)[word].tolist()
    return found


def test_the_number_of_a_section_finds_the_section() -> None:
    contents = ("Contents", "10.7.2 Files . . . . . 94\n10.7.3 Behavior . . . . . . . . 95\n10.7.4 Rules ..... 96")
    mention = ("Changes", "Section 10.7.3 is new. Links are as before.")
    section = ("Files › 10.7 Configuration files › 10.7.3 Behavior", "Files must be kept.")
    other = ("Files › 10.7 Configuration files › 10.7.30 Links", "Others.")
    assert look_up("10.7.3", contents, mention, section, other) == [2]
    assert look_up("10.7.3", contents, mention, other) == [1]
    assert look_up("10.7.3", contents, other) == [0], "a line of the contents is better than nothing"
    assert look_up("10.7.3", *[section] * 5) == [2, 3, 4], "the first passages of a long section, by their positions"
    assert look_up("10.7.3", ("10.7.3 Behavior › Notes", "Of 10.7.3."), mention) == [0, 1]
    assert look_up("lock_wait", ("lock_wait", "It waits."), ("Errors", "See lock_wait.")) == [0, 1]
