"""What has changed in a folder since the last comparison: which files are read, and which documents are gone."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.documents import Submission
from indexer import Comparison, Rejection, Selection, Tracker

LONG_AGO = 1_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "folder"


def write(path: Path, text: str, *, age: float | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if age is not None:
        os.utime(path, (age, age))


def track(*paths: Path, quiet: float = 0.0, **options: object) -> Tracker:
    return Tracker(paths, Selection(**options), quiet_seconds=quiet)


def take(tracker: Tracker) -> tuple[list[str], list[str], Comparison]:
    """Carries out a comparison: the keys that are read, those that are gone, and the comparison."""
    comparison = tracker.compare()
    read = [one.key for one in comparison.read(with_given=False) if isinstance(one, Submission)]
    gone = sorted(comparison.lost_keys)
    tracker.accept(comparison)
    return read, gone, comparison


def test_only_what_has_changed_is_read(folder: Path) -> None:
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        write(folder / name, name)
    tracker = track(folder)
    read, gone, first = take(tracker)
    assert (read, gone, first.is_first, first.is_complete) == (["a.txt", "b.txt", "sub/c.txt"], [], True, True)
    again = tracker.compare()
    assert (again.has_changes, again.is_first) == (False, False)
    write(folder / "b.txt", "changed")
    write(folder / "new.txt", "new")
    (folder / "a.txt").unlink()
    assert take(tracker)[:2] == (["b.txt", "new.txt"], ["a.txt"])
    (folder / "sub").rename(folder / "moved")
    assert take(tracker)[:2] == (["moved/c.txt"], ["sub/c.txt"])
    (folder / "moved").rename(folder.with_name("away"))
    assert take(tracker)[:2] == ([], ["moved/c.txt"])


def test_what_is_not_accepted_is_found_again(folder: Path) -> None:
    write(folder / "a.txt", "a")
    tracker = track(folder)
    lost = tracker.compare()
    assert len(list(lost.read(with_given=False))) == 1
    assert take(tracker)[0] == ["a.txt"]
    tracker.forget()
    assert take(tracker)[0] == ["a.txt"]


def test_a_file_that_is_being_written_waits(folder: Path) -> None:
    write(folder / "whole.txt", "whole")
    tracker = track(folder, quiet=10_000.0)
    comparison = tracker.compare()
    assert (comparison.has_changes, comparison.is_waiting, comparison.is_complete) == (False, True, False)
    assert comparison.keys == {"whole.txt"}, "its document is not gone"
    tracker.quiet_seconds = 0.0
    assert take(tracker)[0] == ["whole.txt"]


def test_a_file_that_changes_while_it_is_read_is_left_for_later(folder: Path) -> None:
    write(folder / "a.txt", "before")
    tracker = track(folder)
    comparison = tracker.compare()
    write(folder / "a.txt", "half of what")
    assert list(comparison.read(with_given=False)) == []
    assert comparison.is_waiting
    assert comparison.lost_keys == set()
    tracker.accept(comparison)
    read = [one.content for one in tracker.compare().read(with_given=False) if isinstance(one, Submission)]
    assert read == [b"half of what"]


def test_gitignore_and_patterns(folder: Path) -> None:
    for name in ("a.txt", "b.md", "drafts/c.txt"):
        write(folder / name, name)
    tracker = track(folder, include=("*.txt",))
    assert take(tracker)[0] == ["a.txt", "drafts/c.txt"]
    write(folder / ".gitignore", "drafts/\n")
    assert take(tracker)[:2] == ([], ["drafts/c.txt"])
    (folder / ".gitignore").unlink()
    assert take(tracker)[:2] == (["drafts/c.txt"], [])


def test_what_cannot_be_reached_is_kept(folder: Path) -> None:
    for name in ("a.txt", "sub/b.txt", "sub/deep/c.txt"):
        write(folder / name, name)
    tracker = track(folder)
    take(tracker)
    folder.rename(folder.with_name("away"))
    read, gone, away = take(tracker)
    assert (read, gone, away.has_changes) == ([], [], False)
    assert [one.reason for one in away.obstacles] == ["it is gone; its documents are kept, in case it comes back"]
    folder.with_name("away").rename(folder)
    read, gone, back = take(tracker)
    assert (read, gone, back.obstacles) == ([], [], ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_keeps_its_documents(folder: Path) -> None:
    for name in ("a.txt", "sub/deep/c.txt"):
        write(folder / name, name)
    tracker = track(folder)
    take(tracker)
    (folder / "sub").chmod(0)
    (folder / "a.txt").unlink()
    try:
        read, gone, hidden = take(tracker)
    finally:
        (folder / "sub").chmod(0o755)
    assert (read, gone, len(hidden.obstacles)) == ([], ["a.txt"], 1)


def _on_another_device(moved: Path) -> Callable[..., os.stat_result]:
    """Returns a `Path.stat` by which one folder is on another device than it was."""
    stat = Path.stat

    def stat_one(path: Path, **options: bool) -> os.stat_result:
        found = stat(path, **options)
        return found if path != moved else os.stat_result([*found[:2], found.st_dev + 1, *found[3:]])

    return stat_one


def test_a_file_system_that_is_not_mounted_any_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is on another device then, and empty."""
    for name in ("a.txt", "mount/b.txt"):
        write(folder / name, name)
    tracker = track(folder)
    take(tracker)
    (folder / "mount" / "b.txt").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", _on_another_device(folder / "mount"))
        read, gone, away = take(tracker)
        assert (read, gone) == ([], [])
        reasons = [one.reason for one in away.obstacles]
        assert reasons == ["its file system is no longer mounted; its documents are kept"]
    assert take(tracker)[1] == ["mount/b.txt"], "on the same device, it is really gone"


