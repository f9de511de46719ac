"""The frame of every view: navigation, corpus, colours, and what it says of a wrong address."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.page.conftest import LIBRARY, WIDTHS, OpenPage
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch, assert_accessible


@pytest.mark.parametrize("width", WIDTHS)
def test_a_wrong_address_says_so(open_page: OpenPage, width: int) -> None:
    page = open_page("/c/library/nothing/here/at/all", width=width)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="To the corpora").click()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_role("link", name=LIBRARY)).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_help_is_at_hand_in_every_view(open_page: OpenPage, width: int) -> None:
    page = open_page(f"/c/{LIBRARY}/search", width=width)
    expect(page.get_by_role("heading", name="Search", exact=True)).to_be_attached()
    page.get_by_role("link", name="Help").click()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_focused()
    expect(page.get_by_role("main")).to_contain_text("Arrow keys")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)
    page.get_by_role("link", name="The HTTP API").click()
    expect(page.get_by_role("heading", name=re.compile("^Hopweave"))).to_be_visible()
    page.go_back()
    page.get_by_role("main").get_by_role("link", name="Graph").click()
    expect(page).to_have_url(re.compile(f"/c/{LIBRARY}/graph"))


def test_help_needs_no_key(open_page: OpenPage, locked: Live, watch: Watch) -> None:
    watch.allow("status of 401 .*/v1/session")
    page = open_page("/help", server=locked)
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_every_section_is_in_sight(open_page: OpenPage, width: int) -> None:
    page = open_page(f"/c/{LIBRARY}/jobs", width=width)
    links = page.get_by_role("navigation", name="Corpus").get_by_role("link")
    expect(links).to_have_count(6)
    for link in links.all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert link.evaluate("one => one.scrollWidth <= one.clientWidth"), "its name is cut"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
