"""Front matter of Markdown as metadata."""

import pytest

from core.documents import LOADER_NOTES
from indexer.loaders.md import read_front_matter
from indexer.selection.loaders import loader_for
from testing.contracts.loader import source_of


def test_yaml_with_dates_as_they_can_be_compared() -> None:
    text = (
        "---\ntitle: Köln\nyear: 2024\ndate: 2024-05-01\nupdated: 2024-05-01T10:00:00Z\ntags: [a, 'b']\ndraft: no\n"
        "author:\n  name: Ada\nnothing:\n---\nText."
    )
    front = read_front_matter(text)
    days = {"date": "2024-05-01", "updated": "2024-05-01T10:00:00+00:00"}
    others = {"tags": ["a", "b"], "draft": False, "author": {"name": "Ada"}, "nothing": None}
    assert front.fields == {"title": "Köln", "year": 2024, **days, **others}
    assert text[front.end :] == "Text."


def test_a_day_that_the_calendar_has_not_is_a_text_beside_the_other_fields() -> None:
    found = read_front_matter("---\nvalid_from: 2024-13-45\nauthority: board\n---\nText.\n")
    assert found.fields == {"valid_from": "2024-13-45", "authority": "board"}


def test_toml() -> None:
    text = '+++\ntitle = "Köln"\ndate = 2024-05-01\nat = 10:30:00\n[extra]\nn = 1.5\n+++\r\nText.'
    front = read_front_matter(text)
    assert front.fields == {"title": "Köln", "date": "2024-05-01", "at": "10:30:00", "extra": {"n": 1.5}}
    assert text[front.end :] == "Text."


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + chr(ord(name) - 1)] * 9)}]\n" for name in "bcdefghij"
)


CALL = "a: !!python/object/apply:os.system ['true']"


@pytest.mark.parametrize("inner", ["title: one: two", "a: [1, 2", BOMB, "a: " + "[" * 1500, CALL, 'a: "\\ud800"'])
def test_what_cannot_be_parsed_remains_text_with_a_note(inner: str) -> None:
    text = f"---\n{inner}\n---\n# T\n\nText."
    document = loader_for("text/markdown").load(source_of(text.encode()))
    [note] = document.metadata[LOADER_NOTES]
    assert note.startswith("the front matter is read as text: it is no valid YAML (")
    assert document.blocks[0].text.startswith("---")


@pytest.mark.parametrize("text", ["---\n\nA rule.\n\n---\n", "---\nkey: value\n", "--- \n- a\n---\n", "", "+++\n"])
def test_what_only_looks_like_it(text: str) -> None:
    front = read_front_matter(text)
    assert (front.fields, front.end, front.note) == ({}, 0, "")


def test_values_that_json_does_not_have_are_strings() -> None:
    front = read_front_matter("---\na: .nan\nb: !!binary aGk=\nc: !!set {x, y}\n1: one\nd: 99999999999999999999\n---\n")
    assert front.fields == {"a": "nan", "b": "hi", "c": ["x", "y"], "1": "one", "d": "99999999999999999999"}


def test_the_title_and_an_option_to_leave_it() -> None:
    text = b"---\ntitle: From the front\n---\n# Heading\n\nText."
    document = loader_for("text/markdown").load(source_of(text))
    assert (document.title, document.blocks[0].heading) == ("From the front", ("Heading",))
    assert loader_for("text/markdown").load(source_of(text, title="Given")).title == "Given"
