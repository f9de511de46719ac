"""The session over plain HTTP under a name, as in a local network: browsers send no `Sec-Fetch-Site` there."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.browser import FLAGS
from tests.e2e.page.conftest import KEY, LIBRARY, PATIENCE_MS
from tests.e2e.page.foreign import ForeignSite
from tests.e2e.page.live import Live

_HOST = "hopweave.test"
_RULES = f"--host-resolver-rules=MAP {_HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


@pytest.fixture
def named(chromium: Browser) -> Iterator[Page]:
    """A page of a browser that finds this machine under a name."""
    browser = chromium.browser_type.launch(executable_path="/usr/bin/chromium", args=[*FLAGS, _RULES])
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    browser.close()


def _under_name(origin: str) -> str:
    return f"http://{_HOST}:{urlsplit(origin).port}"


def test_the_session_holds_for_the_page_and_not_for_another_port(named: Page, locked: Live) -> None:
    asked: list[Request] = []

    def keep(request: Request) -> None:
        asked.append(request)

    named.on("request", keep)
    origin = _under_name(locked.origin)
    named.goto(f"{origin}/c/{LIBRARY}/documents")
    named.get_by_label("Key").fill(KEY)
    named.get_by_role("button", name="Sign in").click()
    expect(named.locator("main")).to_contain_text("Teachers")
    sent = [one.all_headers() for one in asked if "/v1/" in one.url]
    assert sent
    assert not [headers for headers in sent if "sec-fetch-site" in headers], "the browser says nothing of the site"

    with ForeignSite() as foreign:
        named.goto(_under_name(foreign.origin))
        cookies = named.context.cookies(origin)
        assert [one["name"] for one in cookies] == ["hopweave_session"]
        read = """async ([address, options]) => {
            try { return await (await fetch(address, {credentials: 'include', ...options})).text() }
            catch { return 'refused' }
        }"""
        for options in ({}, {"method": "DELETE"}, {"method": "POST", "body": "{}"}, {"referrerPolicy": "unsafe-url"}):
            assert named.evaluate(read, [f"{origin}/v1/corpora/{LIBRARY}", options]) == "refused"
        assert named.evaluate(read, [f"{origin}/v1/corpora", {"mode": "no-cors"}]) == "refused"
        named.evaluate("address => { location = address }", f"{origin}/v1/corpora")
        # Without the cookie, the server would say that no key was shown.
        expect(named.locator("body")).to_contain_text("a session is for the web page of this server")
    named.goto(f"{origin}/c/{LIBRARY}/documents")
    expect(named.locator("main")).to_contain_text("Teachers")
