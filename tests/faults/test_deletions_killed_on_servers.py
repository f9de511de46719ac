"""Some operations of `tests.faults.deletions_on_servers`; five hundred by hand."""

from pathlib import Path

import pytest

from tests.faults.deletions_on_servers import run_on_servers

pytestmark = [pytest.mark.servers, pytest.mark.slow]


def test_certificates_tell_of_all_that_was_removed_whatever_is_killed(tmp_path: Path) -> None:
    assert "tampered files refused" in run_on_servers(tmp_path, 25, 3)
