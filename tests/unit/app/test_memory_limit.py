"""The memory of the container, and what the doctor says of a parser that may take too much of it."""

from pathlib import Path

import pytest

from app.doctor.installation import examine_settings, find_memory_limit
from core.settings import Settings

_MB = 1024 * 1024


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
@pytest.mark.parametrize(("said", "limit"), [("536870912", 512 * _MB), ("max", None), ("9223372036854771712", None)])
def test_the_limit_of_both_versions_of_control_groups_is_read(
    tmp_path: Path, name: str, said: str, limit: int | None
) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / name).write_text(f"{said}\n", "ascii")
    assert find_memory_limit(tmp_path) == limit


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert find_memory_limit(tmp_path) is None


@pytest.mark.parametrize(("allowed", "warns"), [(1024 * _MB, True), (4096 * _MB, False), (None, False)])
def test_doctor_tells_of_a_container_that_is_too_small_for_the_parser(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, allowed: int | None, warns: bool
) -> None:
    monkeypatch.setattr("app.doctor.installation.find_memory_limit", lambda: allowed)
    settings = Settings.model_validate({"data_dir": tmp_path, "parser": {"memory_mb": 1024}})
    found = list(examine_settings(settings))
    assert ["HOPWEAVE_PARSER__MEMORY_MB" in one.detail for one in found] == ([True] if warns else [])
