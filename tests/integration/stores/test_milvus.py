import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from core.errors import Conflict, InvalidInput
from core.ids import new_id
from core.ports.views import VectorKind
from stores.milvus import MilvusIndex, MilvusVectorStore, nearest
from stores.milvus.collection import MAX_ROWS
from stores.sqlite import SqliteVectorStore
from testing.contracts.vector_store import Connect, VectorStoreContract, batch, eventually, names, unit_vectors
from tests.integration.stores.milvus_corpora import PreparedCorpora
from tests.integration.stores.milvus_writer import OTHER_DIMENSION, MilvusWriter, milvus_writer
from tests.servers.addresses import MilvusAddress

pytestmark = pytest.mark.servers

CHUNK = VectorKind.CHUNK
PATIENCE = 60.0  # a machine that is busy with other tests is no fault


def open_store(uri: str, *, exact_rows: int = 20_000, index: MilvusIndex | None = None) -> MilvusVectorStore:
    return MilvusVectorStore(uri, index=index, exact_rows=exact_rows, answer_seconds=PATIENCE, work_seconds=PATIENCE)


@pytest.fixture(scope="module")
def prepared() -> Iterator[PreparedCorpora]:
    corpora = PreparedCorpora()
    yield corpora
    corpora.close()


@pytest.fixture(scope="module")
def writers() -> Iterator[Sequence[MilvusWriter]]:
    with milvus_writer() as one, milvus_writer() as other:
        yield one, other


async def dropped(uri: str, corpus: str) -> None:
    store = open_store(uri)
    await store.delete_corpus(corpus)
    await store.close()


