"""Whose request it is, is known wherever callers take turns."""

from typing import Any

import pytest

from core.execution.limits import current_caller
from core.keys import Scope
from tests.integration.api.access.conftest import Keys

_CORPUS = "/v1/corpora/people"


async def test_what_a_request_starts_knows_its_key(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = keys.server.container.embedder
    embed, seen = embedder.embed_query, list[str]()

    async def embed_query(text: str) -> Any:
        seen.append(current_caller())
        return await embed(text)

    monkeypatch.setattr(embedder, "embed_query", embed_query)
    holder = await keys.make(Scope.READ)
    await holder("POST", f"{_CORPUS}/search", json={"query": "Ada"})
    asked = await holder("POST", f"{_CORPUS}/questions", json={"question": "Who?", "reasoner": "extractive"})
    await holder("GET", f"{_CORPUS}/questions/{asked.json()['id']}/events")
    assert len(seen) >= 2, "a search, and a question in the background"
    assert set(seen) == {keys.last.id}
