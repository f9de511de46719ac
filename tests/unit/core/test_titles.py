"""The names that a chunk's title and heading are, and what preparation writes of its words."""

import pytest

from core.ids import entity_id
from core.text.titles import title_names


@pytest.mark.parametrize(
    ("title", "heading", "names"),
    [
        ("Mercury (planet)", (), ["mercury"]),
        ("Mercury", ("Orbit", "Speed of  Light (1905)"), ["mercury", "speed of light"]),
        ("Mercury", ("MERCURY (again)",), ["mercury"]),
        ("", ("Orbit",), ["orbit"]),
        (" ", ("",), []),
        ("Mercury", ("Orbit", ""), ["mercury"]),
        ("北京大学", ("C++ › C",), ["北京大学", "c++ › c"]),
    ],
)
def test_title_names(title: str, heading: tuple[str, ...], names: list[str]) -> None:
    assert title_names(title, heading) == tuple(map(entity_id, names))
