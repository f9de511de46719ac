"""`BucketFileStore` on a real server that speaks S3."""

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from core.errors import InvalidSettings, NotFound, Unavailable
from core.ids import content_hash, new_id
from stores.files import BucketFileStore, FolderFileStore, PackedFileStore, make_file_store
from testing.contracts.file_store import Connect, FileStoreContract
from tests.integration.stores.test_folder_files import refuses_nasty_names
from tests.servers.addresses import S3Address

SECRET = "a-wrong-secret-that-no-message-may-hold"  # noqa: S105 - it opens nothing


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No AWS variables of the developer's own."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    return monkeypatch


@pytest.fixture
def server(s3_server: S3Address, environment: pytest.MonkeyPatch) -> S3Address:
    for name, value in s3_server.environment_of_clients.items():
        environment.setenv(name, value)
    return s3_server


@pytest.fixture
def url(server: S3Address) -> str:
    return f"s3://{server.bucket}/test-{new_id()}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[BucketFileStore]:
    store = BucketFileStore(url)
    yield store
    await store.close()


@pytest.mark.servers
class TestBucketFileStore(FileStoreContract):
    @pytest.fixture
    def connect(self, url: str) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[BucketFileStore]:
            store = BucketFileStore(url)
            yield store
            await store.close()

        return connect


@pytest.mark.servers
async def test_no_id_and_no_name_makes_a_key(store: BucketFileStore):
    await refuses_nasty_names(store)


@pytest.mark.servers
async def test_a_large_original_comes_back(store: BucketFileStore):
    corpus, content = new_id(), os.urandom(64 << 20)
    [name] = await store.put(corpus, [content])
    assert await store.get(corpus, name) == content


@pytest.mark.servers
async def test_what_exists_is_not_sent_again(store: BucketFileStore, server: S3Address, url: str):
    corpus = new_id()
    [name] = await store.put(corpus, [b"a"])
    plain = S3Store(server.bucket, prefix=url.rpartition("/")[2])
    first = obstore.head(plain, f"{corpus}/{name[:2]}/{name}")
    obstore.put(plain, f"{corpus}/{name[:2]}/{name}", b"marked")  # as nobody does; it shows who wrote last
    await store.put(corpus, [b"a"])
    assert first["size"] == 1
    assert bytes(obstore.get(plain, f"{corpus}/{name[:2]}/{name}").bytes()) == b"marked"


@pytest.mark.servers
async def test_dropping_leaves_neighbours_and_strangers(store: BucketFileStore, server: S3Address, url: str):
    corpus = "abcdef12"
    [name] = await store.put(corpus, [b"a"])
    await store.put(corpus + "34", [b"a"])  # a key that begins alike
    plain = S3Store(server.bucket, prefix=url.rpartition("/")[2])
    obstore.put(plain, "readme.txt", b"not ours")
    obstore.put(plain, f"{corpus}/{name[:2]}/notes.txt", b"not an original")
    assert await store.names(corpus) == [name]
    await store.delete_corpus(corpus)
    assert [meta["path"] for meta in obstore.list(plain).collect()] == [f"{corpus}34/{name[:2]}/{name}", "readme.txt"]