def test_an_empty_folder_hides_documents_only_at_first(folder: Path) -> None:
    folder.mkdir()
    tracker = track(folder)
    first = take(tracker)[2]
    assert (first.is_complete, len(first.obstacles)) == (False, 1)
    write(folder / "a.txt", "a")
    read, _, second = take(tracker)
    assert (read, second.is_first, second.is_complete) == (["a.txt"], True, True)
    (folder / "a.txt").unlink()
    _, gone, third = take(tracker)
    assert (gone, third.obstacles) == (["a.txt"], ())


def test_a_link_that_leads_nowhere_keeps_what_was_behind_it(folder: Path) -> None:
    write(folder / "a.txt", "a")
    write(folder.with_name("elsewhere") / "b.txt", "b")
    (folder / "link").symlink_to(folder.with_name("elsewhere"))
    tracker = track(folder, follow_links=True)
    assert take(tracker)[0] == ["a.txt", "link/b.txt"]
    folder.with_name("elsewhere").rename(folder.with_name("away"))
    assert take(tracker)[1] == []
    folder.with_name("away").rename(folder.with_name("elsewhere"))
    assert take(tracker)[:2] == ([], ["link"]), "the key of the broken link, which no document has"


def test_a_key_passes_to_another_file(folder: Path) -> None:
    lines = [json.dumps({"id": "a.txt", "text": "in a list"}), json.dumps({"id": "x", "text": "X"})]
    write(folder / "a.txt", "the file")
    write(folder / "more.jsonl", "\n".join(lines))
    tracker = track(folder)
    comparison = tracker.compare()
    found = list(comparison.read(with_given=False))
    tracker.accept(comparison)
    [refused] = [one for one in found if isinstance(one, Rejection)]
    assert refused.reason.startswith("key 'a.txt' was taken already by a.txt")
    (folder / "a.txt").unlink()
    read, gone, _ = take(tracker)
    assert (sorted(read), gone) == (["a.txt", "x"], [])
    write(folder / "more.jsonl", lines[1])
    assert take(tracker)[:2] == (["x"], ["a.txt"])


def test_a_file_that_is_rejected_keeps_its_document(folder: Path) -> None:
    write(folder / "a.json", '{"text": "A"}')
    tracker = track(folder)
    take(tracker)
    write(folder / "a.json", '{"text": ')
    read, gone, _ = take(tracker)
    assert (read, gone) == ([], [])


def test_a_single_file(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "a", age=LONG_AGO)
    tracker = track(tmp_path / "a.txt")
    assert take(tracker)[0] == ["a.txt"]
    write(tmp_path / "new.txt", "new")
    os.replace(tmp_path / "new.txt", tmp_path / "a.txt")  # noqa: PTH105 - as an editor writes a file
    assert take(tracker)[:2] == (["a.txt"], [])


def test_a_comparison_takes_linear_time(folder: Path) -> None:
    """It took minutes for this many files when it made a set of all for each."""
    folder.mkdir()
    for number in range(1000):
        (folder / f"{number}.txt").touch()
    tracker = track(folder)
    comparison = tracker.compare()
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:  # noqa: ARG001 - as `setprofile` calls it
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        tracker.compare()
    finally:
        sys.setprofile(None)
    assert len(list(comparison.read(with_given=False))) == 1000
    assert calls < 1000 * 200


def test_a_folder_that_became_a_file_keeps_its_documents(folder: Path) -> None:
    write(folder / "a.txt", "a")
    tracker = track(folder)
    take(tracker)
    folder.rename(folder.with_name("away"))
    folder.write_text("hi")
    read, gone, comparison = take(tracker)
    assert (read, gone) == ([], [])
    assert "was a folder and is a file now" in comparison.obstacles[0].reason
    folder.unlink()
    folder.with_name("away").rename(folder)
    assert take(tracker)[:2] == ([], [])
    (folder / "a.txt").unlink()
    assert take(tracker)[:2] == ([], ["a.txt"])


def test_another_folder_without_documents_keeps_those_of_the_first(folder: Path) -> None:
    write(folder / "a.txt", "a")
    tracker = track(folder)
    take(tracker)
    folder.rename(folder.with_name("away"))
    folder.mkdir()
    for _ in range(2):
        _, gone, comparison = take(tracker)
        assert gone == []
        assert "is another folder now" in comparison.obstacles[0].reason
    write(folder / "b.txt", "b")
    assert take(tracker)[:2] == (["b.txt"], ["a.txt"]), "the folder was replaced by one that has documents"
    (folder / "b.txt").unlink()
    assert take(tracker)[:2] == ([], ["b.txt"]), "the same folder was emptied"


def test_a_file_in_a_mount_point_does_not_delete_what_was_mounted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "mount/b.txt", "b")
    tracker = track(folder)
    take(tracker)
    (folder / "mount/b.txt").unlink()
    write(folder / "mount/README.txt", "nothing is mounted here")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", _on_another_device(folder / "mount"))
        read, gone, comparison = take(tracker)
    assert (read, gone) == (["mount/README.txt"], [])
    assert "no longer mounted" in comparison.obstacles[0].reason
