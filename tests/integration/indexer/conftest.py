"""The desk of most tests of this folder: a worker over the embedded stores of an empty folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.desk import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.close()
