"""Files of one folder: what is within is read, and nothing else, whatever leads there."""

from pathlib import Path

import pytest

from core.documents import Submission
from core.errors import InvalidInput, NotFound
from indexer import Rejection, read_within


@pytest.fixture
def root(tmp_path: Path) -> Path:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder in (outside, root / "more", root / ".private"):
        folder.mkdir(parents=True)
    for path in (outside / "a.txt", root / "b.txt", root / "more" / "c.md", root / ".private" / "d.txt"):
        path.write_text(f"The text of {path.name}.", encoding="utf-8")
    return root


def test_keys_are_paths_in_the_root(root: Path) -> None:
    assert _keys(root, ".") == ["b.txt", "more/c.md"]
    assert _keys(root, "more") == ["more/c.md"]
    assert _keys(root, "more/c.md", "more", str(root / "b.txt")) == ["more/c.md", "b.txt"]


def _keys(root: Path, *paths: str) -> list[str]:
    return [found.key for found in read_within(root, paths) if isinstance(found, Submission)]


@pytest.mark.parametrize(
    "path", ["..", "../outside", "more/../../outside/a.txt", "/", "/etc/passwd", ".private", ".private/d.txt", "a\0"]
)
def test_what_is_outside_or_hidden_is_refused_at_once(root: Path, path: str) -> None:
    with pytest.raises(InvalidInput, match="path"):
        read_within(root, [path])


def test_what_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(NotFound, match=r"no-such\.txt"):
        read_within(root, ["no-such.txt"])


@pytest.mark.parametrize("target", ["../outside", "../outside/a.txt", "/etc", ".private", ".private/d.txt"])
def test_a_link_out_of_the_root_is_not_followed(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    assert _keys(root, ".") == ["b.txt", "more/c.md"]
    assert [one.source for one in read_within(root, ["."]) if isinstance(one, Rejection)] == ["link"]
    with pytest.raises(InvalidInput):
        read_within(root, ["link"])


def test_a_link_within_the_root_is_followed(root: Path) -> None:
    (root / "other.txt").symlink_to("more/c.md")
    (root / "circle").symlink_to("circle")
    assert _keys(root, "other.txt") == ["more/c.md"]
    assert _keys(root, ".") == ["b.txt", "more/c.md"]


def test_the_root_may_itself_be_a_link_or_hidden(root: Path) -> None:
    link = root.parent / ".hidden-link"
    link.symlink_to(root)
    assert _keys(link, ".") == ["b.txt", "more/c.md"]
