"""The searcher `sparse` with Lucene's syntax: phrases, weights and exclusions mean something to the real text index."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.trace import Trace
from testing.indexed_corpus import Passage
from tests.searching import NamedSearcherContract, World, open_world

BOOKS = [
    Passage(key="novel", title="Rumble Fish", text="Rumble Fish is a novel."),
    Passage(key="film", title="Rumble Fish", text="Rumble Fish is a film by a director."),
    Passage(key="kitchen", title="Fish", text="A rumble came from where fish and novel sauces are made."),
    Passage(key="beida", title="北京大学", text="北京大学位于北京。"),
]


class TestSparseByLucene(NamedSearcherContract):
    name = "sparse"
    options = {"syntax": "lucene"}  # noqa: RUF012 - never written to


@pytest.fixture
async def books(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(BOOKS)
        yield world


async def keys(world: World, text: str, **options: Any) -> list[str]:
    result = await world.searcher("sparse", **options).search(world.query(text), Trace())
    return [hit.document.key for hit in result.hits]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"rumble fish"', {"novel", "film"}),
        ('"rumble fish" -film', {"novel"}),
        ("fish -novel -director", set()),
        ('fish -"a novel"', {"film", "kitchen"}),
        ("director sauces^5", {"kitchen", "film"}),
        ('"北京大学"', {"beida"}),
        ("fish +director", {"film"}),
        ("-fish", set()),
    ],
)
async def test_the_syntax_is_carried_out(books: World, text: str, expected: set[str]) -> None:
    assert set(await keys(books, text, syntax="lucene")) == expected


async def test_a_weight_turns_the_order(books: World) -> None:
    assert (await keys(books, "director^9 sauces", syntax="lucene"))[0] == "film"
    assert (await keys(books, "director sauces^9", syntax="lucene"))[0] == "kitchen"


@pytest.mark.parametrize("syntax", ["words", "lucene"])
@pytest.mark.parametrize("word", ["दिल्ली", "বাংলা", "தமிழ்", "می\u200cخواهد", "cafe\u0301", "שָׁלוֹם"])
async def test_words_with_marks_and_joiners_are_searched_whole(books: World, word: str, syntax: str) -> None:
    texts = {"marked": f"— {word}, {word}.", "ka": "द ল"}
    await books.put([Passage(key=key, title="", text=text) for key, text in texts.items()])
    assert await keys(books, f"«{word}»?", syntax=syntax) == ["marked"]


async def test_nothing_is_syntax_unless_asked_for(books: World) -> None:
    assert set(await keys(books, '"rumble fish" -film')) == {"novel", "film", "kitchen"}


@pytest.mark.parametrize(
    "text", ['") OR (*:*', "title:x AND [a TO b]", "a^b ~2 \\", '"', "-", "NOT", "/.*/", "{!x}", "\ud800"]
)
async def test_no_text_is_an_error(books: World, text: str) -> None:
    await keys(books, text, syntax="lucene")
