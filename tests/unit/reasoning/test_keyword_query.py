"""Keyword queries: LevelRAG's three operations, equality, and text that the real parser reads back as it was meant."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.query import Term, TextQuery
from reasoning.strategies.level.sparse import Keyword, KeywordQuery, comparable
from retrieval.searchers.sparse import parse_lucene
from stores.lucene_query import render

WORDS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet=st.sampled_from('abAB "\\^-+()~*:2_大学'), max_size=8),
    st.sampled_from(["Rumble Fish", "fish", "author", "AND", "C++", "it's", "北京大学", "हिन्दी", "-film", '"x"^2', ""]),
)
OPERATIONS = st.lists(st.tuples(st.sampled_from(["extend", "emphasize", "filter"]), WORDS), max_size=6)
QUERIES = st.lists(WORDS, min_size=1, max_size=5).filter(lambda words: any(map(comparable, words)))


def changed(query: KeywordQuery, operations: list[tuple[str, str]]) -> KeywordQuery:
    for operation, word in operations:
        query = getattr(query, operation)(word)
    return query


def words(*texts: str) -> KeywordQuery:
    return KeywordQuery.of(texts)


def test_the_operations_as_published() -> None:
    query = words("Rumble Fish", "author")
    assert str(query) == '"Rumble Fish" author'
    assert str(query.extend("S. E. Hinton")) == '"Rumble Fish" author "S. E. Hinton"'
    assert str(query.emphasize("Rumble Fish")) == '"Rumble Fish"^2 author'
    assert str(query.emphasize("rumble fish").emphasize("Rumble Fish")) == '"Rumble Fish"^3 author'
    assert str(query.emphasize("novel")) == 'novel "Rumble Fish" author', "what is missing is put before the others"
    assert str(query.filter("film")) == '"Rumble Fish" author -film'
    assert str(query.filter("Author")) == '"Rumble Fish"', "a word of the query is dropped"
    assert str(query.filter("film noir").emphasize("author")) == '"Rumble Fish" author^2 -"film noir"'


@pytest.mark.parametrize(
    ("operation", "word"),
    [
        ("extend", "AUTHOR"),
        ("extend", "..."),
        ("emphasize", ""),
        ("filter", "fish"),  # a part of a keyword
        ("filter", "北京"),
        ("filter", "?"),
    ],
)
def test_what_changes_nothing(operation: str, word: str) -> None:
    query = words("Rumble Fish", "author", "北京大学")
    assert changed(query, [(operation, word)]) == query


def test_the_last_keyword_stays() -> None:
    assert words("author").filter("author") == words("author")


def test_what_is_asked_for_again_is_no_longer_excluded() -> None:
    query = words("author").filter("fish").filter("film")
    assert str(query.extend("Rumble Fish")) == 'author "Rumble Fish" -film'
    assert str(query.emphasize("fish")) == "fish author -film"
    assert query.filter("film") == query


@pytest.mark.parametrize("texts", [(), ("",), ("...", "🙂")])
def test_a_query_without_a_word_is_none(texts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="no keyword"):
        KeywordQuery.of(texts)


def test_order_case_and_punctuation_make_no_other_query() -> None:
    assert words("Rumble Fish", "author").key == words("AUTHOR", "rumble-fish", "author!").key
    assert words("a", "b").emphasize("a").key != words("a", "b").emphasize("b").key
    assert words("a").filter("b").key != words("a").filter("c").key
    assert words("a", "b").key != words("a b").key
    assert words("हिन्दी").key != words("हिन्दा").key, "vowel signs belong to the word"


def test_signs_and_weights_that_a_model_writes_are_not_part_of_the_word() -> None:
    assert words('"Rumble Fish"^2', "+author") == words("Rumble Fish", "author")
    assert words("x").filter("-film").excluded == ("film",)
    assert str(words("C++", "AND", 'say "hi" \\')) == '"C++" "AND" "say \\"hi\\" \\\\"'


@given(texts=QUERIES, operations=OPERATIONS)
def test_every_query_reads_back_as_it_was_meant(texts: list[str], operations: list[tuple[str, str]]) -> None:
    query = changed(KeywordQuery.of(texts), operations)
    assert query.keywords
    assert parse_lucene(str(query)) == TextQuery(
        should=tuple(Term(text=one.text, boost=float(one.weight)) for one in query.keywords),
        must_not=tuple(Term(text=word) for word in query.excluded),
    )
    assert render(parse_lucene(str(query))) is not None


@given(texts=QUERIES, operations=OPERATIONS)
def test_a_query_never_excludes_what_it_asks_for(texts: list[str], operations: list[tuple[str, str]]) -> None:
    query = changed(KeywordQuery.of(texts), operations)
    kept = [comparable(one.text) for one in query.keywords]
    assert all(kept)
    assert len(set(kept)) == len(kept)
    for word in map(comparable, query.excluded):
        assert word
        assert not any(f" {word} " in f" {one} " for one in kept)


@given(texts=QUERIES, operations=OPERATIONS, word=WORDS)
def test_each_operation_does_its_own(texts: list[str], operations: list[tuple[str, str]], word: str) -> None:
    query = changed(KeywordQuery.of(texts), operations)
    weights = {comparable(one.text): one.weight for one in query.keywords}
    stressed = {comparable(one.text): one.weight for one in query.emphasize(word).keywords}
    wanted = comparable(word)
    if wanted:
        assert stressed == {**weights, wanted: weights.get(wanted, 0) + 1}
        assert {comparable(one.text) for one in query.extend(word).keywords} == {*weights, wanted}
    filtered = query.filter(word)
    assert filtered.key == query.key or len(filtered.keywords) < len(query.keywords) or wanted in filtered.key[1]
    assert query.extend(word).extend(word) == query.extend(word)


@given(text=st.text(max_size=40))
def test_any_text_is_a_query(text: str) -> None:
    asked = parse_lucene(text)
    assert asked.should or asked.must or asked.must_not or not re.search(r"\w", text)
    render(asked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Rumble Fish"^2 author -film', '"Rumble Fish"^2.000000 author -film'),
        ("well-known it's +must a^0.5", '+must "well-known" "it\'s" a^0.500000'),
        ('say -"not this" AND that', 'say that -"not this"'),
        ('an "open quote', "an open quote"),
        ("^2 - ~~ x", "2 x"),
        ("-only -excluded", None),
        ("", None),
    ],
)
def test_what_the_syntax_means(text: str, expected: str | None) -> None:
    assert render(parse_lucene(text)) == expected


def test_keywords_are_values() -> None:
    assert words("a").emphasize("a") == KeywordQuery(keywords=(Keyword(text="a", weight=2),))


@pytest.mark.parametrize(
    ("query", "texts", "loose"),
    [
        (words("Rumble Fish", "author"), ["The novel Rumble Fish."], '"Rumble Fish" author'),
        (words("Rumble Fish", "author"), ["A fish in a rumble."], "Rumble Fish author"),
        (words("The Inside Man (Film)", "cast"), ["Inside Man is a film."], '"The Inside Man" Film cast'),
        (words("The Inside Man", "Film"), ["Inside Man is a film."], "Inside Man Film"),
        (words("Inside Man (film)", "film"), [], '"Inside Man" film'),
        (words("The Who", "band"), [], '"The Who" band'),  # nothing would be left of it
        (words("北京大学", "位于"), [], '"北京大学" "位于"'),
        (words("author", "C++ (a language)"), ["C++ (A Language)"], 'author "C++ (a language)"'),
        (words("Rumble Fish").emphasize("Rumble Fish").filter("noise"), [], "Rumble^2 Fish^2 -noise"),
        (words("Rumble Fish").filter("fishes"), [], "Rumble Fish -fishes"),
        (words(":(0)"), [], '":(0)"'),
    ],
)
def test_a_phrase_that_no_text_holds_is_loosened(query: KeywordQuery, texts: list[str], loose: str) -> None:
    assert str(query.loosen(texts)) == loose


@given(QUERIES)
def test_a_loosened_query_has_each_keyword_once_and_keeps_words(texts: list[str]) -> None:
    loose = words(*texts).loosen([])
    keys = [comparable(one.text) for one in loose.keywords]
    assert keys
    assert all(keys)
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set(map(comparable, loose.excluded))
