"""The pictures of the page in the documentation: each can be drawn, and the same ones are shown."""

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser

from tests.e2e.page import pictures

pytestmark = pytest.mark.slow

_MOST_BYTES = 150_000


def test_the_pictures_are_those_of_the_page(chromium: Browser, tmp_path: Path) -> None:
    """Times and the places of a drawn graph differ from one run to the next, so the pictures are not compared."""
    with pictures.serving(tmp_path) as live:
        drawn = {file.name: _read_size(file) for file in pictures.draw(chromium, live, tmp_path)}
    shown = {file.name: _read_size(file) for file in pictures.FOLDER.glob("page-*.png")}
    assert shown == drawn, "`make pictures` draws them again"
    large = {file.name for file in pictures.FOLDER.glob("page-*.png") if file.stat().st_size > _MOST_BYTES}
    assert not large


def _read_size(file: Path) -> tuple[int, int]:
    with Image.open(file) as image:
        return image.size
