"""A store that refuses the worker, as with a password that was changed, is no document's fault."""

from dataclasses import replace
from typing import Any, cast

import pytest

from core.errors import InvalidSettings
from core.record_policy.claims import FAILED_AFTER
from indexer import Worker
from tests.integration.api.conftest import ADA, OPTIONS, Server


class _Refusing:
    """A file store whose credentials are refused."""

    def __getattr__(self, name: str) -> object:
        raise InvalidSettings("the credentials were refused: check AWS_SECRET_ACCESS_KEY")


async def test_no_document_fails_while_a_store_refuses(server: Server) -> None:
    await server.corpus()
    queued = (await server.add(ADA)).headers["location"]
    corpus = await server.container.record.corpora.get("people")
    refused = replace(server.container.indexing, files=cast("Any", _Refusing()))
    for _ in range(FAILED_AFTER + 1):
        with pytest.raises(InvalidSettings):
            await Worker("test", refused, OPTIONS).work(corpus.id)
    job = (await server.client.get(queued)).json()
    assert (job["state"], job["failures"]) == ("queued", [])
    await server.work("people")
    assert (await server.client.get(queued)).json()["counts"] == {"indexed": 1}
