"""Drafts of files: whole or absent, and without what killed processes left. The Python API has a class of its own."""

import fcntl
from pathlib import Path

import pytest

from core.execution import files
from core.execution.files import Draft, delete_abandoned
from hopweave import _transfer

LEFT, HELD = ".hopweave-0123abcd.part", ".hopweave-4567cdef.part"
FOREIGN = [".hopweave-settings.part", "hopweave-0123abcd.part", ".video.0123abcd.part"]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_draft_replaces_the_file_when_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with Draft(path) as draft:
        draft.file.write(b"new")
        assert path.read_bytes() == b"old"
        draft.keep()
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == {"file"}


def test_a_draft_that_is_not_kept_is_deleted(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"), Draft(tmp_path / "file"):
        raise ValueError("no")
    assert names_in(tmp_path) == set()


@pytest.mark.parametrize("kind", [Draft, _transfer.Draft])
def test_drafts_of_killed_processes_are_deleted_and_no_others(
    tmp_path: Path, kind: type[Draft] | type[_transfer.Draft]
) -> None:
    for name in (LEFT, HELD, *FOREIGN):
        (tmp_path / name).touch()
    (tmp_path / ".hopweave-89abcdef.part").symlink_to(tmp_path / FOREIGN[0])
    with (tmp_path / HELD).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with kind(tmp_path / "one"), Draft(tmp_path / "two"), _transfer.Draft(tmp_path / "three"):
            assert len(list(tmp_path.glob(".hopweave-????????.part"))) >= 1 + 3
    assert {HELD, *FOREIGN} <= names_in(tmp_path)
    assert LEFT not in names_in(tmp_path)


def test_a_draft_that_another_process_takes_for_abandoned_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its creation and its lock, it has none."""
    flock, deleted = fcntl.flock, list[Path]()

    def delete_first(file: int, operation: int) -> None:
        if not deleted:
            deleted.extend(tmp_path.glob(".hopweave-*.part"))
            deleted[0].unlink()
        flock(file, operation)

    monkeypatch.setattr(files.fcntl, "flock", delete_first)
    with Draft(tmp_path / "file") as draft:
        draft.file.write(b"new")
        draft.keep()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(deleted) == 1


def test_without_locks_nothing_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / LEFT).touch()

    def refuse(_file: int, _operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    delete_abandoned(tmp_path)
    with Draft(tmp_path / "file") as draft:
        draft.keep()
    assert names_in(tmp_path) == {LEFT, "file"}