@pytest.mark.servers
def test_several_event_loops_and_threads_share_one_store(url: str):
    store, corpus, wrong = BucketFileStore(url), new_id(), []

    def work(number: int) -> None:
        async def turns() -> None:
            for turn in range(5):
                content = f"{number} {turn}".encode()
                [name] = await store.put(corpus, [content])
                if await store.get(corpus, name) != content:
                    wrong.append(content)

        asyncio.run(turns())

    threads = [threading.Thread(target=work, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(asyncio.run(store.names(corpus))) == 30


@pytest.mark.servers
async def test_a_folder_copied_into_the_bucket_is_readable(store: BucketFileStore, url: str, tmp_path: Path):
    folder, corpus = FolderFileStore(tmp_path), new_id()
    [name] = await folder.put(corpus, [b"moved"])
    plain = S3Store(url.split("/")[2], prefix=url.rpartition("/")[2])
    obstore.put(plain, f"{corpus}/{name[:2]}/{name}", tmp_path / corpus / name[:2] / name)
    assert await store.get(corpus, name) == b"moved"
    assert await store.names(corpus) == [name]


@pytest.mark.servers
async def test_check_says_which_bucket_it_is(store: BucketFileStore, server: S3Address, url: str):
    assert await store.check() == f"the bucket {url} at {server.endpoint}"


@pytest.mark.servers
@pytest.mark.parametrize("variable", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
async def test_wrong_credentials_are_said(url: str, server: S3Address, environment: pytest.MonkeyPatch, variable: str):
    environment.setenv(variable, SECRET)
    store = BucketFileStore(url)
    for call in _every_call(store):
        with pytest.raises(InvalidSettings, match="AWS_SECRET_ACCESS_KEY") as caught:
            await call
        assert SECRET not in str(caught.value)
        assert server.secret_key not in str(caught.value)


@pytest.mark.servers
@pytest.mark.usefixtures("server")
async def test_a_missing_bucket_is_said():
    store = BucketFileStore("s3://no-such-bucket/prefix")
    for call in (store.check(), store.put(new_id(), [b"a"]), store.get(new_id(), content_hash(b"a"))):
        with pytest.raises(InvalidSettings, match=r"no-such-bucket.*HOPWEAVE_FILES__URL"):
            await call
    with pytest.raises(InvalidSettings, match="no-such-bucket"):
        await store.names(new_id())


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        yield listening.getsockname()[1]


def _unsigned(environment: pytest.MonkeyPatch, endpoint: str) -> None:
    environment.setenv("AWS_ENDPOINT_URL", endpoint)
    environment.setenv("AWS_ALLOW_HTTP", "true")
    environment.setenv("AWS_ACCESS_KEY_ID", "someone")
    environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


async def test_a_server_that_is_down_is_unavailable(environment: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    _unsigned(environment, f"http://127.0.0.1:{port}")
    for call in _every_call(BucketFileStore("s3://bucket")):
        with pytest.raises(Unavailable, match=rf"s3://bucket at http://127.0.0.1:{port} .*AWS_ENDPOINT_URL") as caught:
            await call
        assert SECRET not in str(caught.value)


async def test_a_server_that_never_answers_is_unavailable(environment: pytest.MonkeyPatch, silent: int):
    _unsigned(environment, f"http://127.0.0.1:{silent}")
    store = BucketFileStore("s3://bucket")
    async with asyncio.timeout(30):  # a put of many waits once, not once for each
        with pytest.raises(Unavailable, match="no answer"):
            await store.put(new_id(), [str(i).encode() for i in range(200)])


NO_BUCKET = """
s3:// s3:///prefix s3://UPPER s3://b s3://bucket:9000/x s3://bucket/../other s3://bucket/a//b s3://bucket/.hidden
s3://bucket?x=1 s3://bucket#x s3://bucket/a%20b s3://bucket/a\\b http://bucket
"""


@pytest.mark.parametrize("url", NO_BUCKET.split())
def test_what_is_no_bucket_is_refused(url: str):
    with pytest.raises(InvalidSettings, match=r"HOPWEAVE_FILES__URL.*s3://bucket/prefix"):
        BucketFileStore(url)


def test_a_key_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(InvalidSettings, match="AWS_SECRET_ACCESS_KEY") as caught:
        BucketFileStore(f"s3://someone:{SECRET}@bucket")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"])
def test_an_endpoint_that_is_no_address_is_refused(environment: pytest.MonkeyPatch, variable: str):
    for endpoint in ("junk", "host:9000", "ftp://host", f"https://someone:{SECRET}@host", ""):
        environment.setenv(variable, endpoint)
        with pytest.raises(InvalidSettings, match=variable) as caught:
            BucketFileStore("s3://bucket")
        assert SECRET not in str(caught.value)


def test_an_endpoint_without_encryption_must_be_permitted(environment: pytest.MonkeyPatch):
    environment.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(InvalidSettings, match="AWS_ALLOW_HTTP"):
        BucketFileStore("s3://bucket")


async def test_a_variable_that_cannot_be_read_is_named(environment: pytest.MonkeyPatch):
    _unsigned(environment, "http://127.0.0.1:9")
    environment.setenv("AWS_UNSIGNED_PAYLOAD", "perhaps")
    with pytest.raises(InvalidSettings, match="perhaps"):
        await BucketFileStore("s3://bucket").check()


def test_the_url_chooses(tmp_path: Path):
    assert isinstance(make_file_store("s3://bucket/prefix", tmp_path), BucketFileStore)
    assert isinstance(make_file_store("", tmp_path), PackedFileStore)
    assert isinstance(make_file_store(str(tmp_path / "originals"), tmp_path), FolderFileStore)
    with pytest.raises(InvalidSettings, match="gs://"):
        make_file_store("gs://bucket", tmp_path)


async def test_a_path_is_where_originals_go(tmp_path: Path):
    corpus = new_id()
    store = make_file_store(str(tmp_path / "given"), tmp_path / "default")
    [name] = await store.put(corpus, [b"a"])
    assert (tmp_path / "given" / corpus / name[:2] / name).read_bytes() == b"a"
    assert not (tmp_path / "default").exists()
    assert await store.check() == f"the folder {tmp_path / 'given'}"


async def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path):
    (tmp_path / "files").write_text("in the way")
    with pytest.raises(Unavailable, match="permissions"):
        await make_file_store("", tmp_path / "files").check()


async def test_not_found_names_original_and_corpus(tmp_path: Path):
    corpus, name = new_id(), content_hash(b"never put")
    with pytest.raises(NotFound, match=f"{name}.*{corpus}"):
        await make_file_store("", tmp_path).get(corpus, name)


def _every_call(store: BucketFileStore) -> Iterator[Awaitable[object]]:
    corpus, name = new_id(), content_hash(b"a")
    yield store.put(corpus, [b"a"])
    yield store.get(corpus, name)
    yield store.delete(corpus, [name])
    yield store.delete_corpus(corpus)
    yield store.names(corpus)
    yield store.check()
