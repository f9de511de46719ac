"""That the watch and axe-core find what they are there for, under the policy of the page."""

import pytest

from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.watch import Watch, assert_accessible, longest_block

_ADD_BAD_BUTTON = """
() => {
    const button = document.createElement('button');
    document.querySelector('main').append(button);
}
"""
_ADD_FOREIGN_IMAGE = """
() => {
    const image = document.createElement('img');
    image.alt = 'foreign';
    image.src = 'http://evil.invalid/a.png';
    document.body.append(image);
    setTimeout(() => { throw new Error('broken') });
}
"""


def test_axe_core_finds_a_button_without_a_name_and_a_long_block_is_measured(open_page: OpenPage) -> None:
    page = open_page()
    page.wait_for_selector("h1")
    with longest_block(page) as block:
        page.evaluate("setTimeout(() => { const end = performance.now() + 150; while (performance.now() < end); })")
        page.wait_for_timeout(200)
    assert block.milliseconds >= 150
    page.evaluate("document.querySelector('main').style.minWidth = '2000px'")
    with pytest.raises(AssertionError, match="is too wide"):
        assert_accessible(page)
    page.evaluate(_ADD_BAD_BUTTON)
    with pytest.raises(AssertionError, match="critical button-name"):
        assert_accessible(page)


def test_errors_and_other_hosts_are_found(open_page: OpenPage, watch: Watch) -> None:
    page = open_page()
    page.wait_for_selector("h1")
    page.evaluate(_ADD_FOREIGN_IMAGE)
    page.wait_for_timeout(300)
    with pytest.raises(AssertionError) as found:
        watch.check()
    assert "Content Security Policy" in str(found.value)
    assert "broken" in str(found.value)
    with pytest.raises(AssertionError, match="became an element"):
        watch.check_pages(page.context)
    page.get_by_alt_text("foreign").evaluate("one => one.remove()")
    watch.allow("Content Security Policy", "broken", "evil.invalid")
