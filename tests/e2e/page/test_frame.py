"""The frame of every view: navigation, corpus, colours, and what it says of a wrong address."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.page.conftest import LIBRARY, WIDTHS, OpenPage
from tests.e2e.page.watch import assert_accessible


@pytest.mark.parametrize("width", WIDTHS)
def test_a_wrong_address_says_so(open_page: OpenPage, width: int) -> None:
    page = open_page("/c/library/nothing/here/at/all", width=width)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="To the corpora").click()
    expect(page).to_have_url(re.compile("/$"))
    expect(page.get_by_role("link", name=LIBRARY)).to_be_visible()
