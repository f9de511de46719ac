"""Extractors: what is found, what was given, who gets it, and what is there once."""

import asyncio
from dataclasses import replace

import pytest

from core.errors import InvalidStrategy
from core.graph import Extraction, Surface, Triple
from core.ports.indexing import Block, DraftChunk, LoadedDocument
from core.text.titles import bare_title
from indexer.extractors import given
from indexer.extractors._combined import merge
from indexer.extractors._occurrences import find_occurrences
from indexer.selection.extractors import make_extractor
from testing.contracts.extractor import all_of, sample


def triple(subject: str, predicate: str, object_: str) -> Triple:
    return Triple(subject=subject, predicate=predicate, object=object_)


def chunk(text: str, block: int = 0) -> DraftChunk:
    return DraftChunk(text=text, block=block)


def document(*blocks: Block, **given: object) -> LoadedDocument:
    return replace(LoadedDocument(key="k", title="", blocks=blocks or (Block(text="x"),)), **given)  # type: ignore[arg-type]  # fields by name


def extract(name: str, document: LoadedDocument, chunks: list[DraftChunk]) -> list[Extraction]:
    return asyncio.run(all_of(make_extractor(name), document, chunks))


def forms(extraction: Extraction) -> dict[str, int]:
    return {surface.form: surface.count for surface in extraction.entities}


# --- pattern ---------------------------------------------------------------------------------------------------------


def test_pattern_counts_names_and_adds_the_bare_title() -> None:
    chunks = [chunk("The astronomer Maria Mitchell watched it. Then Maria Mitchell slept."), chunk("nothing here")]
    [one, two] = extract("pattern", document(title="Mercury (planet)"), chunks)
    assert forms(one)["Maria Mitchell"] == 2
    assert forms(one)["Mercury"] == 1
    assert forms(two) == {"Mercury": 1}
    [one] = extract("pattern", document(title="Köln"), [chunk("In Köln, near Köln, about Köln.")])
    assert forms(one) == {"Köln": 3}, "as often as it stands there"
    assert extract("pattern", document(), [chunk("nothing")]) == [Extraction()]


@pytest.mark.parametrize(
    ("title", "bare"), [("A (b) (c)", "A (b)"), ("水星（行星）", "水星"), ("(only)", "(only)"), (" A ", "A"), ("", "")]
)
def test_bare_title(title: str, bare: str) -> None:
    assert bare_title(title) == bare


# --- given -----------------------------------------------------------------------------------------------------------


def test_a_documents_entity_belongs_to_every_chunk_that_holds_it() -> None:
    chunks = [chunk("Nothing."), chunk("PARIS and Paris."), chunk("In  paris!")]
    found = extract("given", document(entities=("Paris", "Lyon")), chunks)
    assert [forms(one) for one in found] == [{"Lyon": 1}, {"PARIS": 1, "Paris": 1}, {"paris": 1}]


def test_a_documents_triple_belongs_to_the_first_chunk_that_holds_both_names() -> None:
    both, neither = triple("Ada", "knew", "Charles"), triple("Ada", "wrote to", "Zoë")
    chunks = [chunk("Ada."), chunk("Charles."), chunk("Ada met Charles."), chunk("Charles and Ada.")]
    found = extract("given", document(triples=(both, neither, both)), chunks)
    assert [one.triples for one in found] == [(neither,), (), (both,), ()]


def test_what_came_with_a_block_stays_in_its_chunks() -> None:
    own = Block(text="Ada. Bob.", entities=("Ada", "Bob", "Eve"), triples=(triple("Bob", "is", "Bob"),))
    chunks = [chunk("Ada Bob"), chunk("Ada.", 1), chunk("Bob.", 1)]
    found = extract("given", document(Block(text="Ada Bob"), own), chunks)
    assert [forms(one) for one in found] == [{}, {"Ada": 1, "Eve": 1}, {"Bob": 1}]
    assert [len(one.triples) for one in found] == [0, 0, 1]
    loaded = document(Block(text="x"), Block(text=" ", entities=("Ada",)), malformed=3)
    found = extract("given", loaded, [chunk("x"), chunk("y")])
    assert [forms(one) for one in found] == [{"Ada": 1}, {}], "that of a block without text is not lost"
    assert [one.malformed for one in found] == [3, 0]


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("art", "A party, art; ART", 2),
        ("北京", "我在北京的北京大学", 2),
        ("서울", "서울은 수도", 1),
        ("กรุงเทพ", "ที่กรุงเทพมหานคร", 1),
        ("москва", "МОСКВА, Москвами", 1),
        ("strasse", "Die Straße", 1),
        ("القاهرة", "في القاهرة.", 1),
        ("c++", "C++ and xc++", 1),
        ("new york", "New\u00a0\nYork", 1),
        ("", "x", 0),
    ],
)
def test_a_name_is_held_as_a_word_of_its_own(name: str, text: str, count: int) -> None:
    assert find_occurrences(["", text], [name]) == ({name: {1: count}} if count else {})


