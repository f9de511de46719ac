"""The session of the page: signing in and out, what the browser keeps, and what foreign pages can do with it."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page.conftest import KEY, LIBRARY, OpenPage
from tests.e2e.page.foreign import ForeignSite
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch

UNAUTHORIZED = r"status of 401 .*/v1/"


@pytest.fixture
def signed_in(open_page: OpenPage, locked: Live, watch: Watch) -> Page:
    """A page whose reader typed the key."""
    watch.allow(UNAUTHORIZED)
    page = open_page(f"/c/{LIBRARY}", server=locked)
    _sign_in(page, KEY)
    expect(page).to_have_url(f"{locked.origin}/c/{LIBRARY}")
    return page


def _sign_in(page: Page, key: str) -> None:
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def _kept_by(page: Page) -> str:
    """All that the browser keeps and scripts may read."""
    kept: str = page.evaluate(
        """async () => JSON.stringify([
            {...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state, document.referrer,
            (await indexedDB.databases()).map(one => one.name), await caches.keys(), window.name,
        ])"""
    )
    return kept


def test_a_key_becomes_a_session_that_scripts_cannot_read_until_it_signs_out(
    signed_in: Page, locked: Live, watch: Watch
) -> None:
    (cookie,) = [one for one in signed_in.context.cookies() if "session" in one["name"]]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert cookie["path"] == "/"
    assert KEY not in cookie["value"]
    assert cookie["value"] not in _kept_by(signed_in)
    assert KEY not in _kept_by(signed_in)
    assert not [one for one in watch.addresses if KEY in one]
    assert KEY not in locked.log
    assert signed_in.evaluate("() => Object.keys(localStorage)") == []
    signed_in.get_by_role("button", name="Sign out").click()
    expect(signed_in.get_by_label("Key")).to_be_visible()
    assert signed_in.context.cookies() == []
    signed_in.go_back()
    expect(signed_in.get_by_label("Key")).to_be_visible()
    signed_in.goto(f"/c/{LIBRARY}/documents")
    expect(signed_in.get_by_label("Key")).to_be_visible()


def test_a_wrong_key_is_refused_in_words_and_a_key_leads_to_addresses_of_this_page_only(
    open_page: OpenPage, locked: Live, watch: Watch
) -> None:
    """A session is for the page's own requests, so the server refuses an unknown address itself also afterwards."""
    watch.allow(UNAUTHORIZED, r"status of 401 .*/(metrics|nowhere)")
    page = open_page("/", server=locked)
    expect(page).to_have_url(re.compile("/sign-in"))
    expect(page.get_by_label("Key")).to_be_focused()
    _sign_in(page, "hw_" + "0" * 40)
    expect(page.get_by_role("alert")).to_contain_text("key")
    assert page.context.cookies() == []
    expect(page.get_by_label("Key")).to_be_visible()
    for next in ("https://evil.invalid/", "//evil.invalid/", "/\\evil.invalid", "javascript:owned=1"):
        page.goto(f"/sign-in?next={quote(next, safe='')}")
        _sign_in(page, KEY)
        expect(page).to_have_url(f"{locked.origin}/")
        page.context.clear_cookies()
    for path in ("/nowhere?a=b", "/metrics"):
        page.goto(path)
        _sign_in(page, KEY)
        expect(page).to_have_url(f"{locked.origin}{path}")
        expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
        page.get_by_role("link", name="To the corpora").click()
        expect(page.get_by_role("link", name=LIBRARY, exact=True)).to_be_visible()
        page.context.clear_cookies()


def test_a_revoked_key_ends_an_open_page(open_page: OpenPage, locked: Live, watch: Watch) -> None:
    watch.allow(UNAUTHORIZED, "ERR_INCOMPLETE_CHUNKED", "ERR_ABORTED")
    created = locked.run("keys", "create", "of a guest", "--scope", "read")
    key = created.stdout.split()[0]
    page = open_page(f"/c/{LIBRARY}/documents", server=locked)
    _sign_in(page, key)
    expect(page.locator("main")).to_contain_text("Teachers")
    locked.run("keys", "revoke", key.removeprefix("hw_")[:12])
    locked.wait_until_refused(key)
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_label("Key")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("Teachers")


# --- foreign pages ---


@pytest.fixture
def foreign() -> Iterator[ForeignSite]:
    with ForeignSite() as site:
        yield site


def test_a_link_of_a_foreign_page_opens_the_page(
    signed_in: Page, locked: Live, foreign: ForeignSite, watch: Watch
) -> None:
    """As from a mail or a wiki: the document comes without the cookie, and its own requests with it."""
    watch.allow(f"another host: {re.escape(foreign.origin)}")
    foreign.html = f'<a href="{locked.origin}/c/{LIBRARY}/documents">documents</a>'
    signed_in.goto(foreign.origin)
    signed_in.get_by_role("link", name="documents").click()
    expect(signed_in).to_have_url(f"{locked.origin}/c/{LIBRARY}/documents")
    expect(signed_in.locator("main")).to_contain_text("Teachers")


def test_a_link_of_a_foreign_page_opens_a_server_without_keys(
    open_page: OpenPage, live: Live, foreign: ForeignSite, watch: Watch
) -> None:
    watch.allow(f"another host: {re.escape(foreign.origin)}")
    foreign.html = f'<a href="{live.origin}/c/{LIBRARY}/documents">documents</a>'
    page = open_page("/")
    page.goto(foreign.origin)
    page.get_by_role("link", name="documents").click()
    expect(page.locator("main")).to_contain_text("Teachers")


@pytest.mark.parametrize("with_key", [True, False], ids=["with a key", "without keys"])
def test_a_foreign_page_can_do_nothing_with_the_session(
    request: pytest.FixtureRequest, open_page: OpenPage, foreign: ForeignSite, watch: Watch, with_key: bool
) -> None:
    """Reads, writes, forms and frames: the answers are refusals, and nothing has changed."""
    server: Live = request.getfixturevalue("locked" if with_key else "live")
    page: Page = request.getfixturevalue("signed_in") if with_key else open_page("/")
    watch.allow(re.escape(foreign.origin), "CORS policy", "net::ERR_FAILED", "status of 40[13]", "frame-ancestors")
    watch.allow("ERR_BLOCKED")
    before = server.get("/v1/corpora")
    foreign.html = f"""
        <form method=post action="{server.origin}/v1/corpora" enctype="text/plain">
          <input name='{{"name": "foreign", "x": "' value='"}}'><button>send</button>
        </form>
        <iframe src="{server.origin}/"></iframe>"""
    page.goto(foreign.origin)
    told = page.evaluate(
        """async origin => {
            const said = [];
            for (const [path, options] of [
                ['/v1/corpora', {}],
                ['/v1/session', {}],
                ['/v1/corpora', {method: 'POST', body: '{"name": "foreign"}'}],
                ['/v1/corpora/library', {method: 'DELETE'}],
                ['/v1/session', {method: 'DELETE'}],
            ]) {
                try {
                    const response = await fetch(origin + path, {credentials: 'include', ...options});
                    said.push(await response.text());
                } catch {
                    said.push('refused');
                }
            }
            return said;
        }""",
        server.origin,
    )
    assert told == ["refused"] * 5
    assert page.frame_locator("iframe").get_by_role("heading").count() == 0
    page.get_by_role("button", name="send").click()
    expect(page.locator("body")).to_contain_text(re.compile("40[13]"))
    assert server.get("/v1/corpora") == before
    page.goto(f"{server.origin}/c/{LIBRARY}/documents")
    expect(page.locator("main")).to_contain_text("Teachers")
