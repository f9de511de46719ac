"""Some operations of `tests.faults.deletions`; five hundred by hand."""

import asyncio
from pathlib import Path

import pytest

from tests.faults.deletions import run, verify


@pytest.mark.slow
def test_certificates_tell_of_all_that_was_removed_whenever_the_process_is_killed(tmp_path: Path) -> None:
    kills = run(tmp_path, 25, 3)
    assert kills
    asyncio.run(verify(tmp_path, 25, 3))
