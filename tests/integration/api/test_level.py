"""LevelRAG over the server: which searchers it takes by default for which corpus."""

from pathlib import Path

import pytest

from tests.integration.api.asking import KEY, QUESTION, asking, events
from tests.integration.api.conftest import ADA
from tests.twins.chat_server import ChatServer, Reply

_ANSWER = Reply.json({"answer": "Ada Lovelace [1]", "support": "stated", "unstated": ""})
_OPTIONS = {"high_level": False, "rewrite": "never", "dense_rewrites": 0}


@pytest.mark.parametrize(
    ("extractor", "searchers"), [("pattern", {"sparse", "dense"}), ("pattern+given", {"sparse", "dense", "graph"})]
)
async def test_the_graph_is_searched_where_the_corpus_has_facts(
    tmp_path: Path, extractor: str, searchers: set[str]
) -> None:
    with ChatServer(api_key=KEY, respond=lambda _: _ANSWER) as chat:
        async with asking(tmp_path, chat) as server:
            await server.corpus("facts", extractor=extractor)
            await server.ingest({**ADA, "triples": [["Ada Lovelace", "wrote", "the first program"]]}, corpus="facts")
            request = {"question": QUESTION, "reasoner": "level", "options": _OPTIONS, "stream": True}
            answer = await server.client.post("/v1/corpora/facts/ask", json=request)
    asked = {told.data["searcher"] for told in events(answer.text) if told.event == "search"}
    assert asked == searchers
