"""The names that a chunk's title and heading are, and what preparation writes of its words."""

import pytest

from core.ids import entity_id
from core.text.titles import stem_of, title_names


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


@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("reports/2024 summary.md", "2024 summary"),
        ("https://host.example/DBT%20Mutual%20NDA.pdf", "DBT Mutual NDA"),
        ("%E5%8C%97%E4%BA%AC.html", "北京"),
        ("100% sure.md", "100% sure"),
        ("20%ff.md", "20%ff"),
        ("a%00b%0A.md", "a%00b%0A"),
        ("%20.md", "%20"),
    ],
)
def test_the_title_of_a_key_is_read_as_in_an_address(key: str, title: str) -> None:
    assert stem_of(key) == title