def test_texts_are_read_once_for_all_names() -> None:
    names = ["ada", "ada lovelace", "lovelace", "ada ada", "new york", "york", "c++", "北京", "nobody"]
    texts = ["Ada Lovelace, Ada Ada Ada", "New York, newyork", "C++ in 北京北京", "Ada\nAda Love"]
    read = iter(texts)
    together = find_occurrences(read, names)
    assert next(read, None) is None
    alone = {name: find_occurrences(texts, [name]).get(name) for name in names}
    assert together == {name: found for name, found in alone.items() if found}
    assert together["ada ada"] == {0: 1, 3: 1}
    assert together["ada"] == {0: 4, 3: 2}


def test_a_document_without_given_names_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []
    monkeypatch.setattr(given, "find_occurrences", lambda *texts: searched.append(texts) or {})
    assert extract("given", document(), [chunk("x"), chunk("y")]) == [Extraction(), Extraction()]
    assert not searched
    extract("given", document(entities=("Ada",)), [chunk("x")])
    assert searched


def test_a_spelling_that_differs_by_more_than_case_is_the_given_one() -> None:
    found = extract("given", document(entities=("STRASSE",)), [chunk("Straße und Straße")])
    assert forms(found[0]) == {"STRASSE": 2}


def test_the_input_of_a_chunk_ignores_the_rest_where_nothing_was_given() -> None:
    given = make_extractor("given")
    assert given.input_of(document(Block(text="a"), Block(text="b")), chunk("a")) == ()
    own = Block(text="a", entities=("A",))
    assert given.input_of(document(own, Block(text="b")), chunk("a")) == given.input_of(document(own), chunk("a"))
    assert given.input_of(document(own), chunk("a")) != ()


# --- combined --------------------------------------------------------------------------------------------------------


def test_combined_finds_what_its_parts_find() -> None:
    loaded, chunks = sample()
    pattern, given, both = (extract(name, loaded, chunks) for name in ("pattern", "given", "pattern+given"))
    assert [set(forms(b)) for b in both] == [set(forms(p)) | set(forms(g)) for p, g in zip(pattern, given, strict=True)]
    assert [(b.triples, b.malformed) for b in both] == [(g.triples, g.malformed) for g in given]
    assert make_extractor("pattern+given").fingerprint == "pattern-8+given-1"
    assert make_extractor("pattern+given").gives_triples
    assert not make_extractor("pattern").gives_triples


def test_merging_joins_by_form_and_keeps_the_larger_count() -> None:
    fact = (triple("a", "b", "c"),)
    ada, lower, eve = Surface(form="Ada", count=2), Surface(form="ada"), Surface(form="Eve", count=3)
    one = Extraction(entities=(ada, lower), triples=fact)
    two = Extraction(entities=(Surface(form="Ada"), eve), triples=fact, malformed=1)
    assert merge([one, two]) == Extraction(entities=(ada, lower, eve), triples=fact, malformed=1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pattern+nothing", "no extractor 'nothing'; there are: .*pattern"),
        ("pattern+none", "joins 'none'.*leave it out"),
        ("pattern+pattern", "names pattern more than once"),
        ("", "no extractor ''"),
        ("pattern:x=1", "x: unknown option"),
    ],
)
def test_a_wrong_name_is_refused(name: str, message: str) -> None:
    with pytest.raises(InvalidStrategy, match=message):
        make_extractor(name)