class OnAServer(VectorStoreContract):
    """What is asked of the adapter on any server: the contract, and what servers make difficult."""

    @pytest.fixture
    def uri(self) -> str:
        raise NotImplementedError("a subclass names its server")

    @pytest.fixture
    def connect(self, uri: str) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[MilvusVectorStore]:
            store = open_store(uri)
            yield store
            await store.close()

        return connect

    @pytest.fixture
    async def new_corpus(self, uri: str) -> AsyncIterator[str]:
        corpus = new_id()
        yield corpus
        await dropped(uri, corpus)

    @pytest.fixture
    async def corpus(self, uri: str, prepared: PreparedCorpora) -> AsyncIterator[str]:
        corpus = await asyncio.to_thread(prepared.take, uri)
        yield corpus
        await dropped(uri, corpus)

    @pytest.fixture
    async def milvus(self, uri: str) -> AsyncIterator[MilvusVectorStore]:
        store = open_store(uri)
        yield store
        await store.close()

    async def test_check_names_the_version(self, milvus: MilvusVectorStore):
        assert any(digit.isdigit() for digit in await milvus.check())

    async def test_writers_of_the_same_ids_at_once_leave_one_row_each(self, uri: str, new_corpus: str):
        ids, vectors = names(300), unit_vectors(300)
        stores = [open_store(uri) for _ in range(4)]
        await asyncio.gather(*(store.write(new_corpus, CHUNK, batch(ids, vectors)) for store in stores * 3))
        assert await stores[0].count(new_corpus, CHUNK) == 300
        assert len(await stores[0].search(new_corpus, CHUNK, vectors[0], 1000)) == 300

    async def test_processes_that_make_the_collection_at_once_lose_and_double_nothing(
        self, uri: str, new_corpus: str, milvus: MilvusVectorStore, writers: Sequence[MilvusWriter]
    ):
        for writer, who in zip(writers, "ab", strict=True):
            await writer.connect(uri, new_corpus, who, "write")
        for writer in writers:
            writer.begin()
        for writer in writers:
            await writer.done()
        expected = sorted([*names(200), *(id for who in "ab" for id in names(50, prefix=who))])
        assert await milvus.ids(new_corpus, CHUNK) == expected
        assert await milvus.count(new_corpus, CHUNK) == len(expected)

    async def test_another_process_is_seen_also_when_it_makes_the_collection_anew(
        self, uri: str, corpus: str, milvus: MilvusVectorStore, writers: Sequence[MilvusWriter]
    ):
        old, new = unit_vectors(3), unit_vectors(2, dimension=OTHER_DIMENSION)
        await milvus.write(corpus, CHUNK, batch(names(3), old))
        assert len(await milvus.search(corpus, CHUNK, old[0], 5)) == 3
        await writers[0].connect(uri, corpus, "a", "remake")
        writers[0].begin()
        await writers[0].done()

        async def sees_the_new_row() -> bool:
            return [hit.id for hit in await milvus.search(corpus, CHUNK, new[0], 5)] == ["new"]

        await milvus.search(corpus, CHUNK, new[0], 5)  # waits until the new collection is loaded
        await eventually(sees_the_new_row)
        with pytest.raises(InvalidInput, match="dimension"):
            await milvus.write(corpus, CHUNK, batch(["old"], old[:1]))
        await milvus.write(corpus, CHUNK, batch(["more"], new[1:]))
        assert {hit.id for hit in await milvus.search(corpus, CHUNK, new[0], 5)} == {"new", "more"}

    async def test_what_is_written_after_another_process_dropped_the_corpus_is_kept(
        self, uri: str, corpus: str, milvus: MilvusVectorStore, writers: Sequence[MilvusWriter]
    ):
        vectors = unit_vectors(6)
        await milvus.write(corpus, CHUNK, batch(names(3), vectors[:3]))
        await writers[0].connect(uri, corpus, "a", "drop")
        writers[0].begin()
        await writers[0].done()
        await milvus.write(corpus, CHUNK, batch(names(6)[3:], vectors[3:]))
        assert await milvus.ids(corpus, CHUNK) == names(6)[3:]

    async def test_a_collection_of_another_shape_is_refused_and_kept(
        self, uri: str, new_corpus: str, milvus: MilvusVectorStore
    ):
        from pymilvus import DataType, MilvusClient

        name = f"hopweave_{new_corpus}_chunk"
        client = MilvusClient(uri, timeout=PATIENCE)
        schema = client.create_schema(auto_id=False)
        schema.add_field("number", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=8)
        client.create_collection(name, schema=schema, timeout=PATIENCE)
        for refused in (
            milvus.write(new_corpus, CHUNK, batch(["a"], unit_vectors(1))),
            milvus.search(new_corpus, CHUNK, unit_vectors(1)[0], 5),
            milvus.delete_corpus(new_corpus),
        ):
            with pytest.raises(Conflict, match=f"{name}.* another shape"):
                await refused
        assert client.has_collection(name, timeout=PATIENCE)
        client.drop_collection(name, timeout=PATIENCE)

    async def test_two_and_a_half_thousand_documents_restrict(self, corpus: str, milvus: MilvusVectorStore):
        ids, vectors = names(3000), unit_vectors(3000)
        documents = [f"d{i:04}" for i in range(3000)]
        await milvus.write(corpus, CHUNK, batch(ids, vectors, documents))
        query = unit_vectors(1, seed=4)[0]
        hits = await milvus.search(corpus, CHUNK, query, 50, documents[500:])
        assert [hit.id for hit in hits] == [ids[i] for i in np.argsort(-(vectors @ query)) if i >= 500][:50]

    most = MAX_ROWS
    """More rows the server gives in no answer."""

    async def test_more_answers_than_a_server_gives_at_once(
        self, corpus: str, milvus: MilvusVectorStore, monkeypatch: pytest.MonkeyPatch
    ):
        for module, name in ((nearest, "MAX_ROWS"), (nearest, "_IDS"), (nearest, "_VECTORS")):
            monkeypatch.setattr(module, name, getattr(module, name) * self.most // MAX_ROWS)
        count = self.most + 600
        ids, vectors = names(count), unit_vectors(count)
        await milvus.write(corpus, CHUNK, batch(ids, vectors))
        query = unit_vectors(1, seed=4)[0]
        hits = await milvus.search(corpus, CHUNK, query, count + 3000)
        assert {hit.id for hit in hits} == set(ids)
        assert [hit.score for hit in hits] == pytest.approx(np.sort(vectors @ query)[::-1].tolist(), abs=1e-5)
        assert await milvus.ids(corpus, CHUNK) == ids

    async def test_within_is_what_it_is_embedded(self, new_corpus: str, milvus: MilvusVectorStore, tmp_path: Path):
        """Also where one row has more neighbours than are first asked for, and to the last bit of a score."""
        rng = np.random.default_rng(2)
        vectors = np.concatenate(
            [unit_vectors(600, dimension=32), np.repeat(unit_vectors(1, dimension=32), 400, axis=0)]
        )
        vectors[600:] += 0.05 * rng.standard_normal((400, 32)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        embedded = SqliteVectorStore(tmp_path / "vectors.db")
        for store in (embedded, milvus):
            await store.write(new_corpus, CHUNK, batch(names(1000), vectors))
        expected = await embedded.within(new_corpus, CHUNK, vectors[580:620], 0.8)
        await embedded.close()
        assert len(expected[-1]) > 300
        assert await milvus.within(new_corpus, CHUNK, vectors[580:620], 0.8) == expected

    @pytest.mark.parametrize("index", [MilvusIndex(), MilvusIndex(kind="FLAT", build={}, search={})])
    async def test_searches_by_the_index_alone(self, uri: str, new_corpus: str, index: MilvusIndex):
        """As they are where a collection is larger than `exact_rows`."""
        store, vectors = open_store(uri, exact_rows=0, index=index), unit_vectors(400)
        await store.write(new_corpus, CHUNK, batch(names(400), vectors))
        for i in (3, 77):
            [first, *others] = await store.search(new_corpus, CHUNK, vectors[i], 10)
            assert first.id == names(400)[i]
            assert len(others) == 9
        assert [hits[0].id for hits in await store.within(new_corpus, CHUNK, vectors[:3], 0.99)] == names(3)

    async def test_rebuild_keeps_every_row(self, new_corpus: str, milvus: MilvusVectorStore):
        vectors = unit_vectors(1500)
        await milvus.rebuild(new_corpus, CHUNK)
        await milvus.write(new_corpus, CHUNK, batch(names(1500), vectors))
        await milvus.delete(new_corpus, CHUNK, names(100))
        before = await milvus.search(new_corpus, CHUNK, vectors[700], 50)
        await milvus.rebuild(new_corpus, CHUNK)
        assert await milvus.ids(new_corpus, CHUNK) == names(1500)[100:]
        after = await milvus.search(new_corpus, CHUNK, vectors[700], 50)
        assert [hit.id for hit in after] == [hit.id for hit in before]

    async def test_ids_that_are_no_ids_are_harmless(self, corpus: str, milvus: MilvusVectorStore):
        vectors = unit_vectors(2)
        await milvus.write(corpus, CHUNK, batch(["a", "b"], vectors))
        for id in ('a"] or id > "', "a'}) DETACH DELETE n //", "a\\", "a\nb", "", "é", "x" * 129):
            await milvus.delete(corpus, CHUNK, [id])
            assert await milvus.missing(corpus, CHUNK, [id, "a"]) == {id}
            assert await milvus.fetch(corpus, CHUNK, [id]) == {}
            assert await milvus.search(corpus, CHUNK, vectors[0], 5, [id]) == []
            with pytest.raises(InvalidInput, match="cannot be the id"):
                await milvus.write(corpus, CHUNK, batch([id], vectors[:1]))
            assert await milvus.count(corpus, CHUNK) == 2

    async def test_a_corpus_id_that_is_none_is_refused(self, milvus: MilvusVectorStore):
        with pytest.raises(InvalidInput, match="name of a Milvus collection"):
            await milvus.delete_corpus("a; drop")

    async def test_threads_and_loops_share_a_store(self, corpus: str, milvus: MilvusVectorStore):
        vectors = unit_vectors(40)
        await milvus.write(corpus, CHUNK, batch(names(40), vectors))

        def in_another_loop(i: int) -> str:
            return asyncio.run(milvus.search(corpus, CHUNK, vectors[i], 1))[0].id

        found = await asyncio.gather(*(asyncio.to_thread(in_another_loop, i) for i in range(40)))
        assert found == names(40)


class TestMilvus(OnAServer):
    @pytest.fixture
    def uri(self, milvus_server: MilvusAddress) -> str:
        return milvus_server.uri


class TestMilvusLite(OnAServer):
    """Its server speaks the protocol of the 3.x line."""

    most = MAX_ROWS // 16  # it takes half a minute over as many rows as do not fit into one answer

    @pytest.fixture
    def uri(self, milvus_lite_server: MilvusAddress) -> str:
        return milvus_lite_server.uri
