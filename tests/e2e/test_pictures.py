"""The pictures of the terminal in the documentation show what the commands show."""

from xml.etree import ElementTree as ET

import pytest

from tests.docs.pages import pages
from tests.docs.running.pictures import PICTURES, Picture, read_words, take_pictures

pytestmark = pytest.mark.slow


def test_the_pictures_are_up_to_date_but_for_figures() -> None:
    for picture, svg in take_pictures():
        assert read_words(picture.file.read_text("utf-8")) == read_words(svg), "run `make pictures`"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_shown_and_fetches_nothing(picture: Picture) -> None:
    assert any(f"{picture.file.name})" in text for text in pages().values())
    svg = picture.file.read_text("utf-8")
    ET.fromstring(svg)  # noqa: S314 - our own
    assert svg.count("://") == svg.count("http://www.w3.org/2000/svg")
