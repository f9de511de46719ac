"""Three rounds of `tests.faults.kill`; ten by hand."""

from pathlib import Path

import pytest

from tests.faults.kill import EXAMPLE, rounds


@pytest.mark.slow
def test_killing_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    rounds(tmp_path, EXAMPLE, 3, seed=7)
