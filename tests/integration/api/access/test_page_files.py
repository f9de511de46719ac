"""The web page: its document at every address of a view, its files, and who may load them."""

import gzip
from pathlib import Path

import pytest

from api.access.keys import OPEN_PATHS, SIGN_IN_PATHS, is_open
from api.page.responses import Assets, load_assets
from core.keys import Scope
from core.settings import ApiSettings
from tests.integration.api.access.conftest import Keys
from tests.integration.api.access.test_scopes import all_routes
from tests.integration.api.conftest import MakeServer, Server

_VIEWS = ["/", "/sign-in", "/help", "/c/people/questions/01?x=y", "/c/people/search?q=a&searcher=b&filter={}"]
_LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def _script() -> str:
    return f"/page/{load_assets().hash}/main.js"


async def test_each_view_is_the_same_document_and_needs_no_key(keys: Keys) -> None:
    await keys.make(Scope.READ)
    client = keys.server.client
    for path in _VIEWS:
        shown = await client.get(path)
        assert shown.status_code == 200, shown.text
        assert shown.headers["content-type"] == "text/html; charset=utf-8"
        assert shown.headers["cache-control"] == "no-cache"
        assert f'src="{_script()}"' in shown.text
        assert "/page/-/" not in shown.text
        policy = shown.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in policy
        again = await client.get(path, headers={"if-none-match": shown.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        asked = await client.head(path)
        assert (asked.status_code, asked.content) == (200, b"")
        assert asked.headers["content-length"] == shown.headers["content-length"]


async def test_a_browser_at_a_wrong_address_gets_the_page_and_a_program_a_problem(server: Server) -> None:
    path = "/corpora/people"
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    shown = await server.client.get(path, headers=browser)
    assert shown.status_code == 404
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert shown.headers["cache-control"] == "no-store"
    assert f'src="{_script()}"' in shown.text
    told = await server.client.get(path)
    assert (told.status_code, told.headers["content-type"]) == (404, "application/problem+json")
    of_the_api = await server.client.get("/v1/nowhere", headers=browser)
    assert of_the_api.headers["content-type"] == "application/problem+json"


async def test_a_browser_without_a_key_gets_the_page_at_any_address_and_a_program_a_problem(keys: Keys) -> None:
    holder = await keys.make(Scope.READ)
    client, browser = keys.server.client, {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nowhere", "/metrics"):
        shown = await client.get(path, headers=browser)
        assert (shown.status_code, shown.headers["content-type"]) == (401, "text/html; charset=utf-8")
        assert shown.headers["cache-control"] == "no-store"
        assert shown.headers["www-authenticate"] == "Bearer"
        assert "script-src 'self';" in shown.headers["content-security-policy"]
        assert f'src="{_script()}"' in shown.text
        told = await client.get(path)
        assert (told.status_code, told.headers["content-type"]) == (401, "application/problem+json")
        wrong = await client.get(path, headers={**browser, "authorization": "Bearer wrong"})
        assert wrong.headers["content-type"] == "application/problem+json"
    of_the_api = await client.get("/v1/corpora", headers=browser)
    assert (of_the_api.status_code, of_the_api.headers["content-type"]) == (401, "application/problem+json")
    assert (await client.post("/nowhere", headers=browser)).headers["content-type"] == "application/problem+json"
    assert (await holder("GET", "/nowhere", headers=browser)).status_code == 404


async def test_a_file_is_kept_for_ever_and_compressed_where_that_is_understood(server: Server) -> None:
    plain = await server.client.get(_script(), headers={"accept-encoding": "br, gzip;q=0"})
    assert plain.status_code == 200
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in plain.headers
    asset = load_assets().files["main.js"]
    assert plain.content == asset.content
    packed = await server.client.get(_script(), headers={"accept-encoding": "br, GZIP;q=0.5"})
    assert packed.content == plain.content
    assert packed.headers.get("content-encoding") == ("gzip" if asset.compressed else None)


def test_each_file_is_of_a_known_type_and_compressed_once() -> None:
    assets = load_assets()
    assert "index.html" not in assets.files
    for name, asset in assets.files.items():
        assert asset.media_type != "application/octet-stream", name
        assert asset.compressed is asset.compressed
        if asset.compressed is not None:
            assert gzip.decompress(asset.compressed) == asset.content


def test_the_hash_is_of_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<script src=/page/-/a.js>")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.js").write_text("1")
    (tmp_path / ".a.js.swp").write_text("an editor's")
    first = Assets.read(tmp_path)
    assert set(first.files) == {"parts/a.js"}
    assert first.index.content == f"<script src=/page/{first.hash}/a.js>".encode()
    (tmp_path / ".a.js.swp").unlink()
    assert Assets.read(tmp_path).hash == first.hash
    (tmp_path / "parts" / "a.js").rename(tmp_path / "parts" / "b.js")
    second = Assets.read(tmp_path)
    (tmp_path / "parts" / "b.js").write_text("2")
    assert len({first.hash, second.hash, Assets.read(tmp_path).hash}) == 3
    (tmp_path / "index.html").unlink()
    with pytest.raises(FileNotFoundError, match=r"no index\.html"):
        Assets.read(tmp_path)


async def test_no_other_file_is_sent_and_none_is_listed_or_written(server: Server) -> None:
    names = (
        "",
        "none.js",
        "index.html",
        "../assets.py",
        "..%2fassets.py",
        "%2e%2e/assets.py",
        "/etc/passwd",
        "main.js/",
    )
    for path in [f"{load_assets().hash}/{name}" for name in names] + [
        f"{hash}/main.js" for hash in ("-", "0" * 16, "..")
    ]:
        answer = await server.client.get(f"/page/{path}", follow_redirects=True)
        assert answer.status_code == 404, path
        assert answer.headers["cache-control"] == "no-store"
    for path in ("/", "/c/people", _script()):
        for method in ("POST", "PUT", "DELETE"):
            assert (await server.client.request(method, path)).status_code == 405


def test_the_open_addresses_lead_to_the_page_alone(server: Server) -> None:
    """What is open by the beginning of its path has no other route below it."""
    below = {route.path for route in all_routes(server) if is_open("GET", route.path)}
    views = {"/", "/sign-in", "/help", "/c/{path:path}", "/page/{hash}/{name:path}"}
    assert below - OPEN_PATHS - SIGN_IN_PATHS == views


async def test_a_link_of_another_site_opens_the_page_and_nothing_else(server: Server) -> None:
    changes = (("mode", "no-cors"), ("dest", "iframe"))
    refused = [{**_LINK, f"sec-fetch-{name}": value} for name, value in changes]
    refused += [{**_LINK, "host": "evil.example"}, {**_LINK, "origin": "https://evil.example"}]
    for path in ("/", "/c/people/documents/0?chunk=1", "/docs"):
        assert (await server.client.get(path, headers=_LINK)).status_code == 200
        for headers in refused:
            assert (await server.client.get(path, headers=headers)).status_code == 403, headers
        assert (await server.client.post(path, headers=_LINK)).status_code == 403
    for data in ("/v1/corpora", "/openapi.json", _script()):
        assert (await server.client.get(data, headers=_LINK)).status_code == 403


async def test_the_page_is_no_page_of_a_frame_and_of_no_other_host(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(hosts=["search.example"]))
    for path in ("/", "/c/people"):
        answer = await server.client.get(path, headers={"host": "search.example"})
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert (await server.client.get(path, headers={"host": "evil.example"})).status_code == 403
