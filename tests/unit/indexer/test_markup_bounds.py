"""HTML is bounded before it is parsed: the text of what is left out stays."""

import re

import pytest

from indexer.loading.texts.html_text import DEEPEST, LONGEST_TAG, bound_markup


def test_honest_markup_is_unchanged() -> None:
    markup = (
        "<!DOCTYPE html><html><head><title>a</title><script>if (a<b) x = '<div><div>'</script></head><body>"
        "<p>one<p>two<ul><li>three<li>four</ul><!-- <div> --><table><tr><td>five</table><br/>6 < 7 <b>eight</b>"
    )
    assert bound_markup(markup) == markup


def test_elements_that_are_too_deep_are_left_out_with_their_end_tags() -> None:
    bounded = bound_markup("<div>" * (DEEPEST + 3) + "text" + "</div>" * (DEEPEST + 3) + "<div>after</div>")
    assert bounded.count("<div>") == DEEPEST + 1, "the last one begins when all others have ended"
    assert bounded.count("</div>") == DEEPEST + 1
    assert re.sub(r"<[^>]*>|\s", "", bounded) == "textafter"


def test_the_attributes_of_a_tag_that_is_too_long_are_left_out() -> None:
    image = f'<img src="data:{"x" * LONGEST_TAG}">'
    assert bound_markup(f"a{image}b") == "a<img>b"
    assert bound_markup('a<img src="data:x">b') == 'a<img src="data:x">b'


@pytest.mark.parametrize("unclosed", ["p", "li", "td", "a", "option", "br", "dd"])
def test_elements_that_end_by_themselves_are_not_counted(unclosed: str) -> None:
    markup = f"<{unclosed}>x" * (DEEPEST * 3)
    assert bound_markup(markup) == markup


@pytest.mark.parametrize("markup", ["<div " * 3, "<!-- ", "<script><div>", "<", "</", "<a", "</div></div><div>"])
def test_what_never_ends_is_unchanged(markup: str) -> None:
    assert bound_markup(markup) == markup
