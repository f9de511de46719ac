"""The frame of every view: navigation, corpus, colours, and what it says of a wrong address."""

import re

from playwright.sync_api import expect

from tests.e2e.page.conftest import LIBRARY, WIDTHS, OpenPage
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch, assert_accessible


def test_a_wrong_address_says_so(open_page: OpenPage) -> None:
    page = open_page("/c/library/nothing/here/at/all", width=360)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="To the corpora").click()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_role("link", name=LIBRARY)).to_be_visible()


def test_help_and_every_section_are_at_hand_in_every_view(open_page: OpenPage) -> None:
    page = open_page(f"/c/{LIBRARY}/search", width=360)
    expect(page.get_by_role("heading", name="Search", exact=True)).to_be_attached()
    page.wait_for_load_state("networkidle")  # a view at rest has no request open
    links = page.get_by_role("navigation", name="Corpus").get_by_role("link")
    for width in (320, 360, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        expect(links).to_have_count(6)
        for link in links.all():
            box = link.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert link.evaluate("one => one.scrollWidth <= one.clientWidth"), "its name is cut"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Help").click()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_focused()
    expect(page.get_by_role("main")).to_contain_text("Arrow keys")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
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
