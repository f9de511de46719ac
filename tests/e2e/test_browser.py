"""Neo4j Browser over a real corpus: the style and the guide of docs/neo4j, loaded and used as docs/explore.md says.

`EXPLORE_PICTURES=docs/images` writes the pictures of docs/explore.md.
"""

import asyncio
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from app.container.trail_writer import build_trail
from stores.neo4j import Neo4jTrails
from stores.neo4j.driver.database import Neo4jDatabase
from tests.computing import DOCUMENTS, QUESTION, answered, desk_on
from tests.e2e.browser import FLAGS, WINDOW, Browser
from tests.integration.stores.neo4j_databases import connection_to, emptied
from tests.servers.addresses import Neo4jAddress

pytestmark = [pytest.mark.servers, pytest.mark.slow]

NEO4J = Path(__file__).parents[2] / "docs" / "neo4j"
PARAMETERS = ":params {corpus: 'computing', entity: 'Ada Lovelace', other: 'Madurai', question: ''}"
# By the file of the query: what stands on its nodes, and on its relationships.
CAPTIONS = {
    "documents": ({"Ada Lovelace", "Charles Babbage"}, {"passage", "next"}),
    "entity": ({"Ada Lovelace", "Analytical Engine"}, {"taught", "worked with", "mentions"}),
    "path": ({"Ada Lovelace", "Augustus De Morgan", "Madurai"}, {"taught", "was born in"}),
    "hubs": ({"Ada Lovelace", "Charles Babbage", "London"}, {"designed", "was born in", "taught"}),
    "trail": ({"Who taught Ada Lovelace?"}, {"step 1", "needs", "found 1", "cites [1]", "cites [2]"}),
}


@pytest.fixture(scope="module")
def server(neo4j_server: Neo4jAddress, tmp_path_factory: pytest.TempPathFactory) -> Neo4jAddress:
    """With a corpus, and the trail of an answer over it."""

    async def fill() -> None:
        desk = desk_on(neo4j_server, tmp_path_factory.mktemp("desk"))
        corpus = await desk.corpus("computing", extractor="given")
        await desk.ingest(corpus, *DOCUMENTS)
        connection = connection_to(neo4j_server)
        trail = build_trail(QUESTION, *await answered(desk, corpus))
        await Neo4jTrails(Neo4jDatabase(connection), days=1).write(corpus.id, trail)
        connection.close()
        await desk.close()

    emptied(neo4j_server)
    asyncio.run(fill())
    return neo4j_server


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All saved queries in one file, made by the command that the documentation gives."""
    path = tmp_path_factory.mktemp("guide") / "guide.zip"
    zipfile.main(["-c", str(path), str(NEO4J / "guide")])
    return path


@pytest.fixture(scope="module")
def browser(server: Neo4jAddress, guide: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        browser = Browser(chromium.new_page(viewport=WINDOW), server)
        browser.drop(NEO4J / "hopweave.grass")
        expect(browser.newest).to_contain_text("{predicate}")
        browser.drop(guide)
        browser.type(":config autoComplete: false")
        expect(browser.newest).to_contain_text('"autoComplete": false')
        browser.type(PARAMETERS)
        expect(browser.newest).to_contain_text("Successfully set your parameters")
        yield browser
        chromium.close()


def test_the_saved_queries_are_favourites(browser: Browser) -> None:
    expect(browser.show_saved()).to_have_text(sorted(_name(file) for file in (NEO4J / "guide").iterdir()))
    browser.hide_saved()


@pytest.mark.parametrize("query", CAPTIONS)
def test_a_saved_query_is_drawn_and_can_be_read(browser: Browser, query: str, tmp_path: Path) -> None:
    with browser.drawn(_name(NEO4J / "guide" / f"{query}.cypher")):
        browser.picture(Path(os.environ.get("EXPLORE_PICTURES", tmp_path)) / f"explore-{query}.png")
        nodes, relationships = CAPTIONS[query]
        assert nodes <= set(browser.captions("node"))
        assert relationships <= set(browser.captions("relationship"))


def test_nothing_is_told_to_anybody(browser: Browser) -> None:
    """The last, when all has been used: left to itself, Browser asks an analyst, a news feed and a host of fonts."""
    assert browser.beyond == set()


def _name(query: Path) -> str:
    return query.read_text("utf-8").splitlines()[0].removeprefix("// ")
