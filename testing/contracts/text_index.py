"""The contract of `TextIndex`. A subclass gives the fixture `connect`, which opens the same data with each call."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager

import pytest

from core.ids import new_id
from core.ports.views import TextEntry, TextIndex
from core.text.query import Clause, Group, Phrase, Term, TextQuery, any_of

__all__ = ["SCRIPTS", "Connect", "TextIndexContract", "entry"]

Connect = Callable[[], AbstractAsyncContextManager[TextIndex]]
OTHERS_SEE_WITHIN = 2.0

SCRIPTS = {
    "english": 'Marie Curie was born in Warsaw; it\'s 3.14 km (C++, C#) from U.S.A. & "here" \\ there/then',
    "german": "Die Straße nach Köln führt über Größe und Maß",
    "chinese": "北京大学位于中国首都北京的海淀区",
    "japanese": "東京タワーは港区にある。ｶﾀｶﾅとラーメン",
    "korean": "서울특별시는 대한민국의 수도이다. LG전자 2024년",
    "russian": "Москва — столица Российской Федерации, ёлка",
    "arabic": "وُلِدَ مُحَمَّد في مكّة المكرمة",
    "persian": "او می‌خواهد به کتاب‌خانه برود",
    "hindi": "दिल्ली भारत की राजधानी है और हिन्दी में क्षत्रिय",
    "thai": "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย น้ำ",
    "hebrew": 'צה"ל הוא צבא ההגנה לישראל, שָׁלוֹם',
    "turkish": "İstanbul ve Diyarbakır ılık",
    "tamil": "தமிழ்நாடு இந்தியாவின் மாநிலம்",
    "vietnamese": "Hà Nội là thủ đô của Việt Nam",
    "decomposed": "cafe\u0301 und か\u3099 nebeneinander",
    "symbols": "x² + y₂ = ½ ⅷ _under_score_ 🙂 emoji",
}


def entry(id: str, text: str, document: str = "d") -> TextEntry:
    return TextEntry(id=id, document_id=document, text=text)


def should(*clauses: Clause) -> TextQuery:
    return TextQuery(should=clauses)


async def found(
    index: TextIndex, corpus: str, query: TextQuery, k: int = 10, documents: Collection[str] | None = None
) -> list[str]:
    return [hit.id for hit in await index.search(corpus, query, k, documents)]


async def eventually(check: Callable[[], Awaitable[bool]]) -> None:
    """Passes as soon as `check` holds. Fails if it does not hold in a call that begins after what the port promises to
    other processes: on a busy machine, a call that began earlier may end later.
    """
    deadline, is_late = time.monotonic() + OTHERS_SEE_WITHIN, False
    while not await check():
        assert not is_late, "another instance did not see the change in time"
        await asyncio.sleep(0.05)
        is_late = time.monotonic() >= deadline


class TextIndexContract:
    @pytest.fixture
    def connect(self) -> Connect:
        raise NotImplementedError("a subclass says how its index is opened")

    @pytest.fixture
    async def index(self, connect: Connect) -> AsyncIterator[TextIndex]:
        async with connect() as index:
            yield index

    @pytest.fixture
    def corpus(self) -> str:
        return new_id()

    async def test_an_unknown_corpus_is_empty(self, index: TextIndex, corpus: str) -> None:
        assert await found(index, corpus, any_of(("a",))) == []
        assert await index.count(corpus) == 0
        assert await index.missing(corpus, ["a", "b"]) == {"a", "b"}
        await index.delete(corpus, ["a"])
        await index.delete_corpus(corpus)

    async def test_an_empty_batch_changes_nothing(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [])
        await index.delete(corpus, [])
        assert await index.count(corpus) == 0
        assert await index.missing(corpus, []) == set()

    async def test_the_better_match_comes_first(self, index: TextIndex, corpus: str) -> None:
        await index.write(
            corpus,
            [
                entry("both", "the rare zebra runs"),
                entry("one", "the zebra runs"),
                entry("long", "zebra " + "padding " * 50),
                entry("none", "the cat runs"),
            ],
        )
        hits = await index.search(corpus, any_of(("rare", "zebra")), 10)
        assert [hit.id for hit in hits] == ["both", "one", "long"]
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    async def test_lower_case_no_stemmer_no_stop_words(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "The Foxes"), entry("b", "a fox"), entry("c", "to be or not to be")])
        assert await found(index, corpus, any_of(("FOXES",))) == ["a"]
        assert await found(index, corpus, any_of(("fox",))) == ["b"]
        assert await found(index, corpus, any_of(("the",))) == ["a"]
        for word in ("NOT", "or", "TO", "To"):
            assert await found(index, corpus, any_of((word,))) == ["c"]
        assert await found(index, corpus, should(Phrase(text="To Be OR NOT"))) == ["c"]

    async def test_a_term_of_several_tokens_stands_together(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "New York city"), entry("b", "York is new"), entry("c", "new, York")])
        assert await found(index, corpus, should(Term(text="new york"))) == ["c", "a"]

    async def test_few_entries_are_found_for_many_queries(self, index: TextIndex, corpus: str) -> None:
        entries = [entry(f"{n:03}", "alpha beta" if n % 2 else "alpha", f"d{n % 3}") for n in range(60)]
        await index.write(corpus, [*entries, entry("rare", "gamma delta", "d1")])
        await index.write(new_id(), entries)
        alpha, beta, rare = any_of(("alpha",)), any_of(("beta",)), any_of(("gamma",))
        nothing = TextQuery(must_not=(Term(text="alpha"),))
        asked = [(alpha, 59), (nothing, 5), (rare, 1), (beta, 30), (beta, 29), (rare, 0), (any_of(("none",)), 3)]
        odd, of_one = [f"{n:03}" for n in range(1, 60, 2)], [f"{n:03}" for n in range(1, 60, 6)]
        for documents, of_beta in ((None, odd), (["d1"], of_one), ([f"d{n}" for n in range(3000)], odd)):
            found = [sorted(ids) for ids in await index.find_few(corpus, asked, documents)]
            few = of_beta if len(of_beta) <= 29 else []
            of_alpha = [one.id for one in entries if one.document_id == "d1"] if documents == ["d1"] else []
            assert found == [of_alpha, [], ["rare"], of_beta, few, [], []]
        assert await index.find_few(corpus, asked, []) == [[]] * 7
        assert await index.find_few(corpus, asked, ["d2"]) != [[]] * 7
        assert await index.find_few(corpus, []) == []
        assert await index.find_few(new_id(), asked) == [[]] * 7

    async def test_phrases_with_slop(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("near", "red big house"), entry("far", "red one two three four house")])
        assert await found(index, corpus, should(Phrase(text="red house"))) == []
        assert await found(index, corpus, should(Phrase(text="red house", slop=1))) == ["near"]
        assert set(await found(index, corpus, should(Phrase(text="red house", slop=4)))) == {"near", "far"}

    async def test_must_should_and_must_not(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("ab", "alpha beta"), entry("ac", "alpha gamma"), entry("bc", "beta gamma")])
        alpha, beta, gamma = Term(text="alpha"), Term(text="beta"), Term(text="gamma")
        assert await found(index, corpus, TextQuery(must=(alpha, beta))) == ["ab"]
        assert await found(index, corpus, TextQuery(must=(alpha,), should=(gamma,))) == ["ac", "ab"]
        assert await found(index, corpus, TextQuery(must=(alpha,), must_not=(gamma,))) == ["ab"]
        assert await found(index, corpus, TextQuery(should=(alpha, beta), must_not=(gamma,))) == ["ab"]
        assert await found(index, corpus, TextQuery(must=(Group(any=(beta, gamma)), alpha))) == ["ab", "ac"]
        assert await found(index, corpus, TextQuery(must=(alpha,), must_not=(Group(any=(beta, gamma)),))) == []

    async def test_boosts_decide(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "alpha x"), entry("b", "beta x")])
        for first, boosts in (("a", (3.0, 1.0)), ("b", (0.25, 1.0)), ("b", (1.0, 7.5))):
            clauses = (Term(text="alpha", boost=boosts[0]), Group(any=(Term(text="beta"),), boost=boosts[1]))
            assert (await found(index, corpus, TextQuery(should=clauses)))[0] == first

    async def test_queries_without_a_positive_word_give_nothing(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "alpha ... beta")])
        alpha, nothing = Term(text="alpha"), Term(text="... !? ")
        for query in (
            TextQuery(),
            TextQuery(must_not=(alpha,)),
            TextQuery(should=(nothing, Term(text=""))),
            TextQuery(must=(Group(any=()), Group(any=(nothing,))), must_not=(alpha,)),
        ):
            assert await found(index, corpus, query) == []
        assert await found(index, corpus, TextQuery(must=(nothing, alpha), should=(nothing,))) == ["a"]

    @pytest.mark.parametrize("script", SCRIPTS)
    async def test_a_text_is_found_by_itself_and_by_its_words(self, index: TextIndex, corpus: str, script: str) -> None:
        await index.write(corpus, [entry(name, text) for name, text in SCRIPTS.items()])
        assert await found(index, corpus, should(Term(text=SCRIPTS[script]))) == [script]
        for word in SCRIPTS[script].split():
            if any(char.isalpha() or char.isdecimal() for char in word):  # Lucene makes no token of ½
                assert script in await found(index, corpus, TextQuery(must=(Term(text=word),)), 100), word

    async def test_cjk_is_found_by_any_part_of_it(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry(name, text) for name, text in SCRIPTS.items()])
        assert await found(index, corpus, any_of(("大学",))) == ["chinese"]
        assert await found(index, corpus, any_of(("学大",))) == []
        assert await found(index, corpus, any_of(("首",))) == ["chinese"]
        assert await found(index, corpus, any_of(("港区",))) == ["japanese"]

    async def test_marks_belong_to_words(self, index: TextIndex, corpus: str) -> None:
        """Without its vowel sign a word is another word."""
        await index.write(corpus, [entry("hindi", "हिन्दी में"), entry("thai", "น้ำ"), entry("arabic", "مُحَمَّد")])
        for word in ("हनद", "म", "न", "محمد"):
            assert await found(index, corpus, any_of((word,))) == []

    async def test_case_in_any_script(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry(name, text) for name, text in SCRIPTS.items()])
        assert await found(index, corpus, any_of(("МОСКВА",))) == ["russian"]
        assert await found(index, corpus, any_of(("STRAßE",))) == ["german"]

    @pytest.mark.parametrize(
        "text",
        [
            '"',
            "\\",
            'a" OR b',
            "a\\",
            "(",
            "a:b",
            "id:x",
            "*:*",
            "/a/",
            "[a TO b]",
            "a^",
            "a~",
            "+",
            "-a",
            "it's",
            "a AND",
            "\x00",
        ],
    )
    async def test_text_is_never_syntax(self, index: TextIndex, corpus: str, text: str) -> None:
        await index.write(corpus, [entry("x", "b alone"), entry("self", f"before {text} after")])
        for clause in (Term(text=text), Phrase(text=text, slop=2, boost=1.5), Group(any=(Term(text=text),), boost=2)):
            assert "x" not in await found(index, corpus, should(clause))
            assert await found(index, corpus, TextQuery(must=(Term(text="before"),), should=(clause,))) == ["self"]

    async def test_text_that_cannot_be_encoded_is_no_error(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "good\ud800text")])
        assert await found(index, corpus, any_of(("text\udfff",))) == ["a"]

    @pytest.mark.parametrize(("k", "expected"), [(-1, 0), (0, 0), (1, 1), (10_000, 30)])
    async def test_k(self, index: TextIndex, corpus: str, k: int, expected: int) -> None:
        await index.write(corpus, [entry(f"e{i}", "word " * (i + 1)) for i in range(30)])
        assert len(await found(index, corpus, any_of(("word",)), k)) == expected

    async def test_ties_are_broken_by_id(self, index: TextIndex, corpus: str) -> None:
        ids = [f"e{i * 37 % 100:03}" for i in range(100)]
        for start in range(0, 100, 25):
            await index.write(corpus, [entry(id, "same text") for id in ids[start : start + 25]])
        assert await found(index, corpus, any_of(("text",)), 7) == sorted(ids)[:7]
        assert await found(index, corpus, any_of(("text",)), 100) == sorted(ids)

    async def test_writing_again_changes_nothing(self, index: TextIndex, corpus: str) -> None:
        for _ in range(2):
            await index.write(corpus, [entry("a", "alpha"), entry("b", "beta")])
        assert await index.count(corpus) == 2
        assert await found(index, corpus, any_of(("alpha", "beta"))) == ["a", "b"]

    async def test_writing_an_id_replaces_its_entry(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "alpha", "d1")])
        await index.write(corpus, [entry("a", "beta", "d2")])
        assert await found(index, corpus, any_of(("alpha",))) == []
        assert await found(index, corpus, any_of(("beta",))) == ["a"]
        assert await found(index, corpus, any_of(("beta",)), 5, ["d1"]) == []
        assert await index.count(corpus) == 1

    async def test_the_last_of_an_id_that_comes_twice_counts(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "alpha"), entry("a", "beta")])
        assert await index.count(corpus) == 1
        assert await found(index, corpus, any_of(("alpha", "beta"))) == ["a"]
        assert await found(index, corpus, any_of(("alpha",))) == []

    async def test_delete_and_missing(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry(f"e{i}", "word") for i in range(5)])
        await index.delete(corpus, ["e0", "unknown", "e4"])
        assert await found(index, corpus, any_of(("word",))) == ["e1", "e2", "e3"]
        assert await index.missing(corpus, ["e0", "e1", "e4", "x", "x"]) == {"e0", "e4", "x"}
        assert await index.count(corpus) == 3
        await index.write(corpus, [entry("e0", "word")])
        assert await index.missing(corpus, ["e0"]) == set()

    async def test_an_id_is_taken_as_it_is(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("Ab-Cd ef", "word", "Doc-1 x")])
        assert await index.missing(corpus, ["Ab-Cd ef", "ab-cd ef", "Ab"]) == {"ab-cd ef", "Ab"}
        assert await found(index, corpus, any_of(("word",)), 5, ["Doc-1 x"]) == ["Ab-Cd ef"]
        assert await found(index, corpus, any_of(("word",)), 5, ["doc-1 x", "Doc-1"]) == []
        assert await found(index, corpus, any_of(("ef", "x"))) == []

    async def test_corpora_do_not_see_each_other(self, index: TextIndex, corpus: str) -> None:
        other = new_id()
        await index.write(corpus, [entry("a", "alpha")])
        await index.write(other, [entry("a", "beta")])
        assert await found(index, corpus, any_of(("alpha", "beta"))) == ["a"]
        assert await found(index, corpus, any_of(("beta",))) == []
        await index.delete(other, ["a"])
        assert await index.count(corpus) == 1
        await index.delete_corpus(other)
        assert await found(index, corpus, any_of(("alpha",))) == ["a"]

    async def test_drop_and_begin_again(self, index: TextIndex, corpus: str) -> None:
        await index.write(corpus, [entry("a", "alpha")])
        assert await found(index, corpus, any_of(("alpha",))) == ["a"]
        await index.delete_corpus(corpus)
        assert await found(index, corpus, any_of(("alpha",))) == []
        assert await index.count(corpus) == 0
        await index.write(corpus, [entry("b", "alpha")])
        assert await found(index, corpus, any_of(("alpha",))) == ["b"]

    async def test_documents_restrict(self, index: TextIndex, corpus: str) -> None:
        entries = [entry(f"e{i:04}", "word " * (1 + i % 7) + "x " * (i % 11), f"d{i % 2000:04}") for i in range(3000)]
        await index.write(corpus, entries)
        everything = await index.search(corpus, any_of(("word",)), 3000)
        documents = {e.id: e.document_id for e in entries}
        for wanted in ({"d0007"}, {"d0007", "d1500", "unknown"}, {f"d{i:04}" for i in range(500, 2000)}):
            expected = [hit for hit in everything if documents[hit.id] in wanted]
            hits = await index.search(corpus, any_of(("word",)), 20, wanted)
            assert [hit.id for hit in hits] == [hit.id for hit in expected][:20]
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected][:20])
        assert await found(index, corpus, any_of(("word",)), 5, []) == []
        assert await found(index, corpus, any_of(("word",)), 5, ["unknown"]) == []
        assert await found(index, corpus, any_of(("word",)), 5, [f"unknown{i}" for i in range(1500)]) == []
        assert len(await found(index, corpus, any_of(("word",)), 5, None)) == 5

    async def test_a_large_batch(self, index: TextIndex, corpus: str) -> None:
        ids = [f"e{i:05}" for i in range(10_000)]
        await index.write(corpus, [entry(id, f"common unique{id}") for id in ids])
        assert await index.count(corpus) == 10_000
        assert await index.missing(corpus, [*ids, "x"]) == {"x"}
        assert await found(index, corpus, any_of(("uniquee07777",))) == ["e07777"]
        assert await found(index, corpus, any_of(("common",)), 10_000) == ids
        await index.delete(corpus, ids)
        assert await index.count(corpus) == 0

    async def test_what_was_written_is_there_after_reopening(self, connect: Connect, corpus: str) -> None:
        async with connect() as index:
            await index.write(corpus, [entry("a", "alpha"), entry("b", "北京")])
            await index.delete(corpus, ["a"])
        async with connect() as index:
            assert await index.count(corpus) == 1
            assert await found(index, corpus, any_of(("北京",))) == ["b"]
            await index.write(corpus, [entry("c", "北京")])
            assert await found(index, corpus, any_of(("北京",))) == ["b", "c"]

    async def test_another_instance_sees_writes_deletions_and_drops(self, connect: Connect, corpus: str) -> None:
        async with connect() as writer, connect() as reader:

            async def sees(ids: list[str]) -> None:
                async def check() -> bool:
                    return await found(reader, corpus, any_of(("word",))) == ids

                await eventually(check)

            await sees([])
            await writer.write(corpus, [entry("a", "word"), entry("b", "word")])
            await sees(["a", "b"])
            await writer.delete(corpus, ["a"])
            await sees(["b"])
            await writer.delete_corpus(corpus)
            await sees([])
            await writer.write(corpus, [entry("c", "word")])
            await sees(["c"])
            await reader.write(corpus, [entry("d", "word")])
            await sees(["c", "d"])

    async def test_readers_are_right_while_a_writer_writes(self, index: TextIndex, corpus: str) -> None:
        acknowledged = 0
        done = asyncio.Event()

        async def write() -> None:
            nonlocal acknowledged
            for i in range(10):
                await index.write(corpus, [entry(f"e{i:02}", "word"), entry(f"gone{i:02}", "word")])
                await index.delete(corpus, [f"gone{i:02}"])
                acknowledged = i + 1
            done.set()

        async def read() -> None:
            while not done.is_set():
                before = acknowledged
                hits = set(await found(index, corpus, any_of(("word",)), 100))
                assert {f"e{i:02}" for i in range(before)} <= hits
                assert not {f"gone{i:02}" for i in range(before)} & hits

        await asyncio.gather(write(), *(read() for _ in range(3)))
        assert await index.count(corpus) == 10

    async def test_writes_at_once_lose_nothing(self, index: TextIndex, corpus: str) -> None:
        await asyncio.gather(*(index.write(corpus, [entry(f"{i}-{j}", "word") for j in range(5)]) for i in range(10)))
        assert await index.count(corpus) == 50
