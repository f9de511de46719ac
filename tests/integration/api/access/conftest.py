"""Keys of a server that also has other documents and another corpus than they may see."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx
import pytest

from core.keys import KeyLimits, Scope, make_key
from tests.integration.api.access.browsing import Browser, MakeBrowser
from tests.integration.api.access.issuer import Issuer
from tests.integration.api.conftest import Server

OPEN_DOCUMENT = {
    "key": "open/ada",
    "title": "Ada Lovelace",
    "text": "Ada Lovelace wrote the first program with Charles Babbage.",
    "metadata": {"team": "open"},
    "triples": [["Ada Lovelace", "worked with", "Charles Babbage"]],
    "entities": ["Ada Lovelace", "Charles Babbage"],
}
HIDDEN_DOCUMENT = {
    "key": "hidden/zarathustra",
    "title": "Zarathustra Xylophone",
    "text": "Zarathustra Xylophone sold the Quixotic Ledger to Charles Babbage.",
    "metadata": {"team": "hidden"},
    "triples": [["Zarathustra Xylophone", "sold", "Quixotic Ledger"]],
    "entities": ["Zarathustra Xylophone", "Quixotic Ledger", "Charles Babbage"],
}
SECRETS = ("zarathustra", "xylophone", "quixotic", "hidden/", "clandestine")
"""Words that only documents and corpora have that the keys of these tests may not see."""


class Holder:
    """A client that sends one key."""

    def __init__(self, server: Server, key: str) -> None:
        transport = httpx.ASGITransport(app=server.app, raise_app_exceptions=False, client=("192.0.2.7", 40_000))
        self.client = httpx.AsyncClient(
            transport=transport, base_url="https://hopweave.example", headers={"authorization": f"Bearer {key}"}
        )

    async def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await self.client.request(method, path, **more)


class Keys:
    """Makes keys in the record, as another process does, and clients that send them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.holders: list[Holder] = []

    async def make(
        self,
        *scopes: Scope,
        corpora: list[str] | None = None,
        where: Mapping[str, Any] | None = None,
        principals: list[str] | None = None,
        limits: KeyLimits | None = None,
    ) -> Holder:
        key, text = make_key("test", scopes, corpora=corpora, filter=where, principals=principals, limits=limits)
        await self.server.container.record.keys.create(key)
        await self.see()
        self.holders.append(Holder(self.server, text))
        self.last = key
        return self.holders[-1]

    async def see(self) -> None:
        """Lets the server read its keys now, as it does within seconds."""
        self.server.app.state.keyring._read_at = None
        await self.server.app.state.keyring.refresh()


@pytest.fixture
async def keys(server: Server) -> AsyncIterator[Keys]:
    """A corpus `people` with an open and a hidden document and a merge of hidden entities, and another corpus."""
    await server.corpus(extractor="given", chunker="passage")
    await server.corpus("clandestine", extractor="given", chunker="passage")
    await server.ingest(OPEN_DOCUMENT, HIDDEN_DOCUMENT)
    await server.ingest(HIDDEN_DOCUMENT, corpus="clandestine")
    await server.ingest({"key": "hidden/broken", "media_type": "application/pdf", "text": "no PDF"})
    found = (await server.client.get("/v1/corpora/people/entities?query=Xylophone")).json()["data"]
    ledger = (await server.client.get("/v1/corpora/people/entities?query=Ledger")).json()["data"]
    ids = [found[0]["entity"]["id"], ledger[0]["entity"]["id"]]
    merged = await server.client.post(f"/v1/corpora/people/entities/{ids[0]}/merge", json={"into": ids[1]})
    assert merged.status_code == 200, merged.text
    made = Keys(server)
    yield made
    for holder in made.holders:
        await holder.client.aclose()


GROUPED: list[dict[str, Any]] = [
    {"key": "a", "text": "Only for the group a.", "access": ["group:a"]},
    {"key": "anna", "text": "Only for the user anna.", "access": ["user:anna"]},
    {"key": "b", "text": "Only for the group b.", "access": ["group:b"]},
    {"key": "all", "text": "For everyone."},
]


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


@pytest.fixture
async def browse() -> AsyncIterator[MakeBrowser]:
    made: list[Browser] = []

    def make(server: Server, *more: str) -> Browser:
        made.append(Browser(server, *more))
        return made[-1]

    yield make
    for one in made:
        await one.client.aclose()


def key_of(keys: Keys) -> str:
    return str(keys.holders[-1].client.headers["authorization"]).removeprefix("Bearer ")


@pytest.fixture
async def signed_in(keys: Keys, browse: MakeBrowser) -> Browser:
    await keys.make(Scope.READ, Scope.WRITE, corpora=["people"], where={"team": "open"})
    browser = browse(keys.server)
    assert (await browser.sign_in(key_of(keys))).status_code == 200
    return browser
