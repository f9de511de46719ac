"""Signing in to the page at an identity provider, which is another site: in, out, and failures in words."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from api.access.issuer import Refusal
from tests.e2e.page import library
from tests.e2e.page.conftest import KEY, LIBRARY, OpenPage
from tests.e2e.page.live import Live, serve, twins
from tests.e2e.page.watch import Watch, assert_accessible
from tests.integration.api.access.issuer import AUDIENCE, CLIENT, Issuer

UNAUTHORIZED = r"status of 401 .*/v1/"
_BUTTON = "Sign in with Example Ltd"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer("localhost") as running:  # for browsers another site than 127.0.0.1
        running.asks = True
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Live]:
    reader = library.make_reader()
    with twins(reader) as settings:
        known = {
            **settings,
            "HOPWEAVE_API__KEYS": f'["{KEY}"]',
            "HOPWEAVE_OIDC__ISSUER": issuer.url,
            "HOPWEAVE_OIDC__AUDIENCE": AUDIENCE,
            "HOPWEAVE_OIDC__CLIENT_ID": CLIENT,
            "HOPWEAVE_OIDC__NAME": "Example Ltd",
        }
        with serve(tmp_path_factory.mktemp("organisation"), known, reader, KEY) as made:
            made.create(LIBRARY)
            of_group = {"key": "ours.txt", "text": "Only for the group a.", "access": ["group:a"]}
            of_others = {"key": "theirs.txt", "text": "Only for the group b.", "access": ["group:b"]}
            made.add(LIBRARY, [of_group, of_others])
            yield made


@pytest.fixture
def page(open_page: OpenPage, server: Live, issuer: Issuer, watch: Watch) -> Page:
    watch.allow(UNAUTHORIZED, f"another host: {issuer.url}")
    return open_page(f"/c/{LIBRARY}/documents", server=server)


def test_a_person_signs_in_and_out_at_the_provider(page: Page, server: Live) -> None:
    button = page.get_by_role("link", name=_BUTTON)
    expect(button).to_be_focused()
    expect(page.get_by_label("Key")).to_be_visible()
    assert_accessible(page, "sign-in with a provider")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Sign in as Anna").click()
    expect(page).to_have_url(f"{server.origin}/c/{LIBRARY}/documents")
    expect(page.locator("main")).to_contain_text("ours.txt")
    expect(page.locator("main")).not_to_contain_text("theirs.txt")
    [cookie] = page.context.cookies(server.origin)
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    page.reload()
    expect(page.locator("main")).to_contain_text("ours.txt")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Signed out of the provider")).to_be_visible()
    assert page.context.cookies(server.origin) == []
    page.goto(f"{server.origin}/c/{LIBRARY}/documents")
    expect(page.get_by_role("link", name=_BUTTON)).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("ours.txt")


def test_who_does_not_agree_is_told(page: Page, server: Live, issuer: Issuer) -> None:
    issuer.denies = "access_denied"
    try:
        page.get_by_role("link", name=_BUTTON).click()
        page.get_by_role("link", name="Sign in as Anna").click()
        expect(page.get_by_role("alert")).to_contain_text("The provider did not sign you in")
    finally:
        issuer.denies = ""
    page.get_by_role("link", name=_BUTTON).click()
    page.get_by_role("link", name="Sign in as Anna").click()
    expect(page).to_have_url(f"{server.origin}/c/{LIBRARY}/documents")


def test_each_failure_has_a_sentence(page: Page, server: Live) -> None:
    said = set()
    for refusal in Refusal:
        page.goto(f"{server.origin}/sign-in?failed={refusal}")
        expect(page.get_by_role("alert")).to_contain_text("You are not signed in.")
        said.add(page.get_by_role("alert").inner_text())
    assert len(said) == len(Refusal)
    page.goto(f"{server.origin}/sign-in?failed=constructor")
    expect(page.get_by_role("link", name=_BUTTON)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_key_signs_in_as_before(page: Page, server: Live) -> None:
    page.get_by_label("Key").fill(KEY)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("main")).to_contain_text("theirs.txt")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Key")).to_be_visible()
    expect(page).to_have_url(f"{server.origin}/sign-in")
