"""The text index in Neo4j, on a real server."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from core.errors import InvalidInput
from core.ids import digest, new_id
from core.text.query import Group, Phrase, Term, TextQuery, any_of
from stores.neo4j import Neo4jTextIndex
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.transaction import script
from stores.neo4j.text_index import MAX_CLAUSES
from stores.tantivy import TantivyTextIndex
from testing.contracts.text_index import SCRIPTS, Connect, TextIndexContract, entry, found
from tests.integration.stores.any_text import NASTY, QUERIES, WORDS
from tests.integration.stores.neo4j_databases import connection_to
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers


@pytest.fixture
def new_index(neo4j_server: Neo4jAddress) -> None:
    """Yields an index without deleted entries, which still count in the frequencies that all corpora share."""
    connection = connection_to(neo4j_server)
    Neo4jDatabase(connection).check()
    [create] = [one for one in script("schema", "constraints") if "FULLTEXT" in one]
    with connection.session() as session:
        for statement in (
            "DROP INDEX text_entry_words IF EXISTS",
            "MATCH (t:TextEntry) CALL (t) { DELETE t } IN TRANSACTIONS OF 5000 ROWS",
            create,
            "CALL db.awaitIndexes(60)",
        ):
            session.run(statement).consume()
    connection.close()


class TestNeo4jTextIndex(TextIndexContract):
    @pytest.fixture
    def connect(self, neo4j_server: Neo4jAddress, new_index: None) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[Neo4jTextIndex]:
            with closing(connection_to(neo4j_server)) as connection:
                yield Neo4jTextIndex(Neo4jDatabase(connection))

        return connect


@pytest.fixture(scope="module")
def database(neo4j_server: Neo4jAddress) -> Iterator[Neo4jDatabase]:
    connection = connection_to(neo4j_server)
    yield Neo4jDatabase(connection)
    connection.close()


@pytest.fixture
async def corpus(database: Neo4jDatabase) -> AsyncIterator[str]:
    corpus = new_id()
    yield corpus
    await Neo4jTextIndex(database).delete_corpus(corpus)


async def test_check_names_the_server(database: Neo4jDatabase):
    assert (await Neo4jTextIndex(database).check()).startswith("Neo4j 5.")


QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(query=QUERIES)
async def test_no_query_is_an_error(database: Neo4jDatabase, corpus: str, query: TextQuery):
    index = Neo4jTextIndex(database)
    await index.write(corpus, [entry("a", "some text 日本 हिन्दी"), entry("b", "AND OR NOT")])
    assert await index.search(corpus, query, 10) is not None


@QUICK
@given(text=NASTY, word=WORDS)
async def test_a_text_is_always_found_by_a_term_of_itself(database: Neo4jDatabase, corpus: str, text: str, word: str):
    index = Neo4jTextIndex(database)
    whole = f"{text} {word}"
    await index.write(corpus, [entry("self", whole)])
    assert await found(index, corpus, TextQuery(must=(Term(text=whole),))) == ["self"]
    assert await found(index, corpus, TextQuery(must=(Term(text=word), Phrase(text=whole, slop=1)))) == ["self"]


SYNTAX = [
    "a'}) DETACH DELETE n //",
    "') MATCH (n) DETACH DELETE n RETURN ('",
    "$query }) CALL db.index.fulltext.drop('text_entry_words')",
    '") OR corpus_id:* OR words:(* "',
    "words:[* TO *] -corpus_id:x _query_:y /.*/ a~ b^9 c* ?d && || !",
]


async def test_syntax_of_lucene_and_cypher_is_text(database: Neo4jDatabase, corpus: str):
    index, other = Neo4jTextIndex(database), new_id()
    for text in SYNTAX:
        await index.write(other, [entry("theirs", text)])
        await index.write(corpus, [entry("plain", "nothing of it"), entry(text, text, text)])
        for clause in (Term(text=text), Phrase(text=text, slop=3), Group(any=(Term(text=text),))):
            assert await found(index, corpus, TextQuery(must=(clause,))) == [text]
            assert await found(index, corpus, TextQuery(should=(clause,)), 10, [text]) == [text]
            assert await found(index, corpus, TextQuery(should=(clause,)), 10, ["d"]) == []
        assert await found(index, text, any_of(("nothing",))) == []
        assert (await index.count(corpus), await index.count(other)) == (2, 1)
        await index.delete_corpus(other)
        await index.delete_corpus(corpus)


async def test_both_text_indexes_find_the_same(database: Neo4jDatabase, corpus: str, tmp_path: Path):
    """In any script, and in texts of words that are rare and frequent."""
    chosen = random.Random(5)
    words = [f"w{int(chosen.paretovariate(0.7)) % 400}" for _ in range(20_000)]
    entries = [entry(name, text) for name, text in SCRIPTS.items()]
    entries += [entry(digest("e", [str(i)]), " ".join(words[i : i + 10 + i % 50])) for i in range(0, 20_000, 40)]
    indexes = TantivyTextIndex(tmp_path), Neo4jTextIndex(database)
    for index in indexes:
        await index.write(corpus, entries)
    questions = [word for text in SCRIPTS.values() for word in text.split()] + [f"w{i} w{3 * i}" for i in range(1, 60)]
    for question in questions:
        query = any_of(tuple(question.split()))
        one, other = [set(await found(index, corpus, query, 10_000)) for index in indexes]
        assert one == other, question


async def test_a_question_may_have_any_number_of_words_and_documents(database: Neo4jDatabase, corpus: str):
    index = Neo4jTextIndex(database)
    long = "x" * 700
    await index.write(corpus, [entry(f"e{i}", f"word{i} {long} {long}y common", f"d{i}") for i in range(1500)])
    every = tuple(f"word{i}" for i in range(1500))
    documents = [f"d{i}" for i in range(1500)]
    assert len(await found(index, corpus, any_of(every), 10)) == 10
    assert len(await found(index, corpus, any_of(every), 10, documents[:100])) == 10
    assert len(await found(index, corpus, any_of(every), 10, documents)) == 10
    assert set(await found(index, corpus, any_of((*["common"] * 2000, "word7")), 1)) == {"e7"}
    assert len(await found(index, corpus, TextQuery(must=(Term(text=long + "Y"), Term(text="word9"))))) == 1
    assert await found(index, corpus, TextQuery(must=(Term(text=long + "z"),))) == []
    assert await found(index, corpus, TextQuery(must=(Phrase(text=" ".join(every)),))) == []
    with pytest.raises(InvalidInput, match=f"at most {MAX_CLAUSES}"):
        await index.search(corpus, TextQuery(must=tuple(Term(text=word) for word in every)), 5)


async def test_a_repeated_word_counts_twice(database: Neo4jDatabase, corpus: str):
    index = Neo4jTextIndex(database)
    await index.write(corpus, [entry("a", "alpha filler"), entry("b", "beta filler")])
    assert (await found(index, corpus, any_of(("alpha", "beta", "beta"))))[0] == "b"
    assert (await found(index, corpus, any_of(("alpha", "beta", "Alpha"))))[0] == "a"


async def test_concurrent_writers_of_the_same_entries_do_not_deadlock(neo4j_server: Neo4jAddress, corpus: str):
    connections = [connection_to(neo4j_server) for _ in range(6)]
    ids = [f"e{i:03}" for i in range(300)]

    async def write(number: int) -> None:
        index, chosen = Neo4jTextIndex(Neo4jDatabase(connections[number])), random.Random(number)
        for _ in range(5):
            await index.write(corpus, [entry(id, f"word of {id}") for id in chosen.sample(ids, 200)])
            await index.delete(corpus, chosen.sample(ids, 20))
        await index.write(corpus, [entry(id, f"word of {id}") for id in ids[number::6]])

    await asyncio.gather(*map(write, range(6)))
    index = Neo4jTextIndex(Neo4jDatabase(connections[0]))
    await index.write(corpus, [entry(id, f"word of {id}") for id in ids])
    assert await index.ids(corpus) == ids
    assert await found(index, corpus, any_of(("word",)), 1000) == ids
    for connection in connections:
        connection.close()
