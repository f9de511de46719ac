"""LevelRAG over the server: which searchers it takes by default for which corpus."""

from pathlib import Path

from tests.integration.api.asking import KEY, QUESTION, asking, events
from tests.integration.api.conftest import ADA
from tests.twins.chat_server import ChatServer, Reply

_ANSWER = Reply.json({"answer": "Ada Lovelace [1]", "support": "stated", "unstated": ""})
_OPTIONS = {"high_level": False, "rewrite": "never", "dense_rewrites": 0}


async def test_the_graph_is_searched_where_the_corpus_has_facts(tmp_path: Path) -> None:
    with ChatServer(api_key=KEY, respond=lambda _: _ANSWER) as chat:
        async with asking(tmp_path, chat) as server:
            for extractor, searchers in (
                ("pattern", {"sparse", "dense"}),
                ("pattern+given", {"sparse", "dense", "graph"}),
            ):
                corpus = extractor.replace("+", "-")
                await server.corpus(corpus, extractor=extractor)
                await server.ingest({**ADA, "triples": [["Ada Lovelace", "wrote", "the first program"]]}, corpus=corpus)
                request = {"question": QUESTION, "reasoner": "level", "options": _OPTIONS, "stream": True}
                answer = await server.client.post(f"/v1/corpora/{corpus}/ask", json=request)
                asked = {told.data["searcher"] for told in events(answer.text) if told.event == "search"}
                assert asked == searchers
