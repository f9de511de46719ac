"""Both search engines over a socket: what is asked, what is read, and what goes wrong."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from core.errors import HopweaveError, InvalidSettings, ModelFailed, Unavailable
from core.ports.retrieval import WebSearch
from core.settings import WebSettings
from stores.searxng import SearxngWebSearch
from stores.tavily import TavilyWebSearch
from stores.web import make_web_search
from stores.web_endpoint import extract_text
from tests.twins.json_server import JsonServer, Reply
from tests.twins.searxng_server import SearxngServer
from tests.twins.tavily_server import TavilyServer

KEY = "tvly-secret-0123456789"
ROWS = [
    {"url": "https://one.example/a?b=c", "title": "One", "content": "The <b>first</b> &amp; best."},
    {"url": "https://one.example/a?b=c", "title": "One again", "content": "twice"},
    {"url": "javascript:alert(1)", "title": "Script", "content": "no page"},
    {"url": "ftp://old.example/f", "title": "File", "content": "no page"},
    {"url": "https://", "title": "Nowhere", "content": "no page"},
    {"url": "https://[broken", "title": "Broken", "content": "no page"},
    {"url": "https://two.example/", "title": None, "content": "second"},
    {"url": "https://empty.example/", "title": "Empty", "content": " <br> "},
    {"url": "https://none.example/", "title": "None", "content": None},
    {"url": "https://three.example/", "title": "Three", "content": "third"},
]


@dataclass(frozen=True)
class Engine:
    server: JsonServer
    search: WebSearch


@contextmanager
def running(kind: str, rows: list[dict[str, Any]], *, timeout: float = 5.0) -> Iterator[tuple[JsonServer, WebSearch]]:
    server: JsonServer = SearxngServer(rows) if kind == "searxng" else TavilyServer(rows, api_key=KEY)
    with server:
        settings = WebSettings(kind=kind, url=server.url, api_key=SecretStr(KEY), timeout=timeout)  # type: ignore[arg-type] # a parameter of the test
        search = make_web_search(settings)
        assert search is not None
        yield server, search


@pytest.fixture(params=["searxng", "tavily"])
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    with running(request.param, ROWS) as (server, search):
        yield Engine(server, search)
        await search.close()


async def test_results_are_plain_text_of_pages_each_once(engine: Engine) -> None:
    found = await engine.search.search("a question", 12)
    assert [(one.url, one.title, one.text) for one in found] == [
        ("https://one.example/a?b=c", "One", "The first & best."),
        ("https://two.example/", "https://two.example/", "second"),
        ("https://three.example/", "Three", "third"),
    ]
    assert len(engine.server.requests) == 1, "no page is fetched"


@pytest.mark.parametrize("kind", ["searxng", "tavily"])
async def test_what_an_engine_names_is_never_fetched(kind: str) -> None:
    """A result or a redirect may name a file, or a server that only this machine reaches."""
    with SearxngServer([]) as inside, running(kind, []) as (server, search):
        addresses = ["file:///etc/passwd", f"{inside.url}/latest/meta-data", "gopher://127.0.0.1:6379/_FLUSHALL"]
        rows = [{"url": address, "title": "t", "content": "c"} for address in addresses]
        server.script.append(Reply(body={"results": rows}))
        assert [result.url for result in await search.search("a question", 9)] == [addresses[1]]
        server.script.append(Reply(status=307, headers={"Location": f"{inside.url}/search"}))
        with pytest.raises(ModelFailed, match="answered 307"):
            await search.search("a question", 9)
        assert inside.requests == []
        assert len(server.requests) == 2
        await search.close()


async def test_at_most_as_many_as_are_asked_for(engine: Engine) -> None:
    assert len(await engine.search.search("a question", 1)) == 1
    assert await engine.search.search("a question", 0) == []
    assert await engine.search.search("  ", 3) == []


async def test_a_client_serves_many_questions(engine: Engine) -> None:
    for _ in range(3):
        assert await engine.search.search("again", 1)
    await engine.search.close()
    assert await engine.search.search("after closing", 1)


_WRONG: list[tuple[Reply, type[HopweaveError], str]] = [
    (Reply(status=500, body="down for repair"), Unavailable, "answered 500: down for repair"),
    (Reply(status=429, body={"detail": "slow down"}), Unavailable, "answered 429"),
    (Reply(status=401, body=f"bad key {KEY}"), ModelFailed, r"answered 401: bad key \*\*\*"),
    (Reply(status=302, headers={"Location": "https://elsewhere.example"}), ModelFailed, "answered 302"),
    (Reply(body="<html>hello</html>"), ModelFailed, "invalid JSON: <html>hello"),
    (Reply(body=""), ModelFailed, "invalid JSON: nothing"),
    (Reply(body=b"[" * 200_000), ModelFailed, "JSON that is nested too deeply"),
    (Reply(body=b"\xff\xfe{"), ModelFailed, "invalid JSON"),
    (Reply(body=[1, 2]), ModelFailed, "is not an object"),
    (Reply(body={"results": "none"}), ModelFailed, "without a list of results"),
    (Reply(body=b" " * (8 * 1024 * 1024 + 1)), ModelFailed, "more than 8 MB"),
]


async def test_what_goes_wrong_names_the_engine_and_never_the_key(engine: Engine) -> None:
    for reply, kind, says in _WRONG:
        engine.server.script.append(reply)
        with pytest.raises(kind, match=says) as caught:
            await engine.search.search("a question", 3)
        assert re.match(r"(SearXNG|Tavily) at http://127\.0\.0\.1:\d+", str(caught.value))
        assert KEY not in str(caught.value)
        assert await engine.search.search("and again", 1), "the next question is answered"


async def test_rows_that_are_no_objects_are_passed_over(engine: Engine) -> None:
    engine.server.script.append(Reply(body={"results": [1, None, "x", [], {}, *ROWS]}))
    assert len(await engine.search.search("a question", 9)) == 3


@pytest.mark.parametrize("kind", ["searxng", "tavily"])
async def test_an_engine_that_is_slow_or_down_is_unavailable(kind: str) -> None:
    with running(kind, ROWS, timeout=0.2) as (server, search):
        server.script.append(Reply(stall=True))
        with pytest.raises(Unavailable, match=r"within 0\.2 seconds"):
            await search.search("a question", 3)
    with pytest.raises(Unavailable, match=r"cannot be reached .* HOPWEAVE_WEB__URL"):
        await search.search("a question", 3)
    await search.close()


async def test_searxng_is_asked_for_json_and_its_syntax_is_taken_out() -> None:
    with running("searxng", ROWS) as (server, search):
        await search.search("!!g :fr ?what <5 is C++ & C# !bang a!b", 3)
        assert await search.search("!! :", 3) == []
        await search.close()
    [request] = server.requests
    assert request.path == "/search"
    assert request.query == {"q": "g fr what 5 is C++ & C# bang a!b", "format": "json"}


async def test_searxng_without_json_says_where_it_is_allowed() -> None:
    with SearxngServer(ROWS, formats="html") as server:
        search = SearxngWebSearch(url=server.url + "/")
        with pytest.raises(ModelFailed, match=r"search\.formats"):
            await search.search("a question", 3)
        await search.close()


async def test_searxng_whose_engines_are_silent_is_unavailable_and_without_results_is_not() -> None:
    with SearxngServer([], unresponsive=[["google", "timeout"], ["bing", "CAPTCHA"]]) as server:
        search = SearxngWebSearch(url=server.url)
        with pytest.raises(Unavailable, match="google: timeout; bing: CAPTCHA"):
            await search.search("a question", 3)
        server.unresponsive = []
        assert await search.search("a question", 3) == []
        await search.close()


async def test_tavily_is_sent_the_key_and_asked_for_snippets_alone() -> None:
    with running("tavily", ROWS) as (server, search):
        await search.search("a question", 50)
        await search.close()
    [request] = server.requests
    assert request.key == KEY
    assert request.body == {
        "query": "a question",
        "max_results": 20,
        "search_depth": "basic",
        "include_answer": False,
        "include_raw_content": False,
        "include_images": False,
    }


def test_settings_that_lack_something_name_it() -> None:
    assert make_web_search(WebSettings()) is None
    with pytest.raises(InvalidSettings, match="HOPWEAVE_WEB__URL"):
        make_web_search(WebSettings(kind="searxng"))
    with pytest.raises(InvalidSettings, match="HOPWEAVE_WEB__API_KEY"):
        make_web_search(WebSettings(kind="tavily"))
    for url in ("search.example", "ftp://search.example", "http://", "http://host:port"):
        with pytest.raises(InvalidSettings, match="HOPWEAVE_WEB__URL"):
            SearxngWebSearch(url=url)
    assert make_web_search(WebSettings(kind="tavily", api_key=SecretStr(KEY))) is not None
    assert KEY not in repr(TavilyWebSearch(api_key=SecretStr(KEY)))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a <b>bold</b> word", "a bold word"),
        ("x &lt;tag&gt; &#39;y&#39;", "x <tag> 'y'"),
        ("one<br>two<p>three</p>", "one two three"),
        ("seen<script>alert(1)</script> and<style>p{}</style> seen", "seen and seen"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<!-- hidden -->plain", "plain"),
        ("  many \n lines\t", "many lines"),
        ("", ""),
    ],
)
def test_markup_becomes_text(html: str, text: str) -> None:
    assert extract_text(html) == text
